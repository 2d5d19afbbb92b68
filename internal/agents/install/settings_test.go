package install_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/agents/install"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

var (
	hashes  = regexp.MustCompile(`sha256:[0-9a-f]{64}`)
	records = regexp.MustCompile(`@[0-9a-f]{12}`)
)

var update = flag.Bool("update", false, "write the golden files anew")

// files are the settings that an agent shares with others.
var files = map[string]string{
	"claude": ".claude/settings.json", "codex": ".codex/hooks.json", "gemini": ".gemini/settings.json", "cursor": ".cursor/hooks.json",
	"droid": ".factory/settings.json", "windsurf": ".codeium/windsurf/hooks.json", "openclaw": ".openclaw/openclaw.json",
}

// What each agent's settings look like afterwards, from nothing.
func TestEachAgentGetsItsOwnSettings(t *testing.T) {
	for _, name := range install.Names() {
		t.Run(name, func(t *testing.T) {
			w := here(t, newWorld(t), name)
			put(t, w, name, install.Options{Wait: 90 * time.Second, Sender: "owner"})
			var b strings.Builder
			all := tree(t, w.Home)
			var names []string
			for path := range all {
				names = append(names, path)
			}
			slices.Sort(names)
			for _, path := range names {
				b.WriteString("== " + path + "\n" + all[path])
			}
			dir := filepath.Dir(w.Home)
			got := hashes.ReplaceAllString(strings.ReplaceAll(b.String(), dir, "/DIR"), "sha256:HASH")
			got = records.ReplaceAllString(got, "@PROJECT")
			golden := filepath.Join("testdata", name+".golden")
			if *update {
				write(t, golden, got, 0o644)
			}
			if diff := cmp.Diff(read(t, golden), got); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
		})
	}
}

