// Package sessions has the sessions that are in memory: each behind its own lock, read from the log when it is needed, written to the log
// before it counts, and let go when nobody has used it for longest.
//
// Invariants:
//   - a session's state is the fold of its log, and of what is about to be written there;
//   - after a failed write nobody knows what was written, so that the session is read again before anything is decided;
//   - the package does no I/O of its own: the log, the clock and randomness are handed in.
package sessions

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidemark/tidemark/internal/base/idle"
	"github.com/tidemark/tidemark/internal/base/pack"
	"github.com/tidemark/tidemark/internal/base/patience"
	"github.com/tidemark/tidemark/internal/base/seal"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/question"
	"github.com/tidemark/tidemark/internal/session"
)

// Entry is a session in memory: its lock, and the state that its log gives.
type Entry struct {
	Name     string
	Contents Contents       // guarded by mu
	State    *session.State // guarded by mu
	Keys     seal.Ring      // guarded by mu; of what is sealed in its log

	mu            sync.Mutex
	loaded        bool           // guarded by mu; false: the log must be read before anything is decided
	writeFailed   bool           // guarded by mu; the last deferred write failed, so nothing more is deferred
	unwritten     []*event.Event // guarded by mu; folded, and written with the next record: see Put
	inFlight      int            // guarded by mu; decisions that are folded and not yet written: see Pending
	generation    int            // guarded by mu; incremented each time the state is read anew or dropped
	callers       atomic.Int32   // who is in it, or waits for its lock
	openQuestions []string       // guarded by mu; the questions of it that were open when it was last looked at
	clockSkew     int64          // guarded by mu; is added to the clock, so that its time never goes backwards
	used          atomic.Int64   // when it was last used, in sessions made since
	weight        int64          // guarded by mu; of contents and state, as the table counts it
	spoke         atomic.Int64   // when something was last said or read in it
}

// Settled reports whether the state is what the log gives, and nothing of it is on its way there.
func (e *Entry) Settled() bool { return e.loaded && len(e.unwritten)+e.inFlight == 0 }

// Options are what a Table needs. All but Queue are required.
type Options struct {
	Store     Store
	Shared    bool // other monitors write to the store
	Now       func() time.Time
	Rand      io.Reader
	Key       []byte
	Questions *question.Index
	Most      int   // sessions
	MostBytes int64 // of them, about
	Contents  func(*Entry) Contents
	Adopt     func(parent, child string) // is told of sub-agents
	Run       func() (string, error)     // what this start is called
}

// Table has the sessions in memory. It is safe for concurrent use.
type Table struct {
	o     Options
	queue Queue // of the store; nil: it has none

	mu      sync.RWMutex
	entries map[string]*Entry // guarded by mu

	clock atomic.Int64                                       // counts the sessions made, to tell which others are idle since
	held  atomic.Int64                                       // about how many bytes are held now
	left  atomic.Int64                                       // bytes after the last eviction, or the least since
	heard atomic.Int64                                       // counts what was said and read, to tell which sessions spoke last
	idle  struct{ conversations, states idle.Queue[*Entry] } // which to let go of next
	room  pack.Writer                                        // for one at a time
}

// New makes a Table of no sessions.
func New(o Options) *Table { return &Table{o: o, queue: queueOf(o), entries: map[string]*Entry{}} }

// Attempts bounds how often an act begins again: other replicas may move the session while we
// think.
const Attempts = 8

// With runs act on the session under its lock, with the state read from the log. The lock is the session's own and is held while a record
// is written, but for decisions that others wait behind: a session speaks in order, and sessions do not wait for one another. Unless it is
// told to look, what is new in the log is found only by writing. That is enough for an act that always writes before it answers.
func (t *Table) With(ctx context.Context, name string, look bool, act func(*Entry) error) error {
	e := t.session(name)
	grown := false
	defer func() {
		if grown {
			t.EvictContexts(ctx)
		}
	}()
	e.callers.Add(1)
	defer e.callers.Add(-1)
	patience.Lock(ctx, &e.mu, t.o.Now)
	defer e.mu.Unlock()
	var err error
	for range Attempts {
		if !e.loaded {
			grown = true
			if err = t.load(ctx, e); err != nil {
				return err
			}
		} else if look {
			if err = t.refresh(ctx, e); err != nil {
				return err
			}
		}
		if err = e.Contents.Ready(ctx); err != nil {
			return err
		}
		if err = act(e); err == nil || !errors.Is(err, ErrConflict) {
			return err
		}
		e.loaded = false
	}
	return err
}

func (t *Table) session(name string) *Entry {
	t.mu.RLock()
	e := t.entries[name]
	t.mu.RUnlock()
	if e == nil {
		e = t.newSession(name)
	}
	if now := t.clock.Load(); e.used.Load() != now {
		e.used.Store(now)
	}
	return e
}

func (t *Table) newSession(name string) *Entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.entries[name]
	if e == nil {
		t.clock.Add(1)
		t.evict()
		e = &Entry{Name: name, Keys: seal.Ring{Use: name, Operator: t.o.Key, Random: t.o.Rand}}
		e.Contents = t.o.Contents(e)
		t.entries[name] = e
	}
	return e
}
