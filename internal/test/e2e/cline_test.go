//go:build e2e

package e2e_test

import (
	"context"
	"os/exec"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// cline is Cline's command line program, whose own web fetch is used. What a hook refuses
// ends its run, and nobody is told why; without a terminal it continues no conversation.
func cline() *rig {
	return &rig{
		name: "cline", shell: "run_commands", sessions: "cline:", down: "run_aborted", api: "/openai", ends: true, tells: true, settle: settleCline,
		lacks: map[string]string{"approval code": "it waits for no hook at prompts, and without a terminal it continues no conversation"},
		env:   func(*world) []string { return []string{"CLINE_SESSION_BACKEND_MODE=local"} }, // nothing of it stays behind
		command: func(ctx context.Context, _ *world, prompt string, _ bool) *exec.Cmd {
			return exec.CommandContext(ctx, binary("cline"), "--json", prompt)
		},
		read: func(w *world, name string) step {
			return step{tool: "read_files", args: obj{"files": []any{obj{"path": at(w, name)}}}}
		},
		write: func(w *world, name, content string) step {
			return step{tool: "editor", args: obj{"path": at(w, name), "new_text": content}}
		},
		run: func(_ *world, command string) step {
			return step{tool: "run_commands", args: obj{"commands": []any{command}}}
		},
		fetch: func(w *world) step {
			return step{tool: "fetch_web_content", args: obj{"requests": []any{obj{"url": localPage(w), "prompt": "What is new?"}}}}
		},
		page: localPage,
	}
}

func settleCline(w *world) error {
	headers, err := w.introduced()
	if err != nil {
		return err
	}
	raw, err := strictjson.Marshal(obj{
		"version": 1, "lastUsedProvider": "openai-compatible", "modes": obj{},
		"providers": obj{"openai-compatible": obj{"tokenSource": "manual", "updatedAt": "2026-01-01T00:00:00.000Z", "settings": obj{
			"provider": "openai-compatible", "apiKey": "none", "model": "scripted", "baseUrl": w.api + "/v1", "headers": headers,
		}}},
	})
	if err == nil {
		w.write(w.home, ".cline/data/settings/providers.json", string(raw))
	}
	return err
}
