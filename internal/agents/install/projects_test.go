package install_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/agents/install"
)

// addedByCodex is what Codex puts into its file when a folder is trusted: before a comment at
// the end, which is our mark.
const addedByCodex = "\n[projects.\"/home/user/work\"]\ntrust_level = \"trusted\"\n"

func TestWhatCodexAddsBetweenOurMarksIsItsOwn(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(w.Home, ".codex/config.toml")
	write(t, path, "model = \"m\"\n", 0o600)
	put(t, w, "codex", install.Options{})
	changed := strings.Replace(read(t, path), "# tidemark: end", strings.TrimPrefix(addedByCodex, "\n")+"# tidemark: end", 1)
	for _, text := range []string{changed, strings.Replace(changed, "[projects", "\n[projects", 1)} {
		write(t, path, text, 0o600)
		if s, err := install.Inspect(t.Context(), w, "codex"); err != nil || !s.Intact || len(s.Problems) > 0 {
			t.Errorf("got %+v, %v; want it intact", s, err)
		}
		if p := put(t, w, "codex", install.Options{}); !p.Unchanged() {
			t.Errorf("installing again changes %+v, want nothing", p.Changes)
		}
	}
	other := install.Options{Timeout: 7e9} // other hooks, so other entries
	put(t, w, "codex", other)
	if got := read(t, path); strings.Count(got, "pre_tool_use") != 1 || !strings.Contains(got, strings.TrimSpace(addedByCodex)) {
		t.Errorf("after installing anew:\n%s\nwant our entries once, and Codex's", got)
	}
	take(t, w, "codex")
	if got := read(t, path); strings.TrimSpace(got) != "model = \"m\"\n"+addedByCodex[:len(addedByCodex)-1] && got != "model = \"m\"\n"+addedByCodex[1:] {
		t.Errorf("after uninstalling: %q, want what the person and Codex wrote", got)
	}
}

// Both have their entries between the same marks, and neither takes the other's away.
func TestCodexCanBeInstalledForTheUserAndForAProject(t *testing.T) {
	user := newWorld(t)
	path := filepath.Join(user.Home, ".codex/config.toml")
	project := user
	project.Project = filepath.Join(user.Home, "project")
	if err := os.MkdirAll(project.Project, 0o700); err != nil {
		t.Fatal(err)
	}
	trust := "[projects.\"" + project.Project + "\"]\ntrust_level = \"trusted\"\n"
	write(t, path, trust, 0o600)
	for _, order := range [][]install.World{{user, project}, {project, user}} {
		for range 2 {
			for _, w := range order {
				put(t, w, "codex", install.Options{})
			}
		}
		for _, w := range order {
			if s, err := install.Inspect(t.Context(), w, "codex"); err != nil || !s.Intact {
				t.Errorf("both: got %+v, %v; want it intact", s, err)
			}
		}
		take(t, order[0], "codex")
		if s, err := install.Inspect(t.Context(), order[1], "codex"); err != nil || !s.Intact {
			t.Errorf("after the other went: got %+v, %v; want it intact", s, err)
		}
		take(t, order[1], "codex")
		if got := read(t, path); got != trust {
			t.Errorf("after both went: %q, want %q", got, trust)
		}
	}
}

func TestATableOfOursThatWasChangedBetweenTheMarksIsNoticed(t *testing.T) {
	for name, swap := range map[string][2]string{
		"the last is turned off": {"# tidemark: end", "enabled = false\n# tidemark: end"},
		"the first is gone":      {"[hooks.state.", "[other."},
	} {
		w := newWorld(t)
		path := filepath.Join(w.Home, ".codex/config.toml")
		put(t, w, "codex", install.Options{})
		write(t, path, strings.Replace(read(t, path), swap[0], swap[1], 1), 0o600)
		if s, err := install.Inspect(t.Context(), w, "codex"); err != nil || s.Intact || !strings.Contains(strings.Join(s.Problems, " "), "was changed") {
			t.Errorf("%s: got %+v, %v; want it noticed", name, s, err)
		}
	}
}

