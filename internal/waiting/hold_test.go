package waiting_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/question"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

// ways are the ways a wait can end, each with the verdict it must end in.
var ways = []struct {
	name string
	file string
	act  func(w *world, q engine.Question)
	want policy.Effect
	rule string // of a denial
	end  string // state of the question afterwards
}{
	{
		"the owner's code lets the call run", "",
		func(w *world, q engine.Question) { w.says(main("s"), ".approve exec "+q.Code) },
		policy.Allow, "", "spent",
	}, {
		"the owner's code for all lets the call run", "",
		func(w *world, q engine.Question) { w.says(main("s"), ".approve all "+q.Code) },
		policy.Allow, "", "spent",
	}, {
		"the owner's code for some minutes lets the call run", "",
		func(w *world, q engine.Question) { w.says(main("s"), ".approve exec "+q.Code+" 5") },
		policy.Allow, "", "approved",
	}, {
		"the owner's code lets the call run where approvals are for the turn", "approvalScope: turn",
		func(w *world, q engine.Question) { w.says(main("s"), ".approve exec "+q.Code) },
		policy.Allow, "", "approved",
	}, {
		"an approver lets the call run", "",
		func(w *world, q engine.Question) {
			w.mustVote(engine.Vote{Session: "s", IDs: []string{q.ID}, Approve: true})
		},
		policy.Allow, "", "spent",
	}, {
		"a grant lets the call run", "",
		func(w *world, q engine.Question) {
			w.mustVote(engine.Vote{Session: "s", IDs: []string{q.ID}, Approve: true, For: 5 * time.Minute})
		},
		policy.Allow, "", "approved",
	}, {
		"a grant given for another question of the session lets the call run", "",
		func(w *world, _ engine.Question) {
			other := w.held(main("s"), exec(2))
			w.mustVote(engine.Vote{Session: "s", IDs: []string{other.ID}, Approve: true, For: 5 * time.Minute, Where: approval.Where{"n": "*"}})
		},
		policy.Allow, "", "moot",
	}, {
		"a grant for similar calls lets a call that fits run", "",
		func(w *world, _ engine.Question) {
			other := w.held(main("s"), exec(2))
			w.mustVote(engine.Vote{
				Session: "s", IDs: []string{other.ID}, Approve: true, For: 5 * time.Minute, Where: approval.Where{"command": "rollout *", "n": "*"},
			})
		},
		policy.Allow, "", "moot",
	}, {
		"trust that is reset lets the call run", "",
		func(w *world, _ engine.Question) {
			if err := w.Reset(context.Background(), main("s"), "anna", "http"); err != nil {
				w.Fatal(err)
			}
		},
		policy.Allow, "", "moot",
	}, {
		"trust that the owner resets by chat lets the call run", "",
		func(w *world, _ engine.Question) { w.says(main("s"), ".reset-trust") },
		policy.Allow, "", "moot",
	}, {
		"the same call that somebody else lets run makes the question pointless", "",
		func(w *world, _ engine.Question) {
			w.SetPolicy(policyOf(w, "preset: permissive\ntoolOverrides: {exec: {\"*\": allow}}"))
			if v, err := w.Decide(context.Background(), main("s"), exec(1)); err != nil || !v.Allowed() {
				w.Fatalf("got %s, %v", v.Effect, err)
			}
		},
		policy.Allow, "", "moot",
	}, {
		"the owner's denial refuses the call", "",
		func(w *world, q engine.Question) { w.says(main("s"), ".deny "+q.Code) },
		policy.Deny, "owner-denied", "denied",
	}, {
		"an approver's denial refuses the call", "",
		func(w *world, q engine.Question) {
			w.mustVote(engine.Vote{Session: "s", IDs: []string{q.ID}, Reason: "not today"})
		},
		policy.Deny, "owner-denied", "denied",
	}, {
		"a denial counts though another turn begins in the same moment", "",
		func(w *world, q engine.Question) {
			w.mustVote(engine.Vote{Session: "s", IDs: []string{q.ID}})
			w.says(main("s"), "Something else.")
		},
		policy.Deny, "owner-denied", "denied",
	}, {
		"an approval after the turn's answer went out refuses the call", "",
		func(w *world, q engine.Question) {
			if _, err := w.End(context.Background(), engine.Ending{Ref: engine.Ref{Session: "s", Turn: "r"}}); err != nil {
				w.Fatal(err)
			}
			w.mustVote(engine.Vote{Session: "s", IDs: []string{q.ID}, Approve: true})
		},
		policy.Deny, "turn-sealed", "approved",
	},
}

func policyOf(w *world, file string) *policy.Set {
	w.Helper()
	set, faults := policy.Parse("policy.yaml", []byte(file))
	if err := faults.Err(); err != nil {
		w.Fatal(err)
	}
	return set
}

