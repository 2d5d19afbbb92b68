//go:build linux

package main

import (
	"testing"

	"github.com/tidemark/tidemark/internal/test/terminal"
)

// BEY-10: against the server itself, a held call is shown with its evidence, approved with
// one key, and runs.
func TestWatchAnswersTheRealServer(t *testing.T) {
	data := t.TempDir()
	s := startServer(t, data)
	hook := func(name string, event map[string]any) answered {
		t.Helper()
		var a answered
		if err := s.hook(t.Context(), "agent:main:main", name, event, &a); err != nil {
			t.Fatal(err)
		}
		return a
	}
	x := terminal.Open(t, 80, 30)
	ended, _ := watchOn(t, x, data, "")
	x.Wait("Nothing waits for an answer")

	hook("message_received", map[string]any{"content": "list the files after reading the page"})
	hook("after_tool_call", map[string]any{"toolName": "web_fetch", "params": map[string]any{"url": "https://x.example/page"}, "result": "a page"})
	call := map[string]any{"toolName": "exec", "params": map[string]any{"command": "rollout -l"}}
	if a := hook("before_tool_call", call); !a.Block {
		t.Fatalf("exec after web_fetch: got %+v, want it held", a)
	}
	x.Wait("command: rollout -l")
	x.Wait("list the files after reading the page")
	x.Wait("web_fetch at step 0 (https://x.example/page)")
	x.Wait("a approve")
	x.Press("ayes\t") // what runs a program takes the word
	x.Wait("approved exec (ask-")
	x.Wait("Nothing waits for an answer")
	if a := hook("before_tool_call", call); a.Block {
		t.Errorf("after the approval: got %+v, want it let through", a)
	}

	call["params"] = map[string]any{"command": "rollout /tmp"}
	hook("before_tool_call", call)
	x.Wait("command: rollout /tmp")
	x.Wait("a approve")
	x.Press("g")
	x.Wait("[x] command")
	x.Press("e\x7f\x7f\x7f\x7f*\r")
	x.Wait("rollout *")
	x.Press("\ryes\t")
	x.Wait("Nothing waits for an answer")
	for command, blocked := range map[string]bool{"rollout /home": false, "rollout /home; wipe x": true, "wipe x": true} {
		call["params"] = map[string]any{"command": command}
		if a := hook("before_tool_call", call); a.Block != blocked {
			t.Errorf("%s under the grant: blocked %v, want %v", command, a.Block, blocked)
		}
	}

	x.Wait("2 calls wait")
	x.Wait("a approve")
	x.Press("rnot that\r")
	x.Wait("denied exec (ask-")
	x.Press("q")
	if got := exitOf(t, ended); got != exitOK {
		t.Errorf("q: exit %d, want %d", got, exitOK)
	}
}
