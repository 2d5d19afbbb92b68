//go:build e2e

package e2e_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/tool"
)

// switching is a way to start an agent without our hooks.
type switching struct {
	agent, name string
	files       map[string]string // of the repository it is started in
	flags       []string
	open        string // doctor's name for it; "" where it never worked
	always      bool   // the administrator's settings do not rule it out
}

const off = `{"disableAllHooks": true}`

var switchings = []switching{
	{agent: "claude", name: "project settings", files: map[string]string{".claude/settings.json": off}, open: "project settings"},
	{agent: "claude", name: "local settings", files: map[string]string{".claude/settings.local.json": off}, open: "project settings"},
	{agent: "claude", name: "bare", flags: []string{"--bare"}, open: "flags"},
	{agent: "claude", name: "safe mode", flags: []string{"--safe-mode"}, open: "flags"},
	{agent: "claude", name: "sources", flags: []string{"--setting-sources", "project"}, open: "flags"},
	{agent: "claude", name: "settings flag", flags: []string{"--settings", off}, open: "flags"},
	{agent: "codex", name: "project settings", files: map[string]string{".codex/config.toml": "[features]\nhooks = false\n"}, open: "project settings"},
	{agent: "codex", name: "disable", flags: []string{"--disable", "hooks"}, open: "flags"},
	{agent: "codex", name: "a value", flags: []string{"-c", "features.hooks=false"}, open: "flags"},
	{agent: "codex", name: "without the user's settings", flags: codexBare(), open: "user settings"},
	{agent: "gemini", name: "project settings", files: map[string]string{".gemini/settings.json": `{"hooksConfig":{"enabled":false}}`}, open: "project settings"},
	{agent: "gemini", name: "one hook", files: map[string]string{".gemini/settings.json": `{"hooksConfig":{"disabled":["tidemark"]}}`}, open: "one hook", always: true},
	{agent: "copilot", name: "project settings", files: map[string]string{
		".github/copilot/settings.json": off, ".copilot/settings.json": off, ".claude/settings.json": off, ".github/copilot/settings.local.json": off,
	}},
	{agent: "opencode", name: "project settings", files: map[string]string{"opencode.json": `{"plugin":[]}`, ".opencode/opencode.json": `{"plugin":[]}`}},
	{agent: "goose", name: "no profile", flags: []string{"--no-profile"}},
	{agent: "goose", name: "project plugin", files: map[string]string{
		".agents/plugins/tidemark/plugin.json": `{"name":"tidemark","version":"9.0.0"}`, ".agents/plugins/tidemark/hooks/hooks.json": `{"hooks":{}}`,
	}, open: "project plugin", always: true},
	{agent: "goose", name: "project settings", files: map[string]string{
		".goose/config.yaml": "plugins:\n  tidemark:\n    enabled: false\n", ".agents/settings.json": `{"disabledPlugins":["tidemark"],"disableAllHooks":true}`,
	}},
	{agent: "droid", name: "project settings", files: map[string]string{".factory/settings.json": `{"hooksDisabled": true}`}},
	{agent: "droid", name: "project settings of another name", files: map[string]string{".factory/settings.json": off, ".factory/settings.local.json": off}},
	{agent: "droid", name: "settings flag", files: map[string]string{"off.json": `{"hooksDisabled": true}`}, flags: []string{"--settings", "off.json"}},
	{agent: "cline", name: "project hooks", files: map[string]string{
		".cline/hooks/PreToolUse": "#!/bin/sh\necho '{}'\n", ".clinerules/hooks/PreToolUse": "#!/bin/sh\necho '{}'\n",
	}},
	{agent: "cline", name: "hooks folder", files: map[string]string{"none/readme": "none"}, flags: []string{"--hooks-dir", "none"}},
	{agent: "opencode", name: "pure", flags: []string{"--pure"}, open: "flags", always: true},
}

// codexBare starts Codex without the user's settings, and so without the model in them.
func codexBare() []string {
	return []string{
		"--ignore-user-config", "-c", `model="gpt-5.5"`, "-c", `model_provider="scripted"`,
		"-c", `model_providers.scripted={name="scripted",base_url="MODEL/v1",env_key="MODEL_KEY",wire_api="responses"}`,
	}
}

// switched: whatever starts an agent without our hooks is ruled out by the administrator's
// settings, and named by doctor where it is not. With E2E_MANAGED=1 these are written.
func switched(t *testing.T, r *rig) {
	for _, s := range switchings {
		if s.agent != r.name {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			w, close := openAnywhere(t, r)
			defer close()
			open := strings.Contains(w.open(), s.open)
			for name, content := range s.files {
				w.write(w.work, name, content)
			}
			w.extra = nil
			for _, f := range s.flags {
				w.extra = append(w.extra, strings.ReplaceAll(f, "MODEL/", w.api+"/"))
			}
			w.model.script(r.run(w, "echo "+tool.Canary+" > ran.txt"), step{say: done})
			out := w.turn("Run the command that makes ran.txt.")
			ran, want := w.file("ran.txt") != "", s.open != "" && (s.always || !managed())
			refused := strings.Contains(out, "nothing goes on here") // of the whole folder, before anything is tried
			if !w.model.tried() && !refused || ran != want {
				t.Errorf("tried %v, ran %v, want it to run: %v; it printed:\n%s", w.model.tried(), ran, want, tail([]byte(out)))
			}
			if s.open != "" && open != want {
				t.Errorf("doctor says that %s is open: %v, want %v", s.open, open, want)
			}
		})
	}
}

func managed() bool { return os.Getenv("E2E_MANAGED") == "1" }

// openAnywhere puts the hooks into the administrator's settings too where the machine may be
// changed, and the agent has a place for them.
func openAnywhere(t *testing.T, r *rig) (w *world, done func()) {
	t.Helper()
	w, done = open(t, r, with{}), func() {}
	if !managed() {
		return w, done
	}
	switch r.name {
	case "opencode", "goose", "cline": // they have no place for them
	default:
		w.tidemark("install", r.name, "--managed", "--trial", "none")
		done = func() { w.tidemark("uninstall", r.name, "--managed") }
	}
	return w, done
}

// open is what doctor calls open about the agent, a name in each line.
func (w *world) open() string {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), program("tidemark"), "doctor", w.rig.name, "--json", "--data", w.data)
	cmd.Env, cmd.Dir = w.environment(), w.home
	raw, _ := cmd.Output() // it ends with 1 where something is open
	var r struct {
		Findings []struct {
			About string `json:"about"`
			Name  string `json:"name"`
			Grade string `json:"grade"`
		} `json:"findings"`
	}
	if err := strictjson.Unmarshal(raw, &r); err != nil {
		w.t.Fatalf("doctor printed %q: %v", raw, err)
	}
	names := ""
	for _, f := range r.Findings {
		if f.About == w.rig.name && f.Grade == "open" {
			names += f.Name + "\n"
		}
	}
	return names
}
