package engine_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

func inBranch(session, branch string) engine.Ref {
	return engine.Ref{Session: session, Branch: branch}
}

// spawned begins a sub-agent session of a parent.
func (w *world) spawned(child, parent string) engine.Opening {
	w.Helper()
	return w.begin(engine.Turn{Ref: main(child), Sender: trust.Sender{Provider: "discord", SpawnedBy: parent}})
}

// returns reports the result of a sub-agent session to its parent.
func (w *world) returns(parent, child string) trust.Label {
	w.Helper()
	l, err := w.Observe(w.Context(), engine.Observation{Ref: main(parent), From: child, Result: tool.Result{Name: "sessions_spawn", Content: []byte("done")}})
	if err != nil {
		w.Fatalf("observe: %v", err)
	}
	return l
}

// BEY-06 BEY-03
func TestAChildStartsFromItsParentsTaint(t *testing.T) {
	w := newWorld(t, "")
	w.ownerSays("clean", "go")
	if got := w.spawned("child of clean", "clean").Taint.Level; got != trust.Local {
		t.Errorf("child of a clean parent: got %s, want local", got)
	}
	w.ownerSays("dirty", "go")
	w.taints("dirty")
	open := w.spawned("child of dirty", "dirty")
	if open.Taint.Level != trust.Untrusted || open.Level != trust.Local {
		t.Errorf("child of a tainted parent: got %s, classified %s; want untrusted, local", open.Taint.Level, open.Level)
	}
	v := w.want(policy.Confirm, main("child of dirty"), call("deploy", `{}`))
	if got := engine.Evidence(v.Taint); got == "" {
		t.Error("the child does not know where its taint comes from")
	}
	if got := w.spawned("grandchild", "child of dirty").Taint.Level; got != trust.Untrusted {
		t.Errorf("grandchild: got %s, want untrusted", got)
	}
	if got := w.spawned("orphan", "nobody knows").Taint.Level; got != trust.Local {
		t.Errorf("child of a parent nobody knows: got %s, want its classification, local", got)
	}
}

// BEY-06 BEY-03
func TestAResultCarriesTheChildsTaintBack(t *testing.T) {
	w := newWorld(t, "")
	w.ownerSays("parent", "go")
	w.want(policy.Allow, main("parent"), call("sessions_spawn", `{}`))
	w.spawned("child", "parent")
	w.taints("child")
	w.wantLevel("parent", trust.Owner) // it has a context of its own
	if l := w.returns("parent", "child"); l.Level != trust.Untrusted {
		t.Errorf("the result: got %s, want untrusted", l.Level)
	}
	w.wantLevel("parent", trust.Untrusted)
	w.want(policy.Confirm, main("parent"), call("deploy", `{}`))

	w.ownerSays("p2", "go")
	w.spawned("c2", "p2")
	w.runs(main("c2"), call("read", `{}`), "x")
	if l := w.returns("p2", "c2"); l.Level != trust.Local {
		t.Errorf("the result of a clean child: got %s, want local", l.Level)
	}
}

// BEY-06
func TestAChildNobodyKnowsIsUntrusted(t *testing.T) {
	w := newWorld(t, "")
	w.ownerSays("parent", "go")
	if l := w.returns("parent", "nobody saw it"); l.Level != trust.Untrusted {
		t.Errorf("its result: got %s, want untrusted", l.Level)
	}
	// The result of a sub-agent may also start a turn, by a host that names no sender.
	open := w.begin(engine.Turn{Ref: main("p2"), From: "nobody saw it"})
	if open.Taint.Level != trust.Untrusted {
		t.Errorf("a turn started by its result: got %s, want untrusted", open.Taint.Level)
	}
	w.ownerSays("known", "go")
	w.taints("known")
	if open := w.begin(engine.Turn{Ref: main("p3"), From: "known"}); open.Taint.Level != trust.Untrusted {
		t.Errorf("a turn started by a tainted child's result: got %s, want untrusted", open.Taint.Level)
	}
}

