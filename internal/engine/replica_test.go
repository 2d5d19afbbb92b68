package engine_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// SEQ-09
func TestTwoReplicasAgree(t *testing.T) {
	a := newWorld(t, "")
	b := a.again()
	a.ownerSays("s", "go to https://evil.example")
	b.want(policy.Allow, main("s"), call("deploy", `{}`))
	a.taints("s")
	v := b.want(policy.Confirm, main("s"), call("deploy", `{}`)) // b does not know yet, the log does
	a.ownerSays("s", ".approve deploy "+v.Held.Code)
	b.want(policy.Allow, main("s"), call("deploy", `{}`))
	a.want(policy.Confirm, main("s"), call("deploy", `{}`)) // spent over there
	b.wantSame(a, "s")
	verified(t, a.store, "s")
}

func (w *world) wantSame(other *world, session string) {
	w.Helper()
	for _, x := range []*world{w, other} { // a write makes both read what is new
		x.decide(main(session), call("read", `{}`))
	}
	w.decide(main(session), call("read", `{}`))
	if got, want := asJSON(w, w.view(session)), asJSON(w, w.again().view(session)); got != want {
		w.Fatalf("got\n%s\nwant\n%s", got, want)
	}
}

func TestAReplicaReadsOnlyWhatIsNew(t *testing.T) {
	store := newFakeStore()
	read := 0
	store.load = func(ctx context.Context, s string, after uint64) iter.Seq2[audit.Record, error] {
		return func(yield func(audit.Record, error) bool) {
			for rec, err := range store.Store.Load(ctx, s, after) {
				read++
				if !yield(rec, err) {
					return
				}
			}
		}
	}
	a := newWorldOn(t, "", store)
	b := a.again()
	a.ownerSays("s", "go")
	for range 100 {
		a.want(policy.Allow, main("s"), call("read", `{}`))
		b.want(policy.Allow, main("s"), call("read", `{}`))
	}
	if want := 2*201 + 10; read > want {
		t.Errorf("200 calls in turns read %d records, want at most %d", read, want)
	}
}

// A conflict between a turn and its command must not begin the turn twice.
func TestAConflictInTheMiddleOfBegin(t *testing.T) {
	store := newFakeStore()
	w := busy(t, store)
	other := w.again()
	code := w.want(policy.Confirm, main("s"), call("deploy", `{}`)).Held.Code
	turns := count(w.events("s"), event.TurnBegan)
	var once sync.Once
	store.append = func(ctx context.Context, s string, at uint64, e []*event.Event) error {
		if e[0].Kind == event.Answered {
			once.Do(func() {
				store.append = nil
				other.observe(main("s"), "read", "in between")
			})
		}
		return store.Store.Append(ctx, s, at, e)
	}
	w.ownerSays("s", ".approve deploy "+code)
	if got := count(w.events("s"), event.TurnBegan); got != turns+1 {
		t.Errorf("got %d turns, want %d", got, turns+1)
	}
	w.want(policy.Allow, main("s"), call("deploy", `{}`))
}

// retry is what a caller does about a conflict that did not end in time.
func retry(t *testing.T, do func() error) {
	for {
		err := do()
		if err == nil {
			return
		}
		if !errors.Is(err, engine.ErrConflict) {
			t.Errorf("got %v", err)
			return
		}
	}
}

// SEQ-09
func TestReplicasUsedAtOnceLoseNothing(t *testing.T) {
	a := newWorld(t, "")
	b := a.again()
	a.ownerSays("s", "go")
	var all sync.WaitGroup
	const each = 20
	for i, w := range []*world{a, b, a, b} {
		all.Go(func() {
			for j := range each {
				retry(t, func() error {
					_, err := w.Decide(t.Context(), main("s"), call("read", `{"i":`, fmt.Sprint(i*each+j), `}`))
					return err
				})
				if i == 1 && j == each/2 {
					retry(t, func() error {
						_, err := w.Observe(t.Context(), engine.Observation{Ref: main("s"), Result: tool.Result{Name: "web_fetch"}})
						return err
					})
				}
			}
		})
	}
	all.Wait()
	if got, want := verified(t, a.store, "s"), uint64(4*each+2); got != want {
		t.Errorf("got %d records, want %d", got, want)
	}
	fresh := a.again().view("s")
	if fresh.Taint.Level != trust.Untrusted || fresh.Steps != 4*each {
		t.Errorf("got %s after %d steps, want untrusted after %d", fresh.Taint.Level, fresh.Steps, 4*each)
	}
	seen := map[uint64]bool{}
	for _, e := range a.events("s") {
		if e.Decided != nil && seen[e.Decided.Step] {
			t.Errorf("two calls are step %d", e.Decided.Step)
		} else if e.Decided != nil {
			seen[e.Decided.Step] = true
		}
	}
}

// BEY-10
func TestAnApprovalSpentAtOnceInTwoReplicasIsSpentOnce(t *testing.T) {
	for range 20 {
		a, c, code := held(t, "")
		b := a.again()
		a.ownerSays("s", ".approve deploy "+code)
		var won atomic.Int32
		var all sync.WaitGroup
		for _, w := range []*world{a, b, a, b} {
			all.Go(func() {
				retry(t, func() error {
					v, err := w.Decide(t.Context(), main("s"), c)
					if v.Allowed() {
						won.Add(1)
					}
					return err
				})
			})
		}
		all.Wait()
		if got := won.Load(); got != 1 {
			t.Fatalf("got %d calls through on one approval", got)
		}
	}
}

func TestManySessionsAtOnceWithLittleMemory(t *testing.T) {
	w := newWorld(t, "")
	w.Monitor = newMonitor(t, engine.Options{Policy: w.Policy(), Store: w.store, Now: w.clock.Now, Rand: w.dice, MaxSessions: 2, MaxHeard: 1})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 50 {
				ref := main(fmt.Sprintf("s%d", i%7))
				retry(t, func() error {
					_, err := w.Observe(t.Context(), engine.Observation{Ref: ref, Result: tool.Result{Name: "read"}})
					return err
				})
				retry(t, func() error { _, err := w.Decide(t.Context(), ref, call("read", `{}`)); return err })
			}
		})
	}
	all.Wait()
	for i := range 7 {
		s := fmt.Sprintf("s%d", i)
		verified(t, w.store, s)
		if got, want := asJSON(t, w.view(s)), asJSON(t, w.again().view(s)); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", s, got, want)
		}
	}
}
