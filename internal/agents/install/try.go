package install

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// How each agent is run without a terminal, allowed to do everything but what a hook
// forbids, and with its model's address set to ours.

func tryClaude(r *rig) (launch, error) {
	if r.w.Managed && r.w.Root != "" {
		return launch{}, errors.New("the administrator's settings are read from the real root alone")
	}
	if !r.w.Managed {
		body, err := r.settings(map[string]any{})
		if err != nil {
			return launch{}, err
		}
		if err := r.put(body, []string{".claude", "settings.json"}, []string{".claude", "settings.local.json"}); err != nil {
			return launch{}, err
		}
	}
	return launch{
		args: []string{"-p", words, "--allowedTools", "Bash", "--output-format", "stream-json", "--verbose"},
		env: []string{
			"ANTHROPIC_BASE_URL=" + r.url, "ANTHROPIC_API_KEY=no-key", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
			"DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1",
		},
	}, nil
}

// tryCodex writes the trust entries anew, because they name the place of the hooks; but
// only where the real ones hold.
func tryCodex(r *rig) (launch, error) {
	body, err := r.settings(map[string]any{})
	if err != nil {
		return launch{}, err
	}
	if err := r.put(body, []string{".codex", "hooks.json"}, []string{".codex", "hooks.json"}); err != nil {
		return launch{}, err
	}
	config := fmt.Sprintf("model = \"gpt-5.2-codex\"\nmodel_provider = \"canary\"\n\n[model_providers.canary]\nname = \"canary\"\nbase_url = %q\nwire_api = \"responses\"\nenv_key = \"CANARY_KEY\"\n\n", r.url+"/v1")
	real, err := readCodex(r.w, filepath.Join(r.w.folder("CODEX_HOME", ".codex"), "config.toml"))
	if err != nil {
		return launch{}, err
	}
	carried, err := real.carried()
	if err != nil {
		return launch{}, err
	}
	config += carried + r.project()
	trusted, err := codexTrusted(r.w, r.agent)
	if err != nil {
		return launch{}, err
	}
	if trusted {
		hooks := filepath.Join(r.home, ".codex", "hooks.json")
		if r.w.Project != "" {
			hooks = filepath.Join(r.work, ".codex", "hooks.json")
		}
		block, err := codexTrust(hooks, body, r.w)
		if err != nil {
			return launch{}, err
		}
		config += block
	}
	if err := writeNew(filepath.Join(r.home, ".codex", "config.toml"), []byte(config)); err != nil {
		return launch{}, err
	}
	return launch{
		args: []string{"exec", "--skip-git-repo-check", "--json", "--dangerously-bypass-approvals-and-sandbox", words},
		env:  []string{"CODEX_HOME=" + filepath.Join(r.home, ".codex"), "CANARY_KEY=no-key"},
	}, nil
}

// project is how Codex looks at the folder of the trial: as at the real one. Left to itself it
// trusts a folder that it may write to.
func (r *rig) project() string {
	if r.w.Project == "" {
		return ""
	}
	level := "trusted"
	if r.agent.skips(r.w) != "" {
		level = "untrusted"
	}
	return fmt.Sprintf("[projects.%q]\ntrust_level = %q\n\n", r.work, level)
}

// codexTrusted reports whether the real trust entries fit the real hooks.
func codexTrusted(w World, a *agent) (bool, error) {
	want, path, err := codexWants(w, a)
	if err != nil {
		return false, err
	}
	config, err := settings.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return holdsBlock(config, want), err
}

// codexWants are the trust entries that the real hooks need, and the file to hold them.
func codexWants(w World, a *agent) (block, path string, err error) {
	files, err := a.files(w, Options{})
	if err != nil {
		return "", "", err
	}
	hooks, err := w.readFile(files[0].path)
	if err != nil {
		return "", "", err
	}
	block, err = codexTrust(files[0].path, hooks, w)
	return block, files[1].path, err
}

