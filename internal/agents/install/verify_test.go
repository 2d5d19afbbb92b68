package install_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/agents/install"
)

// Nothing that is done to the settings goes unnoticed, and each is said in words.
func TestTamperingIsNoticed(t *testing.T) {
	swap := func(file, old, new string) func(*testing.T, install.World) {
		return func(t *testing.T, w install.World) {
			path := filepath.Join(w.Home, file)
			before := read(t, path)
			after := strings.Replace(before, old, new, 1)
			if before == after {
				t.Fatalf("%s does not hold %q", path, old)
			}
			write(t, path, after, 0o600)
		}
	}
	remove := func(file string) func(*testing.T, install.World) {
		return func(t *testing.T, w install.World) {
			if err := os.Remove(filepath.Join(w.Home, file)); err != nil {
				t.Fatal(err)
			}
		}
	}
	create := func(file, contents string) func(*testing.T, install.World) {
		return func(t *testing.T, w install.World) { write(t, filepath.Join(w.Home, file), contents, 0o600) }
	}
	tests := map[string]struct {
		agent string
		do    func(*testing.T, install.World)
		want  string
	}{
		"a hook renamed away":        {"claude", swap(".claude/settings.json", `"PreToolUse"`, `"PreToolUze"`), "the hook for PreToolUse was removed"},
		"all hooks off":              {"claude", swap(".claude/settings.json", "{\n", "{\n\"disableAllHooks\": true,\n"), "disableAllHooks is true, which turns the hooks off"},
		"all hooks off in a project": {"claude", create("project/.claude/settings.json", `{"disableAllHooks":true}`), "turns the hooks off"},
		"the settings removed":       {"claude", remove(".claude/settings.json"), "settings.json is gone"},
		"the settings emptied":       {"claude", create(".claude/settings.json", "{}"), "the hook for PreToolUse was removed"},
		"the settings made unusable": {"claude", create(".claude/settings.json", "{"), "may ignore the whole file"},
		"a timeout lowered":          {"codex", swap(".codex/hooks.json", `"timeout": 60`, `"timeout": 1`), "timeout lowered from 60 to 1"},
		"failing open":               {"claude", swap(".claude/settings.json", `"onFailure": "block"`, `"onFailure": "continue"`), "it no longer blocks when it fails"},
		"another command":            {"gemini", swap(".gemini/settings.json", "--agent gemini", "--agent cline"), "another command"},
		"the trust taken away":       {"codex", swap(".codex/config.toml", "trusted_hash", "trusted_hush"), "Tidemark's part was changed"},
		"the trust file removed":     {"codex", remove(".codex/config.toml"), "config.toml is gone"},
		"a hook put before ours":     {"codex", swap(".codex/hooks.json", "\"PreToolUse\": [", "\"PreToolUse\": [{\"hooks\":[]},"), "not at the place that is trusted"},
		"a plugin file edited":       {"opencode", swap(".config/opencode/plugins/tidemark.js", "allow === true", "allow !== 1"), "tidemark.js was changed"},
		"a hook file removed":        {"copilot", remove(".copilot/hooks/tidemark.json"), "tidemark.json is gone"},
		"a script edited":            {"cline", swap(".cline/hooks/PreToolUse", "exec ", "exit 0; exec "), "PreToolUse was changed"},
		"hooks off in Gemini":        {"gemini", swap(".gemini/settings.json", "{\n", "{\n\"hooksConfig\": {\"enabled\": false},\n"), "hooksConfig.enabled is false"},
		"our hook off in Gemini":     {"gemini", swap(".gemini/settings.json", "{\n", "{\n\"hooksConfig\": {\"disabled\": [\"tidemark\"]},\n"), "which turns the hooks off"},
		"the plugin off in OpenClaw": {"openclaw", swap(".openclaw/openclaw.json", `"enabled": true`, `"enabled": false`), "plugins.entries.tidemark.enabled is no longer true"},
		"OpenClaw told to fail open": {"openclaw", swap(".openclaw/openclaw.json", `"enabled": true`, `"config": {"failClosed": false}, "enabled": true`), "failClosed is false"},
		"a matcher changed":          {"claude", swap(".claude/settings.json", `"matcher": "*"`, `"matcher": "Nothing"`), "the hook for PreToolUse was changed"},
		"an escaped name":            {"claude", swap(".claude/settings.json", "{\n", "{\n\"disable\\u0041llHooks\": true,\n"), "disableAllHooks is true, which turns the hooks off"},
		"a name twice in a project":  {"claude", create("project/.claude/settings.json", `{"disableAllHooks":false,"disableAllHooks":true}`), "cannot be read for certain"},
		"the administrator's alone":  {"claude", create("../root/etc/claude-code/managed-settings.json", `{"allowManagedHooksOnly":true}`), "allowManagedHooksOnly is true, which turns the hooks off"},
		"off by the administrator":   {"claude", create("../root/etc/claude-code/managed-settings.d/1.json", `{"disableAllHooks":true}`), "disableAllHooks is true, which turns the hooks off"},
		"Codex's feature off":        {"codex", swap(".codex/config.toml", "# tidemark: begin", "[features]\nhooks = false\n# tidemark: begin"), "features.hooks is false, which turns the hooks off"},
		"its older name":             {"codex", swap(".codex/config.toml", "# tidemark: begin", "[features]\ncodex_hooks = false\n# tidemark: begin"), "features.codex_hooks is false"},
		"off in a profile":           {"codex", swap(".codex/config.toml", "# tidemark: begin", "[profiles.p.features]\nhooks = false\n# tidemark: begin"), "profiles.p.features.hooks is false"},
		"off in a project (Codex)":   {"codex", create("project/.codex/config.toml", "[features]\nhooks = false\n"), "features.hooks is false"},
		"off by Codex's requirement": {"codex", create("../root/etc/codex/requirements.toml", "[features]\nhooks = false\n"), "features.hooks is false"},
		"Codex's managed hooks only": {"codex", create("../root/etc/codex/requirements.toml", "allow_managed_hooks_only = true\n"), "allow_managed_hooks_only is true"},
		"Codex's trust in a text":    {"codex", swap(".codex/config.toml", "# tidemark: begin", "x = \"\"\"\n# tidemark: begin"), "not at the place that is trusted"},
		"OpenClaw allows others":     {"openclaw", swap(".openclaw/openclaw.json", `"plugins": {`, `"plugins": {"allow": ["other"],`), "plugins.allow is there and lacks"},
		"the hook program replaced":  {"claude", func(t *testing.T, w install.World) { write(t, w.Hook, "#!/bin/sh\nexit 0\n", 0o755) }, "was replaced since it was installed"},
		"the hook program removed":   {"claude", func(t *testing.T, w install.World) { _ = os.Remove(w.Hook) }, "is not there"},
		"the hook program stopped":   {"claude", func(t *testing.T, w install.World) { _ = os.Chmod(w.Hook, 0o600) }, "cannot be started any more"},
		"the record made unreadable": {"claude", func(t *testing.T, w install.World) {
			write(t, filepath.Join(w.Data, "installed/claude.json"), "{", 0o600)
		}, "install again"},
		"the record removed":          {"claude", func(t *testing.T, w install.World) { _ = os.RemoveAll(filepath.Join(w.Data, "installed")) }, "no record of the installation"},
		"fail closed lifted (Cursor)": {"cursor", swap(".cursor/hooks.json", `"failClosed": true`, `"failClosed": false`), "it no longer blocks when it fails"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			put(t, w, tt.agent, install.Options{})
			w.Project = ""
			if s, err := install.Inspect(t.Context(), w, tt.agent); err != nil || !s.Intact || len(s.Problems) > 0 {
				t.Fatalf("before: %+v, %v; want it intact", s, err)
			}
			tt.do(t, w)
			if strings.Contains(name, "project") {
				env := w.Getenv
				w.Getenv = func(name string) string {
					if name == "PWD" {
						return filepath.Join(w.Home, "project")
					}
					return env(name)
				}
			}
			s, err := install.Inspect(t.Context(), w, tt.agent)
			if err != nil || s.Intact {
				t.Fatalf("after: %+v, %v; want it noticed", s, err)
			}
			if got := strings.Join(s.Problems, "\n"); !strings.Contains(got, tt.want) {
				t.Errorf("problems %q, want %q", got, tt.want)
			}
		})
	}
}

