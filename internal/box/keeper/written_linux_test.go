package keeper_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tidemark/tidemark/internal/box/entry"
	"github.com/tidemark/tidemark/internal/box/keeper"
)

// writer is a monitor that let file tools write.
type writer struct {
	mu    sync.Mutex
	list  []keeper.Written
	asked []string
	err   error
}

func (w *writer) Written(_ context.Context, ticket string) ([]keeper.Written, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, ticket)
	return append([]keeper.Written(nil), w.list...), w.err
}

func (w *writer) let(path, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, keeper.Written{Step: uint64(len(w.list) + 11), Path: path, Whole: true, Text: text})
}

// What the host calls the workspace counts, and other folders and a monitor that does not answer order nothing.
func TestWhatWasOrderedIsOfTheWorkspace(t *testing.T) {
	let := &writer{}
	w := newWorld(t, func(o *keeper.Options) { o.Writer = let })
	link := filepath.Join(w.dir, "link")
	if err := os.Symlink(w.ws, link); err != nil {
		t.Fatal(err)
	}
	run := func(line string) string {
		t.Helper()
		code, out := finish(t, w.client(w.ticket("s", line, func(g *keeper.Grant) { g.Workspace, g.Step = link, 11 }), line))
		if code != 0 {
			t.Fatal(out)
		}
		return out
	}
	let.let(filepath.Join(w.ws, ".drone.yml"), "old\n") // before the box was opened, and gone since
	run("true")
	w.put(filepath.Join(w.ws, ".drone.yml"), "old\n")
	until(t, "it is put aside", func() bool { return !exists(filepath.Join(w.ws, ".drone.yml")) })
	const flow = ".circleci/config.yml"
	let.let(filepath.Join(link, flow), "jobs\n")
	w.put(filepath.Join(w.ws, flow), "jobs\n")
	let.let("/elsewhere/.mcp.json", "{}\n")
	let.let(filepath.Join(link, "../site/../other/.mcp.json"), "{}\n")
	w.put(filepath.Join(w.ws, ".mcp.json"), "{}\n")
	if out := run("sleep 0.3; cat " + flow); !strings.HasPrefix(out, "jobs\n") || !strings.Contains(out, ".mcp.json would run") || strings.Contains(out, "config.yml would") {
		t.Errorf("%s", out)
	}
	let.mu.Lock()
	let.err = errors.New("nobody is there") // what stands stays, what comes does not
	if len(let.asked) == 0 || len(let.asked[0]) != 32 {
		t.Errorf("%v", let.asked)
	}
	let.mu.Unlock()
	let.let(filepath.Join(w.ws, ".envrc"), "A=1\n")
	w.put(filepath.Join(w.ws, ".envrc"), "A=1\n")
	until(t, "it is put aside", func() bool { return !exists(filepath.Join(w.ws, ".envrc")) })
	if _, err := entry.Ask(w.data, entry.Request{Do: entry.End, Session: "s"}); err != nil {
		t.Fatal(err)
	}
	if raw, _ := os.ReadFile(filepath.Join(w.ws, flow)); string(raw) != "jobs\n" {
		t.Errorf("%q", raw)
	}
	if list := keeper.AsideIn(w.data); len(list) != 3 {
		t.Errorf("%+v", list)
	}
}

// BOX-02: With a real monitor: what the owner orders of the agent's file tool while a box is open stays where it is and is no question; what
// a command of the box writes there at the same time is one.
func TestAnOrderedFileIsNoQuestion(t *testing.T) {
	l := newLive(t, "")
	l.spoken("s", "Look at the page and mend the build")
	l.ran("true")
	write := func(path, text string) bool {
		a := l.hook("s", "before_tool_call", map[string]any{"toolName": "write", "params": map[string]any{"path": filepath.Join(l.ws, path), "content": text}})
		return a["block"] != true
	}
	const flow, text = ".circleci/config.yml", "version: 2.1\n"
	l.hook("s", "message_received", map[string]any{"content": "Write .circleci/config.yml with the one line version: 2.1"})
	if !write(flow, text) {
		t.Fatal("an order is asked about")
	}
	l.put(filepath.Join(l.ws, flow), text)
	out := l.ran("sleep 0.4; cat " + flow + "; echo evil > " + flow + "; echo evil > .envrc; echo evil > .circleci/other.yml; sleep 0.4; cat " + flow)
	if strings.Count(out, text) != 2 || !strings.Contains(out, ".envrc would run elsewhere") {
		t.Errorf("%q", out)
	}
	q := l.asked()
	if shown := argsOf(q); !strings.Contains(shown, ".envrc") || !strings.Contains(shown, ".circleci/other.yml") || strings.Contains(shown, flow+" (") {
		t.Errorf("%s", shown) // what took the place of what was ordered cannot be kept: nobody is asked about it
	}
	l.answers(`{"decision":"approve"}`)
	until(t, "the yes is taken", func() bool { return strings.Contains(l.ran("true"), "other.yml") })
	l.ends("s")
	if raw, _ := os.ReadFile(filepath.Join(l.ws, flow)); string(raw) != text {
		t.Errorf("%q", raw)
	}
	for _, name := range []string{".envrc", ".circleci/other.yml"} { // a person said yes to these
		until(t, name, func() bool { raw, _ := os.ReadFile(filepath.Join(l.ws, name)); return string(raw) == "evil\n" })
	}
}