// Codex and Copilot skip the hooks of a folder that they were not told to trust.
func TestHooksOfAProjectThatIsNotTrustedCountAsOff(t *testing.T) {
	type project struct{ folder, above string }
	tests := map[string]struct {
		agent, file string
		text        func(p project) string
		trusted     bool
	}{
		"Codex was told nothing":      {"codex", ".codex/config.toml", func(project) string { return "" }, false},
		"Codex trusts the folder":     {"codex", ".codex/config.toml", func(p project) string { return "[projects.\"" + p.folder + "\"]\ntrust_level = \"trusted\"\n" }, true},
		"Codex trusts the repository": {"codex", ".codex/config.toml", func(p project) string { return "[projects.\"" + p.above + "\"]\ntrust_level = \"trusted\"\n" }, true},
		"Codex does not trust it":     {"codex", ".codex/config.toml", func(p project) string { return "[projects.\"" + p.folder + "\"]\ntrust_level = \"untrusted\"\n" }, false},
		"Codex trusts it in capitals": {"codex", ".codex/config.toml", func(p project) string {
			return "[projects.\"" + p.folder + "\"]\ntrust_level = \"untrusted\"\nTrust_Level = \"trusted\"\n[Projects.\"" + p.folder + "\"]\ntrust_level = \"trusted\"\n"
		}, false},
		"Codex trusts another":          {"codex", ".codex/config.toml", func(p project) string { return "[projects.\"" + p.folder + "2\"]\ntrust_level = \"trusted\"\n" }, false},
		"Copilot was told nothing":      {"copilot", ".copilot/config.json", func(project) string { return "{}" }, false},
		"Copilot trusts the folder":     {"copilot", ".copilot/config.json", func(p project) string { return "// ours\n{\"trustedFolders\": [\"" + p.folder + "\"]}" }, true},
		"Copilot trusts one above":      {"copilot", ".copilot/config.json", func(p project) string { return "{\"trustedFolders\": [\"" + p.above + "\"]}" }, true},
		"Copilot trusts one beside":     {"copilot", ".copilot/config.json", func(p project) string { return "{\"trustedFolders\": [\"" + p.folder + "2\"]}" }, false},
		"Copilot's list is no list":     {"copilot", ".copilot/config.json", func(p project) string { return "{\"trustedFolders\": \"" + p.folder + "\"}" }, false},
		"Copilot's file cannot be read": {"copilot", ".copilot/config.json", func(project) string { return "{" }, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			p := project{above: filepath.Join(w.Home, "repository")}
			p.folder = filepath.Join(p.above, "project")
			if err := os.MkdirAll(filepath.Join(p.above, ".git"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(p.folder, 0o700); err != nil {
				t.Fatal(err)
			}
			w.Project = p.folder
			write(t, filepath.Join(w.Home, tt.file), tt.text(p), 0o600)
			plan := put(t, w, tt.agent, install.Options{})
			s, err := install.Inspect(t.Context(), w, tt.agent)
			if err != nil || !s.Hooked || s.Intact != tt.trusted {
				t.Errorf("got %+v, %v; want intact %v", s, err, tt.trusted)
			}
			if said := strings.Contains(strings.Join(plan.Notes, " "), "trust "+p.folder) || strings.Contains(strings.Join(plan.Notes, " "), "trusts "+p.folder); said == tt.trusted {
				t.Errorf("notes %q, want it said: %v", plan.Notes, !tt.trusted)
			}
		})
	}
}

// The trial looks at its folder as the agent looks at the real one.
func TestTheTrialIsTrustedAsTheProjectIs(t *testing.T) {
	for _, trusted := range []bool{true, false} {
		w := newWorld(t)
		w.Project = filepath.Join(w.Home, "project")
		if err := os.MkdirAll(w.Project, 0o700); err != nil {
			t.Fatal(err)
		}
		seen := filepath.Join(w.Home, "seen")
		for name, file := range map[string]string{"codex": "$CODEX_HOME/config.toml", "copilot": "$COPILOT_HOME/config.json"} {
			write(t, filepath.Join(w.Getenv("PATH"), name), "#!/bin/sh\n/bin/cat \""+file+"\" >> "+seen+" 2>/dev/null\necho 1.0.0\n", 0o755)
		}
		if trusted {
			write(t, filepath.Join(w.Home, ".codex/config.toml"), "[projects.\""+w.Project+"\"]\ntrust_level = \"trusted\"\n", 0o600)
			write(t, filepath.Join(w.Home, ".copilot/config.json"), "{\"trustedFolders\": [\""+w.Project+"\"]}", 0o600)
		}
		for _, name := range []string{"codex", "copilot"} {
			put(t, w, name, install.Options{})
			if _, err := install.TryAgent(t.Context(), w, name); err != nil {
				t.Fatal(err)
			}
		}
		got := read(t, seen)
		if strings.Contains(got, `trust_level = "trusted"`) != trusted || strings.Contains(got, "trustedFolders") != trusted {
			t.Errorf("trusted %v: the trials' settings are\n%s", trusted, got)
		}
	}
}
