package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/localserver"
	"github.com/tidemark/tidemark/internal/services"
	"github.com/tidemark/tidemark/internal/test/audittest"
)

const reminder = `{"items":[{"tool":"add_reminder","quote":"Remind me to water the plants","need":"asked","times":1,"per":"","if":"",` +
	`"args":[{"arg":"text","how":"said","what":["water the plants"],"of":""},{"arg":"at","how":"said","what":["tomorrow"],"of":""}]},` +
	`{"tool":"pay","quote":"pay Eve","need":"asked","times":1,"per":"","if":"","args":[]}],"reads":[],"follow":[],"never":[],"assents":false}`

// claudeHome is a home with Claude Code in it, which does nothing but answer, or does what it is told to.
func claudeHome(t *testing.T, how string) (hook, data string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("programs cannot be ended with everything they start there")
	}
	answer := filepath.Join(t.TempDir(), "answer.json")
	writeFile(t, answer, reminder)
	for _, key := range []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"} {
		t.Setenv(key, "")
	}
	_, hook, data = emptyHome(t, map[string]string{"claude": "HEADLESS_FAKE=" + how + " HEADLESS_ANSWER='" + answer + "' exec " + os.Args[0] + ` "$@"`})
	t.Cleanup(func() { _ = localserver.StopRunning(context.WithoutCancel(t.Context()), datafolder.Paths{Data: data}) })
	return hook, data
}

// typed runs a command with what somebody types.
func typed(t *testing.T, in string, args ...string) (out string, code int) {
	t.Helper()
	var b strings.Builder
	code = run(t.Context(), args, strings.NewReader(in), &b, &b)
	return b.String(), code
}

// MAN-12: on a machine with an agent: init tries its program where nothing leaves, says what would and where to, takes a yes, makes
// one real request, and writes the setting. Status, doctor and model say which model reads.
func TestInitOffersTheAgentsOwnProgram(t *testing.T) {
	hook, data := claudeHome(t, "good")
	out, code := typed(t, "y\n", "init", "--background", "--hook", hook, "--data", data)
	at := -1
	for _, want := range []string{"what you type or paste", "Anthropic, through your own Claude Code and its login", "between you and Anthropic", "[y/N]", "ready: haiku answered", "started a server"} {
		next := strings.Index(out, want)
		if code != exitOK || next < at {
			t.Fatalf("exit %d, want %q after the one before in:\n%s", code, want, out)
		}
		at = next
	}
	policy, err := os.ReadFile(filepath.Join(data, "tidemark.yaml"))
	if err != nil || !strings.HasPrefix(string(policy), anyPort) || !strings.Contains(string(policy), "program: \"claude\"") {
		t.Fatalf("%v\n%s", err, policy)
	}
	out, _ = typed(t, "", "status", "--data", data)
	if !strings.Contains(out, "reader: ok (program/haiku; ") {
		t.Errorf("status: %s", out)
	}
	if out, _ = typed(t, "", "model", "--data", data); !strings.Contains(out, "reader: ok") || !strings.Contains(out, "claude     Claude Code: haiku") || !strings.Contains(out, "requests: ") {
		t.Errorf("model: %s", out)
	}
	out, code = typed(t, "", "model", "try", "Remind me to water the plants", "--data", data)
	if code != exitOK || !strings.Contains(out, `add_reminder asked, once: "Remind me to water the plants"`) || !strings.Contains(out, `text: as said "water the plants"`) ||
		strings.Contains(out, "tomorrow") || !strings.Contains(out, "1 more were left out") {
		t.Errorf("try: exit %d\n%s", code, out)
	}
	out, _ = typed(t, "", "doctor", "claude", "--hook", hook, "--data", data)
	if !strings.Contains(out, "claude/haiku reads what you ask for") || !strings.Contains(out, "Claude Code 9.9.9 sends nothing but what it is given") {
		t.Errorf("doctor: %s", out)
	}
	if out, code = typed(t, "", "init", "--background", "--hook", hook, "--data", data); code != exitOK || strings.Contains(out, "[y/N]") {
		t.Errorf("again: exit %d\n%s", code, out)
	}
	if err := localserver.StopRunning(t.Context(), datafolder.Paths{Data: data}); err != nil { // with the program that waits for the next message
		t.Fatal(err)
	}
	left := []os.DirEntry{nil}
	for end := time.Now().Add(30 * time.Second); len(left) > 0 && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		left, _ = os.ReadDir(filepath.Join(data, "reader")) // a server that answers nobody any more still ends what it started
	}
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// MAN-12: without a yes, and where the program does more than answer, nothing is switched on; --no-model is not asked.
func TestAModelIsNeverSwitchedOnSilently(t *testing.T) {
	for name, tt := range map[string]struct {
		how, in string
		flags   []string
		asks    bool
		writes  string
	}{
		"no":         {"good", "n\n", nil, true, ""},
		"nothing":    {"good", "", nil, true, ""},
		"tools":      {"tools", "y\n", nil, false, ""},
		"memory":     {"memory", "y\n", nil, false, ""},
		"--no-model": {"good", "y\n", []string{"--no-model"}, false, `provider: "none"`},
		"--model":    {"good", "", []string{"--model", "claude"}, false, `program: "claude"`},
	} {
		t.Run(name, func(t *testing.T) {
			hook, data := claudeHome(t, tt.how)
			out, code := typed(t, tt.in, append([]string{"init", "--background", "--hook", hook, "--data", data}, tt.flags...)...)
			policy, err := os.ReadFile(filepath.Join(data, "tidemark.yaml"))
			if code != exitOK || err != nil || strings.Contains(out, "[y/N]") != tt.asks {
				t.Fatalf("exit %d, %v\n%s", code, err, out)
			}
			if tt.writes == "" && string(policy) != anyPort || !strings.Contains(string(policy), tt.writes) {
				t.Errorf("wrote %s", policy)
			}
		})
	}
}

