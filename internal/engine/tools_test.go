package engine_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// testPolicies are the files that properties choose from.
var testPolicies = []string{
	"",
	"preset: paranoid",
	"preset: permissive",
	"preset: interactive",
	"askTools: hidden",
	"toolOverrides: {exec: {untrusted: hide, external: hide}, read: {'*': ask}}",
	"taintScope: turn\napprovalScope: turn",
	"approvalScope: turn\nannotations: {message: {taintSink: true}, read: {sensitive: true}}\nlethalTrifecta: restrict",
	"rules: [{name: no-rm, tools: [exec], when: 'args.command == \"rm\"', effect: deny}, {name: ask, tools: [cron], effect: ask}]",
	"policies: [{name: p, when: {context_taint_includes: [untrusted]}, action: {remove_tools: [exec]}}]\nmaxIterations: 4",
}

// PRV-10
func TestBothLayersAskTheSamePolicy(t *testing.T) {
	tools := []string{"exec", "read", "web_fetch", "gateway", "Apply-Patch", "unheard_of", "cron", "message", "browser"}
	rapid.Check(t, func(rt *rapid.T) {
		file := rapid.SampledFrom(testPolicies).Draw(rt, "policy")
		levels := trust.Levels()
		level := rapid.SampledFrom(levels[:]).Draw(rt, "level")
		w := newWorld(t, file)
		w.begin(engine.Turn{Ref: main("s"), Items: []event.Item{{Kind: "tool_result", Trust: level}}})
		hidden := w.tools(main("s"), tools...).Hidden
		for _, name := range tools {
			set := w.Policy()
			d := set.Judge(&policy.Input{Tool: name, Taint: level, Levels: 1<<level | 1<<trust.System, Tainted: level <= trust.External})
			closed := d.Effect == policy.Deny || d.Effect == policy.Confirm && set.Settings().HideConfirm
			if got := slices.Contains(hidden, name); got != closed {
				rt.Fatalf("%s at %s: hidden %v, but the policy without arguments says %s", name, level, got, d.Effect)
			}
			if v := w.decide(main("s"), call(name, `{"command":"ls"}`)); closed && v.Allowed() {
				rt.Fatalf("%s at %s is hidden, but runs when the model names it all the same", name, level)
			}
		}
	})
}

// PRV-10
func TestAHiddenToolTheModelNamesIsRefused(t *testing.T) {
	w := newWorld(t, "toolOverrides: {exec: {untrusted: hide}}")
	w.ownerSays("s", "go")
	w.taints("s")
	layer := w.tools(main("s"), "Exec", "cron", "read")
	if !slices.Equal(layer.Hidden, []string{"Exec"}) {
		t.Errorf("got %v hidden, want Exec as the host spells it; what only asks stays visible", layer.Hidden)
	}
	answered, err := w.Replied(t.Context(), engine.ModelReply{Ref: main("s"), Calls: []string{"exec", "read"}, Model: "m", TokensIn: 5})
	if err != nil || !slices.Equal(answered.Hidden, []string{"exec"}) {
		t.Errorf("the model's answer: got %v, %v; want exec filtered", answered.Hidden, err)
	}
	w.want(policy.Deny, main("s"), call("exec", `{}`))
	events := w.events("s")
	if i := slices.Index(kinds(events), event.ModelCalled); !slices.Equal(events[i].Model.Removed, []string{"Exec"}) {
		t.Errorf("recorded %+v", events[i].Model)
	}
	if i := slices.Index(kinds(events), event.ModelAnswered); events[i].Model.TokensIn != 5 || !slices.Equal(events[i].Model.Calls, []string{"exec", "read"}) {
		t.Errorf("recorded %+v", events[i].Model)
	}
}