// BEY-10 PRV-18
func TestAHeldCallIsResumed(t *testing.T) {
	for _, tt := range ways {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, byLevels+tt.file)
				ref := engine.Ref{Session: "s", Turn: "r"}
				w.taint(ref)
				q := w.held(ref, exec(1))
				start := time.Now()
				got := w.waits(t.Context(), ref, exec(1), time.Minute)
				synctest.Wait()
				if n := w.feed.Watching(); n != 1 {
					t.Fatalf("%d callers wait, want 1", n)
				}
				tt.act(w, q)
				v := <-got
				if v.err != nil || v.Effect != tt.want || v.Allowed() != (tt.want == policy.Allow) || v.Late || v.Held != nil {
					t.Errorf("got %s by %s, late %t, %v; want %s", v.Effect, v.Rule, v.Late, v.err, tt.want)
				}
				if tt.rule != "" && (v.Rule != tt.rule || v.Reasons[0].Rule != tt.rule || v.Reasons[0].Effect != policy.Deny) {
					t.Errorf("got rule %s, reasons %v; want %s first", v.Rule, v.Reasons, tt.rule)
				}
				if got := w.state(q); got != tt.end {
					t.Errorf("the question is %s, want %s", got, tt.end)
				}
				if took := time.Since(start); took != 0 {
					t.Errorf("it took %s after the answer, want no time", took)
				}
				w.empty()
			})
		})
	}
}

// BEY-11
func TestARefusalSaysWhoDeniedItAndWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "")
		w.taint(main("s"))
		q := w.held(main("s"), exec(1))
		got := w.waits(t.Context(), main("s"), exec(1), time.Minute)
		synctest.Wait()
		w.mustVote(engine.Vote{Session: "s", IDs: []string{q.ID}, Reason: "not today"})
		v := <-got
		if text := v.Message(); !strings.Contains(text, "anna denied this call: not today") || !strings.Contains(text, "owner-denied") {
			t.Errorf("got %q", text)
		}
		again, err := w.Decide(t.Context(), main("s"), exec(1))
		if err != nil || again.Effect != policy.Deny || again.Rule != v.Rule {
			t.Errorf("tried again: got %s by %s, %v; want the same refusal", again.Effect, again.Rule, err)
		}
	})
}

// A question that nobody answers is a timeout, never a denial: the same call may ask
// again.
//
// BEY-10 PRV-19
func TestAQuestionThatExpiresIsATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "")
		w.taint(main("s"))
		for range 2 {
			start := time.Now()
			v := <-w.waits(t.Context(), main("s"), exec(1), time.Hour)
			if v.err != nil || !v.Late || v.Effect != policy.Confirm || v.Held != nil || v.Permit != nil {
				t.Errorf("got %s, late %t, held %v, %v; want a timeout", v.Effect, v.Late, v.Held, v.err)
			}
			if v.Reasons[0].Rule != "approval-timeout" || !strings.Contains(v.Message(), "nobody denied it either") {
				t.Errorf("got %q", v.Message())
			}
			if took := time.Since(start); took != 15*time.Minute {
				t.Errorf("it took %s, want the life of the question", took)
			}
			w.empty()
		}
	})
}

// BEY-10 PRV-19
func TestPatienceThatEndsLeavesTheQuestionOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "")
		w.taint(main("s"))
		v := <-w.waits(t.Context(), main("s"), exec(1), 30*time.Second)
		if v.err != nil || v.Effect != policy.Confirm || v.Late || v.Held == nil || v.Held.Code == "" {
			t.Fatalf("got %s, late %t, %v; want the code", v.Effect, v.Late, v.err)
		}
		w.empty()
		if got := w.state(*v.Held); got != "pending" {
			t.Errorf("the question is %s, want it open", got)
		}
		w.says(main("s"), ".approve exec "+v.Held.Code)
		if again := <-w.waits(t.Context(), main("s"), exec(1), time.Second); !again.Allowed() || again.Spent != v.Held.ID {
			t.Errorf("got %s, %v; want the code to work", again.Effect, again.err)
		}
	})
}

func TestWithoutPatienceNobodyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "")
		w.taint(main("s"))
		start := time.Now()
		for _, patience := range []time.Duration{0, -time.Second} {
			if v := <-w.waits(t.Context(), main("s"), exec(1), patience); v.err != nil || v.Held == nil {
				t.Errorf("got %s, %v; want it held", v.Effect, v.err)
			}
		}
		if v := <-w.waits(t.Context(), main("s"), tool.Call{Name: "read"}, time.Hour); v.err != nil || !v.Allowed() {
			t.Errorf("got %s, %v; want a call that nothing holds to run", v.Effect, v.err)
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("it took %s, want no time", took)
		}
		w.empty()
	})
}

