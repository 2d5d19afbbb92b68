package waiting_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/policy"
)

// rounds is how often each race is run.
const rounds = 200

// race runs a story many times, each in a bubble of its own: a wake-up that is missed
// shows as a timeout at once.
func race(t *testing.T, story func(t *testing.T)) {
	t.Helper()
	for range rounds {
		synctest.Test(t, story)
		if t.Failed() {
			return
		}
	}
}

// together lets all of them start at the same moment.
func together(all ...func()) {
	var ready, done sync.WaitGroup
	start := make(chan struct{})
	for _, f := range all {
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-start
			f()
		})
	}
	ready.Wait()
	close(start)
	done.Wait()
}

// heldAgain checks that nothing is left that lets the call through once more.
func (w *world) heldAgain(n int) {
	w.Helper()
	if v, err := w.Decide(context.Background(), main("s"), exec(n)); err != nil || v.Effect != policy.Confirm || v.Permit != nil {
		w.Errorf("the same call again: got %s, %v; want it held", v.Effect, err)
	}
}

// BEY-10
func TestOneApprovesWhileAnotherDenies(t *testing.T) {
	race(t, func(t *testing.T) {
		w := newWorld(t, "")
		w.taint(main("s"))
		q := w.held(main("s"), exec(1))
		got := w.waits(t.Context(), main("s"), exec(1), time.Hour)
		synctest.Wait()
		var yes, no error
		together(
			func() { yes = w.vote(engine.Vote{Session: "s", IDs: []string{q.ID}, Approve: true}) },
			func() { no = w.vote(engine.Vote{Session: "s", IDs: []string{q.ID}}) },
		)
		v := <-got
		if (yes == nil) == (no == nil) {
			t.Fatalf("approve: %v, deny: %v; want exactly one to count", yes, no)
		}
		if v.err != nil || v.Allowed() != (yes == nil) || v.Held != nil || v.Late {
			t.Errorf("got %s by %s, %v; approve: %v", v.Effect, v.Rule, v.err, yes)
		}
		if no == nil && (v.Effect != policy.Deny || v.Rule != "owner-denied") {
			t.Errorf("got %s by %s, want the denial", v.Effect, v.Rule)
		}
		w.empty()
	})
}

// BEY-10 PRV-18
func TestTwoApproversGiveOnePermit(t *testing.T) {
	race(t, func(t *testing.T) {
		w := newWorld(t, "")
		w.taint(main("s"))
		q := w.held(main("s"), exec(1))
		var callers [3]<-chan ended
		for i := range callers {
			callers[i] = w.waits(t.Context(), main("s"), exec(1), time.Minute)
		}
		synctest.Wait()
		var won atomic.Int32
		approve := func() {
			switch err := w.vote(engine.Vote{Session: "s", IDs: []string{q.ID}, Approve: true}); {
			case err == nil:
				won.Add(1)
			case !errors.Is(err, approval.ErrGone):
				t.Errorf("answer: %v", err)
			}
		}
		together(approve, approve, func() {
			if o := w.says(main("s"), ".approve exec "+q.Code); o.Notice == "" {
				t.Error("the owner is told nothing")
			}
		})
		permits := 0
		for _, c := range callers {
			v := <-c
			if v.err != nil || !v.Allowed() && v.Held == nil {
				t.Errorf("got %s by %s, %v", v.Effect, v.Rule, v.err)
			}
			if v.Allowed() {
				permits++
			}
		}
		if permits != 1 || won.Load() > 1 {
			t.Errorf("got %d permits after %d answers, want 1", permits, won.Load())
		}
		w.heldAgain(1)
		w.empty()
	})
}

// shifted is the bubble's clock and a leap that a test makes.
type shifted struct{ leap atomic.Int64 }

func (s *shifted) now() time.Time { return time.Now().Add(time.Duration(s.leap.Load())) }

// BEY-10 PRV-19
func TestAnApprovalInTheMomentOfExpiry(t *testing.T) {
	race(t, func(t *testing.T) {
		var clock shifted
		w := newWorldOn(t, "", &counted{Store: memory.New()}, clock.now)
		w.taint(main("s"))
		q := w.held(main("s"), exec(1))
		got := w.waits(t.Context(), main("s"), exec(1), time.Hour)
		synctest.Wait()
		var yes error
		together(
			func() { yes = w.vote(engine.Vote{Session: "s", IDs: []string{q.ID}, Approve: true}) },
			func() { clock.leap.Store(int64(2 * time.Minute)) },
		)
		v := <-got
		switch {
		case yes == nil && v.Allowed() && !v.Late:
			w.heldAgain(1)
		case errors.Is(yes, approval.ErrExpired) && v.Late && v.Effect == policy.Confirm && v.Permit == nil:
		default:
			t.Errorf("approve: %v; got %s by %s, late %t, %v", yes, v.Effect, v.Rule, v.Late, v.err)
		}
		w.empty()
	})
}