// What does not concern us is no tampering.
func TestOtherChangesAreNoTampering(t *testing.T) {
	w := newWorld(t)
	put(t, w, "claude", install.Options{})
	path := filepath.Join(w.Home, ".claude/settings.json")
	tight := strings.Join(strings.Fields(read(t, path)), " ")
	write(t, path, strings.Replace(tight, "{", `{"model":"other","hooks2":{},`, 1), 0o600)
	s, err := install.Inspect(t.Context(), w, "claude")
	if err != nil || !s.Intact || !s.Hooked {
		t.Errorf("got %+v, %v; want it intact", s, err)
	}
}

func TestNothingInstalledIsNotHooked(t *testing.T) {
	for _, name := range install.Names() {
		w := here(t, newWorld(t), name)
		s, err := install.Inspect(t.Context(), w, name)
		if err != nil || s.Hooked || s.Intact || s.Found || len(s.FailsOpen) == 0 {
			t.Errorf("%s: got %+v, %v; want nothing found, and what fails open said", name, s, err)
		}
	}
}

// An old version is not claimed to fail closed.
func TestAnOldClaudeIsSaidToFailOpen(t *testing.T) {
	for version, open := range map[string]bool{"2.1.197": true, "2.1.294": true, "2.1.295": false, "2.1.325": false, "2.2.0": false, "3.0": false, "nonsense": true} {
		w := newWorld(t)
		write(t, filepath.Join(w.Getenv("PATH"), "claude"), "#!/bin/sh\necho '"+version+" (Claude Code)'\n", 0o755)
		s, err := install.Inspect(t.Context(), w, "claude")
		if err != nil || !s.Found {
			t.Fatalf("got %+v, %v; want it found", s, err)
		}
		if got := strings.Contains(fmt.Sprint(s.FailsOpen), "onFailure"); got != open {
			t.Errorf("%s: said to fail open %v, want %v (%q)", version, got, open, s.FailsOpen)
		}
	}
}

// Of a program that is not there nobody knows the version: nothing is said of an old one.
func TestNoVersionIsBlamedOnAnAbsentProgram(t *testing.T) {
	s, err := install.Inspect(t.Context(), newWorld(t), "claude")
	if err != nil || s.Found || strings.Contains(fmt.Sprint(s.FailsOpen), "onFailure") {
		t.Errorf("got %+v, %v; want nothing about a version", s, err)
	}
}
