package box_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/box"
)

// A grant opens a folder and not what in it runs elsewhere: neither in the workspace, if the folder holds it, nor in another project.
func TestAGrantDoesNotOpenWhatIsGuarded(t *testing.T) {
	for _, granted := range []string{"src", "src/other", "src/site"} {
		t.Run(granted, func(t *testing.T) {
			t.Parallel()
			if !has("git") {
				t.Skip("needs git")
			}
			w := newWorld(t)
			w.must(`git -C ../other init -q`)
			b := w.open(func(x *box.Want) { x.Write = []string{filepath.Join(w.home, granted)} })
			_, out := w.in(b, `for p in . ../other; do echo evil > $p/.git/hooks/pre-commit; echo evil >> $p/.git/config; echo evil > $p/.mcp.json; done; echo evil >> .github/workflows/ci.yml; echo ok > a.txt`)
			w.shut(b)
			for _, name := range []string{
				"site/.git/hooks/pre-commit", "site/.git/config", "site/.mcp.json", "site/.github/workflows/ci.yml",
				"other/.git/hooks/pre-commit", "other/.git/config", "other/.mcp.json",
			} {
				if text, err := os.ReadFile(filepath.Join(w.home, "src", name)); err == nil && strings.Contains(string(text), "evil") {
					t.Errorf("%s: %s\n%s", name, text, out)
				}
			}
			if text, err := os.ReadFile(filepath.Join(w.ws, "a.txt")); err != nil || string(text) != "ok\n" {
				t.Errorf("the workspace could not be written: %s %v", text, err)
			}
		})
	}
}

// A guarded place that is granted by its own name may be written.
func TestAGuardedPlaceCanBeGranted(t *testing.T) {
	w := newWorld(t)
	b := w.open(func(x *box.Want) { x.Write = []string{filepath.Join(w.ws, ".github/workflows")} })
	_, out := w.in(b, `echo new > .github/workflows/new.yml`)
	if r := w.shut(b); len(r.Aside) > 0 {
		t.Errorf("%s %+v", out, r)
	}
	if _, err := os.Stat(filepath.Join(w.ws, ".github/workflows/new.yml")); err != nil {
		t.Error(err, out)
	}
}

// What is put aside may have to go to another file system. Whatever it is, it does not stay in the workspace.
func TestPuttingAsideToAnotherFileSystem(t *testing.T) {
	w := newWorld(t)
	other, err := os.MkdirTemp("/dev/shm", "box-*")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(other) })
	b := w.open(func(x *box.Want) { x.State = filepath.Join(other, "state") })
	_, out := w.in(b, `mkdir -p .claude/d && echo evil > .claude/settings.json && echo evil > .claude/closed && chmod 000 .claude/closed && ln -s /etc/passwd .claude/l && mkfifo .claude/f && chmod 500 .claude/d
		echo evil > .mcp.json && chmod 000 .mcp.json; ln -s nowhere .envrc; mkfifo AGENTS.md; mkdir .cursor; truncate -s 100G .cursor/large; chmod 555 .claude`)
	r, err := b.Close()
	if err != nil {
		t.Error(err)
	}
	for _, name := range []string{".claude", ".mcp.json", ".envrc", "AGENTS.md", ".cursor/large"} {
		if _, err := os.Lstat(filepath.Join(w.ws, name)); err == nil {
			t.Errorf("%s is left\n%s\n%+v", name, out, r)
		}
	}
	if found, _ := filepath.Glob(filepath.Join(other, "state/aside/*/.claude/settings.json")); len(found) != 1 {
		t.Errorf("settings.json was not kept: %+v", r.Aside)
	}
}

