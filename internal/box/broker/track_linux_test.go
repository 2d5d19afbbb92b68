package broker_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/box/broker"
)

func TestLinesThatFollow(t *testing.T) {
	for line, want := range map[string]bool{
		"git switch --track origin/fix": true, "git switch -q -c mine --track origin/fix": true, "git checkout -b mine -t origin/fix": true, "git branch -u origin/fix": true,
		"git branch --set-upstream-to=origin/fix mine": true, "git switch -c mine --track main": true,
		"git switch fix": false, "git switch --track origin/fix && make": false, "git switch --track $x": false, "git -c a=b switch --track origin/fix": false, "git switch --track": false,
		"git switch --track --orphan origin/x": false, "git switch --track 'ext::sh -c x/y'": false, "git switch --track ../x": false, "git switch --track -c -x origin/fix": false, "git branch -u": false,
		"git switch --track https://evil.example/x": false, "git branch -D -u origin/x": false, "git checkout --track=inherit origin/x": false, "git switch -c 'a\"]' --track origin/x": false, "git branch -u origin/a b c": false,
	} {
		if _, ok := broker.Follows(line); ok != want {
			t.Errorf("%s: %v", line, ok)
		}
	}
}

// BOX-02: what a branch follows is written down from outside a box only if it is a remote that is there or a branch, and as nothing else than that.
func TestWhatABranchFollows(t *testing.T) {
	o := newOffice(t)
	o.Must("git branch side && git update-ref refs/remotes/origin/fix HEAD && git update-ref refs/remotes/nobody/fix HEAD && git update-ref 'refs/remotes/origin/a#b' HEAD && git branch mine && git branch other && git branch 'x#y' && git branch third")
	b := o.broker()
	follow := func(line string) error {
		t.Helper()
		f, ok := broker.Follows(line)
		if !ok {
			t.Fatalf("%s follows nothing", line)
		}
		_, err := b.Follow(t.Context(), f)
		return err
	}
	for line, branch := range map[string]string{"git branch -u origin/fix mine": "mine", "git branch -u side other": "other", "git branch -u 'origin/a#b' 'x#y'": "x#y"} {
		if err := follow(line); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		up := strings.Trim(strings.Fields(line)[3], "'")
		if got := strings.TrimSpace(o.Must("git rev-parse --abbrev-ref '" + branch + "@{upstream}'")); got != up {
			t.Errorf("%s: it follows %q", line, got)
		}
	}
	before, err := os.ReadFile(filepath.Join(o.Work, ".git/config"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"git branch -u nobody/fix third", "git branch -u origin/none third", "git branch -u none third", "git branch -u origin/fix nowhere", "git branch -u side mine", // it follows another one
	} {
		if err := follow(line); err == nil {
			t.Errorf("%s: it was written down", line)
		}
	}
	if after, _ := os.ReadFile(filepath.Join(o.Work, ".git/config")); string(after) != string(before) {
		t.Errorf("the settings are now\n%s", after)
	}
	if err := follow("git branch -u origin/fix mine"); err != nil {
		t.Errorf("the same again: %v", err)
	}
	if after, _ := os.ReadFile(filepath.Join(o.Work, ".git/config")); string(after) != string(before) {
		t.Error("the same again was written twice")
	}
}
