package shim_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

var codeOf = regexp.MustCompile(`Approval code: (\S+) \(expires`)

// The same story in every dialect: a page is read, a command is held for it, the owner
// approves in the conversation, the same command runs.
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
			code := codeOf.FindStringSubmatch(held.err)
			if code == nil || !strings.Contains(held.err, "Tool 'exec' is blocked") {
				t.Fatalf("reason %q, want the tool and a code", held.err)
			}
			approve := bytes.ReplaceAll(story[4].Body, []byte("CODE"), []byte(code[1]))
			p := w.run(name, story[4].Event, approve)
			if refuses(name, p) || !strings.Contains(p.out+p.err, "pproved") {
				t.Fatalf("approval: got %+v, want it taken and told", p)
			}
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
			code := codeOf.FindStringSubmatch(held.err)
			if code == nil {
				t.Fatalf("got %+v, want a code", held)
			}
			body := tt.change(strings.ReplaceAll(string(story[4].Body), "CODE", code[1]))
			if p := w.run("claude", "", []byte(body), tt.args...); strings.Contains(p.out+p.err, "pproved") {
				t.Errorf("prompt: got %+v, want no approval", p)
			}
			if p := w.run("claude", "", story[3].Body); !refuses("claude", p) {
				t.Errorf("the command afterwards: got %+v, want it refused still", p)
			}
		})
	}
}
