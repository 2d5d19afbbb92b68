//go:build e2e

package e2e_test

import (
	"context"
	"os/exec"
	"path/filepath"
)

// claude is Claude Code. Its own web fetch wants https, so it reads pages with curl.
func claude() *rig {
	run := func(_ *world, command string) step {
		return step{tool: "Bash", args: obj{"command": command, "description": "as asked"}}
	}
	return &rig{
		name: "claude", shell: "Bash", sessions: "claude:", down: notRunning, api: "/anthropic",
		env: func(w *world) []string {
			return []string{
				"ANTHROPIC_BASE_URL=" + w.api, "ANTHROPIC_API_KEY=none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
				"DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1", "IS_SANDBOX=1", "CLAUDE_CODE_MAX_RETRIES=1",
			}
		},
		command: func(ctx context.Context, _ *world, prompt string, again bool) *exec.Cmd {
			args := []string{"-p", prompt, "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"}
			if again {
				args = append(args, "--continue")
			}
			return exec.CommandContext(ctx, binary("claude"), args...)
		},
		read: func(w *world, name string) step { return step{tool: "Read", args: obj{"file_path": at(w, name)}} },
		write: func(w *world, name, content string) step {
			return step{tool: "Write", args: obj{"file_path": at(w, name), "content": content}}
		},
		run: run, fetch: byCurl(run), page: newsPage,
		server: "mcp__files__", attach: func(w *world) error {
			w.extra = append(w.extra, "--mcp-config", filepath.Join(w.home, "servers.json"))
			return attached(w, w.home, "servers.json")
		},
	}
}
