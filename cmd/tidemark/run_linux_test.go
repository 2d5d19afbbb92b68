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

// wholeStandIn is a program that does what agents do: it asks its model at the address and with the key that it is given.
const wholeStandIn = `#!/bin/bash
ask() { exec 3<>/dev/tcp/127.0.0.1/8417 || exit 3; printf '%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s' "$1" "$2" "$3" "${#4}" "$4" >&3; cat <&3; echo; }
body='{"model":"m","messages":[{"role":"user","content":"hello"}],"tools":[{"type":"function","function":{"name":"exec","parameters":{"type":"object"}}}]}'
echo "base $OPENAI_BASE_URL key $OPENAI_API_KEY home $CLAUDE_CONFIG_DIR"
cat $CLAUDE_CONFIG_DIR/.claude.json
ask POST /llm/canary/v1/chat/completions "$OPENAI_API_KEY" "$body"
ask GET /v1/approvals "$OPENAI_API_KEY" ""
ask POST /llm/canary/v1/chat/completions sk-theirs "$body"
echo kept > $CLAUDE_CONFIG_DIR/memory
`

// BOX-01: A whole agent: its models are behind the monitor, the key is not in the box, nothing else of the monitor's can be reached, and its
// settings go with the box. The server is started for it where none runs.
func TestRunAWholeAgent(t *testing.T) {
	h := newBoxedHome(t)
	agent := filepath.Join(h.home, ".local", "bin", "claude")
	theirs := filepath.Join(h.home, ".claude", "settings.json")
	if err := errors.Join(os.MkdirAll(filepath.Dir(agent), 0o755), os.WriteFile(agent, []byte(wholeStandIn), 0o755), os.MkdirAll(filepath.Dir(theirs), 0o700),
		os.WriteFile(theirs, []byte("SECRET"), 0o600)); err != nil {
		t.Fatal(err)
	}
	run := func(env ...string) string {
		cmd := h.command(t, "run", "--", "claude")
		cmd.Env = append(cmd.Env, append(env, "PATH="+filepath.Dir(agent)+":/usr/bin:/bin")...)
		cmd.Path, _ = os.Executable()
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	out := run("OPENAI_API_KEY=SECRET-key")
	for _, want := range []string{
		"base http://127.0.0.1:8417/openai/v1 key sk-box-", `"hasCompletedOnboarding": true`, "canary", // what the canary's model wants is judged
		"nothing else of the monitor", "with no other",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in it:\n%s", want, out)
		}
	}
	if strings.Contains(out, "SECRET") {
		t.Errorf("a key was seen:\n%s", out)
	}
	if _, err := os.Stat(filepath.Join(h.home, ".claude", "memory")); err == nil {
		t.Error("what it wrote to its settings is in the user's")
	}
	if text, err := os.ReadFile(theirs); err != nil || string(text) != "SECRET" {
		t.Errorf("the user's own settings: %q %v", text, err)
	}
	if out := run("OPENAI_API_KEY=SECRET-key", "OPENAI_BASE_URL=https://gateway.example"); !strings.Contains(out, "the key for openai is not used") {
		t.Errorf("nothing is said of a key that is for another address:\n%s", out)
	}
}

// A command that nobody knows for an agent gets no way out, also where a server runs.
func TestRunGivesNoModelsUnasked(t *testing.T) {
	h := newBoxedHome(t)
	out, _ := h.command(t, "run", "--", "bash", "-c", `exec 3<>/dev/tcp/127.0.0.1/8417 && echo reached; echo "$OPENAI_BASE_URL"`).CombinedOutput()
	if strings.Contains(string(out), "reached") || strings.Contains(string(out), "8417/openai") {
		t.Errorf("%s", out)
	}
}

// BOX-05: Without namespaces a command runs in a reduced box, and it is said; an agent as a whole does not run.
func TestRunReduced(t *testing.T) {
	h := newBoxedHome(t)
	if v, err := box.Landlock(); err != nil || v < 6 {
		t.Skipf("a reduced box needs a Landlock of version 6: %d %v", v, err)
	}
	run := func(args ...string) (int, string, string) {
		cmd := h.command(t, append([]string{"run"}, args...)...)
		cmd.Env = append(cmd.Env, "TIDEMARK_TEST_REDUCED=1")
		var out, said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &said
		_ = cmd.Run()
		return cmd.ProcessState.ExitCode(), out.String(), said.String()
	}
	code, out, said := run("--", "bash", "-c", `echo x > made; cat ~/.ssh/id_ed25519 2>/dev/null; echo evil > .envrc; exec 3<>/dev/tcp/127.0.0.1/1; echo done; exit 3`)
	if code != 3 || out != "done\n" || !strings.Contains(said, "a reduced box") || !strings.Contains(said, "put aside") || strings.Contains(said, "refused") {
		t.Errorf("%d %q %q", code, out, said)
	}
	if _, err := os.Stat(filepath.Join(h.ws, ".envrc")); err == nil {
		t.Error("a file that runs when somebody comes by is left")
	}
	if code, _, said := run("--models", "--", "true"); code != box.ExitNoBox || !strings.Contains(said, "no way out") {
		t.Errorf("%d %q", code, said)
	}
}

// BOX-05: What is lost here is in the status.
func TestStatusSaysWhatIsLost(t *testing.T) {
	h := newBoxedHome(t)
	for name, c := range map[string]struct {
		env         string
		want, lacks string
	}{"with namespaces": {"X=1", "no model", "reduced"}, "without": {"TIDEMARK_TEST_REDUCED=1", "guarded files are put back", "nothing"}} {
		cmd := h.command(t, "status")
		cmd.Env = append(cmd.Env, c.env)
		out, err := cmd.CombinedOutput()
		if v, bad := box.Landlock(); bad != nil || v < 6 && name == "without" {
			continue
		}
		if err != nil || !strings.Contains(string(out), c.want) || c.lacks == "reduced" && strings.Contains(string(out), c.lacks) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// BOX-01: Where a box cannot be made nothing runs.
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

// A person who types an old name is told the new one, once and beside the answer; what is completed says nothing.
func TestAnOldNameSaysTheNewOneOnATerminal(t *testing.T) {
	t.Setenv("TIDEMARK_DATA", t.TempDir())
	x := terminal.Open(t, 120, 24)
	var out bytes.Buffer
	for _, args := range [][]string{{"policy", "check", "--help"}, {"__complete", "audit", ""}, {"check", "--help"}} {
		out.Reset()
		if code := run(t.Context(), args, strings.NewReader(""), &out, x.Far); code != exitOK || out.Len() == 0 {
			t.Fatalf("%q: exit %d, %s", args, code, &out)
		}
	}
	x.Wait(`tidemark: "tidemark check" is now "tidemark policy check"; the old name goes on working`)
	if shown := x.Shows(); strings.Count(shown, "goes on working") != 1 || strings.Contains(out.String(), "is now") {
		t.Errorf("got\n%s\n%s", shown, &out)
	}
}
