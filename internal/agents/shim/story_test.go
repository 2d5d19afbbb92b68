package shim_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/tool"
)

// code is the code of the open question of a session, which no agent is told.
func (w *world) code(told string) string {
	w.t.Helper()
	open, err := w.monitor.Questions(w.t.Context())
	if err != nil || len(open) == 0 {
		w.t.Fatalf("got %d open questions (%v), want one", len(open), err)
	}
	q := open[len(open)-1]
	v, err := w.monitor.Decide(w.t.Context(), engine.Ref{Session: q.Session, Branch: q.Branch}, tool.Call{Name: q.Tool, Args: []byte(q.Args)})
	if err != nil || v.Held == nil || v.Held.ID != q.ID {
		w.t.Fatalf("got %+v (%v), want the question %s", v.Held, err, q.ID)
	}
	if strings.Contains(told, v.Held.Code) || strings.Contains(told, q.ID) {
		w.t.Errorf("the model is told the code or the question: %s", told)
	}
	return v.Held.Code
}

// approve answers every open question as an approver does.
func (w *world) approve() {
	w.t.Helper()
	open, err := w.monitor.Questions(w.t.Context())
	for _, q := range open {
		if err == nil {
			_, err = w.monitor.Answer(w.t.Context(), engine.Vote{Session: q.Session, IDs: []string{q.ID}, Approve: true, By: "approver", Via: "http"})
		}
	}
	if err != nil || len(open) == 0 {
		w.t.Fatalf("got %d open questions, %v", len(open), err)
	}
}

// The same story in every dialect: a page is read, a command is held for it, a chat command
// over a door that the agent can use too approves nothing, the owner approves elsewhere, the
// same command runs.
//
// WAR-10
func TestEveryAgentHoldsACommandAfterAPageAndResumesAfterApproval(t *testing.T) {
	for _, name := range catalogue.Names() {
		t.Run(name, func(t *testing.T) {
			w, story := open(t), lines(t, name+"-story.jsonl")
			if name == "droid" { // a session whose start was not seen is nobody's
				told(t, w, name, droidOwn("s-1"), false)
			}
			for i, l := range story[:3] {
				if p := w.run(name, l.Event, l.Body); refuses(name, p) || p.err != "" {
					t.Fatalf("line %d: got %+v, want it to pass", i+1, p)
				}
			}
			held := w.run(name, story[3].Event, story[3].Body)
			if !refuses(name, held) {
				t.Fatalf("a command after a page: got %+v, want it refused", held)
			}
			if said := held.err + held.out; !strings.Contains(said, "Tool 'exec' is blocked") || !strings.Contains(said, "tidemark approvals watch") {
				t.Fatalf("reason %q, want the tool and how the owner answers", said)
			}
			approve := bytes.ReplaceAll(story[4].Body, []byte("CODE"), []byte(w.code(held.err+held.out)))
			p := w.run(name, story[4].Event, approve)
			if refuses(name, p) || !strings.Contains(p.out+p.err, "Not accepted here") {
				t.Fatalf("a chat command: got %+v, want it not taken, and told", p)
			}
			if p := w.run(name, story[3].Event, story[3].Body); !refuses(name, p) {
				t.Fatalf("after the chat command: got %+v, want it refused still", p)
			}
			w.approve()
			if p := w.run(name, story[3].Event, story[3].Body); refuses(name, p) {
				t.Errorf("the approved command: got %+v, want it to pass", p)
			}
		})
	}
}

// Whatever goes to standard output is one JSON object or nothing.
func TestStandardOutputHoldsNothingButTheVerdict(t *testing.T) {
	for _, name := range catalogue.Names() {
		t.Run(name, func(t *testing.T) {
			w, off := open(t), folder(t)
			for i, l := range lines(t, name+"-story.jsonl") {
				for _, p := range []printed{w.run(name, l.Event, l.Body), off.run(name, l.Event, l.Body), w.run(name, "", l.Body[:len(l.Body)/2])} {
					if p.out == "" {
						continue
					}
					if v := strictjson.Value(p.out); !v.IsValid() || v.Kind() != '{' || strings.ContainsAny(p.out, "\n") {
						t.Errorf("line %d: standard output %q, want one object on one line", i+1, p.out)
					}
				}
			}
		})
	}
}

// Nobody but the person at the terminal can approve.
func TestOnlyTheOwnersOwnPromptApproves(t *testing.T) {
	tests := map[string]struct {
		change func(body string) string
		args   []string
	}{
		"a scheduled prompt": {change: func(b string) string {
			return strings.Replace(b, `"prompt":`, `"source":"schedule_wakeup","prompt":`, 1)
		}},
		"a polled event":        {change: func(b string) string { return strings.Replace(b, `"prompt":`, `"source":"poll_event","prompt":`, 1) }},
		"a sub-agent":           {change: func(b string) string { return strings.Replace(b, `"prompt":`, `"agent_id":"sub","prompt":`, 1) }},
		"a source nobody knows": {change: func(b string) string { return strings.Replace(b, `"prompt":`, `"source":"web","prompt":`, 1) }},
		"a build machine":       {change: func(b string) string { return b }, args: []string{"--sender", "unknown"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w, story := open(t), lines(t, "claude-story.jsonl")
			var held printed
			for _, l := range story[:4] {
				held = w.run("claude", l.Event, l.Body)
			}
			body := tt.change(strings.ReplaceAll(string(story[4].Body), "CODE", w.code(held.err)))
			if p := w.run("claude", "", []byte(body), tt.args...); strings.Contains(p.out+p.err, "pproved") {
				t.Errorf("prompt: got %+v, want no approval", p)
			}
			if p := w.run("claude", "", story[3].Body); !refuses("claude", p) {
				t.Errorf("the command afterwards: got %+v, want it refused still", p)
			}
		})
	}
}
