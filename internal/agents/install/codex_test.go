package install_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/agents/install"
)

// Codex takes no name for another that differs in capitals, whichever comes last.
func TestCodexsNamesCountInTheirExactSpelling(t *testing.T) {
	const only = "../root/etc/codex/requirements.toml"
	own := ".codex/config.toml"
	for name, tt := range map[string]struct {
		file, text string
		want       string // "" is good news
	}{
		"features on in capitals":       {own, "[features]\nhooks = false\n[Features]\nhooks = true\n", "features.hooks is false"},
		"in capitals first":             {own, "[Features]\nhooks = true\n[features]\nhooks = false\n", "features.hooks is false"},
		"the switch on in capitals":     {own, "[features]\nhooks = false\nHooks = true\n", "features.hooks is false"},
		"off in capitals":               {own, "[Features]\nhooks = false\n[features]\nHOOKS = false\n", ""},
		"a profile on in capitals":      {own, "[profiles.p.features]\nhooks = false\n[Profiles.p.features]\nhooks = true\n", "profiles.p.features.hooks is false"},
		"its features on in capitals":   {own, "[profiles.p.features]\nhooks = false\n[profiles.p.Features]\nhooks = true\n", "profiles.p.features.hooks is false"},
		"a requirement in capitals":     {only, "[features]\nhooks = false\n[FEATURES]\nhooks = true\n", "features.hooks is false"},
		"others let in in capitals":     {only, "allow_managed_hooks_only = true\nAllow_Managed_Hooks_Only = false\n", "allow_managed_hooks_only is true"},
		"a requirement off in capitals": {only, "ALLOW_MANAGED_HOOKS_ONLY = true\n", ""},
		"features that are no table":    {own, "features = 1\n", "features is not a table"},
		"profiles that are no table":    {own, "profiles = [1]\n", "profiles is not a table"},
		"a profile that is no table":    {own, "profiles.p = 1\n", "profiles.p is not a table"},
		"a requirement that is no bool": {only, "allow_managed_hooks_only = \"yes\"\n", "allow_managed_hooks_only is yes"},
	} {
		w := newWorld(t)
		put(t, w, "codex", install.Options{})
		path := filepath.Join(w.Home, tt.file)
		if tt.file == own {
			tt.text += read(t, path)
		}
		write(t, path, tt.text, 0o600)
		s, err := install.Inspect(t.Context(), w, "codex")
		if err != nil || s.Intact != (tt.want == "") || !strings.Contains(strings.Join(s.Problems, "\n"), tt.want) {
			t.Errorf("%s: got intact %v, %q, %v; want %q", name, s.Intact, s.Problems, err, tt.want)
		}
	}
}

// A profile has a file of its own, laid over the user's.
func TestWhatAProfileOfCodexTurnsOffIsNoticed(t *testing.T) {
	const off, changed = "features.hooks is false", "not as Tidemark wrote it"
	for name, tt := range map[string]struct {
		text func(ours string) string // of the profile
		want string                   // "" is good news
	}{
		"nothing of ours":    {func(string) string { return "model = \"m\"\n[hooks.state.other]\nenabled = false\n" }, ""},
		"our entries as is":  {func(ours string) string { return ours }, ""},
		"our entries on":     {func(ours string) string { return ours + "enabled = true\n" }, ""},
		"all hooks off":      {func(string) string { return "[features]\nhooks = false\n" }, off},
		"one of ours off":    {func(ours string) string { return ours + "enabled = false\n" }, changed},
		"another hash":       {func(ours string) string { return strings.Replace(ours, "sha256:", "sha256:0", 1) }, changed},
		"no table":           {func(ours string) string { return "hooks.state = 1\n" }, changed},
		"cannot be read":     {func(ours string) string { return "[" }, "cannot be read for certain"},
		"entries in capital": {func(ours string) string { return strings.ReplaceAll(ours, "[hooks", "[Hooks") + "enabled = false\n" }, ""},
	} {
		w := newWorld(t)
		put(t, w, "codex", install.Options{})
		_, ours, _ := strings.Cut(read(t, filepath.Join(w.Home, ".codex/config.toml")), "removes it)\n")
		ours, _, _ = strings.Cut(ours, "# tidemark: end")
		write(t, filepath.Join(w.Home, ".codex/p.config.toml"), tt.text(ours), 0o600)
		s, err := install.Inspect(t.Context(), w, "codex")
		if err != nil || s.Intact != (tt.want == "") || !strings.Contains(strings.Join(s.Problems, "\n"), tt.want) {
			t.Errorf("%s: got intact %v, %q, %v; want %q", name, s.Intact, s.Problems, err, tt.want)
		}
	}
}

