package engine_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/policy"
	"pgregory.net/rapid"
)

func (w *world) stops(reason string) {
	w.Helper()
	if _, err := w.Stop(w.Context(), reason, "admin:ada", "cli"); err != nil {
		w.Fatal(err)
	}
}

func (w *world) resumes() {
	w.Helper()
	if err := w.Resume(w.Context(), "admin:ada", "cli"); err != nil {
		w.Fatal(err)
	}
}

func TestWhileEverythingIsStoppedEveryCallIsDenied(t *testing.T) {
	w := newWorld(t, "")
	w.ownerSays("s", "read notes.txt")
	w.want(policy.Allow, main("s"), call("read", `{"path":"notes.txt"}`))
	w.stops("the mail agent runs wild")
	for _, session := range []string{"s", "one that is new"} {
		v := w.want(policy.Deny, main(session), call("read", `{"path":"notes.txt"}`))
		if v.Rule != engine.RuleStopped || v.Permit != nil || !strings.Contains(v.Reasons[0].Text, "the mail agent runs wild") ||
			!strings.Contains(v.Reasons[0].Text, "admin:ada") {
			t.Errorf("got %s %v with permit %v", v.Rule, v.Reasons, v.Permit)
		}
		if said := v.Message(); strings.Contains(said, "tainted content") || !strings.Contains(said, "the mail agent runs wild") {
			t.Errorf("nothing came in, and it says %q", said)
		}
	}
	if gated, err := w.Decide(t.Context(), main("s"), call("read", `{"path":"notes.txt"}`), engine.Gated()); err != nil || gated.Effect != policy.Deny {
		t.Errorf("a call that the host asks about again: got %v %v", gated.Effect, err)
	}
	layer, err := w.Tools(t.Context(), engine.ModelCall{Ref: main("s"), Tools: []string{"read"}})
	if err != nil || !layer.Blocked || layer.Rule != engine.RuleStopped {
		t.Errorf("the model is still asked: %+v %v", layer, err)
	}
	again := w.again() // a restart
	again.want(policy.Deny, main("s"), call("read", `{"path":"notes.txt"}`))
	again.resumes()
	again.want(policy.Allow, main("s"), call("read", `{"path":"notes.txt"}`))
	if layer, err := again.Tools(t.Context(), engine.ModelCall{Ref: main("s"), Tools: []string{"read"}}); err != nil || layer.Blocked {
		t.Errorf("after it was resumed the turn is over: %+v %v", layer, err)
	}
	kinds := again.events("tidemark:stop")
	if count(kinds, event.StopSaid) != 2 || kinds[0].Answer.By != "admin:ada" || !kinds[1].Stop.Resumed {
		t.Errorf("the log has %+v", kinds)
	}
}

// An approval that is given while everything is stopped is kept for later, and opens nothing now.
func TestAnApprovalOpensNothingWhileEverythingIsStopped(t *testing.T) {
	w := newWorld(t, byLevels)
	w.ownerSays("s", "go")
	w.taints("s")
	held := w.want(policy.Confirm, main("s"), call("deploy", `{}`))
	w.stops("")
	if _, err := w.Answer(t.Context(), engine.Vote{Session: "s", IDs: []string{held.Held.ID}, Approve: true, By: "ada", Via: "cli"}); err != nil {
		t.Fatal(err)
	}
	w.want(policy.Deny, main("s"), call("deploy", `{}`))
	w.resumes()
	w.want(policy.Allow, main("s"), call("deploy", `{}`))
	w.want(policy.Confirm, main("s"), call("deploy", `{}`))
}

func TestStoppingTwiceIsStoppingOnce(t *testing.T) {
	w := newWorld(t, "")
	w.resumes() // nothing is stopped, and nothing is written
	w.stops("first")
	w.stops("second")
	s, err := w.Stopped(t.Context())
	if err != nil || s == nil || s.Reason != "first" || count(w.events("tidemark:stop"), event.StopSaid) != 1 {
		t.Errorf("got %v %v", s, err)
	}
}

