package keeper_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A line of several commands is run part by part: the commit in the box, the push by the broker with what the commit just made, and
// what stands behind it in the box again, where the line went to.
func TestALineIsRunPartByPart(t *testing.T) {
	l, there := newOffice(t, "")
	l.spoken("s", "Look at the page and mend the build")
	l.put(filepath.Join(l.ws, "sub", "x.txt"), "x\n")
	ended := l.runsPlain("s", "cd sub && echo b > b.txt && git add -A && git commit -qm 'mend the build' && git push -q origin main && pwd > ../where.txt")
	q := l.asked()
	for _, part := range []string{"mend the build (d <d@acme.example>)", "sub/b.txt +1 -0"} {
		if text := q["args"].(string); !strings.Contains(text, part) {
			t.Errorf("%q is not in %q", part, text)
		}
	}
	l.nothing("before the yes")
	if exists(filepath.Join(l.ws, "where.txt")) {
		t.Error("what stands behind the push ran before it")
	}
	l.answers(`{"decision":"approve"}`)
	code, out := ended()
	if code != 0 || l.git(there, "rev-parse", "main") != l.git(l.ws, "rev-parse", "main") {
		t.Errorf("%d %q", code, out)
	}
	if where, _ := os.ReadFile(filepath.Join(l.ws, "where.txt")); strings.TrimSpace(string(where)) != filepath.Join(l.ws, "sub") {
		t.Errorf("the last part ran in %q", where)
	}
}

// A no ends the line, and so does a part that fails: nothing is asked for what stands behind it.
func TestALineEndsWhereAPartDoes(t *testing.T) {
	l, there := newOffice(t, "")
	l.spoken("s", "Look at the page and mend the build")
	before := l.git(there, "rev-parse", "main")
	ended := l.runsPlain("s", "echo b > b.txt && git add -A && git commit -qm more && git push origin main && touch after.txt")
	l.answers(`{"decision":"deny"}`)
	if code, out := ended(); code != 125 || !strings.Contains(out, "the owner said no") || exists(filepath.Join(l.ws, "after.txt")) {
		t.Errorf("after a no: %d %q", code, out)
	}
	if code, out := l.runsPlain("s", "cat nothing.txt && git push origin main && touch after.txt")(); code != 1 || exists(filepath.Join(l.ws, "after.txt")) {
		t.Errorf("after a part that failed: %d %q", code, out)
	}
	if list := l.questions(); len(list) != 0 || l.git(there, "rev-parse", "main") != before {
		t.Errorf("questions %v", list)
	}
	l.nothing("without a yes")
}

// Somebody who has read this writes lines that look like lists. None of them reaches anybody without a question, and no code of the
// workspace runs with the capability.
func TestALineThatIsNoListReachesNobody(t *testing.T) {
	l, there := newOffice(t, "")
	l.spoken("s", "Look at the page and mend the build")
	before := l.git(there, "rev-parse", "main")
	l.put(filepath.Join(l.ws, "more.sh"), "git push origin main\n")
	for _, line := range []string{
		"git() { command git push origin main; } && git push origin main",
		"echo c > c.txt && git add -A && git commit -qm c; git push origin main",
		"true && git push origin main | cat", "true && git push origin main > out.txt", "true && sh more.sh",
		"true && git --no-pager push origin main", "true && env GIT_TRACE=1 git push origin main",
	} {
		var code int
		var out string
		over := make(chan struct{})
		wait := l.runsPlain("s", line)
		go func() { code, out = wait(); close(over) }()
		until(t, "the end of "+line, func() bool {
			if len(l.questions()) > 0 { // the host is asked for, as for any command in the box
				l.answers(`{"decision":"deny"}`)
			}
			select {
			case <-over:
				return true
			default:
				return false
			}
		})
		if strings.Contains(out, "asked for git push") || l.git(there, "rev-parse", "main") != before {
			t.Errorf("%s: %d %q", line, code, out)
		}
	}
}

// What the owner ordered is not asked about again because it stands in a line with other commands, and what they did not order is.
func TestAnOrderedPartOfALineIsNotAskedAbout(t *testing.T) {
	l, there := newOffice(t, "")
	l.spoken("s", "Look at the page, mend the build, commit it and git push origin main")
	code, out := l.runsPlain("s", "echo b > b.txt && git add -A && git commit -qm 'mend the build' && git push -q origin main")()
	if code != 0 || l.git(there, "rev-parse", "main") != l.git(l.ws, "rev-parse", "main") {
		t.Errorf("%d %q", code, out)
	}
	if list := l.questions(); len(list) != 0 {
		t.Errorf("asked: %v", list)
	}
	before := l.git(there, "rev-parse", "main")
	ended := l.runsPlain("s", "echo c > c.txt && git add -A && git commit -qm more && git push -q -f origin main")
	l.answers(`{"decision":"deny"}`)
	if code, out := ended(); code != 125 || l.git(there, "rev-parse", "main") != before {
		t.Errorf("with force: %d %q", code, out)
	}
}

// A branch that is to follow another one does so afterwards, though the settings of git cannot be written in the box; a line that only says so
// goes well.
func TestABranchFollowsAnother(t *testing.T) {
	l, _ := newOffice(t, "")
	l.git(l.ws, "update-ref", "refs/remotes/origin/fix", "HEAD")
	l.spoken("s", "Look at the page and mend the build")
	for _, line := range []string{"git switch -q --track origin/fix", "git switch -q -c mine main", "git branch -u origin/fix"} {
		if code, out := l.runsPlain("s", line)(); code != 0 {
			t.Errorf("%s: %d %q", line, code, out)
		}
	}
	for _, branch := range []string{"fix", "mine"} {
		if up := l.git(l.ws, "rev-parse", "--abbrev-ref", branch+"@{upstream}"); up != "origin/fix" {
			t.Errorf("%s follows %q", branch, up)
		}
	}
	before := l.git(l.ws, "config", "--list", "--local")
	for _, line := range []string{"git branch -u nobody/fix main", "git config branch.main.remote 'ext::sh -c id'", "git switch -q -c x main; git branch -u origin/fix"} {
		l.runsPlain("s", line)()
	}
	if now := l.git(l.ws, "config", "--list", "--local"); now != before {
		t.Errorf("the settings are now %q", now)
	}
}
