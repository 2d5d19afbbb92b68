package box_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/box"
)

// helpers are what this program is when a test starts it once more.
var helpers = map[string]func(){}

func TestMain(m *testing.M) {
	box.Become()
	if os.Getenv("BOX_REDUCED") == "filter" {
		if err := errors.Join(box.NoNewRights(), box.RefuseNamespaces()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if f := helpers[os.Getenv("BOX_HELPER")]; f != nil {
		f()
		return
	}
	code := m.Run()
	if template.dir != "" {
		_ = os.RemoveAll(template.dir)
	}
	os.Exit(code)
}

// ordinary is a user who owns nothing on any machine but what a test gives them.
const ordinary = 54321

// again says that these tests are run a second time, by another user: what needs no second time is left out.
func again() bool { return os.Getenv("BOX_QUICK") != "" }

// reduced says that these tests are run where the kernel gives no namespaces: by a filter, as container engines have it, or by its setting.
func reduced() bool { return os.Getenv("BOX_REDUCED") != "" }

// Everything holds for a user without rights as it does for root.
func TestAnOrdinaryUserHasTheSameBox(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("every test of this run is one of an ordinary user's: run them as root for both")
	}
	if testing.Short() {
		t.Skip("it runs all others once more")
	}
	dir := openFolder(t)
	program := filepath.Join(dir, "box.test")
	copyProgram(t, program)
	tmp := filepath.Join(dir, "tmp")
	if err := errors.Join(os.Mkdir(tmp, 0o777), os.Chown(tmp, ordinary, ordinary)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-test.v", "-test.timeout=10m")
	cmd.Dir = tmp
	cmd.Env = append(os.Environ(), "HOME="+tmp, "TMPDIR="+tmp, "USER=ordinary", "BOX_QUICK=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinary, Gid: ordinary}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, failures(string(out)))
	}
	if !strings.Contains(string(out), "--- PASS") {
		t.Errorf("nothing ran:\n%s", out)
	}
}

// failures are the lines around what failed.
func failures(out string) string {
	var keep []string
	lines := strings.Split(out, "\n")
	for i, line := range lines {
		if strings.Contains(line, "--- FAIL") || strings.Contains(line, "panic") {
			keep = append(keep, lines[max(0, i-12):min(len(lines), i+12)]...)
		}
	}
	return strings.Join(keep, "\n")
}

// openFolder is a folder that everybody may go through.
func openFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "box-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func copyProgram(t *testing.T, to string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	from, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	f, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(f, from); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// world is a developer's home and workspace.
type world struct {
	t             *testing.T
	dir, home, ws string
	env           []string
}

const programFolders = "/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// files of every world, below the home folder. What is a secret says so.
var files = map[string]string{
	".bashrc": "# mine\n", ".profile": "# mine\n", ".ssh/id_ed25519": "SECRET-ssh\n", ".aws/credentials": "SECRET-aws\n",
	".netrc": "SECRET-netrc\n", ".config/gh/hosts.yml": "SECRET-gh\n", ".docker/config.json": "SECRET-docker\n",
	".acme/token": "SECRET-acme\n", ".bash_history": "SECRET-history\n", ".local/share/tidemark/tokens.json": "SECRET-monitor\n",
	".cargo/credentials.toml": "SECRET-cargo\n", ".cargo/config.toml": "# mine\n",
	".gitconfig": "[user]\n\tname = d\n\temail = d@acme.example\n[init]\n\tdefaultBranch = main\n", ".cache/tool/index": "good\n",
	".local/bin/helper": "#!/bin/sh\necho good\n", "Documents/tax.txt": "tax\n", "src/other/f.txt": "other\n",
	"src/site/a.txt": "a b\n", "src/site/notes/plan.md": "dipper plan\n", "src/site/.env": "K=v\n", "src/site/Makefile": "test:\n\t@echo ok\n",
	"src/site/.github/workflows/ci.yml": "on: push\n", "src/site/CLAUDE.md": "# rules\n", "src/site/.vscode/settings.json": "{}\n",
}

// template is the home that worlds are copies of: to make a repository takes a dozen processes, to copy one takes one.
var template struct {
	once sync.Once
	dir  string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	template.once.Do(func() {
		dir, err := os.MkdirTemp("", "box-template-*")
		if err != nil {
			t.Fatal(err)
		}
		template.dir = dir
		w := worldIn(t, dir)
		for name, text := range files {
			w.put(filepath.Join(w.home, name), text)
		}
		if has("git") {
			w.must("git init -q && git add -A && git commit -qm one && echo l >> a.txt && git commit -qam two")
		}
	})
	dir, err := filepath.EvalSymlinks(openFolder(t)) // names of sockets must be short
	if err != nil {
		t.Fatal(err)
	}
	w := worldIn(t, dir)
	if out, err := exec.Command("cp", "-a", filepath.Join(template.dir, "home"), w.home).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.Mkdir(dir+"/tmp", 0o700); err != nil {
		t.Fatal(err)
	}
	return w
}

// worldIn is a world in a folder, in which there is nothing yet.
func worldIn(t *testing.T, dir string) *world {
	w := &world{t: t, dir: dir, home: filepath.Join(dir, "home"), ws: filepath.Join(dir, "home", "src", "site")}
	w.env = []string{
		"HOME=" + w.home, "USER=d", "LANG=C.UTF-8", "TERM=xterm", "GITHUB_TOKEN=SECRET-env", "ACME_DSN=SECRET-dsn", "SSH_AUTH_SOCK=" + dir + "/agent",
		"GOTOOLCHAIN=local", "GOFLAGS=-mod=mod", "GOPROXY=off", "CGO_ENABLED=0", "FEATURE_X=1", "TMPDIR=" + dir + "/tmp",
		"PATH=" + w.home + "/.local/bin:" + programFolders,
	}
	return w
}

func (w *world) put(path, text string) {
	w.t.Helper()
	mode := os.FileMode(0o644)
	if strings.HasPrefix(text, "#!") {
		mode = 0o755
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), mode)); err != nil {
		w.t.Fatal(err)
	}
}