// Installing adds to what is there; the agent's own limit lies beyond the hook's.
func TestOtherSettingsStayByteForByte(t *testing.T) {
	before := "{\n\t\"model\": \"x\",\n\t\"hooks\": {\n\t\t\"PreToolUse\": [ {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]} ]\n\t},\n\t\"z\": [1,  2]\n}"
	w := newWorld(t)
	path := filepath.Join(w.Home, ".claude/settings.json")
	write(t, path, before, 0o640)
	put(t, w, "claude", install.Options{})
	got := read(t, path)
	for _, want := range []string{"\t\"model\": \"x\",\n", "{\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]},", "\t\"z\": [1,  2]"} {
		if !strings.Contains(got, want) {
			t.Errorf("settings\n%s\ndo not hold %q", got, want)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v; want it kept", info.Mode(), err)
	}
	if b := read(t, filepath.Join(w.Data, "backups", "claude-settings.json.tidemark-backup-1")); b != before {
		t.Errorf("backup %q, want what was there", b)
	}
	take(t, w, "claude")
	if got := read(t, path); got != before {
		t.Errorf("afterwards %q, want %q", got, before)
	}
}

func TestInstallingTwiceChangesNothing(t *testing.T) {
	for _, name := range install.Names() {
		t.Run(name, func(t *testing.T) {
			w := here(t, newWorld(t), name)
			put(t, w, name, install.Options{})
			before, record := tree(t, w.Home), tree(t, filepath.Join(w.Data, "installed"))
			p := put(t, w, name, install.Options{})
			if !p.Unchanged() {
				t.Errorf("second time: %d changes, want none", len(p.Changes))
			}
			if diff := cmp.Diff(before, tree(t, w.Home)); diff != "" {
				t.Errorf("files (-first +second):\n%s", diff)
			}
			if diff := cmp.Diff(record, tree(t, filepath.Join(w.Data, "installed"))); diff != "" {
				t.Errorf("record (-first +second):\n%s", diff)
			}
		})
	}
}

// Other options replace the hooks of before; nothing of them is left behind.
func TestUninstallingLeavesNothingBehind(t *testing.T) {
	for _, name := range install.Names() {
		t.Run(name, func(t *testing.T) {
			w := here(t, newWorld(t), name)
			put(t, w, name, install.Options{})
			put(t, w, name, install.Options{Wait: time.Minute, Timeout: 7 * time.Second})
			take(t, w, name)
			if got := tree(t, w.Home); len(got) > 0 {
				t.Errorf("left: %v", got)
			}
			if got := tree(t, filepath.Join(w.Data, "installed")); len(got) > 0 {
				t.Errorf("records left: %v", got)
			}
			take(t, w, name) // a second time finds nothing to do
		})
	}
}

// A record that is lost or unreadable keeps nobody from installing or uninstalling.
func TestALostRecordIsNoTrap(t *testing.T) {
	for _, name := range install.Names() {
		for _, contents := range []string{"", "{"} {
			w := here(t, newWorld(t), name)
			lose := func() {
				for path := range tree(t, filepath.Join(w.Data, "installed")) {
					write(t, filepath.Join(w.Data, "installed", path), contents, 0o600)
				}
			}
			put(t, w, name, install.Options{})
			lose()
			if p := put(t, w, name, install.Options{}); !p.Unchanged() {
				t.Errorf("%s: installing again made %d changes, want none", name, len(p.Changes))
			}
			if s, err := install.Inspect(t.Context(), w, name); err != nil || !s.Intact {
				t.Errorf("%s: installed again: %+v, %v; want it intact", name, s, err)
			}
			lose()
			take(t, w, name)
			if s, err := install.Inspect(t.Context(), w, name); err != nil || name != "openclaw" && s.Hooked {
				t.Errorf("%s: uninstalled: %+v, %v; want no hook left", name, s, err)
			}
		}
	}
}

func TestProjectAndManagedSettingsHavePlacesOfTheirOwn(t *testing.T) {
	w := newWorld(t)
	project := w
	project.Project = filepath.Join(w.Home, "work")
	if err := os.MkdirAll(project.Project, 0o700); err != nil {
		t.Fatal(err)
	}
	managed := w
	managed.Managed = true
	for _, v := range []install.World{w, project, managed} {
		put(t, v, "claude", install.Options{})
	}
	if got := read(t, filepath.Join(w.Root, "etc/claude-code/managed-settings.json")); !strings.Contains(got, `"allowManagedHooksOnly": true`) {
		t.Errorf("managed settings\n%s\nwant other hooks locked out", got)
	}
	_ = read(t, filepath.Join(project.Project, ".claude/settings.local.json"))
	take(t, project, "claude")
	if s, err := install.Inspect(t.Context(), w, "claude"); err != nil || !s.Hooked || !s.Intact {
		t.Errorf("the user's settings after the project's are gone: %+v, %v; want them untouched", s, err)
	}
	for name, bad := range map[string]install.World{"opencode": managed, "openclaw": project, "kiro": w} {
		if _, err := install.Prepare(t.Context(), bad, name, install.Options{}); err == nil {
			t.Errorf("%s: got no error for a place it does not have", name)
		}
	}
}

func TestAFileThatCannotBeReadIsRefusedWithThePlace(t *testing.T) {
	tests := map[string]struct{ agent, src, want string }{
		"a missing comma":            {"claude", "{\n  \"a\": 1\n  \"b\": 2\n}", "settings.json:3:3: want a comma or '}'\n      \"b\": 2\n      ^\n"},
		"a comment where none goes":  {"claude", "{ // x\n}", "settings.json:1:3: "},
		"a key twice":                {"claude", `{"hooks":{},"hooks":{}}`, `settings.json:1:13: the name "hooks" is there twice`},
		"hooks that are a list":      {"claude", `{"hooks": []}`, "settings.json:1:11: hooks must be an object"},
		"an event that is an object": {"claude", `{"hooks":{"PreToolUse":{}}}`, "settings.json:1:24: hooks.PreToolUse must be a list"},
		"a file that is a list":      {"claude", " []", "settings.json:1:2: the file must hold an object"},
		"a comma too many":           {"gemini", `{"a":1,}`, "settings.json:1:8: a value must follow the comma"},
		"a comment without an end":   {"gemini", "{} /* x", "settings.json:1:4: the comment has no end"},
		"a comment of two readings":  {"gemini", "{\"hooks\": { // x\u2028y\n}}", "settings.json:1:11: a comment in here can be read in more than one way"},
		"a line that ends in CR":     {"gemini", "{\"hooks\": { // x\r\"z\": []\n}}", "settings.json:1:11: a comment in here can be read in more than one way"},
		"JSON5":                      {"openclaw", "{plugins: {}}", "openclaw.json:1:2: want a name in double quotes"},
		"nesting without end":        {"claude", strings.Repeat(`{"a":`, 500), "nested too deeply"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			path := filepath.Join(w.Home, files[tt.agent])
			write(t, path, tt.src, 0o600)
			for range 2 {
				_, err := install.Prepare(t.Context(), w, tt.agent, install.Options{})
				bad := new(install.FileError)
				if !errors.As(err, &bad) || !strings.Contains(bad.Rendered, tt.want) {
					t.Fatalf("got %v, want %q", err, tt.want)
				}
				if tt.agent == "openclaw" && !strings.Contains(bad.Rendered, "plugins.entries.tidemark.enabled: true") {
					t.Errorf("got %s, want it to say what to add", bad.Rendered)
				}
			}
			if got := read(t, path); got != tt.src {
				t.Errorf("the file became %q", got)
			}
		})
	}
}

