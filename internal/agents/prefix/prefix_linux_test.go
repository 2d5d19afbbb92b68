package prefix_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/agents/prefix"
)

func TestMain(m *testing.M) {
	if _, _, ok := catalogue.Prefixed(os.Args[0]); ok {
		os.Exit(prefix.Main(os.Args[0], os.Args[1:], enter, os.Stderr))
	}
	os.Exit(m.Run())
}

// enter stands for a box that says what it was given, and ends in the folder that a variable names.
func enter(c prefix.Command) int {
	fmt.Printf("boxed %s %q %v\n", c.Ticket, c.Line, c.Quiet)
	fmt.Fprintln(c.Where, os.Getenv("ENDS_IN"))
	return 7
}

// agent is one whose commands are started by the program of a data folder.
type agent struct {
	t    *testing.T
	data string
}

func newAgent(t *testing.T) *agent {
	t.Helper()
	a := &agent{t: t, data: filepath.Join(t.TempDir(), "it's data")}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := catalogue.PrefixProgram(a.data, "claude")
	if err := os.MkdirAll(filepath.Dir(program), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	return a
}

// runs starts a line as Claude Code does.
func (a *agent) runs(line string) (int, string) {
	a.t.Helper()
	cmd := exec.Command(catalogue.PrefixProgram(a.data, "claude"), line)
	cmd.Env = append(os.Environ(), "CLAUDE_CODE_SESSION_ID=s", "SHELL=/bin/bash")
	out, _ := cmd.CombinedOutput()
	return cmd.ProcessState.ExitCode(), string(out)
}

// allows leaves what the hook leaves.
func (a *agent) allows(session, line, pass string) {
	a.t.Helper()
	folder := filepath.Join(a.data, "agents", "claude.passes")
	name := fmt.Sprintf("%x.1", sha256.Sum256([]byte("claude:"+session+"\x00"+line)))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		a.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name), []byte(pass), 0o600); err != nil {
		a.t.Fatal(err)
	}
}

func wrapped(t *testing.T, line string) string {
	return "source /nowhere 2>/dev/null || true && eval '" + strings.ReplaceAll(line, "'", `'"'"'`) + "' < /dev/null && pwd -P >| " + filepath.Join(t.TempDir(), "cwd")
}

// A command about which nothing was said does not run, nor does one in a form that is not known; one that was allowed runs once.
func TestACommandRunsAsWasSaid(t *testing.T) {
	a := newAgent(t)
	line := "echo it's $((40+2)); touch " + filepath.Join(t.TempDir(), "x")
	a.allows("other", line, `{}`)
	a.allows("s", "echo other", `{}`)
	for _, what := range []string{wrapped(t, line), "eval \"$X\" && pwd -P >| /tmp/x", wrapped(t, ""), wrapped(t, line+" ")} {
		if code, out := a.runs(what); code != 125 || !strings.Contains(out, "nothing was run") {
			t.Errorf("%s: %d %q", what, code, out)
		}
	}
	a.allows("s", "echo it is", `{}`)
	if code, out := a.runs(wrapped(t, "echo it is")); code != 0 || out != "it is\n" {
		t.Errorf("%d %q", code, out)
	}
	if code, out := a.runs(wrapped(t, "echo it is")); code != 125 {
		t.Errorf("a second time: %d %q", code, out)
	}
}

// What is to run in a box is handed on as it was judged, and runs nowhere else. The folder it ends in counts if it lies in the project: what
// is in the box says it.
func TestWhatIsToRunInABoxIsHandedOn(t *testing.T) {
	a := newAgent(t)
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	below := filepath.Join(root, "below")
	if err := os.Mkdir(below, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc", filepath.Join(root, "away")); err != nil {
		t.Fatal(err)
	}
	made := filepath.Join(root, "made")
	line := "echo it's > " + made
	for folder, want := range map[string]string{
		below: below, root: root, "/etc": "", filepath.Join(root, "away"): "", filepath.Join(root, "nowhere"): "", "below": "", "": "",
		root + "\n/etc": "", filepath.Dir(root): "",
	} {
		t.Setenv("ENDS_IN", folder)
		a.allows("s", line, `{"ticket":"0123456789abcdef0123456789abcdef","root":"`+root+`"}`)
		where := filepath.Join(t.TempDir(), "cwd")
		code, out := a.runs("eval '" + strings.ReplaceAll(line, "'", `'"'"'`) + "' < /dev/null && pwd -P >| " + where)
		if code != 7 || out != fmt.Sprintf("boxed 0123456789abcdef0123456789abcdef %q true\n", line) {
			t.Errorf("%q: %d %q", folder, code, out)
		}
		if text, _ := os.ReadFile(where); strings.TrimSpace(string(text)) != want {
			t.Errorf("%q: the agent is led to %q, want %q", folder, text, want)
		}
	}
	if _, err := os.Stat(made); err == nil {
		t.Error("it ran outside a box")
	}
}

// Hooks of others and servers start as without us: they are no commands of the shell.
func TestWhatIsNoCommandStartsAsEver(t *testing.T) {
	if code, out := newAgent(t).runs("echo 'a hook' && exit 3"); code != 3 || out != "a hook\n" {
		t.Errorf("%d %q", code, out)
	}
}

// A program that stands in the place of a shell is started as one: a line runs as was said about it, once, and only of the session that its
// agent names; a terminal that a person opens is the shell that there would be without us.
func TestAProgramInThePlaceOfAShell(t *testing.T) {
	a := newAgent(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := catalogue.PrefixProgram(a.data, "opencode")
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	runs := func(session string, args ...string) (int, string) {
		cmd := exec.Command(program, args...)
		cmd.Env = append(os.Environ(), "TIDEMARK_OPENCODE_SESSION="+session, "TIDEMARK_OPENCODE_OWN=/bin/bash", "SHELL=/nowhere/zsh")
		cmd.Stdin = strings.NewReader("echo typed")
		out, _ := cmd.CombinedOutput()
		return cmd.ProcessState.ExitCode(), string(out)
	}
	says := func(session, line, pass string) {
		folder := filepath.Join(a.data, "agents", "opencode.passes")
		name := fmt.Sprintf("%x.1", sha256.Sum256([]byte("opencode:"+session+"\x00"+line)))
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(pass), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const line = "echo it's $((40+2)) '"
	says("other", "echo plain", `{}`)
	for _, l := range []string{line, "echo plain", ""} {
		if code, out := runs("s", "-c", l); code != 125 || !strings.Contains(out, "nothing was run") {
			t.Errorf("%q, about which nothing was said: %d %q", l, code, out)
		}
	}
	says("s", line, `{"ticket":"`+strings.Repeat("a", 32)+`"}`)
	if code, out := runs("s", "-c", line); code != 7 || out != fmt.Sprintf("boxed %s %q false\n", strings.Repeat("a", 32), line) {
		t.Errorf("for a box: %d %q", code, out)
	}
	says("s", "echo $((40+2)) $0", `{}`)
	if code, out := runs("s", "-c", "echo $((40+2)) $0"); code != 0 || out != "42 /bin/bash\n" {
		t.Errorf("allowed: %d %q", code, out)
	}
	if code, _ := runs("s", "-c", "echo $((40+2)) $0"); code != 125 {
		t.Error("it ran twice")
	}
	if code, out := runs("s"); code != 0 || out != "typed\n" {
		t.Errorf("a terminal: %d %q", code, out)
	}
}
