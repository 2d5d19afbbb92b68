package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/test/terminal"
)

// boxedHome is a home with a workspace, and the program started in it.
type boxedHome struct{ home, ws string }

func newBoxedHome(t *testing.T) *boxedHome {
	t.Helper()
	h := &boxedHome{home: t.TempDir()}
	h.ws = filepath.Join(h.home, "src", "site")
	key := filepath.Join(h.home, ".ssh", "id_ed25519")
	if err := errors.Join(os.MkdirAll(h.ws, 0o755), os.MkdirAll(filepath.Dir(key), 0o700), os.WriteFile(key, []byte("SECRET"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if out, err := h.command(t, "run", "--", "true").CombinedOutput(); err != nil {
		if strings.Contains(string(out), "no box can be made here") {
			t.Skip(string(out))
		}
		t.Fatalf("%v\n%s", err, out)
	}
	return h
}

func (h *boxedHome) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Dir = h.ws
	cmd.Env = []string{"TIDEMARK_TEST_MAIN=1", "HOME=" + h.home, "PATH=/usr/local/bin:/usr/bin:/bin", "TERM=xterm", "API_KEY=SECRET"}
	return cmd
}

// Exit code, output and report of a command in a box of its own, without a server.
func TestRunIsTheCommand(t *testing.T) {
	h := newBoxedHome(t)
	for line, want := range map[string]struct {
		code int
		out  string
	}{
		`echo out; echo err >&2; exit 3`:          {3, "out\n"},
		`cat`:                                     {0, "typed\x00\xff"},
		`kill -KILL $$`:                           {137, ""},
		`printf %s "$1"`:                          {0, "--json"},
		`cat ~/.ssh/id_ed25519; echo $API_KEY`:    {0, "\n"},
		`test -t 0 || test -t 1; echo $?`:         {0, "1\n"},
		`touch made && ls made; exec true`:        {0, "made\n"},
		`cat /proc/1/cmdline /proc/1/environ; :`:  {0, "tidemark-box\x00"},
		`echo x > .envrc`:                         {0, ""},
		`sleep 300 >/dev/null 2>&1 & echo $! > p`: {0, ""},
	} {
		cmd := h.command(t, "run", "--", "bash", "-c", line, "bash", "--json")
		cmd.Stdin = strings.NewReader("typed\x00\xff")
		var out, said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &said
		_ = cmd.Run()
		if got := cmd.ProcessState.ExitCode(); got != want.code || out.String() != want.out {
			t.Errorf("%s: %d %q, want %d %q\n%s", line, got, out.String(), want.code, want.out, said.String())
		}
	}
	if _, err := os.Stat(filepath.Join(h.ws, ".envrc")); err == nil {
		t.Error("a file that runs when somebody comes by was not put aside")
	}
	if _, err := os.Stat(filepath.Join(h.ws, "made")); err != nil {
		t.Error(err)
	}
}

func TestRunReports(t *testing.T) {
	h := newBoxedHome(t)
	cmd := h.command(t, "run", "--json", "--", "sh", "-c", `echo evil > .mcp.json; echo x > ~/.cache/x; echo out`)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil || string(out) != "out\n" {
		t.Fatalf("%v %s %s", err, out, said.String())
	}
	var r box.Report
	if err := json.Unmarshal(said.Bytes(), &r); err != nil {
		t.Fatalf("%v: %s", err, said.String())
	}
	if len(r.Aside) != 1 || r.Aside[0].Path != ".mcp.json" || len(r.Layer) != 1 || r.Layer[0].Files != 1 || strings.Join(r.Withheld, " ") != "API_KEY" {
		t.Errorf("%+v", r)
	}
	if kept, err := os.ReadFile(r.Aside[0].Kept); err != nil || string(kept) != "evil\n" {
		t.Errorf("%s %v", kept, err)
	}
}

// Where a box cannot be made nothing runs.
func TestRunRefusesWithoutABox(t *testing.T) {
	h := newBoxedHome(t)
	mark := filepath.Join(h.ws, "ran")
	for _, args := range [][]string{
		{"run", "--workspace", "/", "--", "touch", mark}, {"run", "--workspace", h.home, "--", "touch", mark},
		{"run", "--workspace", filepath.Join(h.home, ".local/share/tidemark"), "--", "touch", mark}, {"run", "--workspace", "/nowhere", "--", "touch", mark},
	} {
		cmd := h.command(t, args...)
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != box.ExitNoBox || len(out) == 0 {
			t.Errorf("%v: %d %s", args, cmd.ProcessState.ExitCode(), out)
		}
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("it ran")
	}
}

// A signal that is sent to the program alone is handed on.
func TestRunHandsOnASignal(t *testing.T) {
	h := newBoxedHome(t)
	cmd := h.command(t, "run", "--", "bash", "-c", `trap 'echo told; exit 9' TERM; echo ready; while :; do sleep 0.05; done`)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 6)
	if _, err := out.Read(got); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 9 {
		t.Errorf("ended with %d", code)
	}
}

// On a terminal a command has it, hears Ctrl-C once, and gives it back.
func TestRunOnATerminal(t *testing.T) {
	h := newBoxedHome(t)
	x := terminal.Open(t, 80, 24)
	script := `tty; stty size; trap 'n=$((n+1)); echo heard $n' INT; echo ready; while [ ! -e stop ]; do sleep 0.1; done; echo ended $n`
	cmd := h.command(t, "run", "--", "bash", "-c", script)
	onTerminal(cmd, x)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	x.Wait("/dev/console")
	x.Wait("24 80")
	x.Wait("ready")
	x.Press("\x03")
	x.Wait("heard 1")
	time.Sleep(200 * time.Millisecond) // for a second one that must not come
	if err := os.WriteFile(filepath.Join(h.ws, "stop"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	x.Wait("ended 1")
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// A shell in the box has its jobs, and whoever started it has the terminal again afterwards.
func TestRunAShellOnATerminal(t *testing.T) {
	h := newBoxedHome(t)
	x := terminal.Open(t, 80, 24)
	self := h.command(t).Path
	cmd := h.command(t)
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", `"$0" run -- bash --norc -i; read line; echo "outside $line"`, self}
	onTerminal(cmd, x)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	x.Press("PS1=; stty -echo; echo in''side\n")
	x.Wait("inside")
	x.Press("sh -c 'echo sle''eping; exec sleep 100'\n")
	x.Wait("sleeping")
	x.Press("\x1a")
	x.Wait("Stopped")
	x.Press("exit\n")
	x.Wait("There are stopped jobs.")
	x.Press("exit\n") // it is meant
	x.Press("has it\n")
	x.Wait("outside has it")
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// onTerminal has a program started on a terminal of its own.
func onTerminal(cmd *exec.Cmd, x *terminal.Terminal) {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = x.Far, x.Far, x.Far
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
}
