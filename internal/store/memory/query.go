package memory

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store"
)

// Sessions lists a page of sessions, newest first. It returns engine.ErrNotFound if
// the session to start after is unknown.
func (s *Store) Sessions(ctx context.Context, q store.SessionQuery) ([]store.Session, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	end := len(s.names)
	if q.After != "" {
		c := s.sessions[q.After]
		if c == nil {
			return nil, fmt.Errorf("list sessions after %q: %w", q.After, engine.ErrNotFound)
		}
		end = c.order
	}
	sessions := []store.Session{}
	for _, name := range slices.Backward(s.names[:end]) {
		if len(sessions) == store.Page(q.Limit) {
			break
		}
		if strings.HasPrefix(name, q.Prefix) && strings.HasPrefix(name, store.Own) == q.Own {
			sessions = append(sessions, s.summary(name))
		}
	}
	return sessions, nil
}

// summary is the line for a session. The lock must be held.
func (s *Store) summary(name string) store.Session {
	c := s.sessions[name]
	first, last := s.entries[c.ids[0]-1], s.entries[c.ids[len(c.ids)-1]-1]
	return store.Session{Name: name, FirstTime: first.Time, LastTime: last.Time, Records: c.head.Seq}
}

// Turns lists the session's turns. It returns engine.ErrNotFound for a session nobody knows.
func (s *Store) Turns(ctx context.Context, session string) ([]store.Turn, error) {
	turns := []store.Turn{}
	known := false
	for rec, err := range s.Load(ctx, session, 0) {
		if err != nil {
			return nil, err
		}
		known = true
		if rec.Kind != string(event.TurnBegan) {
			continue
		}
		t, err := store.TurnOf(rec)
		if err != nil {
			return nil, err
		}
		turns = append(turns, t)
	}
	if !known {
		return nil, fmt.Errorf("list turns of session %q: %w", session, engine.ErrNotFound)
	}
	return turns, nil
}

// LoadTurn streams the records of one turn, from the one that began it on, in order.
// It yields engine.ErrNotFound for a turn nobody knows.
func (s *Store) LoadTurn(ctx context.Context, session, turn string) iter.Seq2[audit.Record, error] {
	return func(yield func(audit.Record, error) bool) {
		turns, err := s.Turns(ctx, session)
		if err != nil {
			yield(audit.Record{}, err)
			return
		}
		i := slices.IndexFunc(turns, func(t store.Turn) bool { return t.ID == turn })
		if i < 0 {
			yield(audit.Record{}, fmt.Errorf("load turn %q of session %q: %w", turn, session, engine.ErrNotFound))
			return
		}
		store.OfTurn(s.Load(ctx, session, turns[i].Seq-1), turn)(yield)
	}
}

// Since lists records of the whole log in the order they were committed.
func (s *Store) Since(ctx context.Context, q store.EntryQuery) ([]store.Entry, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return nil, fmt.Errorf("list records: %w", err)
	}
	found := []store.Entry{}
	start := min(max(q.After, 0), int64(len(s.entries)))
	for _, e := range s.entries[start:] {
		if len(found) == store.Page(q.Limit) {
			break
		}
		if (q.Session == "" || q.Session == e.Session) && (q.Kind == "" || q.Kind == e.Kind) {
			found = append(found, copyOf(e))
		}
	}
	return found, nil
}

// Head is where the log stands; the zero Head for an empty one.
func (s *Store) Head(ctx context.Context) (store.Head, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return store.Head{}, fmt.Errorf("read the ledger: %w", err)
	}
	return s.last().Head(), nil
}

// HeadAt is where the log stood after a batch. It returns engine.ErrNotFound if the
// ledger has no such batch.
func (s *Store) HeadAt(ctx context.Context, batch uint64) (store.Head, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return store.Head{}, fmt.Errorf("read the ledger: %w", err)
	}
	if batch == 0 || batch > uint64(len(s.ledger)) {
		return store.Head{}, fmt.Errorf("read batch %d of the ledger: %w", batch, engine.ErrNotFound)
	}
	return s.ledger[batch-1].Head(), nil
}

