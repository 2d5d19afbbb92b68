package box_test

import (
	"path"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/box"
)

// Every word of the lists is what its block says: a path that stays below where it is looked for, or a name.
func TestTheListsAreWellFormed(t *testing.T) {
	blocks := box.Blocks()
	for _, name := range []string{
		"places system", "places machine", "places home-read", "places home-layer", "places home-made", "places home-hide",
		"places guard-root", "places guard-any", "places vendored", "places guard-git", "places judged-git", "places home-shut", "places home-own",
		"places home-cache",
	} {
		words := blocks[name]
		if len(words) == 0 {
			t.Errorf("%s is missing", name)
		}
		seen := map[string]bool{}
		for _, w := range words {
			if w == "." || w != path.Clean(w) || path.IsAbs(w) || strings.HasPrefix(w, "..") || strings.ContainsAny(w, "*?[") {
				t.Errorf("%s: %s is no plain path", name, w)
			}
			if seen[w] {
				t.Errorf("%s: %s stands there twice", name, w)
			}
			seen[w] = true
		}
	}
	for _, w := range slices.Concat(blocks["environment own"], blocks["environment quiet"]) {
		if name, value, ok := strings.Cut(w, "="); !ok || name == "" || value == "" {
			t.Errorf("%s is no variable with a value", w)
		}
	}
	for _, w := range blocks["places home-made"] {
		if !slices.Contains(blocks["places home-layer"], w) {
			t.Errorf("%s is made and has no layer", w)
		}
	}
	for _, w := range blocks["places home-own"] {
		if !slices.Contains(blocks["places home-layer"], w) {
			t.Errorf("%s is the box's own and has no layer", w)
		}
	}
	for _, w := range blocks["places home-cache"] {
		if !slices.ContainsFunc(blocks["places home-own"], func(own string) bool { return strings.HasPrefix(w, own+"/") }) {
			t.Errorf("%s is shown of nothing that is covered", w)
		}
	}
	for _, w := range blocks["places root-fine"] {
		guarded := slices.Concat(blocks["places guard-root"], blocks["places guard-any"])
		if _, err := path.Match(w, ""); err != nil || w[0] != '.' || slices.Contains(guarded, w) {
			t.Errorf("%s is fine and guarded, or no name with a dot: %v", w, err)
		}
	}
	for _, w := range blocks["places home-hide"] {
		if !slices.ContainsFunc(slices.Concat(blocks["places home-layer"], blocks["places home-read"], blocks["places home-cache"]), func(l string) bool { return strings.HasPrefix(w, l+"/") }) {
			t.Errorf("%s is hidden, and not shown by anything", w)
		}
	}
	for _, w := range slices.Concat(blocks["places home-shut"], blocks["places vendored"], blocks["environment names"], blocks["environment switches"]) {
		if strings.Contains(w, "/") {
			t.Errorf("%s is no name", w)
		}
	}
}

// A variable is given or withheld, never both, and only what is named or is a switch is given with a value.
func TestOnlyNamedVariablesAreGiven(t *testing.T) {
	names := box.Blocks()["environment names"]
	switches := box.Blocks()["environment switches"]
	rapid.Check(t, func(t *rapid.T) {
		env := rapid.SliceOf(rapid.StringMatching(`[A-Z_]{1,12}=[a-zA-Z0-9/=-]{0,12}`)).Draw(t, "env")
		given, withheld := box.ChooseEnvironment(env, nil)
		for _, g := range given[:len(given)-len(box.Blocks()["environment own"])-len(box.Blocks()["environment quiet"])] {
			name, value, _ := strings.Cut(g, "=")
			named := slices.ContainsFunc(names, func(n string) bool {
				start, any := strings.CutSuffix(n, "*")
				return n == name || any && strings.HasPrefix(name, start)
			})
			if !named && value != "" && !slices.Contains(switches, value) {
				t.Fatalf("%s is given", g)
			}
			if !slices.Contains(env, g) {
				t.Fatalf("%s is given, and nobody had it", g)
			}
		}
		for _, w := range withheld {
			if slices.ContainsFunc(names, func(n string) bool { return n == w }) {
				t.Fatalf("%s is withheld, and named", w)
			}
		}
	})
}

// Settings that git writes by itself are plain, and any that runs a program makes the whole file not plain, wherever it stands and
// however it is written.
func TestPlainSettingsOfGit(t *testing.T) {
	plain := "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n[remote \"origin\"]\n" +
		"\turl = https://host.example/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n"
	if !box.PlainConfig(plain) || !box.PlainConfig("") {
		t.Fatal("what git writes is not plain")
	}
	evil := []string{
		"[core]\n\tfsmonitor = evil\n", "[core]\n\tFSMonitor=evil\n", "[core] fsmonitor = evil\n", "[CORE]\nhooksPath = x\n", "[include]\n\tpath = x\n",
		"[includeIf \"gitdir:x\"]\n\tpath = x\n", "[alias]\n\tst = !evil\n", "[filter \"x\"]\n\tclean = evil\n", "[core]\n\tsshCommand = evil\n",
		"[remote \"o\"]\n\turl = ext::sh -c evil\n", "[remote \"o\"]\n\turl = --upload-pack=evil\n", "[remote \"o\"]\n\tuploadpack = evil\n",
		"[branch \"x\"]\n\tremote = ext::evil\n", "[credential]\n\thelper = evil\n", "[core]\n\tbare = false \\\n\tx\n", "[diff \"x\"]\n\ttextconv = evil\n",
		"[remote \"x\"] url = ext::evil \"]\n", "[core\n", "[url \"x\"]\n\tinsteadOf = y\n", "[core]\n\tfilemode = true\r\n\tpager = x\n", "name = x\n",
		"[remote.o]\n\turl = x\n", "[core]\x00\n", "[gpg]\n\tprogram = evil\n", "[submodule \"x\"]\n\tupdate = !evil\n",
	}
	for _, e := range evil {
		if box.PlainConfig(e) {
			t.Errorf("%q is called plain", e)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		lines := strings.SplitAfter(plain, "\n")
		at := rapid.IntRange(0, len(lines)).Draw(t, "at")
		e := rapid.SampledFrom(evil).Draw(t, "evil")
		if text := strings.Join(slices.Concat(lines[:at], []string{e}, lines[at:]), ""); box.PlainConfig(text) {
			t.Fatalf("%q is called plain", text)
		}
	})
}

// Whatever a file holds, settings that run something are not plain behind it.
func FuzzPlainSettingsOfGit(f *testing.F) {
	f.Add("[core]\n\tbare = false\n")
	f.Add("[core]\n\tx = \"")
	f.Fuzz(func(t *testing.T, text string) {
		if box.PlainConfig(text + "\n[core]\n\tfsmonitor = evil\n") {
			t.Errorf("%q is called plain", text)
		}
	})
}