// must runs a line in the workspace, outside any box.
func (w *world) must(line string) {
	w.t.Helper()
	if code, out := w.plain(line); code != 0 {
		w.t.Fatalf("%s: %d\n%s", line, code, out)
	}
}

func (w *world) plain(line string) (int, string) {
	cmd := exec.Command("bash", "-c", line)
	cmd.Dir, cmd.Env = w.ws, w.env
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		w.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// open makes a box for the workspace.
func (w *world) open(change func(*box.Want)) *box.Box {
	w.t.Helper()
	want := box.Want{
		Workspace: w.ws, Home: w.home, State: filepath.Join(w.home, ".local/share/tidemark/boxes/one"),
		Hide: []string{filepath.Join(w.home, ".local/share/tidemark")}, Env: w.env,
	}
	want.Reduced = reduced()
	if change != nil {
		change(&want)
	}
	b, err := box.Open(want)
	var lack *box.Lack
	if errors.As(err, &lack) && canBox() == nil {
		w.t.Fatal(err) // the machine lacks nothing
	}
	if errors.As(err, &lack) {
		w.t.Skip(err)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	if b.Reduced() != reduced() {
		w.t.Fatalf("reduced: %v", b.Reduced())
	}
	return b
}

// canBox says why no box can be made on this machine, with nothing in the way.
var canBox = sync.OnceValue(func() error {
	dir, err := os.MkdirTemp("", "box-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	home, ws := filepath.Join(dir, "home"), filepath.Join(dir, "home", "w")
	if err := os.MkdirAll(ws, 0o700); err != nil {
		return err
	}
	b, err := box.Open(box.Want{Workspace: ws, Home: home, State: filepath.Join(dir, "state"), Reduced: reduced()})
	if err == nil {
		_, err = b.Close()
	}
	return err
})

// in runs a line in a box that is there.
func (w *world) in(b *box.Box, line string) (int, string) {
	w.t.Helper()
	exit, out, err := start(w.t, b, w.ws, "bash", "-c", line)
	if err != nil {
		w.t.Fatalf("%s: %v", line, err)
	}
	return exit.Code, out
}

// start runs a command in a box to its end, and takes in what it says.
func start(t *testing.T, b *box.Box, dir string, args ...string) (box.Exit, string, error) {
	t.Helper()
	r, wr, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	job, err := b.Start(box.Command{Args: args, Dir: dir, Files: [3]*os.File{null, wr, wr}})
	_ = wr.Close()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	done := make(chan struct{})
	go func() {
		_, _ = io.Copy(&out, r)
		close(done)
	}()
	exit, err := job.Wait()
	_ = r.SetReadDeadline(time.Now().Add(time.Second)) // what it left running may hold the other end
	<-done
	return exit, out.String(), err
}

// boxed runs a line in a box of its own.
func (w *world) boxed(line string) (int, string, *box.Report) {
	w.t.Helper()
	b := w.open(nil)
	code, out := w.in(b, line)
	return code, out, w.shut(b)
}

func (w *world) shut(b *box.Box) *box.Report {
	w.t.Helper()
	r, err := b.Close()
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// has reports whether programs are where every user finds them.
func has(programs ...string) bool {
	for _, p := range programs {
		if !slices.ContainsFunc(strings.Split(programFolders, ":"), func(dir string) bool {
			_, err := os.Stat(filepath.Join(dir, p))
			return err == nil
		}) {
			return false
		}
	}
	return true
}
