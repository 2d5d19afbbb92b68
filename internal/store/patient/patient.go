// Package patient is a store that is not waited for without end: a database that takes requests and never answers, as one does
// whose machine is frozen or whose network drops everything, has calls refused and not hang. Put it between the monitor and its
// store.
//
// It does no I/O of its own. While the store is silent one goroutine looks whether it is back.
//
// Invariants:
//   - what one decision waits for the store, all reads and writes together, is at most the limit; then the answer is an error,
//     and an error means that nobody acts; where a person was waited for, or waits, a store that answers others has longer;
//   - once the store was silent for the limit nobody waits for it any more until it has answered a probe, so that calls which
//     stand behind one another do not wait in turn; one that answers others meanwhile is busy, and not silent;
//   - Ready answers by what is known, and does no I/O in the goroutine that asks.
package patient

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/base/patience"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
)

// DefaultLimit is how long a decision waits for the log where nobody says.
const DefaultLimit = 3 * time.Second

// Log is a store that can be asked whether it takes records.
type Log interface {
	engine.Store
	Ping(ctx context.Context) error
}

// Store is a store with a limit. It is safe for concurrent use.
type Store struct {
	log   Log
	limit time.Duration

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	busy   sync.WaitGroup

	born   time.Time
	proven atomic.Int64              // when a commit was last seen to work, since it was born; negative: the last one failed
	heard  atomic.Int64              // when it last answered anybody who read, likewise
	silent atomic.Pointer[time.Time] // since when nothing is heard; nil: it answers

	mu    sync.Mutex // held while something is begun, or all of it is ended
	probe *probe     // guarded by mu; the one under way; nil: none
}

var (
	_ engine.Store = (*Store)(nil)
	_ engine.Queue = (*Store)(nil)
)