// Whichever comes first, the call runs once and nothing is left of the approval.
//
// BEY-10
func TestAnApprovalInTheMomentOfAReset(t *testing.T) {
	race(t, func(t *testing.T) {
		w := newWorld(t, byLevels)
		w.taint(main("s"))
		q := w.held(main("s"), exec(1))
		got := w.waits(t.Context(), main("s"), exec(1), time.Hour)
		synctest.Wait()
		together(
			func() {
				if err := w.vote(engine.Vote{Session: "s", IDs: []string{q.ID}, Approve: true}); err != nil && !errors.Is(err, approval.ErrGone) {
					t.Errorf("answer: %v", err)
				}
			},
			func() {
				if err := w.Reset(context.Background(), main("s"), "anna", "http"); err != nil {
					t.Errorf("reset: %v", err)
				}
			},
		)
		if v := <-got; !v.Allowed() || v.err != nil {
			t.Errorf("got %s by %s, %v; want it to run", v.Effect, v.Rule, v.err)
		}
		w.taint(main("s"))
		w.heldAgain(1)
		w.empty()
	})
}

// BEY-10
func TestAnAnswerThatComesWhileTheCallIsJudged(t *testing.T) {
	for name, answer := range map[string]func(w *world, mine, other engine.Question) error{
		"an approval": func(w *world, mine, _ engine.Question) error {
			return w.vote(engine.Vote{Session: "s", IDs: []string{mine.ID}, Approve: true})
		},
		"a grant for another question": func(w *world, _, other engine.Question) error {
			return w.vote(engine.Vote{Session: "s", IDs: []string{other.ID}, Approve: true, For: time.Minute, Where: approval.Where{"n": "*"}})
		},
		"a reset": func(w *world, _, _ engine.Question) error {
			return w.Reset(context.Background(), main("s"), "anna", "http")
		},
	} {
		t.Run(name, func(t *testing.T) {
			race(t, func(t *testing.T) {
				w := newWorld(t, byLevels)
				w.taint(main("s"))
				mine, other := w.held(main("s"), exec(1)), w.held(main("s"), exec(2))
				var v ended
				together(
					func() { v = <-w.waits(t.Context(), main("s"), exec(1), time.Hour) },
					func() {
						if err := answer(w, mine, other); err != nil {
							t.Errorf("answer: %v", err)
						}
					},
				)
				if !v.Allowed() || v.err != nil {
					t.Errorf("got %s by %s, late %t, %v; want it to run", v.Effect, v.Rule, v.Late, v.err)
				}
				w.empty()
			})
		})
	}
}

// A server that stops while a call waits: the question is in the log, and the next
// server takes the answer, once.
//
// BEY-10 SEQ-09
func TestAQuestionSurvivesARestart(t *testing.T) {
	for name, answer := range map[string]func(w *world, q engine.Question) error{
		"answered by id": func(w *world, q engine.Question) error {
			return w.vote(engine.Vote{Session: "s", IDs: []string{q.ID}, Approve: true})
		},
		"answered by its code": func(w *world, q engine.Question) error {
			if o := w.says(main("s"), ".approve exec "+q.Code); o.Command != "approve" {
				return errors.New(o.Notice)
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			race(t, func(t *testing.T) {
				log := &counted{Store: memory.New()}
				old := newWorldOn(t, "", log, time.Now)
				old.taint(main("s"))
				q := old.held(main("s"), exec(1))
				ctx, stop := context.WithCancel(t.Context())
				before := old.waits(ctx, main("s"), exec(1), time.Hour)
				synctest.Wait()
				w := newWorldOn(t, "", log, time.Now)
				if got := w.state(q); got != "pending" {
					t.Errorf("after the restart the question is %s, want pending", got)
				}
				together(stop, func() {
					if err := answer(w, q); err != nil {
						t.Errorf("answer: %v", err)
					}
				})
				if v := <-before; v.Permit != nil {
					t.Error("the old server let the call run")
				}
				if v := <-w.waits(t.Context(), main("s"), exec(1), time.Hour); !v.Allowed() || v.Spent != q.ID {
					t.Errorf("got %s by %s spending %q, %v; want the approval spent", v.Effect, v.Rule, v.Spent, v.err)
				}
				if got := w.state(q); got != "spent" {
					t.Errorf("the question is %s, want spent", got)
				}
				w.heldAgain(1)
				old.empty()
				w.empty()
			})
		})
	}
}

// Two servers on one log: the approval is spent by one of them.
//
// BEY-10
func TestOneApprovalLetsOneServerRunTheCall(t *testing.T) {
	race(t, func(t *testing.T) {
		log := &counted{Store: memory.New()}
		one := newWorldOn(t, "", log, time.Now)
		one.taint(main("s"))
		q := one.held(main("s"), exec(1))
		two := newWorldOn(t, "", log, time.Now)
		two.mustVote(engine.Vote{Session: "s", IDs: []string{q.ID}, Approve: true})
		var a, b ended
		together(
			func() { a = <-one.waits(t.Context(), main("s"), exec(1), time.Second) },
			func() { b = <-two.waits(t.Context(), main("s"), exec(1), time.Second) },
		)
		if a.Allowed() == b.Allowed() {
			t.Errorf("got %s (%v) and %s (%v), want one permit", a.Effect, a.err, b.Effect, b.err)
		}
		one.empty()
		two.empty()
	})
}
