//go:build e2e

package e2e_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
)

// codex is the Codex CLI. It reads, writes and fetches in its shell. Without a terminal it
// says that a prompt was refused, but not why.
func codex() *rig {
	run := func(_ *world, command string) step {
		return step{tool: "exec_command", args: obj{"cmd": command}}
	}
	return &rig{
		name: "codex", shell: "exec_command", sessions: "codex:", down: notRunning, mute: "UserPromptSubmit Blocked", api: "/openai", settle: settleCodex, trust: trustCodex,
		env: func(w *world) []string {
			return []string{"CODEX_HOME=" + filepath.Join(w.home, ".codex"), "MODEL_KEY=none"}
		},
		command: func(ctx context.Context, _ *world, prompt string, again bool) *exec.Cmd {
			args := []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"}
			if again {
				args = append(args, "resume", "--last")
			}
			return exec.CommandContext(ctx, binary("codex"), append(args, prompt)...)
		},
		read: func(w *world, name string) step { return run(w, "cat "+name) },
		write: func(w *world, name, content string) step {
			return run(w, fmt.Sprintf("printf '%%s' '%s' > %s", content, name))
		},
		run: run, fetch: byCurl(run), page: newsPage,
		patch: func(patch string) step { return step{tool: "apply_patch", text: patch} },
		terminal: func(command string) step {
			return step{tool: "exec_command", args: obj{"cmd": command, "tty": true, "yield_time_ms": 500}}
		},
	}
}

func settleCodex(w *world) error {
	w.write(w.home, ".codex/config.toml", `model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = "`+w.api+`/v1"
env_key = "MODEL_KEY"
wire_api = "responses"
`)
	return nil
}
