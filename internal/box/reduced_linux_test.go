package box_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/box"
)

// through are attacks and escapes that a reduced box does not stop. Each is named in docs/dev/box.md.
var through = []string{
	"opens a key to everybody", // the kernel's Landlock knows no modes, owners and times of files
	"memory without end",       // there is no memory of its own: what it writes lies on the disk
}

// inReduced runs tests of this program where there are no namespaces, as who runs it and, if that is root, as an ordinary user.
func inReduced(t *testing.T, tests string) {
	t.Helper()
	if reduced() || again() {
		t.Skip("it is run once")
	}
	if v, err := box.Landlock(); err != nil || v < 6 {
		t.Skipf("a reduced box needs a Landlock of version 6: %d %v", v, err)
	}
	dir := openFolder(t)
	program := filepath.Join(dir, "box.test")
	copyProgram(t, program)
	users := []uint32{uint32(os.Getuid())}
	if users[0] == 0 {
		users = append(users, ordinary)
	}
	for _, user := range users {
		tmp := filepath.Join(dir, fmt.Sprint(user)) // names of sockets must be short
		if err := os.Mkdir(tmp, 0o700); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(program, "-test.v", "-test.timeout=10m", "-test.run="+tests)
		cmd.Dir = tmp
		cmd.Env = append(os.Environ(), "HOME="+tmp, "TMPDIR="+tmp, "BOX_QUICK=1", "BOX_REDUCED=filter")
		if user != users[0] {
			if err := os.Chown(tmp, ordinary, ordinary); err != nil {
				t.Fatal(err)
			}
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinary, Gid: ordinary}}
		}
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Errorf("user %d: %v\n%s", user, err, failures(string(out)))
		}
	}
}

// Without namespaces the attacks and escapes do no harm either, but for those that are named.
func TestTheReducedBox(t *testing.T) {
	inReduced(t, "^(TestReduced|TestNoAttackDoesHarm|TestNoEscapeGoesThrough)")
}

// The same where the kernel's own setting is that there are none.
func TestTheReducedBoxBySetting(t *testing.T) {
	switch v, err := box.Landlock(); {
	case reduced() || again():
		t.Skip("it is run once")
	case err != nil || v < 6 || !has("unshare"):
		t.Skipf("it needs a Landlock of version 6 and unshare: %d %v", v, err)
	}
	dir := openFolder(t)
	program := filepath.Join(dir, "box.test")
	copyProgram(t, program)
	cmd := exec.Command("unshare", "-Ur", "sh", "-c", `echo 0 > /proc/sys/user/max_user_namespaces && exec "$0" "$@"`, program, "-test.v", "-test.run=^TestReduced")
	cmd.Env = append(os.Environ(), "BOX_QUICK=1", "BOX_REDUCED=setting", "TMPDIR="+dir)
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "max_user_namespaces:") || strings.Contains(string(out), "unshare failed") {
		t.Skipf("the setting cannot be made here: %s", out)
	}
	if err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("%v\n%s", err, failures(string(out)))
	}
}

// skipThrough leaves out what a reduced box does not promise.
func skipThrough(t *testing.T, name string) {
	t.Helper()
	if reduced() && slices.Contains(through, name) {
		t.Skip("a reduced box does not stop this: docs/dev/box.md names it")
	}
}

// Whoever has not said that a reduced box will do gets none.
func TestReducedIsAskedFor(t *testing.T) {
	if !reduced() {
		t.Skip("TestTheReducedBox runs it")
	}
	w := newWorld(t)
	want := box.Want{Workspace: w.ws, Home: w.home, State: filepath.Join(w.dir, "state"), Env: w.env}
	_, err := box.Open(want)
	var lack *box.Lack
	if !errors.As(err, &lack) || !strings.Contains(err.Error(), "namespaces") {
		t.Errorf("%v", err)
	}
	want.Reduced, want.Own = true, []string{".x"}
	if _, err := box.Open(want); !errors.As(err, &lack) {
		t.Errorf("it promised a folder of its own: %v", err)
	}
	if _, err := os.Stat(want.State); err == nil {
		t.Error("something was left behind")
	}
}

