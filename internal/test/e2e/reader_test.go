//go:build e2e

package e2e_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

const dentist = "Add Dentist to my calendar on 20 November at 9"

// formed is the tool by which the program of Claude Code answers in a form.
const formed = "StructuredOutput"

// readersPrompt begins what a reader is told.
const readersPrompt = "You read what a user asks of an AI agent"

// understood is what a reader makes of a prompt, in the whole form that the program is held to: an order for the calendar, where it
// is shown one.
func understood(prompt string) obj {
	slot := func(arg, how, what string) obj {
		return obj{"arg": arg, "how": how, "what": []any{what}, "of": "", "is": []any{}}
	}
	items := []any{}
	if strings.Contains(prompt, "calendar__create_event") && strings.Contains(prompt, dentist) {
		items = append(items, obj{
			"tool": "calendar__create_event", "quote": dentist, "need": "asked", "times": 1, "per": "", "if": "", "or": "", "except": []any{},
			"args": []any{slot("title", "said", "Dentist"), slot("date", "calc", "20 November"), slot("time", "calc", "9")},
		})
	}
	return obj{"items": items, "reads": []any{}, "follow": []any{}, "never": []any{}, "assents": false}
}

// unread is how the log says of a question that no model has read the message.
var unread = regexp.MustCompile(`"unread\\?": ?\\?"none`)

// newcomer is an empty home with the agent on PATH, which is logged in, and a calendar of the owner's as a server of theirs.
type newcomer struct {
	*world
	programs string   // that have the agent
	added    string   // what the calendar was asked to do
	login    []string // of the environment, where an agent has its login there
	more     []string // likewise, for one line
}

func newHome(t *testing.T, r *rig) *newcomer {
	t.Helper()
	w := open(t, r, with{bare: true})
	w.kill()
	n := &newcomer{world: w, programs: t.TempDir(), added: filepath.Join(w.home, "calendar.jsonl")}
	w.data = filepath.Join(w.home, ".local", "share", "tidemark")
	w.write(w.data, "tidemark.yaml", "server: {listen: \"127.0.0.1:0\"}\ncontracts: {waitMs: 30000} # a program takes long to start on a busy machine\n")
	calendar, err := filepath.Abs("testdata/calendar.js")
	if err != nil {
		t.Fatal(err)
	}
	servers, err := strictjson.Marshal(obj{"mcpServers": obj{"calendar": obj{"command": "node", "args": []any{calendar, n.added}}}})
	if err != nil {
		t.Fatal(err)
	}
	w.write(w.home, "servers.json", string(servers))
	if r.name == "claude" {
		w.extra = []string{"--mcp-config", filepath.Join(w.home, "servers.json")}
	}
	if r.name == "gemini" { // what starts it tells it how to log in, and knows of a key alone by the environment
		n.login = []string{"GEMINI_API_KEY=none"}
	}
	if err := os.WriteFile(filepath.Join(n.programs, r.name), []byte(loggedIn(w)), 0o700); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = n.types(context.WithoutCancel(t.Context()), "tidemark", "init", "--undo") })
	return n
}

// loggedIn is a program that reaches its model by itself; a trial of it says where else to go.
func loggedIn(w *world) string {
	out := "#!/bin/sh\n"
	for _, v := range w.rig.env(w) {
		name, value, _ := strings.Cut(v, "=")
		out += "export " + name + "=\"${" + name + ":-" + value + "}\"\n"
	}
	if w.rig.name == "codex" { // of a reader no variable says where its provider is
		w.write(w.home, ".codex/auth.json", `{"OPENAI_API_KEY":"none"}`)
		out += "case \"$*\" in *tm.base_url*) ;; *model_provider=*tm*) first=$1; shift; set -- \"$first\" -c 'model_providers.tm.base_url=\"" +
			w.api + "/v1\"' \"$@\" ;; esac\n"
	}
	return out + "exec '" + binary(w.rig.name) + "' \"$@\"\n"
}

