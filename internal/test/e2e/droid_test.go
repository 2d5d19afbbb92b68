//go:build e2e

package e2e_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// droid is Factory's Droid, with a model of the user's own and without an account. So it
// continues no session; it only copies one.
func droid() *rig {
	run := func(_ *world, command string) step {
		return step{tool: "Execute", args: obj{"command": command, "summary": "Do as was asked", "riskLevel": "low", "riskLevelReason": "as asked"}}
	}
	return &rig{
		name: "droid", shell: "Execute", sessions: "droid:", down: notRunning, api: "/openai", deaf: true, tells: true, settle: settleDroid,
		lacks: map[string]string{"approval code": "droid exec runs no hook at prompts"},
		env: func(*world) []string {
			return []string{"FACTORY_AIRGAP_ENABLED=1", "FACTORY_DROID_AUTO_UPDATE_ENABLED=false", "FACTORY_DISABLE_KEYRING=1"}
		},
		command: func(ctx context.Context, _ *world, prompt string, _ bool) *exec.Cmd { return droidExec(ctx, prompt) },
		read:    func(w *world, name string) step { return step{tool: "Read", args: obj{"file_path": at(w, name)}} },
		write: func(w *world, name, content string) step {
			return step{tool: "Create", args: obj{"file_path": at(w, name), "content": content}}
		},
		run: run, fetch: byCurl(run), page: newsPage,
	}
}

func settleDroid(w *world) error {
	headers, err := w.introduced()
	if err != nil {
		return err
	}
	raw, err := strictjson.MarshalIndent(obj{"customModels": []any{obj{
		"model": "scripted", "displayName": "scripted", "baseUrl": w.api + "/v1", "apiKey": "none", "provider": "generic-chat-completion-api", "maxOutputTokens": 4096, "extraHeaders": headers,
	}}})
	if err == nil {
		w.write(w.home, ".factory/settings.json", string(raw))
	}
	return err
}

func droidExec(ctx context.Context, prompt string, more ...string) *exec.Cmd {
	args := append([]string{"exec", "--skip-permissions-unsafe", "-m", "custom:scripted"}, more...)
	return exec.CommandContext(ctx, binary("droid"), append(args, prompt)...)
}

// copied: a copy of a conversation has another name, and is trusted no more than what it
// was copied from.
func copied(t *testing.T, r *rig) {
	w := open(t, r, with{})
	w.model.script(r.fetch(w), step{say: done})
	w.turn("Read " + r.page(w) + ".")
	files, err := filepath.Glob(filepath.Join(w.home, ".factory/sessions/*/*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("sessions: got %q and %v, want one", files, err)
	}
	w.model.script(r.run(w, attack), step{say: done})
	w.by(func(ctx context.Context, _ *world, prompt string, _ bool) *exec.Cmd {
		return droidExec(ctx, prompt, "--fork", strings.TrimSuffix(filepath.Base(files[0]), ".jsonl"))
	}, "Go on.")
	stopped(t, w)
	if !w.model.done() {
		t.Error("the call was never tried")
	}
}