// BEY-06
func TestTaintCannotBeLaunderedThroughAChild(t *testing.T) {
	w := newWorld(t, "")
	w.ownerSays("parent", "go")
	w.spawned("child", "parent")
	// The child fetches a page and hands over before anybody reports the result.
	w.want(policy.Allow, main("child"), call("web_fetch", `{"url":"https://evil.example"}`))
	if l := w.returns("parent", "child"); l.Level != trust.Untrusted {
		t.Errorf("a result that hides what it stands on: got %s, want untrusted", l.Level)
	}
	// And a parent cannot get rid of its taint by asking a child that did nothing.
	w.spawned("washer", "parent")
	w.returns("parent", "washer")
	w.wantLevel("parent", trust.Untrusted)
	if got := w.branch("washer", "").Taint.Level; got != trust.Untrusted {
		t.Errorf("the second child: got %s, want untrusted", got)
	}
}

// BEY-03
func TestBranchesOfOneSessionDiffer(t *testing.T) {
	w := newWorld(t, byLevels)
	w.ownerSays("s", "go")
	a, b := inBranch("s", "a"), inBranch("s", "b")
	w.begin(engine.Turn{Ref: a, Forked: true, Sender: owner()})
	w.runs(a, call("web_fetch", `{"url":"https://evil.example"}`), "x")
	w.begin(engine.Turn{Ref: b, Forked: true, Sender: owner()})
	w.want(policy.Confirm, a, call("deploy", `{}`))
	w.want(policy.Allow, b, call("deploy", `{}`))
	w.want(policy.Allow, main("s"), call("deploy", `{}`))
	c := inBranch("s", "c")
	if open := w.begin(engine.Turn{Ref: c, Parent: "a", Sender: owner()}); open.Taint.Level != trust.Untrusted {
		t.Errorf("a fork of the tainted branch: got %s, want untrusted", open.Taint.Level)
	}
	if open := w.begin(engine.Turn{Ref: inBranch("s", "d"), Parent: "never begun", Sender: owner()}); open.Taint.Level != trust.Untrusted {
		t.Errorf("a fork of a branch nobody began: got %s, want untrusted", open.Taint.Level)
	}
	v := w.view("s")
	if v.Taint.Level != trust.Untrusted || len(v.Branches) != 5 {
		t.Errorf("the session: got %s over %d branches, want untrusted over 5", v.Taint.Level, len(v.Branches))
	}
}

// BEY-06
func TestABranchOfTheSameSessionCarriesItsTaintBack(t *testing.T) {
	w := newWorld(t, "")
	w.ownerSays("s", "go")
	child := inBranch("s", "child")
	w.begin(engine.Turn{Ref: child, Forked: true, Sender: trust.Sender{Provider: "discord", SpawnedBy: "s"}})
	w.runs(child, call("web_fetch", `{"url":"https://evil.example"}`), "x")
	w.wantLevel("s", trust.Owner)
	if l := w.returns("s", "s"); l.Level != trust.Untrusted {
		t.Errorf("the branch's result: got %s, want untrusted", l.Level)
	}
	w.wantLevel("s", trust.Untrusted)
}

// BEY-06
func TestAForkTakesWhatItsParentStillWaitsFor(t *testing.T) {
	w := newWorld(t, "")
	w.ownerSays("s", "go")
	w.want(policy.Allow, main("s"), call("web_fetch", `{"url":"https://evil.example"}`))
	open := w.begin(engine.Turn{Ref: inBranch("s", "b"), Forked: true, Sender: owner()})
	if open.Taint.Level != trust.Untrusted {
		t.Errorf("got %s, want untrusted: the page may be in the forked context", open.Taint.Level)
	}
}

// BEY-03
func TestOnlyTheFirstTurnOfABranchIsAFork(t *testing.T) {
	w := newWorld(t, "")
	w.ownerSays("s", "go")
	b := inBranch("s", "b")
	w.begin(engine.Turn{Ref: b, Forked: true, Sender: owner()})
	w.taints("s")
	hello := "hello"
	if open := w.begin(engine.Turn{Ref: b, Forked: true, Sender: owner(), Message: &hello}); open.Taint.Level != trust.Owner {
		t.Errorf("got %s; what the parent read after the fork is not in the branch", open.Taint.Level)
	}
}

// readsBack reports what a tool that speaks for other sessions brought, with no word of
// the host about whose it is.
func (w *world) readsBack(parent, args string) trust.Level {
	w.Helper()
	result := tool.Result{Name: "sessions_history", Args: []byte(args), Content: []byte("they said")}
	l, err := w.Observe(w.Context(), engine.Observation{Ref: main(parent), Result: result})
	if err != nil {
		w.Fatalf("observe: %v", err)
	}
	return l.Level
}

