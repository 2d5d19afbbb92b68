package install_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/agents/install"
)

// named are the ways past the hooks of an agent that are said to be open.
func named(t *testing.T, w install.World, name string) []string {
	t.Helper()
	s, err := install.Inspect(t.Context(), w, name)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range s.FailsOpen {
		out = append(out, c.Name)
	}
	return out
}

func TestAWayPastTheHooksIsOpenUntilTheAdministratorRulesItOut(t *testing.T) {
	for _, a := range catalogue.Setups() {
		if a.Place.Managed == "" {
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			w := newWorld(t)
			put(t, w, a.Name, install.Options{})
			before := named(t, w, a.Name)
			admin := w
			admin.Managed = true
			put(t, admin, a.Name, install.Options{})
			for _, world := range []install.World{w, admin} { // also where the user's hooks are looked at
				after := named(t, world, a.Name)
				for _, b := range a.Bypasses {
					if !slices.Contains(before, b.Name) {
						t.Errorf("%s: not said without the administrator's hooks", b.Name)
					}
					if got := slices.Contains(after, b.Name); got == b.Managed {
						t.Errorf("%s: said %v with the administrator's hooks", b.Name, got)
					}
				}
			}
		})
	}
}

func TestAPinOfTheAdministratorRulesAWayOut(t *testing.T) {
	tests := map[string]struct {
		agent, file, content string
		open                 bool
	}{
		"Codex, pinned":                     {"codex", "/etc/codex/requirements.toml", "[features]\nhooks = true\n", false},
		"Codex, pinned in another spelling": {"codex", "/etc/codex/requirements.toml", "features.hooks = true\n", false},
		"Codex, pinned to off":              {"codex", "/etc/codex/requirements.toml", "[features]\nhooks = false\n", true},
		"Codex, another pin":                {"codex", "/etc/codex/requirements.toml", "[features]\nother = true\n", true},
		"Codex, nothing to read":            {"codex", "/etc/codex/requirements.toml", "[features\n", true},
		"Codex, a default alone":            {"codex", "/etc/codex/config.toml", "[features]\nhooks = true\n", true},
		"Gemini, pinned":                    {"gemini", "/etc/gemini-cli/settings.json", `{"hooksConfig":{"enabled":true}}`, false},
		"Gemini, as a text":                 {"gemini", "/etc/gemini-cli/settings.json", `{"hooksConfig":{"enabled":"true"}}`, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			put(t, w, tt.agent, install.Options{})
			write(t, filepath.Join(w.Root, tt.file), tt.content, 0o644)
			if got := slices.Contains(named(t, w, tt.agent), "project settings"); got != tt.open {
				t.Errorf("said to be open: %v, want %v", got, tt.open)
			}
		})
	}
}

func TestInstallOffersTheAdministratorsSettings(t *testing.T) {
	for name, want := range map[string]string{
		"claude": "sudo tidemark install claude --managed", "gemini": "sudo tidemark install gemini --managed",
		"codex": "sudo tidemark install codex --managed", "copilot": "sudo tidemark install copilot --managed",
	} {
		w := newWorld(t)
		p, err := install.Prepare(t.Context(), w, name, install.Options{})
		if err != nil || !strings.Contains(strings.Join(p.Notes, "\n"), want) {
			t.Errorf("%s: got notes %q, %v; want %q among them", name, p.Notes, err, want)
		}
		w.Managed = true
		if p, err = install.Prepare(t.Context(), w, name, install.Options{}); err != nil || strings.Contains(strings.Join(p.Notes, "\n"), want) {
			t.Errorf("%s, managed: got notes %q, %v; want no offer", name, p.Notes, err)
		}
		if twice := strings.Contains(strings.Join(p.Notes, "\n"), "asked about twice"); twice == (name == "claude") { // it locks others out
			t.Errorf("%s, managed: got notes %q; said that calls are asked about twice: %v", name, p.Notes, twice)
		}
	}
}

// Goose takes a plugin of a repository in place of ours: that is said of any, and of one that is there.
func TestAPluginOfARepositoryThatTakesOurPlaceIsNoticed(t *testing.T) {
	w := newWorld(t)
	put(t, w, "goose", install.Options{})
	if open := named(t, w, "goose"); !slices.Contains(open, "project plugin") {
		t.Errorf("got %v open, want the project's plugin among them", open)
	}
	repo := filepath.Join(w.Home, "repo")
	path := w.Getenv("PATH")
	w.Getenv = func(name string) string { return map[string]string{"PATH": path, "PWD": repo}[name] }
	write(t, filepath.Join(repo, "README.md"), "a repository", 0o600)
	if s, err := install.Inspect(t.Context(), w, "goose"); err != nil || !s.Intact {
		t.Errorf("in a folder without one: got %+v, %v; want it intact", s, err)
	}
	ours := w
	ours.Project = repo
	put(t, ours, "goose", install.Options{})
	if s, err := install.Inspect(t.Context(), w, "goose"); err != nil || !s.Intact {
		t.Errorf("in a folder with our own: got %+v, %v; want it intact", s, err)
	}
	write(t, filepath.Join(repo, ".agents/plugins/tidemark/hooks/hooks.json"), `{"hooks":{}}`, 0o600)
	s, err := install.Inspect(t.Context(), w, "goose")
	if err != nil || s.Intact || !strings.Contains(strings.Join(s.Problems, "\n"), "takes it in place of our hooks") {
		t.Errorf("in a folder with somebody's: got %+v, %v; want it noticed", s, err)
	}
}