// Nobody waits longer than MaxWait, whatever they ask for.
func TestPatienceIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "approvalTtlSeconds: 86400")
		w.taint(main("s"))
		start := time.Now()
		v := <-w.waits(t.Context(), main("s"), exec(1), 1<<62)
		if v.err != nil || v.Held == nil || time.Since(start) != time.Hour {
			t.Errorf("got %s after %s, %v; want the code after an hour", v.Effect, time.Since(start), v.err)
		}
	})
}

// BEY-10
func TestACallerThatDisconnectsLeavesTheQuestionOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "")
		w.taint(main("s"))
		q := w.held(main("s"), exec(1))
		for range 2 {
			ctx, cancel := context.WithCancel(t.Context())
			got := w.waits(ctx, main("s"), exec(1), time.Minute)
			synctest.Wait()
			cancel()
			if v := <-got; v.Permit != nil || v.Late {
				t.Errorf("got %s, %v; want nothing", v.Effect, v.err)
			}
			w.empty()
			if got := w.state(q); got != "pending" {
				t.Errorf("the question is %s, want it open", got)
			}
		}
		w.says(main("s"), ".approve exec "+q.Code)
		if v, err := w.Decide(t.Context(), main("s"), exec(1)); err != nil || !v.Allowed() {
			t.Errorf("got %s, %v; want the call to run", v.Effect, err)
		}
	})
}

// BEY-10: a question is marked when the last who waited for it has gone, and no longer when
// somebody waits again; whoever shows it is woken each time.
func TestAQuestionNobodyWaitsForIsMarked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "")
		w.taint(main("s"))
		q := w.held(main("s"), exec(1))
		marked := func(want bool) {
			t.Helper()
			now, err := w.Question(t.Context(), "s", q.ID)
			list, _ := w.Questions(t.Context())
			v, _ := w.View(t.Context(), "s")
			if err != nil || now.Abandoned != want || list[0].Abandoned != want || v.Questions[0].Abandoned != want {
				t.Errorf("marked %t, %t and %t, %v; want %t", now.Abandoned, list[0].Abandoned, v.Questions[0].Abandoned, err, want)
			}
			if said := strings.Contains(now.Text(), "Nobody waits: "+question.NobodyWaits); said != want {
				t.Errorf("its text is %q", now.Text())
			}
		}
		marked(false) // nobody ever waited: the agent was given a code, and comes back with it
		for range 2 {
			first, leaves := context.WithCancel(t.Context())
			second, ends := context.WithCancel(t.Context())
			one := w.waits(first, main("s"), exec(1), time.Minute)
			two := w.waits(second, main("s"), exec(1), time.Minute)
			synctest.Wait()
			marked(false)
			leaves()
			<-one
			marked(false)
			woken := w.feed.QuestionsChanged()
			ends()
			<-two
			<-woken
			marked(true)
		}
		late := w.waits(t.Context(), main("s"), exec(1), time.Minute)
		synctest.Wait()
		marked(false)
		if _, err := w.Answer(t.Context(), engine.Vote{Session: "s", IDs: []string{q.ID}, By: "alice", Via: "http"}); err != nil {
			t.Fatal(err)
		}
		<-late
		if now, err := w.Question(t.Context(), "s", q.ID); err != nil || now.Abandoned {
			t.Errorf("a question that is answered is marked %t, %v", now.Abandoned, err)
		}
	})
}

// Whoever is gone when the answer comes does not use it up.
func TestAnAnswerIsNotSpentOnACallerThatIsGone(t *testing.T) {
	for name, act := range map[string]func(w *world, q engine.Question){
		"approval": func(w *world, q engine.Question) {
			w.mustVote(engine.Vote{Session: "s", IDs: []string{q.ID}, Approve: true})
		},
		"reset": func(w *world, _ engine.Question) {
			if err := w.Reset(context.Background(), main("s"), "anna", "http"); err != nil {
				w.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, byLevels)
				w.taint(main("s"))
				q := w.held(main("s"), exec(1))
				ctx, cancel := context.WithCancel(t.Context())
				got := w.waits(ctx, main("s"), exec(1), time.Minute)
				synctest.Wait()
				cancel()
				act(w, q)
				if v := <-got; v.Permit != nil {
					t.Error("a caller that is gone has a permit")
				}
				if v, err := w.Decide(t.Context(), main("s"), exec(1)); err != nil || !v.Allowed() {
					t.Errorf("got %s, %v; want the answer to be there still", v.Effect, err)
				}
				w.empty()
			})
		})
	}
}

