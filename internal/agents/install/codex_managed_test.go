package install_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/agents/install"
)

const (
	codexHooks    = "etc/codex/hooks.json"
	codexRequires = "etc/codex/requirements.toml"
)

// administrator is a machine whose administrator installs.
func administrator(t *testing.T) install.World {
	t.Helper()
	w := newWorld(t)
	w.Managed = true
	return w
}

// WAR-10: the administrator's hooks for Codex need no trust entries, and a requirement keeps them on.
func TestCodexHasAdministratorsHooks(t *testing.T) {
	w := administrator(t)
	put(t, w, "codex", install.Options{})
	if got := read(t, filepath.Join(w.Root, codexHooks)); !strings.Contains(got, "--installed codex@managed") {
		t.Errorf("got\n%s\nwant our hooks in it", got)
	}
	if got := read(t, filepath.Join(w.Root, codexRequires)); !strings.Contains(got, "[features]\nhooks = true\n") {
		t.Errorf("got\n%s\nwant hooks kept on", got)
	}
	if got := tree(t, w.Home); len(got) != 0 {
		t.Errorf("the user's home has %v, want nothing", got)
	}
	s, err := install.Inspect(t.Context(), w, "codex")
	if err != nil || !s.Intact {
		t.Errorf("got %+v, %v; want it intact", s, err)
	}
	if p := put(t, w, "codex", install.Options{}); !p.Unchanged() {
		t.Errorf("installing again changes %+v", p.Changes)
	}
	take(t, w, "codex")
	if got := tree(t, w.Root); len(got) != 0 {
		t.Errorf("after uninstalling: %v, want nothing", got)
	}
}

// What an administrator wrote stays, and what we cannot add to is refused with what to do.
func TestCodexsRequirementsOfOthersStay(t *testing.T) {
	for name, tt := range map[string]struct {
		had    string
		refuse bool
		same   bool // nothing is added
	}{
		"nothing about features":   {had: "allowed_sandbox_modes = [\"read-only\"]\n[mcp_servers.x]\nidentity = { command = \"x\" }\n"},
		"hooks kept on already":    {had: "[features]\nhooks = true\n", same: true},
		"kept on, beside others":   {had: "[features]\nhooks = true\nother = false\n", same: true},
		"other features":           {had: "[features]\nother = false\n", refuse: true},
		"other features, on a row": {had: "features = { other = false }\n", refuse: true},
		"hooks kept off":           {had: "[features]\nhooks = false\n", refuse: true},
		"cannot be read":           {had: "[features\n", refuse: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := administrator(t)
			path := filepath.Join(w.Root, codexRequires)
			write(t, path, tt.had, 0o644)
			p, err := install.Prepare(t.Context(), w, "codex", install.Options{})
			if tt.refuse {
				if err == nil || !strings.Contains(err.Error(), path) {
					t.Errorf("got %v, want it refused with the place", err)
				}
				if got := tree(t, w.Root); len(got) != 1 || read(t, path) != tt.had {
					t.Errorf("the machine has %v, want nothing changed", got)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if same := !slices.ContainsFunc(p.Changes, func(c install.Change) bool { return c.Path == path }); same != tt.same {
				t.Errorf("the requirements stay as they are: %v, want %v", same, tt.same)
			}
			put(t, w, "codex", install.Options{})
			if s, err := install.Inspect(t.Context(), w, "codex"); err != nil || !s.Intact {
				t.Errorf("got %+v, %v; want it intact", s, err)
			}
			take(t, w, "codex")
			if got := read(t, path); got != tt.had {
				t.Errorf("after uninstalling:\n%s\nwant\n%s", got, tt.had)
			}
		})
	}
}

// Whoever takes the requirement away opens what it ruled out, and doctor says so.
func TestCodexsRequirementThatIsGoneIsNoticed(t *testing.T) {
	for name, after := range map[string]string{
		"emptied": "", "turned around": "[features]\nhooks = false\n", "in a text": "x = '''\n[features]\nhooks = true\n'''\n",
	} {
		w := administrator(t)
		put(t, w, "codex", install.Options{})
		write(t, filepath.Join(w.Root, codexRequires), after, 0o644)
		s, err := install.Inspect(t.Context(), w, "codex")
		if err != nil || s.Intact || !strings.Contains(strings.Join(s.Problems, "\n"), "can turn the hooks off") {
			t.Errorf("%s: got %+v, %v; want it noticed", name, s, err)
		}
		if open := named(t, w, "codex"); !slices.Contains(open, "project settings") || !slices.Contains(open, "flags") {
			t.Errorf("%s: got %v open, want project settings and flags among them", name, open)
		}
	}
}

// A machine that takes the administrator's hooks alone is no fault where ours are among them.
func TestCodexsManagedHooksOnlyIsNoFaultWhereOursAreManaged(t *testing.T) {
	w := newWorld(t)
	put(t, w, "codex", install.Options{})
	admin := w
	admin.Managed = true
	write(t, filepath.Join(w.Root, codexRequires), "allow_managed_hooks_only = true\n", 0o644)
	put(t, admin, "codex", install.Options{})
	for _, world := range []install.World{w, admin} {
		s, err := install.Inspect(t.Context(), world, "codex")
		if err != nil || strings.Contains(strings.Join(s.Problems, "\n"), "allow_managed_hooks_only") {
			t.Errorf("managed %v: got %q, %v", world.Managed, s.Problems, err)
		}
	}
}

// Each of the agents that has administrator's settings is said to, where they are asked for.
func TestManagedNamesAreThoseThatCanBeInstalled(t *testing.T) {
	for _, name := range install.Names() {
		_, err := install.Prepare(t.Context(), administrator(t), name, install.Options{})
		if got := slices.Contains(install.ManagedNames(), name); got != (err == nil) {
			t.Errorf("%s: named %v, installing: %v", name, got, err)
		}
	}
}