func TestAModelCallAfterTheAnswerIsATurnOfItsOwn(t *testing.T) {
	w := newWorld(t, "")
	ref := engine.Ref{Session: "s", Turn: "run-1"}
	w.begin(engine.Turn{Ref: ref, Sender: owner()})
	w.end(ref)
	w.tools(ref, "read")
	if b := w.branch("s", ""); !b.Open || b.Turn == "run-1" {
		t.Errorf("got turn %q, open %v; want another turn", b.Turn, b.Open)
	}
	w.tools(main("never begun"), "read")
	w.wantLevel("never begun", trust.Untrusted)
}

func TestTheWholeContextIsKeptOnlyWhereARuleAsks(t *testing.T) {
	w := newWorld(t, "policies: [{name: keep, when: {context_taint_includes: [untrusted]}, action: {log_full_context: true}}]")
	w.ownerSays("s", "go")
	ask := func() *event.Content {
		_, err := w.Tools(t.Context(), engine.ModelCall{Ref: main("s"), Context: []byte("all of it, password=hunter22")})
		if err != nil {
			t.Fatal(err)
		}
		events := w.events("s")
		return events[len(events)-1].Model.Content
	}
	if got := ask(); got != nil {
		t.Errorf("in a clean context: got %+v kept", got)
	}
	w.taints("s")
	if got := ask(); got == nil || got.Text != "all of it, password=[REDACTED]" {
		t.Errorf("got %+v, want the context without its secret", got)
	}
}

func TestOpenSaysWhetherATurnIsOpen(t *testing.T) {
	w := newWorld(t, "")
	is := func(ref engine.Ref, want bool) {
		t.Helper()
		if got, err := w.Open(t.Context(), ref); err != nil || got != want {
			t.Errorf("%+v: got %v, %v; want %v", ref, got, err, want)
		}
	}
	ref := engine.Ref{Session: "s", Turn: "run-1"}
	is(ref, false)
	w.begin(engine.Turn{Ref: ref, Sender: owner()})
	is(ref, true)
	is(main("s"), true)
	is(engine.Ref{Session: "s", Turn: "run-2"}, false)
	w.end(ref)
	is(ref, false)
}

// SEQ-09 WAR-02: what a host described is known to whoever judges the session next, and is in the log once.
func TestDefinitionsAreKeptForWhoeverJudgesNext(t *testing.T) {
	a := newWorld(t, "preset: balanced")
	b := a.again()
	offer := func(w *world, session, description string) {
		t.Helper()
		defs := []tool.Definition{{Name: "zorp", Description: description, Schema: []byte(`{"type":"object"}`)}}
		if _, err := w.Tools(t.Context(), engine.ModelCall{Ref: main(session), Tools: []string{"zorp"}, Definitions: defs}); err != nil {
			t.Fatal(err)
		}
	}
	named := func(session string) (out []tool.Digest) {
		for _, e := range a.events(session) {
			if e.Model != nil && e.Model.Tools != nil {
				out = append(out, *e.Model.Tools)
			}
		}
		return out
	}
	a.ownerSays("s", "go")
	a.ownerSays("other", "go")
	offer(a, "s", "Reads one note.")
	offer(a, "s", "Reads one note.")
	offer(b, "s", "Reads one note.")
	offer(b, "other", "Reads one note.")
	list := named("s")
	if len(list) != 1 || len(named("other")) != 1 || named("other")[0] != list[0] {
		t.Fatalf("got %v and %v, want the same list, once in each", list, named("other"))
	}
	if e := a.events("tidemark:tools:" + list[0].String()); len(e) != 1 || len(e[0].Offered) != 1 || e[0].Offered[0].Name != "zorp" {
		t.Errorf("got %v, want the list once", e)
	}
	offer(a, "s", strings.Repeat("Deletes all notes. ", 40_000))
	if list = named("s"); len(list) != 2 || list[1] != (tool.Digest{}) {
		t.Errorf("got %v, want a list that is not kept to be known as such", list)
	}
	offer(b, "s", "Reads one note.")
	if list = named("s"); len(list) != 3 || list[2] != list[0] {
		t.Errorf("got %v, want the first list again", list)
	}
}