// Other servers learn of it within a second, whatever their clocks do, and ask the log a few times a second at most.
func TestEveryReplicaStopsWithinASecond(t *testing.T) {
	store := newFakeStore()
	loads := 0
	store.load = func(ctx context.Context, s string, after uint64) iter.Seq2[audit.Record, error] {
		if s == "tidemark:stop" {
			loads++
		}
		return store.Store.Load(ctx, s, after)
	}
	a := newWorldOn(t, "", store)
	b := a.sharing(memory.New())
	b.ownerSays("s", "read notes.txt")
	for range 50 {
		b.want(policy.Allow, main("s"), call("read", `{"path":"notes.txt"}`))
	}
	if loads != 1 {
		t.Errorf("50 calls at one moment asked the log %d times, want once", loads)
	}
	a.stops("")
	a.clock.advance(999 * time.Millisecond)
	b.want(policy.Deny, main("s"), call("read", `{"path":"notes.txt"}`))
	a.resumes()
	a.clock.advance(-time.Hour) // a clock that goes back does not keep it
	b.want(policy.Allow, main("s"), call("read", `{"path":"notes.txt"}`))
}

// A server that cannot learn whether it is stopped lets nothing run.
func TestWhereNobodyKnowsWhetherItIsStoppedNothingRuns(t *testing.T) {
	store := newFakeStore()
	broken := false
	store.load = func(ctx context.Context, s string, after uint64) iter.Seq2[audit.Record, error] {
		if broken && s == "tidemark:stop" {
			return func(yield func(audit.Record, error) bool) { yield(audit.Record{}, errors.New("no connection")) }
		}
		return store.Store.Load(ctx, s, after)
	}
	a := newWorldOn(t, "", store)
	b := a.sharing(memory.New())
	b.ownerSays("s", "read notes.txt")
	b.want(policy.Allow, main("s"), call("read", `{"path":"notes.txt"}`))
	broken = true
	b.clock.advance(time.Second)
	if v, err := b.Decide(t.Context(), main("s"), call("read", `{"path":"notes.txt"}`)); !errors.Is(err, engine.ErrUnavailable) || v.Permit != nil {
		t.Errorf("got %v %v, want no permit and an error", v.Effect, err)
	}
	if _, err := b.Tools(t.Context(), engine.ModelCall{Ref: main("s")}); !errors.Is(err, engine.ErrUnavailable) {
		t.Errorf("the model is asked: %v", err)
	}
	broken = false
	b.want(policy.Allow, main("s"), call("read", `{"path":"notes.txt"}`))
}

// A call whose record is being written when everything is stopped does not run.
func TestAStopWhileACallIsRecordedCounts(t *testing.T) {
	store := newFakeStore()
	w := newWorldOn(t, "", store)
	w.ownerSays("s", "read notes.txt")
	stop := true
	store.append = func(ctx context.Context, s string, at uint64, e []*event.Event) error {
		if stop && e[0].Kind == event.CallDecided {
			stop = false
			w.stops("")
		}
		return store.Store.Append(ctx, s, at, e)
	}
	v := w.want(policy.Deny, main("s"), call("read", `{"path":"notes.txt"}`))
	if v.Permit != nil || v.Rule != engine.RuleStopped {
		t.Errorf("got %s with permit %v", v.Rule, v.Permit)
	}
}

// Law: whatever is said by whom at which of two servers, a call is denied exactly while the last word is to stop.
func TestTheLastWordCounts(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		a := newWorldOn(t, "", newFakeStore())
		both := []*world{a.sharing(memory.New()), a.sharing(memory.New())}
		both[0].ownerSays("s", "read notes.txt")
		stopped := false
		for range rapid.IntRange(1, 12).Draw(r, "words") {
			which := rapid.IntRange(0, 1).Draw(r, "server")
			at := both[which]
			switch rapid.IntRange(0, 2).Draw(r, "word") {
			case 0:
				at.stops("")
				stopped = true
			case 1:
				at.resumes()
				stopped = false
			case 2:
				both[which] = a.sharing(memory.New()) // it was started again
			}
			a.clock.advance(time.Second)
			want := policy.Allow
			if stopped {
				want = policy.Deny
			}
			for _, w := range both {
				w.want(want, main("s"), call("read", `{"path":"notes.txt"}`))
			}
		}
	})
}