// PRV-19
func TestAWaitGoesOnWithANewQuestionWhenTheOldOneIsDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "")
		w.taint(main("s"))
		q := w.held(main("s"), exec(1))
		got := w.waits(t.Context(), main("s"), exec(1), time.Minute)
		synctest.Wait()
		for range approval.MaxTries {
			w.says(main("s"), ".approve exec 00000000")
		}
		synctest.Wait()
		if got := w.state(q); got != "dead" {
			t.Errorf("the question is %s, want it dead", got)
		}
		fresh := w.held(main("s"), exec(1))
		if fresh.ID == q.ID {
			t.Fatal("the dead question was asked again")
		}
		w.says(main("s"), ".approve exec "+fresh.Code)
		if v := <-got; !v.Allowed() || v.Spent != fresh.ID {
			t.Errorf("got %s spending %s, %v; want the new question's approval", v.Effect, v.Spent, v.err)
		}
	})
}

// A grant for similar calls does not wake up a call that does not fit.
//
// BEY-10
func TestAGrantThatDoesNotFitLeavesTheCallWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "")
		w.taint(main("s"))
		got := w.waits(t.Context(), main("s"), exec(1), time.Hour)
		synctest.Wait()
		other := w.held(main("s"), exec(2))
		w.mustVote(engine.Vote{Session: "s", IDs: []string{other.ID}, Approve: true, For: time.Hour, Where: approval.Where{"n": "2"}})
		synctest.Wait()
		if n := w.feed.Watching(); n != 1 {
			t.Errorf("%d callers wait, want 1", n)
		}
		if v := <-got; !v.Late {
			t.Errorf("got %s by %s, %v; want a timeout", v.Effect, v.Rule, v.err)
		}
	})
}

// BEY-08
func TestAReviewedWriteIsResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "")
		w.taint(main("s"))
		write := tool.Call{Name: "write", Args: []byte(`{"path":"MEMORY.md","content":"x"}`)}
		first, err := w.Decide(t.Context(), main("s"), write)
		if err != nil || first.Write == "" {
			t.Fatalf("got %s, %v; want the write kept", first.Effect, err)
		}
		got := w.waits(t.Context(), main("s"), write, time.Minute)
		synctest.Wait()
		if _, err := w.Review(t.Context(), "s", first.Write, true, "anna", "http"); err != nil {
			t.Fatal(err)
		}
		if v := <-got; !v.Allowed() || v.Spent != first.Write {
			t.Errorf("got %s spending %q, %v; want the released write", v.Effect, v.Spent, v.err)
		}
		w.empty()
	})
}

// Two callers with the same call share one question; one approval lets one of them run.
//
// BEY-10 PRV-18
func TestOneApprovalLetsOneOfTwoCallersRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "")
		w.taint(main("s"))
		q := w.held(main("s"), exec(1))
		one, two := w.waits(t.Context(), main("s"), exec(1), time.Minute), w.waits(t.Context(), main("s"), exec(1), time.Minute)
		synctest.Wait()
		if n := w.feed.Watching(); n != 2 {
			t.Errorf("%d callers wait, want 2", n)
		}
		w.mustVote(engine.Vote{Session: "s", IDs: []string{q.ID}, Approve: true})
		a, b := <-one, <-two
		if a.Allowed() == b.Allowed() || a.err != nil || b.err != nil {
			t.Fatalf("got %s and %s, %v, %v; want one of them to run", a.Effect, b.Effect, a.err, b.err)
		}
		other := a
		if a.Allowed() {
			other = b
		}
		if other.Held == nil || other.Held.ID == q.ID {
			t.Errorf("got %+v, want a question of its own", other.Held)
		}
	})
}

// A log that cannot be written when the answer comes lets nothing run, twice.
func TestAWaitThatEndsInAFailureLetsNothingRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "")
		w.taint(main("s"))
		q := w.held(main("s"), exec(1))
		w.mustVote(engine.Vote{Session: "s", IDs: []string{q.ID}, Approve: true})
		full := errors.New("disk full")
		for range 2 {
			w.log.fail.Store(&full)
			if v := <-w.waits(t.Context(), main("s"), exec(1), time.Minute); !errors.Is(v.err, engine.ErrUnavailable) || v.Permit != nil {
				t.Errorf("got %s, %v; want ErrUnavailable", v.Effect, v.err)
			}
			w.empty()
		}
		if v := <-w.waits(t.Context(), main("s"), exec(1), time.Minute); !v.Allowed() || v.Spent != q.ID {
			t.Errorf("got %s, %v; want the approval to be there still", v.Effect, v.err)
		}
		if got := w.feed.Failures(); got != 2 {
			t.Errorf("got %d failures, want 2", got)
		}
	})
}
