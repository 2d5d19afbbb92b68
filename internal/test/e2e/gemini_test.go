//go:build e2e

package e2e_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// gemini is the Gemini CLI. Its web fetch asks the provider to fetch, so it reads pages
// with curl.
func gemini() *rig {
	run := func(_ *world, command string) step {
		return step{tool: "run_shell_command", args: obj{"command": command, "description": "as asked"}}
	}
	return &rig{
		name: "gemini", shell: "run_shell_command", sessions: "gemini:", down: notRunning, api: "/gemini", settle: settleGemini,
		env: func(w *world) []string {
			return []string{
				"GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL=" + w.api,
				"GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_TELEMETRY_ENABLED=false",
			}
		},
		command: func(ctx context.Context, _ *world, prompt string, again bool) *exec.Cmd {
			args := []string{"-m", "gemini-2.5-flash", "--yolo", "-o", "json", "-p", prompt}
			if again {
				args = append(args, "--resume", "latest")
			}
			return exec.CommandContext(ctx, binary("gemini"), args...)
		},
		read: func(w *world, name string) step { return step{tool: "read_file", args: obj{"file_path": at(w, name)}} },
		write: func(w *world, name, content string) step {
			return step{tool: "write_file", args: obj{"file_path": at(w, name), "content": content}}
		},
		run: run, fetch: byCurl(run), page: newsPage,
		server: "mcp_files_", attach: attachGemini,
	}
}

// attachGemini names the server in the user's own settings: one in the project's would have nothing go on there.
func attachGemini(w *world) error {
	name := filepath.Join(w.home, ".gemini", "settings.json")
	own := obj{}
	raw, err := os.ReadFile(name)
	if err == nil {
		err = strictjson.Unmarshal(raw, &own)
	}
	if err != nil {
		return err
	}
	own["mcpServers"] = obj{"files": obj{"command": "node", "args": []any{filesServer(), w.work}}}
	if raw, err = strictjson.MarshalIndent(own); err == nil {
		w.write(w.home, ".gemini/settings.json", string(raw))
	}
	return err
}

// settleGemini says how to sign in, so that nobody is asked.
func settleGemini(w *world) error {
	raw, err := strictjson.MarshalIndent(obj{
		"security": obj{"auth": obj{"selectedType": "gemini-api-key"}}, "privacy": obj{"usageStatisticsEnabled": false},
	})
	if err == nil {
		w.write(w.home, ".gemini/settings.json", string(raw))
	}
	return err
}