// Stats is the size of the log.
func (s *Store) Stats(ctx context.Context) (store.Stats, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return store.Stats{}, fmt.Errorf("read statistics: %w", err)
	}
	return store.Stats{Sessions: int64(len(s.names)), Records: int64(len(s.entries)), Bytes: s.bytes}, nil
}

// Verify checks every session's chain and the ledger, as the log stands when it starts,
// and reports every break. Progress may be nil.
func (s *Store) Verify(ctx context.Context, progress func(done, total int64)) (store.Report, error) {
	s.mu.RLock()
	err := s.usable(ctx)
	l := snapshot{ctx: ctx, entries: s.entries, ledger: s.ledger}
	s.mu.RUnlock()
	if err != nil {
		return store.Report{}, fmt.Errorf("verify the log: %w", err)
	}
	return store.Check(l, progress)
}

// snapshot is the log at a moment; its parts only grow.
type snapshot struct {
	ctx     context.Context // of the one Verify it lives in
	entries []*store.Entry
	ledger  []store.Batch
}

func (l snapshot) Size() int64                            { return int64(len(l.entries)) }
func (l snapshot) ByID() iter.Seq2[store.Entry, error]    { return those(all(l.ctx, l.entries)) }
func (l snapshot) Batches() iter.Seq2[store.Batch, error] { return all(l.ctx, l.ledger) }

// Empty yields nothing: a session comes with its first record.
func (l snapshot) Empty() iter.Seq2[string, error] { return func(func(string, error) bool) {} }

func (l snapshot) BySession() iter.Seq2[store.Entry, error] {
	sorted := slices.SortedStableFunc(slices.Values(l.entries), func(a, b *store.Entry) int {
		return cmp.Or(cmp.Compare(a.Session, b.Session), cmp.Compare(a.Seq, b.Seq))
	})
	return those(all(l.ctx, sorted))
}

func those(rows iter.Seq2[*store.Entry, error]) iter.Seq2[store.Entry, error] {
	return func(yield func(store.Entry, error) bool) {
		for e, err := range rows {
			if !yield(*e, err) {
				return
			}
		}
	}
}

func all[T any](ctx context.Context, rows []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, row := range rows {
			if err := ctx.Err(); err != nil {
				yield(row, fmt.Errorf("verify the log: %w: %w", engine.ErrUnavailable, err))
				return
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// Asking names the sessions that asked something which had not expired by then.
func (s *Store) Asking(ctx context.Context, now int64) ([]string, error) {
	var names []string
	err := s.eachAsk(ctx, func(session string, ask *event.Ask) {
		if ask.Expires > now && !slices.Contains(names, session) {
			names = append(names, session)
		}
	})
	return names, err
}

// Asked names the session of a question. It returns engine.ErrNotFound for one nobody knows.
func (s *Store) Asked(ctx context.Context, id string) (session string, err error) {
	err = s.eachAsk(ctx, func(name string, ask *event.Ask) {
		if ask.ID == id {
			session = name
		}
	})
	if err == nil && session == "" {
		err = fmt.Errorf("find a question: %w", engine.ErrNotFound)
	}
	return session, err
}

func (s *Store) eachAsk(ctx context.Context, visit func(session string, ask *event.Ask)) error {
	s.mu.RLock()
	entries, err := s.entries, s.usable(ctx)
	s.mu.RUnlock()
	if err != nil {
		return fmt.Errorf("look for questions: %w", err)
	}
	for i := range entries {
		if entries[i].Kind != string(event.CallDecided) {
			continue
		}
		e, err := event.FromRecord(entries[i].Record)
		if err != nil {
			return fmt.Errorf("look for questions: %w", err)
		}
		if e.Decided.Ask != nil {
			visit(entries[i].Session, e.Decided.Ask)
		}
	}
	return nil
}
