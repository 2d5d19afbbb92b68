//go:build e2e

package e2e_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// opencode is OpenCode, whose own web fetch is used.
func opencode() *rig {
	return &rig{
		name: "opencode", shell: "bash", sessions: "opencode:", down: notRunning, api: "/openai", settle: settleOpencode,
		env: func(w *world) []string {
			return []string{
				"XDG_CONFIG_HOME=" + filepath.Join(w.home, ".config"), "XDG_DATA_HOME=" + filepath.Join(w.home, ".local/share"),
				"XDG_CACHE_HOME=" + filepath.Join(w.home, ".cache"), "XDG_STATE_HOME=" + filepath.Join(w.home, ".state"),
				"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
			}
		},
		command: func(ctx context.Context, _ *world, prompt string, again bool) *exec.Cmd {
			args := []string{"run", "--format", "json"}
			if again {
				args = append(args, "--continue")
			}
			return exec.CommandContext(ctx, binary("opencode"), append(args, prompt)...)
		},
		read: func(w *world, name string) step { return step{tool: "read", args: obj{"filePath": at(w, name)}} },
		write: func(w *world, name, content string) step {
			return step{tool: "write", args: obj{"filePath": at(w, name), "content": content}}
		},
		run: func(_ *world, command string) step {
			return step{tool: "bash", args: obj{"command": command, "description": "as asked"}}
		},
		fetch: func(w *world) step { return step{tool: "webfetch", args: obj{"url": localPage(w), "format": "text"}} },
		page:  localPage,
	}
}

func settleOpencode(w *world) error {
	raw, err := strictjson.Marshal(obj{
		"$schema": "https://opencode.ai/config.json", "model": "scripted/m", "small_model": "scripted/m", "autoupdate": false, "share": "disabled",
		"provider": obj{"scripted": obj{
			"npm": "@ai-sdk/openai-compatible", "name": "scripted",
			"options": obj{"baseURL": w.api + "/v1", "apiKey": "none"},
			"models":  obj{"m": obj{"name": "m", "limit": obj{"context": 100000, "output": 8000}}},
		}},
	})
	if err != nil {
		return err
	}
	w.write(w.home, ".config/opencode/opencode.json", string(raw))
	// What it would otherwise fetch at every start, because there is a plugin.
	return os.CopyFS(filepath.Join(w.home, ".config", "opencode"), os.DirFS(filepath.Join(cache(), "opencode-plugin")))
}