// hide puts the table that trusts the decision on a call into a text.
func hide(config string) string {
	i := strings.LastIndex(config[:strings.Index(config, "pre_tool_use")], "[hooks.state.")
	j := i + 1 + strings.IndexAny(config[i+1:], "[#")
	return config[:i] + "[x]\ny = '''\n" + config[i:j] + "[z]\n'''\n" + config[j:]
}

// upper is our part with other capitals.
func upper(config string) string {
	_, in, _ := strings.Cut(config, "removes it)\n")
	in, _, _ = strings.Cut(in, "# tidemark: end")
	return strings.ReplaceAll(in, "[hooks.state.", "[HOOKS.state.")
}

// Entries that Codex does not see are noticed, "install" makes them good again, and what was
// put around them stays.
func TestEntriesThatCodexDoesNotSeeAreNoticedAndMended(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(config string) string
		left   string // after uninstalling
	}{
		"one in a text":              {hide, "[x]\ny = '''\n[hooks.state."},
		"one in a text, in capitals": {func(s string) string { return hide(s) + upper(s) }, "[HOOKS.state."},
		"all in a text":              {func(s string) string { return "a = '''\n" + s + "'''\n" }, "a = '''\n# tidemark: begin"},
		"all in a text, in capitals": {func(s string) string { return "a = '''\n" + s + "'''\n" + upper(s) }, "[HOOKS.state."},
		"all gone, in capitals":      {upper, "[HOOKS.state."},
		"one turned off":             {func(s string) string { return strings.Replace(s, "trusted_hash", "enabled = false\ntrusted_hash", 1) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			path := filepath.Join(w.Home, ".codex/config.toml")
			put(t, w, "codex", install.Options{})
			write(t, path, tt.change(read(t, path)), 0o600)
			if s, err := install.Inspect(t.Context(), w, "codex"); err != nil || s.Intact {
				t.Errorf("got %+v, %v; want it noticed", s, err)
			}
			if p := put(t, w, "codex", install.Options{}); p.Unchanged() {
				t.Error("installing again changes nothing")
			}
			if s, err := install.Inspect(t.Context(), w, "codex"); err != nil || !s.Intact {
				t.Errorf("after installing again: %+v, %v; want it intact\n%s", s, err, read(t, path))
			}
			if p := put(t, w, "codex", install.Options{}); !p.Unchanged() {
				t.Errorf("installing once more changes %+v, want nothing", p.Changes)
			}
			take(t, w, "codex")
			if tt.left == "" {
				return
			}
			if got := read(t, path); !strings.Contains(got, tt.left) {
				t.Errorf("after uninstalling:\n%s\nwant %q in it", got, tt.left)
			}
		})
	}
}

// Where our entries would mean something else, nothing is written.
func TestAFileThatChangesWhatOurEntriesMeanIsRefused(t *testing.T) {
	for name, config := range map[string]string{
		"a list of hooks":  "[[hooks]]\n",
		"a list of states": "[[hooks.state]]\n",
	} {
		w := newWorld(t)
		path := filepath.Join(w.Home, ".codex/config.toml")
		write(t, path, config, 0o600)
		for range 2 {
			if _, err := install.Prepare(t.Context(), w, "codex", install.Options{}); err == nil || !strings.Contains(err.Error(), "changes what Tidemark's tables mean") {
				t.Errorf("%s: got %v, want it refused", name, err)
			}
		}
		if got := read(t, path); got != config {
			t.Errorf("%s: the file became %q", name, got)
		}
	}
}

// A part that cannot be told from a text is left, and that is said.
func TestUninstallingSaysWhatOfCodexsFileItLeaves(t *testing.T) {
	for name, change := range map[string]func(config string) string{
		"a text without end": func(s string) string { return "x = '''\n" + s },
		"all in a text":      func(s string) string { return "x = '''\n" + s + "'''\n" },
		"the end is gone":    func(s string) string { return strings.Replace(s, "# tidemark: end\n", "", 1) },
	} {
		w := newWorld(t)
		path := filepath.Join(w.Home, ".codex/config.toml")
		put(t, w, "codex", install.Options{})
		config := change(read(t, path))
		write(t, path, config, 0o600)
		p, err := install.Removal(w, "codex")
		if err != nil || !strings.Contains(strings.Join(p.Notes, "\n"), "remove it by hand") {
			t.Fatalf("%s: got %+v, %v; want it said", name, p, err)
		}
		take(t, w, "codex")
		if got := read(t, path); got != config {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, config)
		}
	}
}
