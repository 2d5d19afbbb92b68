package keeper_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/box/entry"
	"github.com/tidemark/tidemark/internal/box/keeper"
	"github.com/tidemark/tidemark/internal/test/terminal"
)

// Exit code, output, input, folder and environment are the command's own, and what a box hides is hidden.
func TestACommandRunsInItsSessionsBox(t *testing.T) {
	w := newWorld(t, nil)
	for line, want := range map[string]struct {
		code int
		out  string
	}{
		`echo out; exit 3`:                              {3, "out\n"},
		`cat`:                                           {0, "typed\x00\xff"},
		`kill -KILL $$`:                                 {137, ""},
		`pwd; cat a.txt`:                                {0, w.ws + "\na\n"},
		`cat ~/.ssh/id_ed25519 2>&-; echo $?`:           {0, "1\n"},
		`echo "$GITHUB_TOKEN $ONCE"`:                    {0, " 1\n"},
		`cat /proc/*/environ | grep -c SECRET`:          {1, "0\n"},
		`ls ` + w.data + ` 2>&1 | grep -c box`:          {1, "0\n"},
		`test -e ` + entry.Socket(w.data) + `; echo $?`: {0, "1\n"},
		`echo x >> .github/workflows/ci.yml`:            {1, ""},
		`nothing-like-this 2>&-`:                        {127, ""},
		"printf 'a\tb'; # 'ü\xff":                       {0, "a\tb"},
	} {
		cmd := w.client(w.ticket("one", line), line)
		cmd.Env = append(cmd.Env, "ONCE=1")
		cmd.Stdin = strings.NewReader("typed\x00\xff")
		var out, said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &said
		_ = cmd.Run()
		if got := cmd.ProcessState.ExitCode(); got != want.code || out.String() != want.out {
			t.Errorf("%s: %d %q, want %d %q\n%s", line, got, out.String(), want.code, want.out, said.String())
		}
	}
}

// BOX-01: No ticket, no run: nothing happens, the code is 125, and a sentence says why.
func TestNoTicketNoRun(t *testing.T) {
	w := newWorld(t, nil)
	line := "touch ran"
	used := w.ticket("one", "true")
	if code, out := finish(t, w.client(used, "true")); code != 0 {
		t.Fatal(out)
	}
	for name, ticket := range map[string]string{
		"one that nobody gave": strings.Repeat("a", 32), "one that was used": used, "one of another line": w.ticket("one", "touch other"), "none": "",
	} {
		code, out := finish(t, w.client(ticket, line))
		if code != box.ExitNoBox || !strings.HasPrefix(out, "tidemark: nothing was run: ") || strings.Count(out, "\n") != 1 {
			t.Errorf("%s: %d %q", name, code, out)
		}
	}
	if _, err := os.Stat(filepath.Join(w.ws, "ran")); err == nil {
		t.Error("it ran")
	}
}

// A session's commands share a box, with its jobs and temporary files; another session has its own.
func TestASessionHasOneBox(t *testing.T) {
	w := newWorld(t, nil)
	if code, out := w.run("one", `sleep 300 >/dev/null 2>&1 & echo $! > /tmp/pid`); code != 0 {
		t.Fatal(out)
	}
	if code, out := w.run("two", `ls -A /tmp | grep -v keep-; pgrep sleep; true`); code != 0 || out != "" {
		t.Error(code, out)
	}
	if code, out := w.run("one", `kill $(cat /tmp/pid) && echo there`); code != 0 || out != "there\n" {
		t.Error(code, out)
	}
	a, err := entry.Ask(w.data, entry.Request{Do: entry.List})
	if err != nil || len(a.Boxes) != 2 || a.Boxes[0].Session != "one" || a.Boxes[0].Commands != 2 || a.Boxes[0].Workspace != w.ws {
		t.Errorf("%+v %v", a, err)
	}
	if a, err = entry.Ask(w.data, entry.Request{Do: entry.End, Session: "one"}); err != nil || len(a.Boxes) != 1 {
		t.Errorf("%+v %v", a, err)
	}
	if code, out := w.run("one", `ls -A /tmp | grep -v keep-; true`); code != 0 || out != "" {
		t.Errorf("a box that was ended goes on: %d %s", code, out)
	}
}