// MAN-12: a program that cannot answer for real is not written down, whatever it did on loopback.
func TestTheRealRequestDecides(t *testing.T) {
	_, data := claudeHome(t, "good")
	writeFile(t, filepath.Join(os.Getenv("HOME"), "bin", "claude"), "#!/bin/sh\n[ -n \"$ANTHROPIC_BASE_URL\" ] || exit 1\nHEADLESS_FAKE=good exec "+os.Args[0]+` "$@"`+"\n")
	out, code := typed(t, "", "model", "use", "claude", "--yes", "--data", data)
	if policy, _ := os.ReadFile(filepath.Join(data, "tidemark.yaml")); code != exitUsage || !strings.Contains(out, "one real request failed, so nothing was written") || string(policy) != anyPort {
		t.Errorf("exit %d, %s\n%s", code, out, policy)
	}
	if out, code := typed(t, "", "model", "use", "nobody", "--data", data); code != exitUsage || !strings.Contains(out, "is not in reach") {
		t.Errorf("exit %d, %s", code, out)
	}
}

// MAN-12
func TestModelWithoutAny(t *testing.T) {
	_, data := claudeHome(t, "good")
	out, code := typed(t, "", "model", "--data", data)
	if code != exitOK || !strings.Contains(out, "no model reads your messages") || !strings.Contains(out, "claude     Claude Code: haiku (program, to Anthropic)") {
		t.Errorf("exit %d, %s", code, out)
	}
	var shown struct {
		Reader any                   `json:"reader"`
		Offers []services.ModelOffer `json:"offers"`
	}
	if out, _ := typed(t, "", "model", "--json", "--data", data); json.Unmarshal([]byte(out), &shown) != nil || shown.Reader != nil || len(shown.Offers) == 0 {
		t.Errorf("%s", out)
	}
	if out, code := typed(t, "", "model", "try", "x", "--data", data); code != exitUsage || !strings.Contains(out, "no model reads") {
		t.Errorf("exit %d, %s", code, out)
	}
	if out, code := typed(t, "", "model", "off", "--data", data); code != exitOK || !strings.Contains(out, "no model reads from the next start") {
		t.Errorf("exit %d, %s", code, out)
	}
}

// Words that nobody else may see are read from standard input; tools may be those of a list.
func TestWordsAreTriedFromStandardInput(t *testing.T) {
	_, data := claudeHome(t, "good")
	m := audittest.New(t, audittest.Say(`{"items":[{"tool":"water","quote":"water the plants","need":"asked","args":[]}],"never":[{"act":"pay"}]}`))
	writePolicy(t, data, anyPort+"reader: {provider: openai, model: test-model, baseUrl: '"+m.OpenAI()+"'}\n")
	tools := filepath.Join(t.TempDir(), "tools.json")
	writeFile(t, tools, `[{"name":"water","inputSchema":{"type":"object","properties":{"what":{"type":"string"}}}}]`)
	out, code := typed(t, "water the plants\n", "model", "try", "-", "--tools", tools, "--data", data)
	if code != exitOK || !strings.Contains(out, "water asked, once") || !strings.Contains(out, "never pay") {
		t.Errorf("exit %d, %s", code, out)
	}
}