// What lies beside a workspace far from home is shown without what begins with a dot; folders further away are not.
func TestWhatLiesAroundAWorkspaceElsewhere(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can make a folder at the top")
	}
	w := newWorld(t)
	top, err := os.MkdirTemp("/", "box-trial-*")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(top) })
	for name, text := range map[string]string{
		"team/site/a": "a\n", "team/lib/f": "near\n", "team/.keys/k": "SECRET-dot\n", "people/x/.ssh/id": "SECRET-far\n", "tools/bin/t": "#!/bin/sh\ncat ${0%/*}/../lib/l\n",
		"tools/lib/l": "library\n", "tools2/k": "SECRET-beside\n",
	} {
		w.put(filepath.Join(top, name), text)
	}
	b := w.open(func(x *box.Want) {
		x.Workspace = filepath.Join(top, "team/site")
		x.Env = append([]string{"PATH=" + top + "/tools/bin:" + programFolders}, x.Env[:len(x.Env)-1]...)
	})
	_, out, err := start(t, b, filepath.Join(top, "team/site"), "sh", "-c", `cat ../lib/f ../.keys/k ../../people/x/.ssh/id ../../tools2/k; t; echo b > b`)
	w.shut(b)
	if err != nil || strings.Contains(out, "SECRET") || !strings.Contains(out, "near") || !strings.Contains(out, "library") {
		t.Error(out, err)
	}
}

// Root of a container has a few users only, and a box all the same.
func TestRootOfAContainerHasABox(t *testing.T) {
	if !has("unshare") {
		t.Skip("needs unshare")
	}
	w := newWorld(t)
	w.shut(w.open(nil)) // or it is skipped
	helped := w.help("once")
	cmd := exec.Command("unshare", append([]string{"-Ur"}, helped.Args...)...)
	cmd.Env = helped.Env
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "ran as 0") {
		t.Errorf("%v\n%s", err, out)
	}
}

// A folder in which a file system is mounted is shown, with what is on that.
func TestAFolderWithAMountInItIsShown(t *testing.T) {
	if !has("unshare", "mount") {
		t.Skip("needs unshare and mount")
	}
	w := newWorld(t)
	w.shut(w.open(nil)) // or it is skipped
	w.put(filepath.Join(w.home, "Documents/deep/mnt/under"), "under\n")
	w.put(filepath.Join(w.home, ".cache/go-build/mnt/x"), "x\n")
	helped := w.help("once")
	cmd := exec.Command("unshare", append([]string{"-Urm", "sh", "-c", `mount -t tmpfs t "$HOME/Documents/deep/mnt" && echo over > "$HOME/Documents/deep/mnt/over" &&
		mount -t tmpfs t "$HOME/.cache/go-build/mnt" && exec "$@"`, "sh"}, helped.Args...)...)
	cmd.Env = append(helped.Env, `LINE=cd; cat Documents/tax.txt Documents/deep/mnt/*; echo x > .cache/go-build/new && echo cached; echo x > Documents/new || echo held`)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for _, want := range []string{"tax", "over", "cached", "held"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%s is missing:\n%s", want, out)
		}
	}
}

func init() {
	helpers["once"] = func() {
		b, err := box.Open(box.Want{Workspace: os.Getenv("WS"), Home: os.Getenv("HOME"), State: os.Getenv("STATE"), Env: os.Environ()})
		if err != nil {
			os.Stdout.WriteString(err.Error())
			os.Exit(1)
		}
		job, err := b.Start(box.Command{
			Args: []string{"sh", "-c", "echo ran as $(id -u); " + os.Getenv("LINE")}, Dir: os.Getenv("WS"), Files: [3]*os.File{os.Stdin, os.Stdout, os.Stderr},
		})
		if err == nil {
			_, err = job.Wait()
		}
		if _, closing := b.Close(); err != nil || closing != nil {
			os.Exit(1)
		}
	}
}