// Many commands of several sessions at once make one box each, and every one has its own exit code.
func TestManyAtOnce(t *testing.T) {
	w := newWorld(t, nil)
	var all sync.WaitGroup
	for i := range 24 {
		line := fmt.Sprintf("echo %d; exit %d", i, i)
		cmd := w.client(w.ticket(fmt.Sprintf("s%d", i%3), line), line)
		all.Add(1)
		go func() {
			defer all.Done()
			var out bytes.Buffer
			cmd.Stdout = &out
			_ = cmd.Run()
			if cmd.ProcessState.ExitCode() != i || out.String() != fmt.Sprintf("%d\n", i) {
				t.Errorf("%d: %v %q", i, cmd.ProcessState, out.String())
			}
		}()
	}
	all.Wait()
	if a, err := entry.Ask(w.data, entry.Request{Do: entry.List}); err != nil || len(a.Boxes) != 3 {
		t.Errorf("%+v %v", a, err)
	}
}

// A signal reaches the command and what it started; a client that is killed takes its command with it.
func TestSignalsArePassedOn(t *testing.T) {
	w := newWorld(t, nil)
	line := `trap 'echo told; exit 9' TERM; (trap 'touch child' TERM; sleep 300) & echo ready; while :; do sleep 0.05; done`
	cmd := w.client(w.ticket("one", line), line)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 9 {
		t.Errorf("ended with %d", code)
	}
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("whoever started this has hang-ups ignored (nohup), and then no shell can hear them")
	}
	line = `trap 'touch hung' HUP; touch begun; while :; do sleep 0.05; done`
	cmd = w.client(w.ticket("one", line), line)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "it began", func() bool { _, err := os.Stat(filepath.Join(w.ws, "begun")); return err == nil })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	until(t, "its command ended", func() bool {
		a, err := entry.Ask(w.data, entry.Request{Do: entry.List})
		return err == nil && a.Boxes[0].Running == 0
	})
	if _, err := os.Stat(filepath.Join(w.ws, "hung")); err != nil {
		t.Error(err)
	}
}

