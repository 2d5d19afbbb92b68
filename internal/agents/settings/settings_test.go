//go:build unix

package settings_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

func write(t testing.TB, path, contents string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(contents), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestOnlyRegularFilesOfABoundedSizeAreRead(t *testing.T) {
	dir := t.TempDir()
	pipe, large, good := filepath.Join(dir, "pipe"), filepath.Join(dir, "large"), filepath.Join(dir, "good")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, large, strings.Repeat(" ", settings.MaxSize+1))
	write(t, good, strings.Repeat(" ", settings.MaxSize))
	for name, tt := range map[string]struct{ path, want string }{
		"a pipe": {pipe, "not a regular file"}, "a folder": {dir, "not a regular file"}, "too much": {large, "more than"},
		"a device": {"/dev/zero", "not a regular file"}, "nothing": {filepath.Join(dir, "none"), "no such file"},
	} {
		for range 2 {
			if raw, err := settings.ReadFile(tt.path); err == nil || raw != nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: got %d bytes, %v; want %q", name, len(raw), err, tt.want)
			}
		}
	}
	if raw, err := settings.ReadFile(good); err != nil || len(raw) != settings.MaxSize {
		t.Errorf("got %d bytes, %v; want all", len(raw), err)
	}
}

func TestNoLinkBelowAFolderIsFollowed(t *testing.T) {
	dir := t.TempDir()
	project := filepath.Join(dir, "project")
	write(t, filepath.Join(dir, "outside", "s.json"), "{}")
	write(t, filepath.Join(project, "in", "s.json"), "{}")
	for link, to := range map[string]string{"out": "../outside", "near": "in", "in/s2.json": "s.json"} {
		if err := os.Symlink(to, filepath.Join(project, link)); err != nil {
			t.Fatal(err)
		}
	}
	for path, ok := range map[string]bool{"in/s.json": true, "out/s.json": false, "near/s.json": false, "in/s2.json": false, "../outside/s.json": false} {
		if _, err := settings.ReadIn(project, filepath.Join(project, path)); (err == nil) != ok {
			t.Errorf("%s: got %v, want it read: %v", path, err, ok)
		}
	}
}

// Whatever a command is, it is read back as it was written.
func TestACommandIsReadBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		argv := rapid.SliceOfN(rapid.String(), 1, 5).Draw(rt, "argv")
		if diff := cmp.Diff(argv, settings.Split(settings.Join(argv))); diff != "" {
			rt.Fatalf("%q (-want +got):\n%s", settings.Join(argv), diff)
		}
	})
}

func TestALineThatNeedsAShellIsNotReadBack(t *testing.T) {
	for _, line := range []string{
		"", " ", "a;b", "a  b", " a", "a ", "a\tb", "a\nb", "$a", "`a`", "a|b", "a&b", "a>b", "~/a", "a*", "a#b", `a\ b`, `"a"`, "'a", "'a'", `\'`, "{a,b}", "(a)", "!a", "a?",
	} {
		if got := settings.Split(line); got != nil {
			t.Errorf("%q: got %q, want nothing", line, got)
		}
	}
}

func TestOursIsWhatStartsOurProgramAlone(t *testing.T) {
	const hook = "/opt/t/tidemark-hook"
	for element, want := range map[string]bool{
		`{"command":"/opt/t/tidemark-hook"}`:                                            true,
		`{"command":"/opt/t/tidemark-hook --agent x"}`:                                  true,
		`{"command":"/opt/t/tidemark-hook","args":["a;b"]}`:                             true,
		`{"exec":"/opt/t/tidemark-hook","args":["a"]}`:                                  true,
		`{"hooks":[{"command":"/opt/t/tidemark-hook"}]}`:                                true,
		`{"action":{"command":"/opt/t/tidemark-hook a"},"timeout":3}`:                   true,
		`{"hooks":[{"command":"/opt/t/tidemark-hook"},{"command":"/opt/mine"}]}`:        false,
		`{"hooks":[{"command":"/opt/t/tidemark-hook"}],"action":{"command":"/opt/me"}}`: false,
		`{"command":"/opt/t/tidemark-hook; rm x"}`:                                      false,
		`{"command":"/opt/t/tidemark-hook-2"}`:                                          false,
		`{"command":"tidemark-hook"}`:                                                   false,
		`{"command":"/evil/tidemark-hook"}`:                                             false,
		`{"command":"/bin/sh","args":["/opt/t/tidemark-hook"]}`:                         false,
		`{"exec":"/bin/sh","command":"/opt/t/tidemark-hook"}`:                           false,
		`{"hooks":[]}`:                 false,
		`{}`:                           false,
		`"/opt/t/tidemark-hook"`:       false,
		`[]`:                           false,
		`{"command":["a"]}`:            false,
		`{"hooks":{"command":"a"}}`:    false,
		`{"command":"a","timeout":"x"`: false,
	} {
		if got := settings.Ours(strictjson.Value(element), hook); got != want {
			t.Errorf("%s: got %v, want %v", element, got, want)
		}
	}
	if settings.Ours(strictjson.Value(`{"args":["a"]}`), "") {
		t.Error("no program is nobody's")
	}
}

