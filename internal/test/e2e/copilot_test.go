//go:build e2e

package e2e_test

import (
	"context"
	"os/exec"
	"path/filepath"
)

// copilot is the Copilot CLI.
func copilot() *rig {
	run := func(_ *world, command string) step {
		return step{tool: "bash", args: obj{"command": command, "description": "as asked", "mode": "sync", "initial_wait": 10}}
	}
	return &rig{
		name: "copilot", shell: "bash", sessions: "copilot:", down: notRunning, api: "/openai", trust: trustCopilot,
		env: func(w *world) []string {
			return []string{
				"COPILOT_HOME=" + filepath.Join(w.home, ".copilot"), "COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=" + w.api + "/v1",
				"COPILOT_PROVIDER_API_KEY=none", "COPILOT_MODEL=scripted", "COPILOT_AUTO_UPDATE=false",
			}
		},
		command: func(ctx context.Context, _ *world, prompt string, again bool) *exec.Cmd {
			args := []string{"-p", prompt, "--allow-all-tools", "--allow-all-paths", "--no-color"}
			if again {
				args = append(args, "--continue")
			}
			return exec.CommandContext(ctx, binary("copilot"), args...)
		},
		read: func(w *world, name string) step { return step{tool: "view", args: obj{"path": at(w, name)}} },
		write: func(w *world, name, content string) step {
			return step{tool: "create", args: obj{"path": at(w, name), "file_text": content}}
		},
		run: run, fetch: byCurl(run), page: newsPage,
	}
}