// Whoever replaces a guarded file outside while a box runs, as git does with its settings, takes its guard away in the box. What a
// command then writes there does not stay.
func TestAGuardHoldsWhenTheFileIsReplacedOutside(t *testing.T) {
	if !has("git") {
		t.Skip("needs git")
	}
	w := newWorld(t)
	b := w.open(nil)
	w.must(`git config user.email other@acme.example && git config branch.main.remote . && cp .github/workflows/ci.yml x && echo '# more' >> x && mv x .github/workflows/ci.yml && cp CLAUDE.md x && mv x CLAUDE.md`)
	_, out := w.in(b, `printf '[core]\n\tfsmonitor = evil\n' >> .git/config; echo evil >> .github/workflows/ci.yml; echo evil >> CLAUDE.md`)
	r := w.shut(b)
	for _, name := range []string{".git/config", ".github/workflows/ci.yml", "CLAUDE.md"} {
		if text, err := os.ReadFile(filepath.Join(w.ws, name)); err == nil && strings.Contains(string(text), "evil") {
			t.Errorf("%s: %s\n%s\n%+v", name, text, out, r.Aside)
		}
	}
	if code, out := w.plain(`git status -s && grep more .github/workflows/ci.yml && cat CLAUDE.md`); code != 0 || !strings.Contains(out, "# rules") {
		t.Errorf("what was there is gone: %s", out)
	}
}

// Somebody who works outside while a box runs may go on: light changes of git's settings stay, what redirects or runs does not.
func TestSettingsThatAreChangedOutsideStayIfTheyAreLight(t *testing.T) {
	if !has("git") {
		t.Skip("needs git")
	}
	for line, stays := range map[string]bool{
		`git config user.email other@acme.example`: true, `git branch topic && git branch -q --set-upstream-to=main topic`: true,
		`git config remote.origin.url https://evil.example/x`: false, `git config core.fsmonitor evil`: false, `git config branch.main.remote https://evil.example/x`: false,
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.must(`git remote add origin https://host.example/x`)
			b := w.open(nil)
			before, _ := os.ReadFile(filepath.Join(w.ws, ".git/config"))
			w.must(line)
			r := w.shut(b)
			after, err := os.ReadFile(filepath.Join(w.ws, ".git/config"))
			if err != nil || (string(before) != string(after)) != stays {
				t.Errorf("%v %s\n%+v", err, after, r.Aside)
			}
		})
	}
}

// A folder that is the box's own holds what the caller puts there and nothing of what is there, and what is written to it stays in the box.
func TestAFolderOfItsOwn(t *testing.T) {
	w := newWorld(t)
	b := w.open(func(want *box.Want) {
		want.Own, want.Files = []string{".acme", ".new/deep"}, map[string]string{".acme/settings": "given\n", ".new/deep/a/b": "deep\n"}
	})
	_, out := w.in(b, `cat ~/.acme/settings ~/.new/deep/a/b; ls -A ~/.acme; echo changed > ~/.acme/settings && echo more > ~/.acme/token && cat ~/.acme/settings`)
	w.shut(b)
	if out != "given\ndeep\nsettings\nchanged\n" {
		t.Errorf("%q", out)
	}
	if text, err := os.ReadFile(filepath.Join(w.home, ".acme/token")); err != nil || string(text) != "SECRET-acme\n" {
		t.Errorf("%q %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(w.home, ".new")); err == nil {
		t.Error("a folder was made in the home")
	}
	for name, change := range map[string]func(*box.Want){
		"the home":               func(w *box.Want) { w.Own = []string{"."} },
		"outside the home":       func(w *box.Want) { w.Own = []string{"../x"} },
		"around the workspace":   func(w *box.Want) { w.Own = []string{"src"} },
		"a file in none of them": func(w *box.Want) { w.Own, w.Files = []string{".a"}, map[string]string{".bashrc": "evil"} },
		"a file that climbs":     func(w *box.Want) { w.Own, w.Files = []string{".a"}, map[string]string{".a/../.bashrc": "evil"} },
	} {
		want := box.Want{Workspace: w.ws, Home: w.home, State: filepath.Join(w.home, ".local/share/tidemark/boxes/two"), Env: w.env}
		change(&want)
		if b, err := box.Open(want); err == nil {
			t.Errorf("%s: a box was made", name)
			_, _ = b.Close()
		}
	}
}
