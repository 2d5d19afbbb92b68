package engine_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/explain"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

func TestNewHasNoDefaultsForWhatDecides(t *testing.T) {
	full := engine.Options{Policy: policy.Default(), Store: memory.New(), Now: time.Now, Rand: rand.Reader}
	if _, err := engine.New(full); err != nil {
		t.Fatalf("with everything: %v", err)
	}
	tests := []struct {
		name   string
		remove func(*engine.Options)
		want   string
	}{
		{"no policy", func(o *engine.Options) { o.Policy = nil }, "no policy"},
		{"no store", func(o *engine.Options) { o.Store = nil }, "no store"},
		{"no clock", func(o *engine.Options) { o.Now = nil }, "no clock"},
		{"no randomness", func(o *engine.Options) { o.Rand = nil }, "no source of randomness"},
		{"nothing", func(o *engine.Options) { *o = engine.Options{} }, "no policy"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := full
			tt.remove(&o)
			if m, err := engine.New(o); m != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, %v; want %q", m, err, tt.want)
			}
		})
	}
}

func TestNamesAreKeysNotContent(t *testing.T) {
	w := newWorld(t, "")
	long := strings.Repeat("x", 513)
	for name, ref := range map[string]engine.Ref{
		"no session":     {},
		"a long session": {Session: long},
		"a long branch":  {Session: "s", Branch: long},
		"a long turn":    {Session: "s", Turn: long},
	} {
		errs := map[string]error{}
		_, errs["begin"] = w.Begin(t.Context(), engine.Turn{Ref: ref})
		_, errs["tools"] = w.Tools(t.Context(), engine.ModelCall{Ref: ref})
		_, errs["answered"] = w.Replied(t.Context(), engine.ModelReply{Ref: ref})
		_, errs["decide"] = w.Decide(t.Context(), ref, call("read"))
		_, errs["observe"] = w.Observe(t.Context(), engine.Observation{Ref: ref})
		_, errs["end"] = w.End(t.Context(), engine.Ending{Ref: ref})
		errs["reset"] = w.Reset(t.Context(), ref, "owner", "test")
		for verb, err := range errs {
			if !errors.Is(err, engine.ErrRef) {
				t.Errorf("%s with %s: got %v, want ErrRef", verb, name, err)
			}
		}
	}
	ok := engine.Ref{Session: long[:512], Branch: long[:512], Turn: long[:512]}
	if _, err := w.Begin(t.Context(), engine.Turn{Ref: ok, Sender: owner()}); err != nil {
		t.Errorf("names of 512 bytes: got %v", err)
	}
}

func TestWhatNobodyKnowsIsNotFound(t *testing.T) {
	w := newWorld(t, "")
	w.ownerSays("s", "hi")
	errs := map[string]error{}
	_, errs["view"] = w.View(t.Context(), "nobody")
	_, errs["graph of a session"] = w.Graph(t.Context(), "nobody", "")
	_, errs["answer without a question"] = w.Answer(t.Context(), engine.Vote{Session: "s"})
	errs["revoke"] = w.Revoke(t.Context(), "s", "grant-0", "me", "test")
	_, errs["review"] = w.Review(t.Context(), "s", "write-0", true, "me", "test")
	errs["reset"] = w.Reset(t.Context(), main("nobody"), "me", "test")
	_, errs["end"] = w.End(t.Context(), engine.Ending{Ref: main("nobody")})
	for verb, err := range errs {
		if !errors.Is(err, engine.ErrNotFound) {
			t.Errorf("%s: got %v, want ErrNotFound", verb, err)
		}
	}
}

func TestAReloadKeepsThePolicyItIsNotGiven(t *testing.T) {
	w := newWorld(t, "")
	before := w.Policy()
	w.SetPolicy(nil)
	if w.Policy() != before {
		t.Error("no policy replaced the policy in force")
	}
	next := parse(t, "preset: paranoid")
	w.SetPolicy(next)
	if w.Policy() != next {
		t.Error("the new policy is not in force")
	}
}