func TestSwitchesAreFoundByTheirPath(t *testing.T) {
	tests := map[string]struct {
		agent, src string
		off        bool
	}{
		"off":                     {"claude", `{"disableAllHooks":true}`, true},
		"off, escaped":            {"claude", `{"disable\u0041llHooks":true}`, true},
		"off, with a comment":     {"claude", "{\"disableAllHooks\": // x\ntrue}", true},
		"on":                      {"claude", `{"disableAllHooks":false}`, false},
		"deeper":                  {"claude", `{"x":{"disableAllHooks":true}}`, false},
		"in a text":               {"claude", `{"x":"\"disableAllHooks\":true"}`, false},
		"twice":                   {"claude", `{"disableAllHooks":true,"disableAllHooks":false}`, true},
		"nothing":                 {"claude", "", false},
		"ours among those off":    {"gemini", `{"hooksConfig":{"disabled":["a","tidemark"]}}`, true},
		"others are off":          {"gemini", `{"hooksConfig":{"disabled":["a"]}}`, false},
		"enabled after another":   {"gemini", `{"hooksConfig":{"x":{},"enabled":false}}`, true},
		"not among those allowed": {"openclaw", `{"plugins":{"allow":["a"]}}`, true},
		"among those allowed":     {"openclaw", `{"plugins":{"allow":["tidemark"]}}`, false},
		"nobody is named":         {"openclaw", `{"plugins":{"allow":[]}}`, false},
		"allowed is no list":      {"openclaw", `{"plugins":{"allow":{}}}`, true},
		"an agent without any":    {"cursor", `{"disableAllHooks":true}`, false},
	}
	for name, tt := range tests {
		path := filepath.Join(t.TempDir(), "s.json")
		write(t, path, tt.src)
		if got := (settings.Reader{}).Off(catalogue.Lookup(tt.agent).Switches, path, path, path+".none"); (len(got) == 1) != tt.off || len(got) > 1 {
			t.Errorf("%s: got %q, want it off: %v", name, got, tt.off)
		}
	}
}

func TestARecordsNameHoldsNoPath(t *testing.T) {
	for name, want := range map[string]bool{
		"claude": true, "claude@managed": true, settings.RecordName("claude", "/p", false): true, "claude2": false, "codex": false,
		"claude@../x": false, `claude@\x`: false, "": false,
	} {
		if got := settings.IsRecordName(name, "claude"); got != want {
			t.Errorf("%q: got %v, want %v", name, got, want)
		}
	}
}

// What is taken for JSON is JSON, and every value is where it is said to be.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"{}", `{"a":[1,{"b":"c"}]}`, "{\"a\":1, // x\n\"b\":/**/2}", "\ufeff{}", `{"\u0061":1,"a":2}`, "[", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		d, err := settings.Parse([]byte(src), false)
		if err != nil {
			return
		}
		if raw := d.Raw(d.Root); !raw.IsValid() {
			t.Fatalf("%q was taken for JSON", src)
		}
		for i, name := range d.Root.Names {
			if n := d.Find(name); n != d.Root.Values[i] || !d.Raw(n).IsValid() {
				t.Fatalf("%q: %q is not where it is said to be", src, name)
			}
		}
		if c, err := settings.Parse([]byte(src), true); err != nil || !settings.Same(c.Raw(c.Root), d.Raw(d.Root)) {
			t.Fatalf("%q: with comments it is something else: %v", src, err)
		}
	})
}

// Whatever a command is: what is split is one that needs no shell.
func FuzzSplit(f *testing.F) {
	for _, s := range []string{"/a/b --c d", "'a b' c", `'a'\''b'`, "a;b", "", "a  b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if argv := settings.Split(line); argv != nil && settings.Join(argv) != line {
			t.Fatalf("%q was read as %q", line, argv)
		}
	})
}