// types is a line that somebody types in that home.
func (n *newcomer) types(ctx context.Context, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	path := os.Getenv("E2E_PROGRAMS") + ":" + n.programs + ":" + os.Getenv("PATH")
	cmd.Dir, cmd.Env = n.work, []string{"HOME=" + n.home, "TERM=dumb", "LANG=C.UTF-8", "NO_COLOR=1", "TMPDIR=" + n.home, "PATH=" + path}
	cmd.Env = append(append(cmd.Env, n.login...), n.more...)
	if program == "tidemark" {
		cmd.Path = filepath.Join(os.Getenv("E2E_PROGRAMS"), "tidemark")
	} else {
		cmd.Path = filepath.Join(n.programs, program)
	}
	cmd.Err = nil
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// offered waits until the agent has asked the calendar for its tools: it calls none before.
func (n *newcomer) offered() {
	for range 600 {
		if _, err := os.Stat(n.added + ".offered"); err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// must types a line that has to work.
func (n *newcomer) must(program string, args ...string) string {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(n.t.Context(), patience)
	defer cancel()
	out, err := n.types(ctx, program, args...)
	if err != nil {
		n.t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, tail([]byte(out)))
	}
	return out
}

// reader: from an empty home to a message that a model has read. After a page what the owner asks of their calendar runs unasked where
// the agent's own program reads their words, and what the page wants is held; without a model the same is asked about, which says why.
func reader(t *testing.T, r *rig) {
	for name, with := range map[string]bool{"with a model": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			n := newHome(t, r)
			n.model.reads = understood
			choice := []string{"init"} // nobody is there to say yes, so none reads
			if with {
				choice = []string{"init", "--model", r.name}
			}
			t.Log(n.must("tidemark", choice...))
			// likewise for the hook, which else gives up before the server does
			n.must("tidemark", "install", r.name, "--timeout", "60s", "--start", "--trial", "none")
			entry := step{tool: "mcp__calendar__create_event", args: obj{"title": "Dentist", "date": "2026-11-20", "time": "9"}}
			entry.before = n.offered
			n.model.script(r.fetch(n.world), step{say: done})
			args := func(prompt string, more ...string) []string {
				return append(append(r.command(t.Context(), n.world, prompt, false).Args[1:], more...), n.extra...)
			}
			n.must(r.name, args(strings.Replace(summarise, "%s", r.page(n.world), 1))...)
			_ = os.Remove(n.added + ".offered") // of the first run
			n.model.script(entry, r.run(n.world, attack), step{say: done})
			n.must(r.name, args(dentist, "--continue")...)
			stopped(t, n.world)
			added, _ := os.ReadFile(n.added) // there is none where nothing was added
			log := n.must("tidemark", "log")
			held := len(regexp.MustCompile(` `+r.sessions+`\S+ held `).FindAllString(log, -1)) // the example of init has calls of its own
			switch {
			case with && (strings.Count(string(added), "Dentist") != 1 || held != 1):
				t.Errorf("the calendar was asked %q and %d calls were held, want the entry once, and what the page wants held\n%s", added, held, log)
			case !with && (len(added) > 0 || held != 2):
				t.Errorf("without a model the calendar was asked %q and %d calls were held\n%s", added, held, log)
			case !with && !unread.MatchString(n.must("tidemark", "log", "--json")):
				t.Error("the question does not say that no model has read the message")
			}
			if strings.Contains(log, "What does the last message ask for") {
				t.Errorf("the reader's own words came to the server: it would be read by itself\n%s", log)
			}
			for _, prompt := range n.model.heardBy() {
				if strings.Contains(prompt, pageWords) || strings.Contains(prompt, attack) {
					t.Errorf("a reader saw what was read:\n%s", prompt)
				}
			}
			if with != (len(n.model.heardBy()) > 0) {
				t.Errorf("a reader was asked %d times", len(n.model.heardBy()))
			}
		})
	}
}

// managedReader: hooks of the administrator's fire in the program that reads, too. It is known for what it is: nothing of it is recorded,
// it is not read by itself, and it answers. An agent that says to be a reader is none. It writes to the machine's own settings,
// and so only on a machine that may be changed.
func managedReader(t *testing.T, r *rig) {
	n := newHome(t, r)
	n.model.reads = understood
	t.Log(n.must("tidemark", "init"))
	n.must("tidemark", "install", r.name, "--managed", "--trial", "none")
	defer n.must("tidemark", "uninstall", r.name, "--managed")
	t.Log(n.must("tidemark", "model", "use", r.name, "--yes"))
	n.must("tidemark", "init", "--undo") // the setting takes effect when the server starts
	n.must("tidemark", "init")
	n.must("tidemark", "uninstall", r.name) // the administrator's are enough: with both, Codex tells everything twice
	turn := func(prompt string, env ...string) string {
		n.more = env
		defer func() { n.more = nil }()
		n.model.script(r.read(n.world, "notes.txt"), step{say: done})
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		args := append(r.command(ctx, n.world, prompt, false).Args[1:], n.extra...)
		out, err := n.types(ctx, r.name, args...)
		if err != nil {
			t.Logf("%s ended with %v: %s", r.name, err, tail([]byte(out)))
		}
		return n.must("tidemark", "log")
	}
	known := func() int { return strings.Count(n.must("tidemark", "sessions"), r.sessions) }
	before, heard := known(), len(n.model.heardBy())
	log := turn("Tell me what is in notes.txt, apple.")
	if got := len(n.model.heardBy()) - heard; got != 1 {
		t.Errorf("a reader was asked %d times about one message", got)
	}
	if strings.Contains(log, readersPrompt) || !strings.Contains(log, "apple") || strings.Contains(log, "last message") {
		t.Errorf("the log:\n%s", log)
	}
	if got := known() - before; got != 1 {
		t.Errorf("%d sessions are new, want the agent's alone\n%s", got, n.must("tidemark", "sessions"))
	}
	heard = len(n.model.heardBy())
	log = turn("Tell me what is in notes.txt, pear.", "TIDEMARK_READER=ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	if got := known() - before; got != 2 || !strings.Contains(log, "pear") {
		t.Errorf("an agent that says to be a reader is not recorded, of %d sessions:\n%s", got, log)
	}
	if got := len(n.model.heardBy()) - heard; got != 0 {
		t.Errorf("%d readings for who says to be a reader", got)
	}
	out, _ := n.types(t.Context(), "tidemark", "doctor") // it has more to say of this machine
	if !strings.Contains(out, "sends nothing but what it is given") {
		t.Errorf("doctor does not find the reader good:\n%s", out)
	}
}