func TestForgottenSessionsComeBackAsTheyWere(t *testing.T) {
	w := newWorld(t, "")
	w.Monitor = newMonitor(t, engine.Options{Policy: w.Policy(), Store: w.store, Now: w.clock.Now, Rand: w.dice, MaxSessions: 4})
	codes := map[string]string{}
	views := map[string]string{}
	name := func(i int) string { return fmt.Sprintf("s%d", i) }
	for i := range 40 {
		w.ownerSays(name(i), "go")
		if i%2 == 0 {
			w.taints(name(i))
			codes[name(i)] = w.want(policy.Confirm, main(name(i)), call("deploy", `{}`)).Held.Code
		}
		views[name(i)] = asJSON(t, w.view(name(i)))
	}
	for i := range 40 {
		s := name(i)
		if got := asJSON(t, w.view(s)); got != views[s] {
			t.Fatalf("%s came back different:\n%s\nwant\n%s", s, got, views[s])
		}
		if i%2 == 1 {
			w.want(policy.Allow, main(s), call("deploy", `{}`))
			continue
		}
		w.want(policy.Confirm, main(s), call("deploy", `{"other":1}`))
		w.ownerSays(s, ".approve deploy "+codes[s])
		w.want(policy.Allow, main(s), call("deploy", `{}`))
	}
	if got := len(w.questions()); got != 20 {
		t.Errorf("got %d open questions, want those of all sessions, in memory or not: 20", got)
	}
	if got := w.Sessions(); got > 4 {
		t.Errorf("got %d sessions in memory, want at most 4", got)
	}
}

func TestTaintIsWhatAContextHoldsNow(t *testing.T) {
	w := newWorld(t, "")
	want := func(ref engine.Ref, level trust.Level) {
		t.Helper()
		if l, err := w.Taint(t.Context(), ref); err != nil || l.Level != level {
			t.Errorf("%v: got %s, %v; want %s", ref, l.Level, err, level)
		}
	}
	want(main("s"), trust.Untrusted)
	w.ownerSays("s", "go")
	want(main("s"), trust.Owner)
	w.taints("s")
	want(main("s"), trust.Untrusted)
	if got := w.Sessions(); got != 1 {
		t.Errorf("got %d sessions in memory, want 1", got)
	}
	if _, err := w.Taint(t.Context(), engine.Ref{}); !errors.Is(err, engine.ErrRef) {
		t.Errorf("of no session: got %v, want ErrRef", err)
	}
}

func TestQuestionsOfAllSessionsOldestFirst(t *testing.T) {
	w := newWorld(t, "")
	for _, s := range []string{"b", "a", "c"} {
		w.clock.advance(time.Second)
		w.ownerSays(s, "go")
		w.taints(s)
		w.want(policy.Confirm, main(s), call("deploy", `{}`))
	}
	var got []string
	for _, q := range w.questions() {
		got = append(got, q.Session)
		if q.Code != "" {
			t.Errorf("the question of %s shows its code to whoever lists questions", q.Session)
		}
	}
	if strings.Join(got, "") != "bac" {
		t.Errorf("got %v, want b a c", got)
	}
}

func TestExplainAsksTheSamePolicy(t *testing.T) {
	set := parse(t, "taintPolicy: {untrusted: hide}\nrules: [{name: r, tools: [exec], when: 'args.command == \"rm\"', effect: deny}]")
	for _, l := range trust.Levels() {
		for _, name := range []string{"exec", "Web-Fetch", "unheard_of", "gateway"} {
			e := explain.Tool(set, name, l, nil)
			d := set.Judge(&policy.Input{Tool: tool.Name(name), Taint: l, Levels: 1 << l, Tainted: l <= trust.External})
			if e.Mode != d.Effect.Mode() || e.Rule != d.Rule || e.Tool != tool.Name(name) || e.Visible == d.Hidden || e.Policy != set.Version() {
				t.Errorf("%s at %s: got %+v, the policy says %+v", name, l, e, d)
			}
		}
	}
	if e := explain.Tool(set, "exec", trust.Owner, []byte(`{"command":"rm"}`)); e.Mode != "restrict" || e.Rule != "rules.r" || !e.Visible {
		t.Errorf("with arguments: got %+v, want restrict by rules.r, the tool visible", e)
	}
	if e := explain.Tool(set, "exec", trust.Owner, []byte(`{"command":"curl https://x"}`)); e.Response != trust.Untrusted {
		t.Errorf("response of a web client: got %s by %s, want untrusted", e.Response, e.Why)
	}
	if e := explain.Tool(set, "exec", trust.Level(200), nil); e.Mode != "restrict" {
		t.Errorf("at a level that does not exist: got %s, want restrict", e.Mode)
	}
}
