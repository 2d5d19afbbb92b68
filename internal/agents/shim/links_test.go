package shim

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// A link that a stranger committed is judged as what it leads to, whether that exists or not.
func TestTheRealPathOfWhatACallNamesIsSent(t *testing.T) {
	root := t.TempDir()
	root, _ = resolve(root)
	home, cwd := filepath.Join(root, "home"), filepath.Join(root, "home", "app")
	t.Setenv("HOME", home)
	for _, dir := range []string{filepath.Join(home, ".ssh"), filepath.Join(cwd, "docs"), filepath.Join(cwd, ".git", "hooks"), filepath.Join(cwd, "lib"), filepath.Join(cwd, "node_modules", ".bin")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"docs/keys.md":  "../../.ssh/authorized_keys", // which is not there yet
		"docs/top":      "../.git",
		"docs/lib.md":   "../lib/lib.md",
		"docs/ring":     "ring",
		"docs/absolute": filepath.Join(home, ".profile"),
		"docs/twice":    "keys.md",

		"node_modules/.bin/lint": "../lint/main.js",
	} {
		if err := os.Symlink(to, filepath.Join(cwd, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(cwd, filepath.Join(root, "way")); err != nil {
		t.Fatal(err)
	}
	keys, profile := filepath.Join(home, ".ssh", "authorized_keys"), filepath.Join(home, ".profile")
	for _, c := range []struct {
		name, cwd, tool, params string
		want                    []string
	}{
		{"a link to a key file", cwd, "write", `{"path":"docs/keys.md","content":"x"}`, []string{keys}},
		{"by its whole name", cwd, "edit", `{"path":"` + cwd + `/docs/keys.md"}`, []string{keys}},
		{"a folder link", cwd, "write", `{"path":"docs/top/hooks/post-commit"}`, []string{".git/hooks/post-commit"}},
		{"a link to a link", cwd, "write", `{"path":"./docs/twice"}`, []string{keys}},
		{"in a command", cwd, "exec", `{"command":"echo x >>docs/absolute; cat docs/keys.md"}`, []string{profile, keys}},
		{"an installed program", cwd, "exec", `{"command":"node_modules/.bin/lint ."}`, nil},
		{"in a patch", cwd, "apply_patch", `{"input":"*** Begin Patch\n*** Update File: docs/keys.md\n+x"}`, []string{keys}},
		{"a link inside the folder", cwd, "read", `{"path":"docs/lib.md"}`, []string{"lib/lib.md"}},
		{"no link", cwd, "write", `{"path":"lib/lib.md","content":"docs"}`, nil},
		{"a ring", cwd, "write", `{"path":"docs/ring"}`, nil},
		{"a folder that was reached by a link", filepath.Join(root, "way"), "write", `{"path":"lib/lib.md"}`, nil},
		{"links of the system in a command", cwd, "exec", `{"command":"/proc/self/exe x"}`, nil},
		{"a tool that is not the agent's own", cwd, "mcp__x__write", `{"path":"docs/keys.md"}`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			known, err := catalogue.Find("codex")
			if err != nil {
				t.Fatal(err)
			}
			e := &catalogue.Event{Kind: catalogue.Call, Cwd: c.cwd, Tool: c.tool, Params: strictjson.Value(c.params)}
			if err := (adapter{known}).follow(e); err != nil {
				t.Fatal(err)
			}
			var got struct {
				Real []string `json:"realPaths"`
			}
			if err := strictjson.Unmarshal(e.Params, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got.Real); diff != "" {
				t.Errorf("(-want +got):\n%s\n%s", diff, e.Params)
			}
		})
	}
}

// Whoever reads this rule fills the parameter in, so that nothing is followed.
func TestWhatTheModelSaysOfLinksHidesNone(t *testing.T) {
	cwd, _ := resolve(t.TempDir())
	keys := filepath.Join(cwd, "elsewhere", "authorized_keys")
	work := filepath.Join(cwd, "app")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(keys, filepath.Join(work, "keys.md")); err != nil {
		t.Fatal(err)
	}
	known, err := catalogue.Find("codex")
	if err != nil {
		t.Fatal(err)
	}
	e := &catalogue.Event{
		Kind: catalogue.Call, Cwd: work, Tool: "write",
		Params: strictjson.Value(`{"path":"keys.md","realPaths":["notes.md"],"realPaths_":[]}`),
	}
	if err := (adapter{known}).follow(e); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := strictjson.Unmarshal(e.Params, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]any{keys}, got["realPaths__"]); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, e.Params)
	}
}
