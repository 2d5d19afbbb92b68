package engine_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// memoryWrite is a call whose bytes no encoder would write this way.
func memoryWrite() tool.Call {
	return call("write", `{ "path" : "MEMORY.md",  "content":"hours \u0039-5 \/ <b>" }`)
}

func quarantined(t *testing.T, file string) (w *world, id string) {
	t.Helper()
	w = newWorld(t, file)
	w.ownerSays("s", "remember the page")
	w.taints("s")
	v := w.decide(main("s"), memoryWrite())
	if v.Effect == policy.Allow || v.Write == "" || !strings.Contains(v.Message(), "kept for the owner's review") || strings.Contains(v.Message(), v.Write) {
		t.Fatalf("got %s, kept as %q; want the write held", v.Effect, v.Write)
	}
	return w, v.Write
}

// BEY-08
func TestAHeldWriteIsReleasedOnceAsItWas(t *testing.T) {
	w, id := quarantined(t, "")
	if again := w.want(policy.Confirm, main("s"), memoryWrite()); again.Write != id {
		t.Errorf("trying again kept it twice: %s and %s", id, again.Write)
	}
	w.end(main("s"))
	got, err := w.Review(t.Context(), "s", id, true, "desk", "http")
	if err != nil {
		t.Fatal(err)
	}
	if string(got.Args) != string(memoryWrite().Args) || got.Digest() != memoryWrite().Digest() {
		t.Errorf("got %s, want the exact bytes", got.Args)
	}
	w.ownerSays("s", "go on")
	w.want(policy.Confirm, main("s"), call("write", `{"path":"MEMORY.md","content":"other"}`))
	if v := w.want(policy.Allow, main("s"), got); v.Spent != id {
		t.Errorf("spent %q, want the release %q", v.Spent, id)
	}
	w.want(policy.Confirm, main("s"), got)
	if _, err := w.Review(t.Context(), "s", id, true, "desk", "http"); err == nil {
		t.Error("a write was released twice")
	}
}

// BEY-08
func TestADiscardedWriteDoesNotRunAndIsNotLost(t *testing.T) {
	w, id := quarantined(t, "")
	got, err := w.Review(t.Context(), "s", id, false, "desk", "http")
	if err != nil || got.Digest() != memoryWrite().Digest() {
		t.Fatalf("got %s, %v; want the write returned for the record", got.Args, err)
	}
	w.want(policy.Confirm, main("s"), memoryWrite())
	v := w.view("s").Writes
	if len(v) != 2 || v[0].Status == v[1].Status { // discarded, and held anew
		t.Errorf("got %+v", v)
	}
	var e *engine.AnswerError
	if _, err := w.Review(t.Context(), "s", id, true, "desk", "http"); !errors.As(err, &e) {
		t.Errorf("releasing it after all: got %v, want an AnswerError", err)
	}
}

// BEY-08
func TestAWriteThatIsApprovedIsNoLongerHeld(t *testing.T) {
	w, _ := quarantined(t, "")
	q := w.view("s").Questions[0]
	if _, err := w.Answer(t.Context(), engine.Vote{Session: "s", IDs: []string{q.ID}, Approve: true, By: "desk", Via: "http"}); err != nil {
		t.Fatal(err)
	}
	w.want(policy.Allow, main("s"), memoryWrite())
	if got := w.view("s").Writes; len(got) != 1 || got[0].Status != "released" {
		t.Errorf("got %+v, want it released", got)
	}
}

// BEY-08
func TestAReviewAnswersTheQuestionToo(t *testing.T) {
	for _, release := range []bool{true, false} {
		w, id := quarantined(t, "")
		if _, err := w.Review(t.Context(), "s", id, release, "desk", "http"); err != nil {
			t.Fatal(err)
		}
		for _, q := range w.view("s").Questions {
			if q.State == "pending" {
				t.Errorf("released %v: the question is still open", release)
			}
		}
	}
}

// BEY-08
func TestAWriteThatCannotBeReadBackIsNotReleased(t *testing.T) {
	store := newFakeStore()
	w := newWorldOn(t, "", store)
	w.ownerSays("s", "go")
	w.taints("s")
	id := w.want(policy.Confirm, main("s"), memoryWrite()).Write
	records := map[string]func(yield func(audit.Record, error) bool){
		"an error": func(yield func(audit.Record, error) bool) { yield(audit.Record{}, errors.New("disk gone")) },
		"another record": func(yield func(audit.Record, error) bool) {
			yield(audit.Record{Kind: "turn.sealed", Body: []byte(`{"seen":{}}`)}, nil)
		},
		"no record": func(func(audit.Record, error) bool) {},
	}
	for name, seq := range records {
		store.load = func(context.Context, string, uint64) iter.Seq2[audit.Record, error] { return seq }
		if c, err := w.Review(t.Context(), "s", id, true, "desk", "http"); err == nil || c.Name != "" {
			t.Errorf("%s: got %v, %v; want an error", name, c, err)
		}
	}
	store.load = nil
	if _, err := w.Review(t.Context(), "s", id, true, "desk", "http"); err != nil {
		t.Errorf("when it can be read again: %v", err)
	}
}

