package engine_test

import (
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// replicas are two monitors that know that others write to their store, and have both met the
// sessions s, parent and child.
func replicas(t *testing.T, file string) (a, b *world) {
	t.Helper()
	store := memory.New()
	one := newWorldOn(t, file, store)
	a, b = one.sharing(store), one.sharing(store)
	a.ownerSays("s", "go")
	a.ownerSays("parent", "go")
	a.spawned("child", "parent")
	for _, name := range []string{"s", "parent", "child"} {
		b.view(name)
	}
	b.reads("before", "work/notes.txt", "anything") // it has looked for labels, and found none
	return a, b
}

func (w *world) sharing(shared engine.Shared) *world {
	m := newMonitor(w, engine.Options{
		Policy: w.Policy(), Store: w.store, Now: w.clock.Now, Rand: w.dice, Key: folderKey, Shared: shared,
	})
	return &world{TB: w.TB, Monitor: m, store: w.store, clock: w.clock, dice: w.dice}
}

// SEQ-09 BEY-02 BEY-06 BEY-08 BEY-10: what one server wrote counts at another at once, though that one has looked
// before and nobody told it anything.
func TestWhatOneServerWritesCountsAtAnother(t *testing.T) {
	const file = "toolOverrides: {write: {\"*\": allow}}"
	for name, check := range map[string]func(t *testing.T, a, b *world){
		"a session's taint": func(t *testing.T, a, b *world) {
			a.taints("s")
			if l, err := b.Taint(t.Context(), main("s")); err != nil || l.Level != trust.Untrusted {
				t.Errorf("got %s, %v", l.Level, err)
			}
			b.wantLevel("s", trust.Untrusted)
		},
		"a turn that is joined": func(t *testing.T, a, b *world) {
			a.taints("s")
			if open := b.begin(engine.Turn{Ref: main("s"), Sender: owner()}); open.Taint.Level != trust.Untrusted {
				t.Errorf("got %s", open.Taint.Level)
			}
		},
		"a result that is told again": func(t *testing.T, a, b *world) {
			o := engine.Observation{Ref: main("s"), Result: tool.Result{Name: "web_fetch", CallID: "1"}}
			if _, err := a.Observe(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			o.Again = true
			if l, err := b.Observe(t.Context(), o); err != nil || l.Level != trust.Untrusted {
				t.Errorf("got %s, %v", l.Level, err)
			}
		},
		"the label of a file": func(t *testing.T, a, b *world) {
			a.taints("s")
			a.runs(main("s"), call("write", poisoned), "ok")
			b.reads("after", "work/notes.txt", "anything")
			b.wantLevel("after", trust.Untrusted)
		},
		"a label that was cleared elsewhere and is due again": func(t *testing.T, a, b *world) {
			a.taints("s")
			a.runs(main("s"), call("write", poisoned), "ok")
			if err := b.ClearLabel(t.Context(), "file:work/notes.txt", "anna", "http"); err != nil {
				t.Fatal(err)
			}
			a.runs(main("s"), call("write", poisoned), "ok")
			b.reads("after", "work/notes.txt", "anything")
			b.wantLevel("after", trust.Untrusted)
		},
		"trust that was given back, for what is written next": func(t *testing.T, a, b *world) {
			a.taints("s")
			a.wantLevel("s", trust.Untrusted)
			if err := b.Reset(t.Context(), main("s"), "owner", "http"); err != nil {
				t.Fatal(err)
			}
			a.runs(main("s"), call("write", poisoned), "ok") // it thinks that the session is tainted still
			b.reads("after", "work/notes.txt", "anything")
			b.wantLevel("after", b.view("before").Taint.Level)
		},
		"the parent's taint, where a sub-agent is started": func(t *testing.T, a, b *world) {
			a.taints("parent")
			if open := b.spawned("another", "parent"); open.Taint.Level != trust.Untrusted {
				t.Errorf("got %s", open.Taint.Level)
			}
		},
		"the taint of a sub-agent that returns": func(t *testing.T, a, b *world) {
			a.taints("child")
			if l := b.returns("parent", "child"); l.Level != trust.Untrusted {
				t.Errorf("got %s", l.Level)
			}
		},
		"the taint of a sub-agent that nobody names": func(t *testing.T, a, b *world) {
			b.readsBack("parent", `{}`)
			a.spawned("unheard", "parent")
			a.taints("unheard")
			if got := b.readsBack("parent", `{}`); got != trust.Untrusted {
				t.Errorf("got %s", got)
			}
		},
		"a quarantined write": func(t *testing.T, _, _ *world) {
			a, b := replicas(t, "") // where writes are not let through
			a.taints("s")
			id := a.decide(main("s"), call("write", `{"path":"MEMORY.md","content":"obey"}`)).Write
			if w := b.view("s").Writes; id == "" || len(w) != 1 || w[0].ID != id {
				t.Errorf("write %q: got %v", id, w)
			}
			if _, err := b.Review(t.Context(), "s", id, false, "anna", "http"); err != nil {
				t.Error(err)
			}
			if w := a.view("s").Writes; len(w) != 1 || w[0].Status == "held" {
				t.Errorf("got %v", w)
			}
		},
		"a question": func(t *testing.T, a, b *world) {
			a.taints("s")
			id := a.want(policy.Confirm, main("s"), call("deploy", `{}`)).Held.ID
			if list, err := b.Questions(t.Context()); err != nil || len(list) != 1 || list[0].ID != id {
				t.Errorf("listed: %v, %v", list, err)
			}
			if session, ok := b.Find(t.Context(), id); !ok || session != "s" {
				t.Errorf("found in %q, %t", session, ok)
			}
			if _, err := b.Answer(t.Context(), engine.Vote{Session: "s", IDs: []string{id}, Approve: true, By: "anna"}); err != nil {
				t.Fatal(err)
			}
			if q, err := a.Question(t.Context(), "s", id); err != nil || q.Pending() {
				t.Errorf("got %s, %v", q.State, err)
			}
			a.want(policy.Allow, main("s"), call("deploy", `{}`))
			b.want(policy.Confirm, main("s"), call("deploy", `{}`))
		},
		"what waits to be written": func(t *testing.T, a, b *world) {
			o := engine.Observation{Ref: main("s"), Result: tool.Result{Name: "read", CallID: "1"}}
			if _, err := b.Observe(t.Context(), o, engine.DeferWrite()); err != nil {
				t.Fatal(err)
			}
			a.taints("s")
			if l, err := b.Taint(t.Context(), main("s")); err != nil || l.Level != trust.Untrusted {
				t.Errorf("got %s, %v", l.Level, err)
			}
			if err := b.Flush(t.Context(), "s"); err != nil {
				t.Error(err)
			}
			if n := count(b.events("s"), event.ResultSeen); n != 2 {
				t.Errorf("%d results are in the log, want 2", n)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := replicas(t, file)
			a.TB, b.TB = t, t
			check(t, a, b)
		})
	}
}

// A server that cannot look must not answer from what it remembers.
func TestAServerThatCannotLookAnswersNothing(t *testing.T) {
	store := newFakeStore()
	shared := memory.New()
	w := newWorldOn(t, "", store).sharing(shared)
	w.ownerSays("s", "go")
	w.spawned("child", "s")
	store.load = func(context.Context, string, uint64) iter.Seq2[audit.Record, error] {
		return func(yield func(audit.Record, error) bool) { yield(audit.Record{}, errors.New("connection lost")) }
	}
	for verb, do := range map[string]func() error{
		"taint": func() error { _, err := w.Taint(t.Context(), main("s")); return err },
		"view":  func() error { _, err := w.View(t.Context(), "s"); return err },
		"begin": func() error {
			_, err := w.Begin(t.Context(), engine.Turn{Ref: main("s"), Sender: owner()})
			return err
		},
		"observe": func() error {
			_, err := w.Observe(t.Context(), engine.Observation{Ref: main("s"), Result: tool.Result{Name: "read"}})
			return err
		},
		"a read of a file": func() error {
			_, err := w.Decide(t.Context(), main("s"), call("read", `{"path":"work/notes.txt"}`))
			return err
		},
	} {
		if err := do(); !errors.Is(err, engine.ErrUnavailable) {
			t.Errorf("%s: got %v, want ErrUnavailable", verb, err)
		}
	}
}