// Everyday commands run, and write where they may.
func TestReducedCommands(t *testing.T) {
	if !reduced() {
		t.Skip("TestTheReducedBox runs it")
	}
	w := newWorld(t)
	b := w.open(nil)
	for _, c := range []struct{ line, want, needs string }{
		{`cat a.txt && ls && wc -l < a.txt`, "a b", ""},
		{`echo x > new.txt && mkdir -p d/e && mv new.txt d/e && cat d/e/new.txt && rm -r d`, "x", ""},
		{`echo t > "$TMPDIR/t" && cat $TMPDIR/t && mktemp`, "t", "mktemp"},
		{`make test`, "ok", "make"},
		{`echo y >> a.txt && git status --short && git add -A && git commit -qm three && git log --oneline | wc -l`, "3", "git"},
		{`git switch -qc b && git stash list && git config user.email e@acme.example && git config user.email`, "e@acme.example", "git"},
		{`cat ~/Documents/tax.txt ~/.gitconfig | head -1`, "tax", ""},
		{`python3 -c 'import subprocess,json; print(json.dumps(subprocess.check_output(["echo","py"]).decode()))'`, "py", "python3"},
		{`node -e 'require("child_process").fork ? console.log("js", require("os").cpus().length > 0) : 0'`, "js true", "node"},
		{`diff <(echo a) <(echo a) && echo same`, "same", ""},
		{`(sleep 300 >/dev/null 2>&1 &) ; echo started`, "started", ""},
		{`perl -e 'print "pl\n"'`, "pl", "perl"},
		{`exit 7`, "", ""},
	} {
		if c.needs != "" && !has(c.needs) {
			continue
		}
		code, out := w.in(b, c.line)
		if !strings.Contains(out, c.want) || code != 0 && c.line != "exit 7" {
			t.Errorf("%s: %d %q", c.line, code, out)
		}
	}
	r := w.shut(b)
	if !r.Reduced || len(r.Aside) > 0 {
		t.Errorf("%+v", r)
	}
}

// What namespaces would have made harmless is refused: by somebody who has read how a reduced box is made.
func TestReducedRefuses(t *testing.T) {
	if !reduced() {
		t.Skip("TestTheReducedBox runs it")
	}
	for _, c := range []struct{ name, line, needs string }{
		{"a socket of any kind", `python3 -c "
import socket
for f in range(0,46):
  for t in (1,2,3,5):
    try: socket.socket(f,t); print('through',f,t)
    except OSError: pass"`, "python3"},
		{"limits of a process outside", `prlimit --pid @PID --nofile=3:3 && echo through`, "prlimit"},
		{"memory that all share", `ipcmk -M 64 && echo through`, "ipcmk"},
		{"messages that all share", `ipcmk -Q && echo through; ipcmk -S 1 && echo through`, "ipcmk"},
		{"a terminal of somebody else's", `for t in /dev/pts/[0-9]*; do (: < $t) && echo through; (: > $t) && echo through; done 2>/dev/null; true`, ""},
		{"files of the machine's /tmp", `ls /tmp /dev/shm /run && echo through; echo evil > /tmp/evil-@PID && echo through; echo evil > /dev/shm/evil-@PID && echo through`, ""},
		{"the box's own folder", `for f in $TMPDIR/../guards $TMPDIR/../lock $TMPDIR/../aside; do ls $f >/dev/null && cat $f/* 2>/dev/null && echo through; echo evil > $f/0/0 && echo through; done; mv $TMPDIR/../guards $TMPDIR/g && echo through; rm -rf $TMPDIR/../guards; true`, ""},
		{"the home's names", `ls -a ~/.ssh ~/.aws && echo through; find ~/.acme -type f | grep . && echo through; true`, ""},
		{"a process outside, by its folder", `ls /proc/@PID/cwd/ /proc/@PID/fd/ && echo through; cat /proc/@PID/maps /proc/@PID/environ | grep . && echo through; true`, ""},
		{"the first process", `p=$PPID; kill -STOP $p && echo through; kill -9 $p && echo through; cat /proc/$p/environ /proc/$p/maps | grep . && echo through; readlink /proc/$p/fd/3 && echo through; : < /proc/$p/fd/3 && echo through; true`, ""},
	} {
		if c.needs != "" && !has(c.needs) {
			continue
		}
		w := newWorld(t)
		h, line := w.expose(c.line)
		_, out, _ := w.boxed(line)
		if found := h.done(w, out); len(found) > 0 || strings.Contains(out, "through") {
			t.Errorf("%s: %q\n%s", c.name, found, out)
		}
	}
}