func TestCommentsStayWithWhatTheyAreAbout(t *testing.T) {
	before := "// top\n{\n  \"hooks\": {\n    \"BeforeTool\": [\n      {\"hooks\": []} // mine\n    ] /* all */\n  } // end\n}\n"
	w := newWorld(t)
	path := filepath.Join(w.Home, files["gemini"])
	write(t, path, before, 0o600)
	put(t, w, "gemini", install.Options{})
	if got := read(t, path); !strings.Contains(got, "{\"hooks\": []}, // mine\n") {
		t.Errorf("settings\n%s\nwant the comment beside its hook", got)
	}
	take(t, w, "gemini")
	if diff := cmp.Diff(before, read(t, path)); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

// A file of somebody else under a name that is ours is not overwritten.
func TestAForeignFileIsNotOverwritten(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(w.Home, ".cline/hooks/PostToolUse")
	write(t, path, "#!/bin/sh\necho mine\n", 0o755)
	if _, err := install.Prepare(t.Context(), w, "cline", install.Options{}); err == nil {
		t.Error("got no error")
	}
	if got := read(t, path); !strings.Contains(got, "mine") {
		t.Errorf("the file became %q", got)
	}
}

func TestALinkIsFollowedAtHomeAndRefusedInAProject(t *testing.T) {
	w := newWorld(t)
	real := filepath.Join(w.Home, "dotfiles", "settings.json")
	write(t, real, "{}", 0o600)
	link := func(path string) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(real, path); err != nil {
			t.Fatal(err)
		}
	}
	link(filepath.Join(w.Home, ".claude/settings.json"))
	put(t, w, "claude", install.Options{})
	if info, err := os.Lstat(filepath.Join(w.Home, ".claude/settings.json")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	if !strings.Contains(read(t, real), "tidemark-hook") {
		t.Error("the file behind the link has no hook")
	}
	take(t, w, "claude")
	if got := read(t, real); got != "{}" {
		t.Errorf("afterwards %q, want {}", got)
	}
	w.Project = filepath.Join(w.Home, "work")
	link(filepath.Join(w.Project, ".claude/settings.local.json"))
	if _, err := install.Prepare(t.Context(), w, "claude", install.Options{}); err == nil {
		t.Error("a link in a project was followed")
	}
}

// A plan that is out of date changes nothing.
func TestAFileThatChangedMeanwhileIsNotOverwritten(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(w.Home, files["claude"])
	write(t, path, "{}", 0o600)
	p, err := install.Prepare(t.Context(), w, "claude", install.Options{})
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, `{"new": true}`, 0o600)
	for range 2 {
		if err := p.Apply(time.Unix(1, 0)); err == nil {
			t.Error("got no error")
		}
	}
	if got := read(t, path); got != `{"new": true}` {
		t.Errorf("the file became %q", got)
	}
}

// Whatever the settings are, uninstalling gives back the bytes of before.
func TestUninstallingGivesBackTheBytesOfBefore(t *testing.T) {
	w := newWorld(t)
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.SampledFrom([]string{"claude", "codex", "gemini", "cursor", "droid", "windsurf", "openclaw"}).Draw(rt, "agent")
		before := drawSettings(rt, name)
		roundTrip(rt, t, w, name, before)
	})
}

// roundTrip installs, installs again, and uninstalls.
func roundTrip(f failer, t testing.TB, w install.World, name, before string) {
	path := filepath.Join(w.Home, files[name])
	write(t, path, before, 0o600)
	p, err := install.Prepare(t.Context(), w, name, install.Options{})
	if err != nil {
		f.Fatalf("prepare on %q: %v", before, err)
	}
	if err := p.Apply(time.Unix(1, 0)); err != nil {
		f.Fatalf("apply on %q: %v", before, err)
	}
	between := read(t, path)
	again, err := install.Prepare(t.Context(), w, name, install.Options{})
	if err != nil || !again.Unchanged() {
		f.Fatalf("again on %q: %v, want no changes", between, err)
	}
	take(t, w, name)
	if got := read(t, path); got != before {
		f.Fatalf("before  %q\nbetween %q\nafter   %q", before, between, got)
	}
}

