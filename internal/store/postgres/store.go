// Package postgres keeps the log in PostgreSQL, for servers on several machines.
//
// It does I/O and runs one goroutine, the writer, which commits what many callers
// append in groups: one transaction, one ledger entry, one notification. Reading uses
// connections of its own that cannot write.
//
// Invariants:
//   - what Append acknowledged was committed, and by a server that waits for its disk;
//   - commits of all servers come one after the other: the ledger is one chain, and ids are
//     seen in the order they were given, so that whoever reads on misses nothing;
//   - a request that fails changes nothing and takes no other request with it;
//   - a notification is a hint: nobody decides by it, and after a lost connection everybody
//     is woken.
package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/internal/store/internal/group"
	"github.com/tidemark/tidemark/internal/store/notify"
	"github.com/tidemark/tidemark/internal/store/rows"
)

var _ engine.Store = (*Store)(nil)

// Store is the log in a PostgreSQL database. It is safe for concurrent use, beside other servers.
type Store struct {
	*Reader
	writer *group.Writer
	server string // tells our own notifications from others'
	once   sync.Once
	err    error // of Close
	notes  notes

	ctx  context.Context // ends with Close
	stop context.CancelFunc
}

// notes is the connection that writes notes.
type notes struct {
	mu   sync.Mutex
	conn *pgx.Conn // guarded by mu; nil: none yet, or it was lost
}

// Close waits for what is already queued to be written, then closes the log. Later
// calls return what the first one did.
func (s *Store) Close() error {
	s.once.Do(func() {
		s.stop()
		s.writer.Close()
		s.notes.mu.Lock()
		defer s.notes.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		s.err = errors.Join(s.notes.end(ctx), s.Reader.Close())
	})
	return s.err
}

// Append links the events to the session's chain after its first at records and
// returns when they are durable. See engine.Store for its errors. A caller whose
// context ends first cannot know whether the events were written. Appending nothing
// does nothing.
func (s *Store) Append(ctx context.Context, session string, at uint64, events []*event.Event) error {
	reach := notify.ReachOf(events) // before they are sealed
	records, err := store.Encode(session, events)
	if err != nil {
		return fmt.Errorf("append: %w", err)
	}
	if len(records) == 0 {
		return nil
	}
	return s.request(ctx, &group.Request{Session: session, At: at, Records: records, Asks: store.AsksOf(events), Note: string(reach)})
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
	err := s.writer.Do(ctx, r)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, engine.ErrConflict):
		return fmt.Errorf("append to session %q at %d: %w", r.Session, r.At, err)
	}
	return unavailable(fmt.Sprintf("append to session %q", r.Session), err)
}

// Ping proves that the log can be written, by a commit that leaves no record behind.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.writer.Do(ctx, &group.Request{}); err != nil {
		return unavailable("write a probe", err)
	}
	return nil
}

// Reader reads a log, beside those who write it. It is safe for concurrent use.
type Reader struct {
	*rows.Reader
	config *pgx.ConnConfig // of one more connection
	schema string
}

// Stats is the size of the log, read in constant time.
func (r *Reader) Stats(ctx context.Context) (store.Stats, error) {
	const query = `SELECT (SELECT coalesce(max(id), 0) FROM records), (SELECT coalesce(max(id), 0) FROM sessions),
		(SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace
			AND c.relkind = 'r')`
	var s store.Stats
	if err := r.DB().QueryRowContext(ctx, query).Scan(&s.Records, &s.Sessions, &s.Bytes); err != nil {
		return store.Stats{}, unavailable("read statistics", err)
	}
	return s, nil
}

// Alike notes a value that every server of the log must have alike, where there is none yet, and
// reports whether it is the one that was noted. It must be no secret.
func (s *Store) Alike(ctx context.Context, name string, value []byte) (bool, error) {
	conn, err := pgx.ConnectConfig(ctx, s.config)
	if err != nil {
		return false, unavailable("compare with other servers", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var noted []byte
	_, err = conn.Exec(ctx, `INSERT INTO alike (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`, name, value)
	if err == nil {
		err = conn.QueryRow(ctx, `SELECT value FROM alike WHERE name = $1`, name).Scan(&noted)
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return false, unavailable("compare with other servers", err)
	}
	return string(noted) == string(value), nil
}