func tryGemini(r *rig) (launch, error) {
	auth := map[string]any{"security": map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}}, "privacy": map[string]any{"usageStatisticsEnabled": false}}
	extra := auth
	if r.w.Project != "" {
		raw, err := strictjson.Marshal(auth)
		if err != nil {
			return launch{}, err
		}
		if err := writeNew(filepath.Join(r.home, ".gemini", "settings.json"), raw); err != nil {
			return launch{}, err
		}
		extra = map[string]any{}
	}
	body, err := r.settings(extra)
	if err != nil {
		return launch{}, err
	}
	if err := r.put(body, []string{".gemini", "settings.json"}, []string{".gemini", "settings.json"}); err != nil {
		return launch{}, err
	}
	return launch{
		args: []string{"-m", "gemini-2.5-flash", "--yolo", "-o", "json", "-p", words},
		env: []string{
			"GEMINI_API_KEY=no-key", "GOOGLE_GEMINI_BASE_URL=" + r.url, "GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_TELEMETRY_ENABLED=false",
		},
	}, nil
}

// copyOwn puts our own file where the agent of the trial looks for it.
func (r *rig) copyOwn(home, project []string) error {
	path, err := r.agent.path(r.w)
	if err != nil {
		return err
	}
	body, err := r.w.readFile(path)
	if err != nil {
		return err
	}
	return r.put(body, home, project)
}

func tryCopilot(r *rig) (launch, error) {
	if r.w.Managed && r.w.Root != "" {
		return launch{}, errors.New("the administrator's settings are read from the real root alone")
	}
	if !r.w.Managed {
		body, err := r.settings(map[string]any{"version": 1})
		if err != nil {
			return launch{}, err
		}
		if err := r.put(body, []string{".copilot", "hooks", "tidemark.json"}, []string{".github", "hooks", "tidemark.json"}); err != nil {
			return launch{}, err
		}
	}
	if r.w.Project != "" && r.agent.skips(r.w) == "" {
		raw, err := strictjson.Marshal(map[string]any{"trustedFolders": []string{r.work}})
		if err != nil {
			return launch{}, err
		}
		if err := writeNew(filepath.Join(r.home, ".copilot", "config.json"), raw); err != nil {
			return launch{}, err
		}
	}
	return launch{
		args: []string{"-p", words, "--allow-all-tools", "--no-color"},
		env: []string{
			"COPILOT_HOME=" + filepath.Join(r.home, ".copilot"), "COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=" + r.url + "/v1",
			"COPILOT_PROVIDER_API_KEY=no-key", "COPILOT_MODEL=m", "COPILOT_AUTO_UPDATE=false",
		},
	}, nil
}

func tryOpencode(r *rig) (launch, error) {
	if err := r.copyOwn([]string{".config", "opencode", "plugins", "tidemark.js"}, []string{".opencode", "plugins", "tidemark.js"}); err != nil {
		return launch{}, err
	}
	config := map[string]any{
		"model": "canary/m",
		"provider": map[string]any{"canary": map[string]any{
			"npm": "@ai-sdk/openai-compatible", "name": "canary",
			"options": map[string]any{"baseURL": r.url + "/v1", "apiKey": "no-key"}, "models": map[string]any{"m": map[string]any{"name": "m"}},
		}},
	}
	raw, err := strictjson.Marshal(config)
	if err != nil {
		return launch{}, err
	}
	if err := writeNew(filepath.Join(r.home, ".config", "opencode", "opencode.json"), raw); err != nil {
		return launch{}, err
	}
	return launch{
		args: []string{"run", "--format", "json", words},
		env: []string{
			"XDG_CONFIG_HOME=" + filepath.Join(r.home, ".config"), "XDG_DATA_HOME=" + filepath.Join(r.home, ".local", "share"),
			"XDG_CACHE_HOME=" + filepath.Join(r.home, ".cache"), "XDG_STATE_HOME=" + filepath.Join(r.home, ".state"),
			"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
		},
	}, nil
}