// BEY-08
func TestAReleaseHasItsLimits(t *testing.T) {
	limits := map[string]func(*world){
		"its time":          func(w *world) { w.clock.advance(15 * time.Minute) },
		"a change of rules": func(w *world) { w.SetPolicy(parse(w, "maxIterations: 11")) },
	}
	for name, pass := range limits {
		t.Run(name, func(t *testing.T) {
			w, id := quarantined(t, "")
			if _, err := w.Review(t.Context(), "s", id, true, "desk", "http"); err != nil {
				t.Fatal(err)
			}
			pass(w)
			w.want(policy.Confirm, main("s"), memoryWrite())
		})
	}
	t.Run("what the policy forbids outright", func(t *testing.T) {
		w, id := quarantined(t, "toolOverrides: {write: {untrusted: hide}}")
		if _, err := w.Review(t.Context(), "s", id, true, "desk", "http"); err != nil {
			t.Fatal(err)
		}
		w.want(policy.Deny, main("s"), memoryWrite())
	})
	t.Run("not the level: a person has read it", func(t *testing.T) {
		w := newWorld(t, byLevels)
		w.ownerSays("s", "go")
		w.runs(main("s"), call("vestige_search", `{}`), "x")
		id := w.want(policy.Confirm, main("s"), memoryWrite()).Write
		w.taints("s")
		if _, err := w.Review(t.Context(), "s", id, true, "desk", "http"); err != nil {
			t.Fatal(err)
		}
		w.want(policy.Allow, main("s"), memoryWrite())
	})
}

// BEY-08
func TestAHeldWriteSurvivesARestart(t *testing.T) {
	w, id := quarantined(t, "")
	restarted := w.again()
	got, err := restarted.Review(t.Context(), "s", id, true, "desk", "http")
	if err != nil || got.Digest() != memoryWrite().Digest() {
		t.Fatalf("got %s, %v", got.Args, err)
	}
	restarted.want(policy.Allow, main("s"), got)
}

func TestWhatIsNoMemoryWriteIsNotKept(t *testing.T) {
	w := newWorld(t, "")
	w.ownerSays("s", "go")
	w.want(policy.Allow, main("s"), memoryWrite()) // clean: it simply runs
	w.taints("s")
	for _, c := range []tool.Call{
		call("write", `{"path":"notes.txt","content":"x"}`),
		call("write", `not an object`),
		call("exec", `{"command":"ls"}`),
	} {
		if v := w.decide(main("s"), c); v.Write != "" {
			t.Errorf("%s %s: kept as %s", c.Name, c.Args, v.Write)
		}
	}
	if got := w.view("s").Writes; len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

// HOOK-16
func TestTheFooterNamesWhatTheAnswerStandsOn(t *testing.T) {
	w := newWorld(t, "provenanceFooter: true")
	w.ownerSays("s", "go")
	if e := w.end(main("s")); e.Footer || e.Taint.Level != trust.Owner {
		t.Errorf("of a trusted answer: got %v at %s", e.Footer, e.Taint.Level)
	}
	w.ownerSays("s", "go")
	w.want(policy.Allow, main("s"), call("web_fetch", `{"url":"https://evil.example"}`)) // nobody reports its result
	if e := w.end(main("s")); !e.Footer || !strings.Contains(hook.Footer(e.Taint), "untrusted content (web_fetch)") {
		t.Errorf("got %v and %q, want the page named", e.Footer, hook.Footer(e.Taint))
	}
	w.ownerSays("t", "go")
	w.runs(main("t"), call("vestige_search", `{}`), "x")
	if e := w.end(main("t")); !e.Footer || !strings.Contains(hook.Footer(e.Taint), "shared content (vestige_search)") {
		t.Errorf("got %v and %q, want the memory named", e.Footer, hook.Footer(e.Taint))
	}
	silent := newWorld(t, "")
	silent.ownerSays("s", "go")
	silent.taints("s")
	if e := silent.end(main("s")); e.Footer {
		t.Error("a footer is wanted where the policy asks for none")
	}
}

// HOOK-16
func TestTheNoticeQuotesNothing(t *testing.T) {
	w := newWorld(t, "taintNotice: true")
	w.ownerSays("s", "go")
	if l := w.tools(main("s")); l.Notice {
		t.Error("a notice is wanted in a trusted context")
	}
	w.taints("s")
	l := w.tools(main("s"))
	notice := hook.TaintNotice(l.Taint)
	if !l.Notice || !strings.Contains(notice, "untrusted") || strings.Contains(notice, "Ignore your instructions") || strings.Contains(notice, "evil.example") {
		t.Errorf("got %v and %q; untrusted words must not come to stand in the system prompt", l.Notice, notice)
	}
	silent := newWorld(t, "")
	silent.ownerSays("s", "go")
	silent.taints("s")
	if l := silent.tools(main("s")); l.Notice {
		t.Error("a notice is wanted where the policy asks for none")
	}
}
