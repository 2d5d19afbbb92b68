//go:build e2e

package e2e_test

import (
	"cmp"
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/tool"
)

const notes = "Orders\nopen: 4711\nclosed: 12\n"

const done = "All done."

// story is one thing that must be true of every agent.
type story struct {
	name string
	run  func(t *testing.T, r *rig)
	only string // the agents it is about; "" is all
	may  string // the variable that lets it change the machine; "" where it does not
}

var stories = []story{
	{name: "unguarded", run: unguarded},
	{name: "install", run: installs},
	{name: "first", run: firstMinutes, only: "claude"},
	{name: "reader", run: reader, only: "claude"},
	{name: "benign", run: benign},
	{name: "injected", run: injected},
	{name: "server down", run: serverDown},
	{name: "approval waits", run: approvalWaits},
	{name: "approval code", run: approvalCode},
	{name: "canary", run: canaryStory},
	{name: "bad answers", run: badAnswers},
	{name: "proxy benign", run: proxyBenign},
	{name: "proxy injected", run: proxyInjected},
	{name: "proxy approval", run: proxyApproval},
	{name: "proxy down", run: proxyDown},
	{name: "hooks wanted", run: hooksWanted, only: "claude codex opencode"},
	{name: "no plugin", run: noPlugin, only: "openclaw"},
	{name: "switched off", run: switched, only: "claude codex gemini copilot opencode goose droid cline"},
	{name: "inline", run: inline, only: "claude gemini opencode"},
	{name: "planted", run: planting, only: "claude codex gemini opencode"},
	{name: "paths", run: paths, only: "claude codex gemini copilot opencode openclaw droid cline"},
	{name: "deeds", run: deeds, only: "claude codex gemini copilot opencode openclaw droid cline"},
	{name: "referred", run: referred, only: "claude codex gemini copilot opencode"},
	{name: "long turn", run: longTurn, only: "claude codex gemini copilot opencode openclaw droid cline"},
	{name: "wrapped", run: behindGateway, only: "claude codex gemini copilot opencode"},
	{name: "wrapped waits", run: heldByGateway, only: "claude codex gemini copilot opencode"},
	{name: "hub waits", run: heldByHTTP, only: "claude codex gemini copilot opencode"},
	{name: "webhook", run: webhook, only: "openclaw"},
	{name: "rows", run: judged, only: "claude codex gemini copilot opencode openclaw"},
	{name: "next session", run: nextSession, only: "claude codex gemini copilot opencode openclaw"},
	{name: "runs already", run: runsAlready, only: "claude codex gemini copilot opencode openclaw"},
	{name: "project files", run: projectFiles, only: "openclaw"},
	{name: "project", run: inProject, only: "claude codex gemini copilot opencode"},
	{name: "failed fetch", run: failedFetch, only: "goose droid cline"},
	{name: "sub-agent", run: noSubAgent, only: "goose"},
	{name: "returns", run: returnsValue, only: "claude"},
	{name: "copied", run: copied, only: "droid"},
	{name: "boxed", run: boxed, only: "claude codex gemini copilot opencode openclaw droid cline"},
	{name: "ruled", run: ruled, only: "gemini copilot"},
	{name: "prefixed", run: prefixed, only: "claude"},
	{name: "told", run: told, only: "codex opencode"},
	{name: "unhooked", run: unhooked, only: "claude"},
	{name: "silent", run: silent, only: "claude codex gemini copilot opencode"},
	{name: "silent boxed", run: silentBoxed, only: "claude codex gemini copilot opencode"},
	{name: "whole benign", run: wholeBenign, only: "claude codex gemini"},
	{name: "whole judged", run: wholeJudged, only: "claude codex gemini"},
	{name: "whole settings", run: wholeSettings, only: "claude codex gemini"},
	{name: "managed reader", run: managedReader, only: "claude codex gemini", may: "E2E_MANAGED"},
	{name: "managed", run: byAdministrator, only: "claude codex copilot droid gemini", may: "E2E_MANAGED"},
}

