// Package retention takes out of a log what it need not hold any longer: what was read, arguments, texts, and in the end
// everything but the skeleton that a session's state is folded from. Hash chains stay whole: a record keeps its hash,
// and a record in a log of its own (store.RetentionLog) says what was taken out of which session and covers what is left.
//
// It does I/O through the store it is given and starts no goroutine. Invariants:
//   - what is held is not touched, whoever asks;
//   - nothing is taken out without a record that says so, in one commit;
//   - nothing is trusted more for it: what judgement would need is then forgotten, and anything may have stood there.
package retention

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store"
)

// Reader is a log that is looked at.
type Reader interface {
	Since(ctx context.Context, q store.EntryQuery) ([]store.Entry, error)
	Load(ctx context.Context, session string, after uint64) iter.Seq2[audit.Record, error]
	Head(ctx context.Context) (store.Head, error)
}

// Log is a log that is pruned.
type Log interface {
	Reader
	Append(ctx context.Context, session string, at uint64, events []*event.Event) error
	Prune(ctx context.Context, at uint64, events []*event.Event, pruned []audit.Record) error
}

// Limit is how much is kept of a kind; the zero Limit keeps everything.
type Limit struct {
	Age   time.Duration // of a record; of its session's last one where events are pruned
	Bytes int64         // of all that is kept of the kind, about; the oldest goes first
}

// Limits are how much is kept, by what can be pruned (event.PruneKinds).
type Limits map[string]Limit

// Request is what is to be pruned.
type Request struct {
	Limits   Limits
	Session  string // this one alone; "" is every one
	Person   string // who is to be forgotten: all of every session they spoke in, whatever its age; "": nobody
	Now      time.Time
	By       string // who asks for it
	Why      string
	Dry      bool                    // nothing is taken out
	Progress func(done, total int64) // nil: nobody wants to know
}

func (r *Request) check() error {
	switch {
	case r.By == "":
		return errors.New("prune: nobody says who they are")
	case len(r.Limits) == 0 && r.Person == "":
		return errors.New("prune: no limit and no person given: there is nothing to do")
	}
	for what, l := range r.Limits {
		if !slices.Contains(event.PruneKinds(), what) {
			return fmt.Errorf("prune: there is no %q (there are %v)", what, event.PruneKinds())
		}
		if l.Age < 0 || l.Bytes < 0 {
			return fmt.Errorf("prune: %s: a limit is below zero", what)
		}
	}
	return nil
}

// Result is what was pruned, or would be.
type Result struct {
	Dry      bool             `json:"dry"`
	Sessions int64            `json:"sessions"`
	Records  int64            `json:"records"`
	Bytes    int64            `json:"bytes"`
	What     map[string]int64 `json:"what"` // how many records lose what
	Held     []Held           `json:"held"` // sessions that would be, and must not
}

// Held is a session that was left as it is.
type Held struct {
	Session string `json:"session"`
	Hold    Hold   `json:"hold"`
}

// Prune takes out what the request says. What was done before an error stays done, and is in the result.
func Prune(ctx context.Context, log Log, r Request) (Result, error) {
	out := Result{Dry: r.Dry, What: map[string]int64{}, Held: []Held{}}
	if err := r.check(); err != nil {
		return out, err
	}
	p := &pruning{log: log, request: r, out: &out, cuts: map[string]int64{}}
	if err := p.run(ctx); err != nil {
		return out, fmt.Errorf("prune: %w", err)
	}
	return out, nil
}

// Look says what Prune would take out.
func Look(ctx context.Context, log Reader, r Request) (Result, error) {
	r.Dry = true
	return Prune(ctx, looking{log}, r)
}

// looking is a log that is only looked at.
type looking struct{ Reader }

func (looking) Append(context.Context, string, uint64, []*event.Event) error { return errLooking }

func (looking) Prune(context.Context, uint64, []*event.Event, []audit.Record) error {
	return errLooking
}

var errLooking = errors.New("the log is only looked at")
