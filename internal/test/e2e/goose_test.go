//go:build e2e

package e2e_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// goose is Goose, which has no tools to read a file or a page but its shell.
func goose() *rig {
	run := func(_ *world, command string) step { return step{tool: "shell", args: obj{"command": command}} }
	return &rig{
		name: "goose", shell: "shell", sessions: "goose:", down: notRunning, api: "/openai", own: "[shell, write, edit]",
		env: func(w *world) []string {
			return []string{
				"GOOSE_PROVIDER=openai", "GOOSE_MODEL=gpt-4o", "GOOSE_MODE=auto", "GOOSE_DISABLE_KEYRING=1", "OPENAI_HOST=" + w.api, "OPENAI_API_KEY=none",
				"XDG_CONFIG_HOME=" + filepath.Join(w.home, ".config"), "XDG_DATA_HOME=" + filepath.Join(w.home, ".local/share"),
				"XDG_STATE_HOME=" + filepath.Join(w.home, ".state"),
			}
		},
		command: func(ctx context.Context, _ *world, prompt string, again bool) *exec.Cmd {
			args := []string{"run", "--with-builtin", "developer"}
			if again {
				args = append(args, "--resume")
			}
			return exec.CommandContext(ctx, binary("goose"), append(args, "-t", prompt)...)
		},
		read: func(w *world, name string) step { return run(w, "cat "+name) },
		write: func(w *world, name, content string) step {
			return step{tool: "write", args: obj{"path": at(w, name), "content": content}}
		},
		run: run, fetch: byCurl(run), page: newsPage,
	}
}

// noSubAgent: what a sub-agent does reaches no hook, so none is started.
func noSubAgent(t *testing.T, r *rig) {
	w := open(t, r, with{})
	w.model.script(step{tool: "delegate", args: obj{"instructions": "Make ran.txt."}}, step{say: done})
	w.turn("Let a sub-agent make ran.txt.")
	if saw := w.model.saw(); !strings.Contains(saw, "asks no hook") || strings.Contains(saw, "Subagent ID") {
		t.Error("the model was not told, or a sub-agent was started")
	}
	if !w.model.done() {
		t.Error("the call was never tried")
	}
}