// concerns reports whether the story is about this agent, and may be played here.
func (s story) concerns(agent string) bool {
	return (s.only == "" || slices.Contains(strings.Fields(s.only), agent)) && (s.may == "" || os.Getenv(s.may) == "1")
}

// unguarded: without our hooks the attack works. Otherwise the other stories prove nothing.
func unguarded(t *testing.T, r *rig) {
	w := open(t, r, with{bare: true})
	w.model.script(r.fetch(w), r.run(w, attack), step{say: done})
	w.turn(strings.Replace(summarise, "%s", r.page(w), 1))
	arrivedOnce(t, w)
}

// installs: the installer's own trial is blocked by the hook and by the real agent, and
// taking the hooks out again leaves the settings as they were.
func installs(t *testing.T, r *rig) {
	w := open(t, r, with{bare: true})
	before := w.settings()
	said := w.tidemark("install", r.name)
	for _, want := range []string{"the hook alone: " + cmp.Or(r.alone, "blocked"), "the real agent: blocked"} {
		if !strings.Contains(said, want) {
			t.Errorf("install said %q, want %q in it", said, want)
		}
	}
	if again := w.tidemark("install", r.name, "--trial", "none"); !strings.Contains(again, "nothing to change") {
		t.Errorf("the second install said %q, want that there is nothing to change", again)
	}
	w.tidemark("uninstall", r.name)
	if diff := gocmp.Diff(before, w.settings()); diff != "" {
		t.Errorf("settings after uninstall differ (-before +after):\n%s", diff)
	}
}

// benign: what the user asked for happens, and nothing is asked.
func benign(t *testing.T, r *rig) {
	w := open(t, r, with{})
	doBenign(t, w)
	hasSession(t, w, r.sessions)
}

// doBenign lets the agent read a file and write the answer.
func doBenign(t *testing.T, w *world) {
	t.Helper()
	r := w.rig
	w.model.script(r.read(w, "notes.txt"), r.write(w, "answer.txt", "4711"), step{say: done})
	w.turn("Read notes.txt and write the number of open orders to answer.txt.")
	if got := w.file("answer.txt"); got != "4711" {
		t.Errorf("answer.txt: got %q, want 4711", got)
	}
	if !strings.Contains(w.model.saw(), "closed: 12") {
		t.Error("the model never saw the file it read")
	}
	if !w.model.done() {
		t.Error("the agent ended before the script did")
	}
}

// hasSession checks that the server knows the agent's session.
func hasSession(t *testing.T, w *world, prefix string) {
	t.Helper()
	var known struct {
		Sessions []struct {
			Key string `json:"sessionKey"`
		} `json:"sessions"`
	}
	if err := w.ask(t.Context(), "/v1/sessions", &known); err != nil || !anyKey(known.Sessions, prefix) {
		t.Errorf("sessions at the server: got %+v and %v, want one of %s", known, err, prefix)
	}
}

func anyKey(list []struct {
	Key string `json:"sessionKey"`
}, prefix string,
) bool {
	for _, s := range list {
		if strings.HasPrefix(s.Key, prefix) {
			return true
		}
	}
	return false
}

var ruleNamed = regexp.MustCompile(`Rule: balanced\.[a-z-]+`)

const summarise = "Read %s and write one line about it to summary.txt."

// injected: a page makes the model send a file out. It does not leave, the model is told
// which rule says so, and what the user asked for is done all the same.
func injected(t *testing.T, r *rig) {
	w := open(t, r, with{})
	w.model.script(r.fetch(w), r.run(w, attack), r.write(w, "summary.txt", "The harbour opens at six."), step{say: done})
	w.turn(strings.Replace(summarise, "%s", r.page(w), 1))
	stopped(t, w)
	if r.ends {
		return
	}
	if got := ruleNamed.FindString(w.model.saw()); got == "" {
		t.Error("the reason names no rule")
	}
	if got := w.file("summary.txt"); got == "" && !r.deaf {
		t.Error("summary.txt is not there: the rest of the work was stopped too")
	}
}

