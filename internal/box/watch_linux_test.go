package box_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What comes while the box runs does not wait for its end: jobs that outlive a command, renames, and one name again and again.
func TestWhatComesIsPutAsideAtOnce(t *testing.T) {
	for name, line := range map[string]string{
		".mcp.json":              `(sleep 0.2; echo evil > .mcp.json) >/dev/null 2>&1 &`,
		".github/workflows/x":    `rm -rf .github; mkdir -p g/workflows; echo evil > g/workflows/x; (sleep 0.2; mv g .github) >/dev/null 2>&1 &`,
		".claude/settings.json":  `(mkdir .claude; sleep 0.2; echo evil > .claude/settings.json) >/dev/null 2>&1 &`,
		".gitlab-ci.yml":         `for i in 1 2 3; do echo evil > .gitlab-ci.yml; sleep 0.1; done`,
		".git/config.worktree":   `printf '[core]\n\tpager = evil\n' > .git/config.worktree`,
		".git/info/attributes":   `mkdir -p .git/info; echo '* filter=evil' > .git/info/attributes`,
		".cursor/rules/rule.mdc": `mkdir -p .cursor/rules; (sleep 0.2; echo evil > .cursor/rules/rule.mdc) >/dev/null 2>&1 &`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !has("git") {
				t.Skip("needs git")
			}
			w := newWorld(t)
			w.must(`git rm -rq --cached .github; rm -rf .github`)
			b := w.open(nil)
			if code, out := w.in(b, line); code != 0 {
				t.Fatal(out)
			}
			path := filepath.Join(w.ws, name)
			deadline := time.Now().Add(20 * time.Second)
			for came := false; ; time.Sleep(5 * time.Millisecond) {
				_, err := os.Lstat(path)
				aside, _ := filepath.Glob(filepath.Join(w.home, ".local/share/tidemark/boxes/one/aside/*"))
				if came = came || len(aside) > 0; came && err != nil {
					break
				}
				if time.Now().After(deadline) {
					t.Fatal("it is still there")
				}
			}
			if r := w.shut(b); len(r.Aside) == 0 || !r.Watching {
				t.Errorf("%+v", r)
			}
		})
	}
}