// BEY-06
func TestWhatASubAgentSaidCarriesItsTaintWhoeverReadsItBack(t *testing.T) {
	family := func(t *testing.T) *world {
		w := newWorld(t, "")
		w.ownerSays("parent", "go")
		w.spawned("clean", "parent")
		w.spawned("dirty", "parent")
		w.taints("dirty")
		w.ownerSays("other", "go")
		return w
	}
	tests := []struct {
		name, reader, args string
		want               trust.Level
	}{
		{"the session the call asked about", "parent", `{"sessionKey":"clean"}`, trust.Local},
		{"a tainted session the call asked about", "parent", `{"sessionKey":"dirty"}`, trust.Untrusted},
		{"a tainted session, read by a stranger to it", "other", `{"session_key":"dirty"}`, trust.Untrusted},
		{"no session in particular: all sub-agents", "parent", `{"limit":5}`, trust.Untrusted},
		{"a session nobody knows: all sub-agents", "parent", `{"sessionKey":"nobody"}`, trust.Untrusted},
		{"itself: all sub-agents", "parent", `{"sessionKey":"parent"}`, trust.Untrusted},
		{"no sub-agents at all", "other", `{}`, trust.Local},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := family(t).readsBack(tt.reader, tt.args); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	t.Run("after a restart, a session the call asked about", func(t *testing.T) {
		if got := family(t).again().readsBack("parent", `{"sessionKey":"dirty"}`); got != trust.Untrusted {
			t.Errorf("got %s, want untrusted", got)
		}
	})
	t.Run("after a restart, a sub-agent that has spoken since", func(t *testing.T) {
		w := family(t).again()
		w.view("dirty")
		if got := w.readsBack("parent", `{}`); got != trust.Untrusted {
			t.Errorf("got %s, want untrusted", got)
		}
	})
}

// BEY-03
func TestABranchOfUnknownParentStartsFromTheWholeSession(t *testing.T) {
	w := newWorld(t, "")
	w.ownerSays("s", "go")
	w.begin(engine.Turn{Ref: inBranch("s", "a"), Forked: true, Sender: owner()})
	w.runs(inBranch("s", "a"), call("web_fetch", `{"url":"https://evil.example"}`), "x")
	if open := w.begin(engine.Turn{Ref: inBranch("s", "b"), Sender: owner()}); open.Taint.Level != trust.Untrusted {
		t.Errorf("got %s, want untrusted: nobody says what the branch was made from", open.Taint.Level)
	}
	if open := w.begin(engine.Turn{Ref: inBranch("new", "b"), Sender: owner()}); open.Taint.Level != trust.Owner {
		t.Errorf("the first branch of a session: got %s, want owner", open.Taint.Level)
	}
}

// BEY-06
func TestAParentOfManyForgetsNone(t *testing.T) {
	store := newFakeStore()
	w := newWorldOn(t, "", store)
	w.Monitor = newMonitor(t, engine.Options{Policy: w.Policy(), Store: store, Now: w.clock.Now, Rand: w.dice, MaxSessions: 8})
	w.ownerSays("parent", "go")
	for i := range 300 {
		w.spawned(fmt.Sprintf("child-%d", i), "parent")
	}
	w.spawned("child-299", "parent") // again: it is one child still
	w.taints("child-0")
	store.load = func(ctx context.Context, session string, after uint64) iter.Seq2[audit.Record, error] {
		if session == "child-0" || session == "parent" {
			return store.Store.Load(ctx, session, after)
		}
		return unreadable(errors.New("disk gone"))(ctx, session, after)
	}
	if _, err := w.Observe(t.Context(), engine.Observation{Ref: main("parent"), Result: tool.Result{Name: "sessions_history"}}); !errors.Is(err, engine.ErrUnavailable) {
		t.Errorf("with a log that cannot be read: got %v, want ErrUnavailable", err)
	}
	store.load = nil
	if got := w.readsBack("parent", `{}`); got != trust.Untrusted {
		t.Errorf("got %s, want untrusted", got)
	}
	w.ownerSays("other", "go")
	w.spawned("other-child", "other")
	w.taints("other-child")
	if got := w.again().readsBack("other", `{}`); got != trust.Untrusted {
		t.Errorf("after a restart: got %s, want untrusted", got)
	}
}
