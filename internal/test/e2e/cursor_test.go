//go:build e2e

package e2e_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/tool"
)

// Cursor wants an account, so its agent is not run. But the program that runs its hooks is
// in its SDK, and takes our settings and our hook as the agent's would.
func TestCursorsOwnExecutorHeedsTheHook(t *testing.T) {
	sdk := filepath.Join(cache(), "cursor", "node_modules", "@cursor", "sdk")
	if _, err := os.Stat(sdk); err != nil {
		t.Skip("Cursor's SDK is not installed")
	}
	w := open(t, &rig{name: "cursor", shell: "Shell", env: func(*world) []string { return nil }}, with{})
	said := w.executor(sdk, "sessionStart", "", "beforeSubmitPrompt", "", "preToolUse", "ls", "postToolUse", "ls", "preToolUse", "echo "+tool.Canary)
	for i, want := range []string{`{}`, `{"continue":true}`, `{"permission":"allow"}`, `{}`, `"permission":"deny"`} {
		if !strings.Contains(said[i], want) {
			t.Errorf("answer %d: got %s, want %s in it", i+1, said[i], want)
		}
	}
	if !strings.Contains(said[4], "canary") {
		t.Errorf("the canary: got %s, want the rule named", said[4])
	}
	w.shut()
	for i, got := range w.executor(sdk, "beforeSubmitPrompt", "", "preToolUse", "ls") {
		if want := []string{`"continue":false`, `"permission":"deny"`}[i]; !strings.Contains(got, want) || !strings.Contains(got, notRunning) {
			t.Errorf("without a server: got %s, want %s and why", got, want)
		}
	}
	lost := filepath.Join(w.home, ".cursor", "hooks.json")
	raw, err := os.ReadFile(lost)
	if err == nil {
		err = os.WriteFile(lost, []byte(strings.ReplaceAll(string(raw), program("tidemark-hook"), "/nowhere/tidemark-hook")), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := w.executor(sdk, "preToolUse", "ls")[0]; !strings.Contains(got, `"permission":"deny"`) || !strings.Contains(got, "fail closed") {
		t.Errorf("the hook is missing: got %s, want a refusal", got)
	}
}

// executor asks Cursor's executor about events, each with a command, and returns its
// answers.
func (w *world) executor(sdk string, events ...string) []string {
	w.t.Helper()
	var in strings.Builder
	for i := 0; i < len(events); i += 2 {
		raw, err := strictjson.Marshal([]any{events[i], obj{
			"conversation_id": "c-1", "generation_id": "g-1", "session_id": "c-1", "model": "m", "cwd": w.work, "prompt": "List the files.",
			"tool_name": "Shell", "tool_use_id": "t-1", "tool_input": obj{"command": events[i+1]}, "tool_output": "notes.txt",
		}})
		if err != nil {
			w.t.Fatal(err)
		}
		in.WriteString(string(raw) + "\n")
	}
	script, err := filepath.Abs("testdata/cursor.cjs")
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(cache(), "node24", "node_modules", "node", "bin", "node"), script, sdk)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stderr = w.work, w.environment(), strings.NewReader(in.String()), os.Stderr
	out, err := cmd.Output()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || len(lines) != len(events)/2 {
		w.t.Fatalf("the executor: %v, it printed %s", err, out)
	}
	return lines
}

// What a repository can write does not turn our hooks off; with E2E_MANAGED=1 the administrator's hold without the
// user's.
func TestCursorsOwnExecutorIsNotSwitchedOffByARepository(t *testing.T) {
	sdk := filepath.Join(cache(), "cursor", "node_modules", "@cursor", "sdk")
	if _, err := os.Stat(sdk); err != nil {
		t.Skip("Cursor's SDK is not installed")
	}
	const yes = `{"version":1,"hooks":{"preToolUse":[{"command":"echo '{\"permission\":\"allow\"}'"}]}}`
	for name, files := range map[string]map[string]string{
		"no hooks":            {".cursor/hooks.json": `{"version":1,"hooks":{}}`},
		"hooks that say yes":  {".cursor/hooks.json": yes},
		"no JSON":             {".cursor/hooks.json": `{"version":`},
		"a version of nobody": {".cursor/hooks.json": `{"version":99,"hooks":{"preToolUse":[]},"disableAllHooks":true}`},
		"Claude's switch":     {".claude/settings.json": off, ".claude/settings.local.json": off},
		"other settings":      {".cursor/settings.json": off, ".cursor/cli.json": `{"hooks":{"enabled":false}}`},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, &rig{name: "cursor", shell: "Shell", env: func(*world) []string { return nil }}, with{bare: managed()})
			if managed() {
				w.tidemark("install", "cursor", "--managed", "--trial", "none")
				defer w.tidemark("uninstall", "cursor", "--managed")
			}
			for file, content := range files {
				w.write(w.work, file, content)
			}
			if got := w.executor(sdk, "preToolUse", "echo "+tool.Canary)[0]; !strings.Contains(got, `"permission":"deny"`) || !strings.Contains(got, "canary") {
				t.Errorf("the canary: got %s, want it refused by us", got)
			}
			if got := w.open(); !strings.Contains(got, "SDK") || strings.Contains(got, "user settings") == managed() {
				t.Errorf("doctor calls open:\n%s", got)
			}
		})
	}
}