// On a terminal a command has one of the box's own: its size, its signals, its jobs.
func TestATerminalIsMadeInTheBox(t *testing.T) {
	w := newWorld(t, nil)
	x := terminal.Open(t, 80, 24)
	line := `tty; stty size; trap 'n=$((n+1)); echo heard $n' INT; trap 'stty size' WINCH; echo ready; ` +
		`while [ ! -e stop ]; do sleep 0.1; done; echo ended $n; exit 4`
	cmd := w.client(w.ticket("one", line), line)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = x.Far, x.Far, x.Far
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	x.Wait("/dev/pts/0")
	x.Wait("24 80")
	x.Wait("ready")
	x.Press("\x03")
	x.Wait("heard 1")
	if err := os.WriteFile(filepath.Join(w.ws, "stop"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	x.Wait("ended 1")
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 4 {
		t.Errorf("ended with %d", code)
	}
}

// What is put aside is told to whoever ran the command, and to the monitor.
func TestWhatIsPutAsideIsTold(t *testing.T) {
	w := newWorld(t, nil)
	line := `echo evil > .envrc; while [ -e .envrc ]; do sleep 0.01; done; sleep 0.1`
	code, out := w.run("one", line)
	if code != 0 || !strings.Contains(out, ".envrc would run elsewhere or later: it is put aside") {
		t.Errorf("%d %q", code, out)
	}
	if code, out = w.run("one", "true"); code != 0 || out != "" {
		t.Errorf("it is told again: %d %q", code, out)
	}
	until(t, "the monitor was told", func() bool {
		w.book.mu.Lock()
		defer w.book.mu.Unlock()
		return len(w.book.ended) == 2
	})
	w.book.mu.Lock()
	if e := w.book.ended[0]; e.Exit != 0 || len(e.Report.Aside) != 1 {
		t.Errorf("%+v", e)
	}
	w.book.mu.Unlock()
	w.stop()
	left := keeper.LeftIn(w.data)
	if len(left) != 1 || left[0].Session != "one" || left[0].Cut || len(left[0].Aside) != 1 {
		t.Errorf("%+v", left)
	}
}

// Settings of the policy are the box's.
func TestSettingsAreTheBoxs(t *testing.T) {
	w := newWorld(t, nil)
	line := `cat ~/.ssh/id_ed25519 && echo x > ../other/made && ! echo x > a.txt && ! mv a.txt b.txt && ! ls ~/Documents/x`
	w.put(filepath.Join(w.home, "Documents/x"), "x")
	ticket := w.ticket("one", line, func(g *keeper.Grant) {
		g.Settings = keeper.Settings{Read: []string{"~/.ssh"}, Write: []string{w.home + "/src/other", "~/nowhere"}, Guard: []string{"a.txt", "deploy/"}, Hide: []string{"~/Documents"}}
	})
	if code, out := finish(t, w.client(ticket, line)); code != 0 {
		t.Error(code, out)
	}
	if code, out := w.run("one", `cat ~/.ssh/id_ed25519`); code == 0 {
		t.Errorf("a grant of one command's is another's: %s", out)
	}
}

// BOX-04: What the snapshot does not hold can be read and not changed, moved or removed, nor the folders it lies in.
func TestWhatTheSnapshotDoesNotHoldIsReadOnly(t *testing.T) {
	w := newWorld(t, func(o *keeper.Options) {
		o.Take = func(string, string) (keeper.Snapshot, error) {
			return keeper.Snapshot{Name: "kept", Guard: []string{"db/dev.db", "data"}}, nil
		}
	})
	w.put(filepath.Join(w.ws, "db/dev.db"), "rows\n")
	w.put(filepath.Join(w.ws, "data/deep/x"), "rows\n")
	for _, line := range []string{
		`echo x > db/dev.db`, `rm -f db/dev.db`, `mv db/dev.db gone`, `mv db gone`, `rm -rf db data`, `echo x >> data/deep/x`, `touch data/new`, `mv data/deep gone`,
		`truncate -s 0 db/dev.db`, `chmod 0 db/dev.db`, `ln -sf /dev/null db/dev.db`,
	} {
		if code, out := w.run("one", line); code == 0 {
			t.Errorf("%s: it worked %s", line, out)
		}
	}
	if code, out := w.run("one", `cat db/dev.db data/deep/x && echo new > db/new && rm db/new`); code != 0 || out != "rows\nrows\n" {
		t.Error(code, out)
	}
	a, err := entry.Ask(w.data, entry.Request{Do: entry.List})
	if err != nil || len(a.Boxes) != 1 || a.Boxes[0].Snapshot != "kept" {
		t.Errorf("%+v %v", a, err)
	}
}

// BOX-04: Without a snapshot nothing runs.
func TestNoSnapshotNoRun(t *testing.T) {
	w := newWorld(t, func(o *keeper.Options) {
		o.Take = func(string, string) (keeper.Snapshot, error) {
			return keeper.Snapshot{}, errors.New("the disk is full")
		}
	})
	code, out := w.run("one", "touch ran")
	if _, err := os.Stat(filepath.Join(w.ws, "ran")); code != box.ExitNoBox || !strings.Contains(out, "the disk is full") || err == nil {
		t.Errorf("%d %q %v", code, out, err)
	}
}

// A box in which nothing is run ends by itself, and a keeper without boxes does.
func TestWhatIsIdleEnds(t *testing.T) {
	w := newWorld(t, func(o *keeper.Options) { o.Idle = time.Second })
	if code, out := w.run("one", "sleep 2; true"); code != 0 {
		t.Fatal(out)
	}
	until(t, "the keeper ended", func() bool {
		_, err := entry.Ask(w.data, entry.Request{Do: entry.List})
		return errors.Is(err, entry.ErrNoKeeper)
	})
	if names, _ := os.ReadDir(filepath.Join(w.data, "boxes")); len(names) != 0 {
		t.Errorf("left: %v", names)
	}
}

// A box whose processes somebody ended is made anew for the next command.
func TestABoxThatWasKilledIsMadeAnew(t *testing.T) {
	w := newWorld(t, nil)
	if code, out := w.run("one", "touch /tmp/of-the-first"); code != 0 {
		t.Fatal(out)
	}
	list, err := filepath.Glob("/proc/[0-9]*/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	killed := 0
	for _, path := range list {
		pid := 0
		text, _ := os.ReadFile(path)
		name, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		if _, err := fmt.Sscanf(path, "/proc/%d/", &pid); err == nil && strings.HasPrefix(string(name), "tidemark-box") && strings.Contains(string(text), w.dir) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			killed++
		}
	}
	if killed != 1 {
		t.Skipf("%d first processes of this test's boxes were found", killed)
	}
	if code, out := w.run("one", "test ! -e /tmp/of-the-first"); code != 0 {
		t.Errorf("%d %s", code, out)
	}
}

// Whoever ends everything ends the keeper too: the next command starts a new one.
func TestEndingEverythingEndsTheKeeper(t *testing.T) {
	w := newWorld(t, nil)
	if code, out := w.run("one", "true"); code != 0 {
		t.Fatal(out)
	}
	if a, err := entry.Ask(w.data, entry.Request{Do: entry.End}); err != nil || len(a.Boxes) != 1 {
		t.Errorf("%+v %v", a, err)
	}
	until(t, "the keeper ended", func() bool {
		_, err := entry.Ask(w.data, entry.Request{Do: entry.List})
		return errors.Is(err, entry.ErrNoKeeper)
	})
}

// Others cannot reach the socket, and a data folder that others can change is not trusted.
func TestTheSocketIsTheUsersAlone(t *testing.T) {
	w := newWorld(t, nil)
	info, err := os.Stat(entry.Socket(w.data))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if _, err := keeper.New(options(w.data, w.home, w.book)); !errors.Is(err, keeper.ErrTaken) {
		t.Errorf("a second keeper: %v", err)
	}
	if err := os.Chmod(w.data, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := entry.Ask(w.data, entry.Request{Do: entry.List}); err == nil {
		t.Error("a data folder that everybody may change was trusted")
	}
	if os.Getuid() != 0 {
		return // only root can be two users
	}
	if err := errors.Join(os.Chmod(entry.Socket(w.data), 0o666), os.Chown(w.data, ordinary, ordinary), os.Chmod(w.data, 0o755)); err != nil {
		t.Fatal(err)
	}
	cmd := w.client(w.ticket("one", "touch ran"), "touch ran")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinary, Gid: ordinary}}
	code, out := finishAsOther(t, cmd)
	if _, err := os.Stat(filepath.Join(w.ws, "ran")); code != box.ExitNoBox || err == nil {
		t.Errorf("another user: %d %s", code, out)
	}
}

// finishAsOther is finish for a user who cannot read what go test built.
func finishAsOther(t *testing.T, cmd *exec.Cmd) (int, string) {
	t.Helper()
	copied := filepath.Join(openFolder(t), "client")
	raw, err := os.ReadFile(cmd.Path)
	if err == nil {
		err = os.WriteFile(copied, raw, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd.Path = copied
	return finish(t, cmd)
}

// BOX-01: kill -9 of the keeper leaves no process and no mount; what it left besides is listed at the next start.
func TestAKilledKeeperLeavesNothingRunning(t *testing.T) {
	w := newWorld(t, nil)
	w.stop()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(w.env, "KEEPER_HELPER=keeper", "DATA="+w.data, "WS="+w.ws)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	if _, err := out.Read(make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	mark := fmt.Sprintf("%d.%d", 5000+os.Getpid()%1000, time.Now().UnixNano()%1_000_000)
	line := `(trap '' TERM HUP INT; exec sleep ` + mark + `) >/dev/null 2>&1 & setsid sleep ` + mark +
		` >/dev/null 2>&1 & echo x > ~/.cache/x; echo evil > .envrc; while [ -e .envrc ]; do sleep 0.01; done`
	if code, said := finish(t, w.client("one", line)); code != 0 {
		t.Fatalf("%d %s", code, said)
	}
	waiting := w.client("one", "sleep 300")
	if err := waiting.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "jobs run", func() bool { return len(processesWith(mark)) == 2 })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	_ = waiting.Wait()
	if code := waiting.ProcessState.ExitCode(); code != box.ExitNoBox {
		t.Errorf("the client of a killed keeper ended with %d", code)
	}
	until(t, "no process is left", func() bool { return len(processesWith(mark)) == 0 })
	if mounts, err := os.ReadFile("/proc/self/mountinfo"); err != nil || strings.Contains(string(mounts), w.dir) {
		t.Errorf("a mount is left: %v\n%s", err, mounts)
	}
	w.keep(options(w.data, w.home, w.book))
	a, err := entry.Ask(w.data, entry.Request{Do: entry.List})
	if err != nil || len(a.Left) != 1 || !a.Left[0].Cut || len(a.Left[0].Aside) != 1 || a.Left[0].Layer == 0 || a.Left[0].Session != "one" {
		t.Errorf("%+v %v", a, err)
	}
	if code, said := w.run("one", "true"); code != 0 {
		t.Errorf("after a killed keeper: %d %s", code, said)
	}
}

// processesWith are the processes of this machine that sleep for so long.
func processesWith(word string) []string {
	var out []string
	list, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range list {
		if text, _ := os.ReadFile(path); strings.Contains(string(text), "sleep\x00"+word) {
			out = append(out, path)
		}
	}
	return out
}

// A person can look into a session's box.
func TestAShellInABox(t *testing.T) {
	w := newWorld(t, nil)
	if code, out := w.run("one", "echo x > /tmp/of-one"); code != 0 {
		t.Fatal(out)
	}
	for session, want := range map[string]string{"one": "of-one\n", "": ""} {
		cmd := w.client("", "")
		cmd.Args, cmd.Env = cmd.Args[:1], append(w.env, "KEEPER_HELPER=shell", "DATA="+w.data, "SESSION="+session)
		cmd.Stdin = strings.NewReader("ls -A /tmp | grep -v keep-; true\n")
		if code, out := finish(t, cmd); code != 0 || out != want {
			t.Errorf("%q: %d %q", session, code, out)
		}
	}
}