// The first thread stands for the process wherever the kernel compares two: it is never the one that goes behind the fence of a command.
func TestTheFirstThreadStaysOutside(t *testing.T) {
	const threads = 64
	var first, ready atomic.Int64
	all := make(chan struct{})
	var wait sync.WaitGroup
	for range threads {
		wait.Go(func() {
			box.OnOwnThread(func() {
				if syscall.Gettid() == syscall.Getpid() {
					first.Add(1)
				}
				if ready.Add(1) == threads {
					close(all)
				}
				<-all // each has a thread, so the first one was there to be had
			})
		})
	}
	wait.Wait()
	if first.Load() > 0 {
		t.Error("the first thread of the process was taken")
	}
}

// What commands leave running ends with the box, and with its owner however that ends.
func TestReducedEndsAll(t *testing.T) {
	if !reduced() {
		t.Skip("TestTheReducedBox runs it")
	}
	w := newWorld(t)
	b := w.open(nil)
	_, out := w.in(b, `for i in 1 2 3; do setsid sh -c 'echo $$; exec sleep 300 >/dev/null 2>&1' & done; sleep 0.3`)
	pids := strings.Fields(out)
	if len(pids) < 3 {
		t.Fatalf("%q", out)
	}
	w.shut(b)
	for _, pid := range pids {
		if text, err := os.ReadFile("/proc/" + pid + "/cmdline"); err == nil && strings.Contains(string(text), "sleep") {
			t.Errorf("%s is left: %q", pid, text)
		}
	}
}

// A guarded file that is changed is what it was as soon as the command has ended, also while the box goes on.
func TestReducedPutsBack(t *testing.T) {
	if !reduced() {
		t.Skip("TestTheReducedBox runs it")
	}
	w := newWorld(t)
	b := w.open(nil)
	defer func() { w.shut(b) }()
	for _, line := range []string{
		`echo evil >> CLAUDE.md`, `rm CLAUDE.md`, `rm CLAUDE.md; mkdir CLAUDE.md; echo evil > CLAUDE.md/x`, `rm CLAUDE.md; ln -s a.txt CLAUDE.md`, `rm -rf .github`,
		`rm -rf .github; ln -s /etc .github`, `echo evil > .github/workflows/ci.yml`, `mv .github g; rm -rf g`, `chmod +x CLAUDE.md`,
	} {
		w.in(b, line)
		for name, want := range map[string]string{"CLAUDE.md": "# rules\n", ".github/workflows/ci.yml": "on: push\n"} {
			deadline := time.Now().Add(5 * time.Second)
			for text, err := os.ReadFile(filepath.Join(w.ws, name)); err != nil || string(text) != want; text, err = os.ReadFile(filepath.Join(w.ws, name)) {
				if time.Now().After(deadline) {
					t.Fatalf("after %s %s is %q, %v", line, name, text, err)
				}
			}
		}
	}
	if info, err := os.Stat(filepath.Join(w.ws, "CLAUDE.md")); err != nil || info.Mode()&0o111 != 0 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

// What is too large to be held is no reason to give up its guard.
func TestReducedRefusesWhatItCannotGuard(t *testing.T) {
	if !reduced() {
		t.Skip("TestTheReducedBox runs it")
	}
	w := newWorld(t)
	if err := os.WriteFile(filepath.Join(w.ws, ".large"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(w.ws, ".large"), 200<<20); err != nil {
		t.Fatal(err)
	}
	want := box.Want{Workspace: w.ws, Home: w.home, State: filepath.Join(w.dir, "state"), Env: w.env, Reduced: true}
	var lack *box.Lack
	if _, err := box.Open(want); !errors.As(err, &lack) || !strings.Contains(err.Error(), ".large") {
		t.Errorf("%v", err)
	}
}
