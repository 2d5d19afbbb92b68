// Package sqlite keeps the log in one SQLite file, for a server on one machine.
//
// It does I/O and runs one goroutine, the writer, which commits what many callers
// append in groups: one transaction, one fsync, one ledger entry. Reading uses
// connections of its own that cannot write.
//
// Invariants:
//   - what Append acknowledged survives a crash of the process and of the machine;
//   - the head a record is linked to was read under the write lock, so that two
//     processes on one file cannot fork a chain;
//   - a request that fails changes nothing and takes no other request with it;
//   - the file is never created anew while the store is open: a log that is gone is
//     an error, not an empty log;
//   - a log that has lost commits it acknowledged is not opened for writing;
//   - a session whose last records are gone is not read as if they had never been.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/internal/store/internal/group"
)

var (
	_ engine.Store = (*Store)(nil)
	_ engine.Queue = (*Store)(nil)
)

// Store is the log in a SQLite file, for reading and writing. It is safe for
// concurrent use.
type Store struct {
	*Reader
	from   int64   // version of the schema before it was opened
	db     *sql.DB // the writer's
	writer *group.Writer
	once   sync.Once
	err    error // of Close
}

// Close waits for what is already queued to be written, then closes the log. Later
// calls return what the first one did.
func (s *Store) Close() error {
	// The writer's connection goes last: it folds the write-ahead log into the file.
	s.once.Do(func() {
		s.err = s.Reader.Close()
		s.writer.Close()
		s.err = errors.Join(s.err, s.db.Close())
		if len(s.key) == 0 {
			s.err = errors.Join(s.err, dropWatermark(s.path))
		}
	})
	return s.err
}

// Upgraded reports whether the log was one of an older program, which kept less of its sessions apart
// from their records, until it was opened.
func (s *Store) Upgraded() bool { return s.from > 0 && s.from < 2 }

// Append links the events to the session's chain after its first at records and
// returns when they are durable. See engine.Store for its errors. A caller whose
// context ends first cannot know whether the events were written. Appending nothing
// does nothing.
func (s *Store) Append(ctx context.Context, session string, at uint64, events []*event.Event) error {
	records, err := store.Encode(session, events)
	if err != nil {
		return fmt.Errorf("append: %w", err)
	}
	if len(records) == 0 {
		return nil
	}
	return s.request(ctx, &group.Request{Session: session, At: at, Records: records, Asks: store.AsksOf(events)})
}

// Enqueue implements engine.Queue.
func (s *Store) Enqueue(ctx context.Context, session string, at uint64, events []*event.Event) (wait func() error, err error) {
	records, err := store.Encode(session, events)
	if err != nil {
		return nil, fmt.Errorf("append: %w", err)
	}
	r := &group.Request{Session: session, At: at, Records: records, Asks: store.AsksOf(events)}
	if err := s.writer.Put(ctx, r); err != nil {
		return nil, outcome(r, err)
	}
	return func() error { return outcome(r, s.writer.Wait(r)) }, nil
}

// Prune puts pruned records (audit.Prune) in the place of whole ones, and appends to store.RetentionLog, after its first
// at records, what says so. It does both or neither; see Append for its errors.
func (s *Store) Prune(ctx context.Context, at uint64, events []*event.Event, pruned []audit.Record) error {
	records, err := store.Encode(store.RetentionLog, events)
	if err != nil {
		return fmt.Errorf("prune: %w", err)
	}
	return s.request(ctx, &group.Request{Session: store.RetentionLog, At: at, Records: records, Edits: pruned})
}

func (s *Store) request(ctx context.Context, r *group.Request) error {
	return outcome(r, s.writer.Do(ctx, r))
}

// outcome says what became of a request.
func outcome(r *group.Request, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, engine.ErrConflict):
		return fmt.Errorf("append to session %q at %d: %w", r.Session, r.At, err)
	}
	return unavailable(fmt.Sprintf("append to session %q", r.Session), err)
}

// Ping proves that the log can be written, by a commit that leaves no record behind:
// it takes fresh pages, gives them back and waits for the disk.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.writer.Do(ctx, &group.Request{}); err != nil {
		return unavailable("write a probe", err)
	}
	return nil
}