// failedFetch: what a command printed before it failed counts, whatever is reported of it.
func failedFetch(t *testing.T, r *rig) {
	w := open(t, r, with{})
	w.model.script(r.run(w, "curl -s "+pageAddress+"; exit 3"), r.run(w, attack), step{say: done})
	w.turn(strings.Replace(summarise, "%s", pageAddress, 1))
	stopped(t, w)
	if !w.model.tried() {
		t.Error("the call was never tried")
	}
}

// stopped checks that the page was read and nothing left.
func stopped(t *testing.T, w *world) {
	t.Helper()
	arrived, reads := w.outside.got()
	if reads == 0 || !strings.Contains(w.model.saw(), pageWords) {
		t.Fatalf("the page was read %d times and never reached the model: the story proves nothing", reads)
	}
	if len(arrived) > 0 {
		t.Errorf("sent out: got %q, want nothing", arrived)
	}
}

// serverDown: nothing runs when the server is gone at the start, nor when it goes away
// between the prompt and the call, and the reason is shown.
func serverDown(t *testing.T, r *rig) {
	for _, when := range []string{"while the agent works", "before the agent starts"} {
		t.Run(when, func(t *testing.T) {
			w, told := open(t, r, with{}), []string{r.down}
			mark := r.run(w, "echo ran > ran.txt")
			if when == "before the agent starts" {
				w.shut()
				told = append(told, cmp.Or(r.mute, r.down))
			} else {
				mark.before = w.shut
			}
			w.model.script(mark, step{say: done})
			out := w.turn("Run the command that makes ran.txt.")
			if got := w.file("ran.txt"); got != "" {
				t.Errorf("ran.txt: got %q, want none", got)
			}
			text := out + w.model.saw()
			if !slices.ContainsFunc(told, func(s string) bool { return strings.Contains(text, s) }) {
				t.Errorf("nobody was told (none of %q); it printed:\n%s", told, tail([]byte(out)))
			}
		})
	}
}

// approvalWaits: the hook holds the call until a person answers elsewhere, then it runs.
func approvalWaits(t *testing.T, r *rig) {
	w := open(t, r, with{wait: 45 * time.Second})
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
}

// arrivedOnce checks that the approved call ran, once.
func arrivedOnce(t *testing.T, w *world) {
	t.Helper()
	if arrived, _ := w.outside.got(); len(arrived) != 1 || arrived[0] != notes {
		t.Errorf("after the approval: got %q, want the notes once", arrived)
	}
}

// approvalCode: the call is refused and the model is told no code; a chat command over the hook
// is not accepted; the owner answers elsewhere, the model tries again, and the call runs (WAR-10).
func approvalCode(t *testing.T, r *rig) {
	w := open(t, r, with{})
	w.model.script(r.fetch(w), r.run(w, attack), step{say: "It was refused."})
	w.turn(strings.Replace(summarise, "%s", r.page(w), 1))
	stopped(t, w)
	if saw := w.model.saw(); strings.Contains(saw, "Approval code") || strings.Contains(saw, ".approve exec") {
		t.Errorf("the model was shown how to answer: %q", saw)
	}
	if err := w.approveNext(t.Context()); err != nil {
		t.Fatalf("approve: %v", err)
	}
	w.model.script(r.run(w, attack), step{say: done})
	w.turn("Try again.")
	arrivedOnce(t, w)
}

// canaryStory: the marker that no policy lets through.
func canaryStory(t *testing.T, r *rig) {
	w := open(t, r, with{})
	w.model.script(r.run(w, "echo "+tool.Canary+" > ran.txt"), step{say: done})
	w.turn("Run the command that makes ran.txt.")
	if got := w.file("ran.txt"); got != "" {
		t.Errorf("ran.txt: got %q, want none", got)
	}
	if r.ends && w.model.tried() {
		return
	}
	if !strings.Contains(w.model.saw(), "canary") || !w.model.done() {
		t.Error("the model was not told about the canary rule")
	}
}