type failer interface {
	Fatalf(format string, args ...any)
}

// drawSettings is a settings file with any layout.
func drawSettings(rt *rapid.T, name string) string {
	space := rapid.SampledFrom([]string{"", "", " ", "\n", "\n  ", "\t", "\r\n"})
	if name == "gemini" || name == "droid" {
		space = rapid.SampledFrom([]string{"", " ", "\n  ", "\r\n", " // c\n", " // c \t\n", " // c\r\n", " /* c */ "})
	}
	sp := func() string { return space.Draw(rt, "space") }
	var value func(depth int) string
	value = func(depth int) string {
		switch rapid.IntRange(0, 5-min(depth, 3)).Draw(rt, "kind") {
		case 0:
			return rapid.SampledFrom([]string{"1", "-2.5e3", "true", "null", `"tidemark"`, `"a\"]}"`, `"é"`}).Draw(rt, "scalar")
		case 1, 2:
			return "\"text\""
		case 3:
			return listOf(rt, sp, func() string { return value(depth + 1) })
		}
		return objectOf(rt, sp, []string{"a", "b", "c"}, func(string) string { return value(depth + 1) })
	}
	hooks := func(string) string {
		return objectOf(rt, sp, []string{"PreToolUse", "BeforeTool", "preToolUse", "pre_run_command", "Other"}, func(string) string {
			return listOf(rt, sp, func() string { return `{"matcher":"x","hooks":[{"type":"command","command":"mine"}]}` })
		})
	}
	top := objectOf(rt, sp, []string{"model", "hooks", "plugins", "version"}, func(key string) string {
		switch key {
		case "hooks":
			return hooks(key)
		case "plugins":
			return objectOf(rt, sp, []string{"load", "entries", "other"}, func(key string) string {
				if key == "entries" {
					return objectOf(rt, sp, []string{"tidemark", "x"}, func(string) string {
						return objectOf(rt, sp, []string{"enabled", "more"}, func(string) string { return rapid.SampledFrom([]string{"true", "false"}).Draw(rt, "on") })
					})
				}
				return objectOf(rt, sp, []string{"paths"}, func(string) string { return listOf(rt, sp, func() string { return `"/p"` }) })
			})
		}
		return value(0)
	})
	return sp() + top + sp()
}

func listOf(rt *rapid.T, sp func() string, item func() string) string {
	var parts []string
	for range rapid.IntRange(0, 3).Draw(rt, "items") {
		parts = append(parts, sp()+item()+sp())
	}
	if parts == nil {
		return "[" + sp() + "]"
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func objectOf(rt *rapid.T, sp func() string, keys []string, item func(key string) string) string {
	var parts []string
	for _, k := range rapid.Permutation(keys).Draw(rt, "keys")[:rapid.IntRange(0, len(keys)).Draw(rt, "count")] {
		parts = append(parts, sp()+`"`+k+`"`+sp()+":"+sp()+item(k)+sp())
	}
	if parts == nil {
		return "{" + sp() + "}"
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// Whatever bytes are in a file: it is refused and stays, or it comes back as it was.
func FuzzSettings(f *testing.F) {
	for _, s := range []string{"", "\n", "\u00a0", "{}", "{\"hooks\":{}}", "{ \"a\" : [ ] }\r\n", "{\"hooks\":{\"PreToolUse\":[{\"hooks\":[]}]}}", "\ufeff{}", "{\"a\":1, // x\n\"b\":2}", "[", "{\"\\u0068ooks\":{}}"} {
		f.Add(s, false)
		f.Add(s, true)
	}
	w := newWorld(f)
	f.Fuzz(func(t *testing.T, src string, comments bool) {
		name := "claude"
		if comments {
			name = "gemini"
		}
		path := filepath.Join(w.Home, files[name])
		write(t, path, src, 0o600)
		_, err := install.Prepare(t.Context(), w, name, install.Options{})
		bad := new(install.FileError)
		if err != nil && !errors.As(err, &bad) {
			t.Fatalf("on %q: %v, want the place", src, err)
		}
		if err != nil {
			return
		}
		if v := strictjson.Value(strings.TrimPrefix(src, "\ufeff")); !comments && !v.IsValid() && strings.Trim(src, " \t\r\n") != "" {
			t.Fatalf("%q was taken for JSON", src)
		}
		roundTrip(t, t, w, name, src)
	})
}
