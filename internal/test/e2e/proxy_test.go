//go:build e2e

package e2e_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// greeted is the upstream that answers only to a host with a live plugin. Those whose names begin
// with hooked answer only where an agent's own hooks report.
const (
	greeted = "claw"
	hooked  = "hooked-"
)

// proxied is the server's file: every upstream is the scripted model.
func proxied(w *world) string {
	at := w.model.url
	wants := ""
	for _, api := range []string{"openai", "anthropic"} {
		wants += fmt.Sprintf("    %s%s: {api: %s, baseUrl: %q, hooks: required}\n", hooked, api, api, at)
	}
	if w.rig.own != "" {
		wants += "  hostTools: " + w.rig.own + "\n"
	}
	return fmt.Sprintf("llm:\n  wait: %s\n  upstreams:\n    openai: {baseUrl: %q}\n    anthropic: {baseUrl: %q}\n    gemini: {baseUrl: %q}\n    %s: {api: openai, baseUrl: %q, handshake: required}\n",
		w.wait, at, at, at, greeted, at) + wants
}

// behind is how the sessions' names begin that the proxy found.
func behind(r *rig) string {
	switch {
	case r.greets:
		return r.sessions
	case r.tells:
		return "llm:agent:"
	}
	return "llm:key-"
}

// proxyBenign: through the proxy, without hooks, what the user asked for happens.
func proxyBenign(t *testing.T, r *rig) {
	w := open(t, r, with{proxy: true})
	doBenign(t, w)
	hasSession(t, w, behind(r))
	neverGreeted(t, w)
	nothingAsked(t, w)
}

// nothingAsked checks that no question to a person is left. One that was answered and used
// is not in the list.
func nothingAsked(t *testing.T, w *world) {
	t.Helper()
	var page struct {
		Approvals []struct {
			ID string `json:"id"`
		} `json:"approvals"`
	}
	if err := w.ask(t.Context(), "/v1/approvals", &page); err != nil || len(page.Approvals) > 0 {
		t.Errorf("questions left: got %+v and %v, want none", page.Approvals, err)
	}
}

// neverGreeted checks that the plugin's line stays between the plugin and the proxy.
func neverGreeted(t *testing.T, w *world) {
	t.Helper()
	if strings.Contains(w.model.saw(), "tidemark:handshake") {
		t.Error("the model was shown the plugin's line")
	}
}

// proxyInjected: the call the page asks for does not reach the agent, which says why and
// under which rule. In the next turn the harmless part is done.
func proxyInjected(t *testing.T, r *rig) {
	w := open(t, r, with{proxy: true})
	w.model.script(r.fetch(w), r.run(w, attack), step{say: "It was refused."})
	out := w.turn(strings.Replace(summarise, "%s", r.page(w), 1))
	if r.greets { // there the plugin refuses it, and tells the model
		out = w.model.saw()
	}
	stopped(t, w)
	if ruleNamed.FindString(out) == "" {
		t.Errorf("the reason names no rule; it printed:\n%s", tail([]byte(out)))
	}
	w.model.script(r.write(w, "summary.txt", "The harbour opens at six."), step{say: done})
	w.turn("Then only write the line to summary.txt.")
	stopped(t, w)
	if got := w.file("summary.txt"); got == "" {
		t.Error("summary.txt is not there: the rest of the work was stopped too")
	}
	neverGreeted(t, w)
}

// proxyApproval: the answer of the model waits for a person's, who is asked once; then the
// call runs.
func proxyApproval(t *testing.T, r *rig) {
	w := open(t, r, with{proxy: true, wait: 45 * time.Second})
	w.model.script(r.fetch(w), r.run(w, attack), step{say: done})
	ctx, cancel := context.WithCancel(t.Context())
	answered := make(chan error, 1)
	go func() { answered <- w.approveNext(ctx) }()
	w.turn(strings.Replace(summarise, "%s", r.page(w), 1))
	cancel()
	if err := <-answered; err != nil {
		t.Fatalf("approve: %v", err)
	}
	arrivedOnce(t, w)
	nothingAsked(t, w) // besides: one answer was enough
	neverGreeted(t, w)
}

// proxyDown: without the server there is no model, and half an answer runs nothing. Some
// agents wait for it without end.
func proxyDown(t *testing.T, r *rig) {
	for _, when := range []string{"while the model answers", "before the agent starts"} {
		t.Run(when, func(t *testing.T) {
			w, asks := open(t, r, with{proxy: true}), 1
			w.enough = 30 * time.Second
			mark := r.run(w, "echo ran > ran.txt")
			if when == "before the agent starts" {
				w.shut()
				asks = 0
			} else {
				mark.before = w.kill
			}
			w.model.script(mark, step{say: done})
			w.turn("Run the command that makes ran.txt.")
			if got := w.file("ran.txt"); got != "" {
				t.Errorf("ran.txt: got %q, want none", got)
			}
			if n := w.model.asks(); n != asks {
				t.Errorf("the model was asked %d times, want %d", n, asks)
			}
		})
	}
}

// noPlugin: a host without its plugin gets no completions, and the person is told why.
func noPlugin(t *testing.T, r *rig) {
	for name, o := range map[string]with{
		"the load path is missing": {proxy: true, last: func(w *world) {
			if err := os.RemoveAll(filepath.Join(w.data, "plugins")); err != nil {
				w.t.Fatal(err)
			}
		}},
		"agent exec": {proxy: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, r, o)
			w.model.script(r.run(w, "echo ran > ran.txt"), step{say: done})
			run := r.command
			if name == "agent exec" {
				run = agentExec
			}
			out := w.by(run, "Run the command that makes ran.txt.")
			if got := w.file("ran.txt"); got != "" {
				t.Errorf("ran.txt: got %q, want none", got)
			}
			if n := w.model.asks(); n != 0 {
				t.Errorf("the model was asked %d times, want never", n)
			}
			log, err := os.ReadFile(gatewayLog(w)) // in the chat the gateway speaks of the provider alone
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out+string(log), "no live Tidemark plugin") {
				t.Errorf("nobody was told why; it printed:\n%s", tail([]byte(out)))
			}
		})
	}
}

// hooksWanted: behind an upstream that wants hooks an agent with them works, and nobody is asked; one
// that was started without them is not answered, nothing runs, and it is said why (WAR-10).
func hooksWanted(t *testing.T, r *rig) {
	t.Run("with hooks", func(t *testing.T) {
		w := open(t, r, with{proxy: true, both: true})
		doBenign(t, w)
		nothingAsked(t, w)
	})
	t.Run("without", func(t *testing.T) {
		w := open(t, r, with{proxy: true, both: true, bare: true})
		w.model.script(r.run(w, "echo ran > ran.txt"), step{say: done})
		out := w.turn("Run the command that makes ran.txt.")
		if got := w.file("ran.txt"); got != "" || w.model.asks() > 0 {
			t.Errorf("ran.txt is %q, the model was asked %d times; want neither", got, w.model.asks())
		}
		if !strings.Contains(out, "the hooks of "+r.name+" have reported nothing") {
			t.Errorf("nobody was told; it printed:\n%s", tail([]byte(out)))
		}
	})
}