// New wraps a store that was just opened; a limit of 0 is DefaultLimit.
func New(log Log, limit time.Duration) *Store {
	if limit <= 0 {
		limit = DefaultLimit
	}
	s := &Store{log: log, limit: limit, born: time.Now()}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// Patient says that waits for it are to be added up.
func (s *Store) Patient() bool { return true }

// Close ends what looks whether the store is back. It does not close the store.
func (s *Store) Close() {
	s.mu.Lock()
	s.cancel()
	s.mu.Unlock()
	s.busy.Wait()
}

// wait is one wait for the store.
type wait struct {
	store *Store
	sum   *patience.Sum
	timer *time.Timer
	limit time.Duration // of all waits of the work together
	left  time.Duration // when it began
	since time.Time     // when the store was last asked
	write bool          // a commit; others that only read tell nothing of it
	end   context.CancelCauseFunc
}

// errLate is the cause of a context that was ended here.
var errLate = fmt.Errorf("%w: %w", engine.ErrUnavailable, patience.ErrLate)

// begin is the context of a wait. Where there is no time left, or the store is silent, it fails at once.
func (s *Store) begin(ctx context.Context, limit time.Duration) (context.Context, *wait, error) {
	if err := s.mute(); err != nil {
		return nil, nil, err
	}
	if !patience.Hurried(ctx) {
		limit = max(limit, looking)
	}
	w := &wait{store: s, sum: patience.Of(ctx), since: time.Now(), limit: limit}
	if w.left = limit - w.sum.Waited(); w.left <= 0 {
		return nil, nil, w.late()
	}
	ctx, w.end = context.WithCancelCause(ctx)
	w.timer = time.AfterFunc(w.left, func() { w.end(errLate) })
	return ctx, w, nil
}

// mute is the error while the store is silent.
func (s *Store) mute() error {
	since := s.silent.Load()
	if since == nil {
		return nil
	}
	return fmt.Errorf("%w: nothing was heard of the log since %s", errLate, since.UTC().Format(time.RFC3339))
}

func (w *wait) late() error {
	return fmt.Errorf("%w: the log did not answer within %v (server.deadlineMs)", errLate, w.limit)
}

// pause counts what was waited so far, and stops counting; resume goes on. Without a sum each wait has the whole limit.
func (w *wait) pause() {
	w.timer.Stop()
	took := time.Since(w.since)
	if w.sum.Add(took); w.sum != nil {
		w.left -= took
	}
}

func (w *wait) resume() {
	w.since = time.Now()
	w.timer.Reset(max(0, w.left))
}

// over ends a wait, and says what became of it.
func (w *wait) over(ctx context.Context, err error) error {
	w.pause()
	defer w.end(nil)
	if err == nil || !errors.Is(context.Cause(ctx), patience.ErrLate) || errors.Is(err, engine.ErrConflict) {
		w.answered()
		return err
	}
	if waited := time.Since(w.since); waited >= w.store.limit/2 && !w.others(waited) { // less may be the end of many short waits
		w.store.quiet(waited)
	}
	return fmt.Errorf("%w: %v", w.late(), err) //nolint:errorlint // that the wait was ended is no word of the caller's context
}

// answered notes that the store is there. Of commits that is noted by what became of them.
func (w *wait) answered() {
	if !w.write {
		w.store.heard.Store(int64(time.Since(w.store.born)))
	}
}

// others reports whether the store answered somebody else for as long as this one waited: then it is busy.
func (w *wait) others(waited time.Duration) bool {
	read := time.Since(w.store.born) - time.Duration(w.store.heard.Load())
	return w.store.age() < waited || !w.write && read < waited
}

// Do does something with the store's database that is no record, within the limit.
func (s *Store) Do(ctx context.Context, act func(context.Context) error) error {
	ctx, w, err := s.begin(ctx, s.limit)
	if err != nil {
		return err
	}
	return w.over(ctx, act(ctx))
}

// looking is how long somebody who looks at the log waits for one answer: more than a database lets a statement of ours take.
const looking = 20 * time.Second

// Look reads something for people, which may take longer than a decision: only a store that is silent is not waited for.
func (s *Store) Look(ctx context.Context, act func(context.Context) error) error {
	ctx, w, err := s.begin(ctx, max(s.limit, looking))
	if err != nil {
		return err
	}
	return w.over(ctx, act(ctx))
}

// Append implements engine.Store.
func (s *Store) Append(ctx context.Context, session string, at uint64, events []*event.Event) error {
	ctx, w, err := s.begin(ctx, s.limit)
	if err != nil {
		return fmt.Errorf("append to session %q: %w", session, err)
	}
	w.write = true
	return s.wrote(w.over(ctx, s.log.Append(ctx, session, at, events)))
}

// Enqueue implements engine.Queue; a store that is none writes at once.
func (s *Store) Enqueue(ctx context.Context, session string, at uint64, events []*event.Event) (landed func() error, err error) {
	q, ok := s.log.(engine.Queue)
	if !ok {
		err := s.Append(ctx, session, at, events)
		return func() error { return err }, nil
	}
	ctx, w, err := s.begin(ctx, s.limit)
	if err != nil {
		return nil, fmt.Errorf("append to session %q: %w", session, err)
	}
	w.write = true
	written, err := q.Enqueue(ctx, session, at, events)
	if err != nil {
		return nil, w.over(ctx, err)
	}
	return func() error { return s.wrote(w.over(ctx, written())) }, nil
}

// wrote notes whether commits work.
func (s *Store) wrote(err error) error {
	switch {
	case err == nil:
		s.proven.Store(int64(time.Since(s.born)))
	case !errors.Is(err, engine.ErrConflict):
		s.proven.Store(-1)
	}
	return err
}

// Shared is what other servers of the log asked, within the limit.
func (s *Store) Shared(of engine.Shared) engine.Shared { return shared{s, of} }

type shared struct {
	store *Store
	of    engine.Shared
}

func (x shared) Asking(ctx context.Context, now int64) (names []string, err error) {
	err = x.store.Do(ctx, func(ctx context.Context) (err error) { names, err = x.of.Asking(ctx, now); return err })
	return names, err
}

func (x shared) Asked(ctx context.Context, id string) (session string, err error) {
	err = x.store.Do(ctx, func(ctx context.Context) (err error) { session, err = x.of.Asked(ctx, id); return err })
	return session, err
}

// Load implements engine.Store. What its reader does between two records is not counted.
func (s *Store) Load(ctx context.Context, session string, after uint64) iter.Seq2[audit.Record, error] {
	return Stream(ctx, s, func(ctx context.Context) iter.Seq2[audit.Record, error] { return s.log.Load(ctx, session, after) })
}

// HashAt is the hash of a session's record, within the limit; the zero Hash where there is none.
func (s *Store) HashAt(ctx context.Context, session string, at uint64) (hash audit.Hash, err error) {
	h, ok := s.log.(interface {
		HashAt(ctx context.Context, session string, at uint64) (audit.Hash, error)
	})
	if ok {
		err = s.Do(ctx, func(ctx context.Context) (err error) { hash, err = h.HashAt(ctx, session, at); return err })
		return hash, err
	}
	for rec, err := range s.Load(ctx, session, at-1) {
		if err == nil && rec.Seq == at {
			hash = rec.Hash
		}
		return hash, err
	}
	return hash, nil
}

// Stream is something that is read from the store's database, within the limit.
func Stream[T any](ctx context.Context, s *Store, read func(context.Context) iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		ctx, w, err := s.begin(ctx, s.limit)
		if err != nil {
			yield(none, fmt.Errorf("read the log: %w", err))
			return
		}
		defer w.end(nil)
		for v, err := range read(ctx) {
			if err != nil {
				yield(v, w.over(ctx, err))
				return
			}
			w.pause()
			w.answered()
			if !yield(v, nil) {
				return
			}
			w.resume()
		}
		w.pause()
		w.answered()
	}
}
