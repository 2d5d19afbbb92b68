package install

import (
	"path/filepath"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

func tryGoose(r *rig) (launch, error) {
	body, err := r.settings(map[string]any{})
	if err != nil {
		return launch{}, err
	}
	folder := []string{".agents", "plugins", "tidemark"}
	hooks := append(folder[:len(folder):len(folder)], "hooks", "hooks.json")
	if err := r.put(body, hooks, hooks); err != nil {
		return launch{}, err
	}
	about, err := strictjson.Marshal(gooseAbout())
	if err != nil {
		return launch{}, err
	}
	plugin := append(folder[:len(folder):len(folder)], "plugin.json")
	if err := r.put(about, plugin, plugin); err != nil {
		return launch{}, err
	}
	return launch{
		args: []string{"run", "--no-session", "--with-builtin", "developer", "-t", words},
		env: []string{
			"GOOSE_PROVIDER=openai", "GOOSE_MODEL=gpt-4o", "GOOSE_MODE=auto", "GOOSE_DISABLE_KEYRING=1", "OPENAI_HOST=" + r.url, "OPENAI_API_KEY=no-key",
			"XDG_CONFIG_HOME=" + filepath.Join(r.home, ".config"), "XDG_DATA_HOME=" + filepath.Join(r.home, ".local", "share"),
			"XDG_STATE_HOME=" + filepath.Join(r.home, ".state"),
		},
	}, nil
}

func tryDroid(r *rig) (launch, error) {
	mine := filepath.Join(r.home, ".factory", "settings.json")
	model := map[string]any{"customModels": []any{map[string]any{
		"model": "canary", "displayName": "canary", "baseUrl": r.url + "/v1", "apiKey": "no-key", "provider": "generic-chat-completion-api", "maxOutputTokens": 4096,
	}}}
	extra := model
	if r.w.Project != "" {
		raw, err := strictjson.Marshal(model)
		if err != nil {
			return launch{}, err
		}
		if err := writeNew(mine, raw); err != nil {
			return launch{}, err
		}
		extra = map[string]any{}
	}
	body, err := r.settings(extra)
	if err != nil {
		return launch{}, err
	}
	if err := r.put(body, []string{".factory", "settings.json"}, []string{".factory", "settings.local.json"}); err != nil {
		return launch{}, err
	}
	return launch{
		args: []string{"exec", "--skip-permissions-unsafe", "-m", "custom:canary", words},
		env:  []string{"FACTORY_AIRGAP_ENABLED=1", "FACTORY_DROID_AUTO_UPDATE_ENABLED=false", "FACTORY_DISABLE_KEYRING=1"},
	}, nil
}

// tryCline tells from the end of the run that a hook refused: Cline shows nobody the reason.
func tryCline(r *rig) (launch, error) {
	hook := []string{".cline", "hooks", "PreToolUse"}
	if err := r.copyOwn(hook, hook); err != nil {
		return launch{}, err
	}
	raw, err := strictjson.Marshal(map[string]any{
		"version": 1, "lastUsedProvider": "openai-compatible", "modes": map[string]any{},
		"providers": map[string]any{"openai-compatible": map[string]any{"tokenSource": "manual", "updatedAt": "2026-01-01T00:00:00.000Z", "settings": map[string]any{
			"provider": "openai-compatible", "apiKey": "no-key", "model": "canary", "baseUrl": r.url + "/v1",
		}}},
	})
	if err != nil {
		return launch{}, err
	}
	if err := writeNew(filepath.Join(r.home, ".cline", "data", "settings", "providers.json"), raw); err != nil {
		return launch{}, err
	}
	return launch{
		args: []string{"--json", words}, ended: `"type":"run_aborted"`,
		env: []string{"CLINE_SESSION_BACKEND_MODE=local"}, // nothing of it stays behind
	}, nil
}
