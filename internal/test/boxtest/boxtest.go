// Package boxtest gives tests a home, a workspace and boxes for it, as root and as an ordinary user.
package boxtest

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/box"
)

// ordinary is a user who owns nothing on any machine but what a test gives them.
const ordinary = 54321

// AsOrdinaryUser runs all tests of a package once more as a user without rights, if these are root's.
func AsOrdinaryUser(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("every test of this run is one of an ordinary user's: run them as root for both")
	}
	if testing.Short() {
		t.Skip("it runs all others once more")
	}
	dir := folder(t)
	program := filepath.Join(dir, "x.test")
	copyProgram(t, program)
	tmp := filepath.Join(dir, "tmp")
	if err := errors.Join(os.Mkdir(tmp, 0o777), os.Chown(tmp, ordinary, ordinary)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-test.v", "-test.timeout=10m")
	cmd.Dir = tmp
	cmd.Env = append(os.Environ(), "HOME="+tmp, "TMPDIR="+tmp, "USER=ordinary")
	cmd.SysProcAttr = credentials(ordinary)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), "--- PASS") {
		t.Errorf("nothing ran:\n%s", out)
	}
}

// folder is a folder that everybody may go through.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "box-*")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err == nil {
		err = os.Chmod(dir, 0o755) // it is to be
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func copyProgram(t *testing.T, to string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(self) // this program
	if err == nil {
		err = os.WriteFile(to, raw, 0o755) // somebody else runs it
	}
	if err != nil {
		t.Fatal(err)
	}
}

// World is a developer's home and workspace.
type World struct {
	T               testing.TB
	Dir, Home, Work string
	Env             []string
}

const programs = "/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// New makes a world.
func New(t *testing.T) *World {
	t.Helper()
	dir := folder(t)
	w := &World{T: t, Dir: dir, Home: filepath.Join(dir, "home"), Work: filepath.Join(dir, "home", "src", "site")}
	w.Put(filepath.Join(w.Home, ".gitconfig"), "[user]\n\tname = d\n\temail = d@acme.example\n[init]\n\tdefaultBranch = main\n")
	w.Put(filepath.Join(w.Work, "a.txt"), "a\n")
	w.Env = []string{"HOME=" + w.Home, "USER=d", "LANG=C.UTF-8", "PATH=" + programs}
	return w
}

// Put writes a file, which can be run if it looks like a script.
func (w *World) Put(path, text string) {
	w.T.Helper()
	mode := os.FileMode(0o644)
	if strings.HasPrefix(text, "#!") {
		mode = 0o755
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), mode)); err != nil {
		w.T.Fatal(err)
	}
}

// Must runs a line in the workspace, outside any box, and gives what it prints.
func (w *World) Must(line string) string {
	w.T.Helper()
	cmd := exec.Command("bash", "-c", line) // of a test
	cmd.Dir, cmd.Env = w.Work, w.Env
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.T.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

// Want is what a box for the workspace needs.
func (w *World) Want(name string) box.Want {
	data := filepath.Join(w.Home, ".local/share/tidemark")
	return box.Want{Workspace: w.Work, Home: w.Home, State: filepath.Join(data, "boxes", name), Hide: []string{data}, Env: w.Env}
}

// Open makes a box for the workspace, or leaves the test out where none can be made. It is closed with the test.
func (w *World) Open(want box.Want) *box.Box {
	w.T.Helper()
	b, err := box.Open(want)
	if lack := (*box.Lack)(nil); errors.As(err, &lack) {
		w.T.Skip(err)
	}
	if err != nil {
		w.T.Fatal(err)
	}
	w.T.Cleanup(func() {
		if _, err := b.Close(); err != nil {
			w.T.Error(err)
		}
	})
	return b
}

// Job is a command that runs.
type Job struct {
	t    testing.TB
	job  *box.Job
	out  *bytes.Buffer
	read *os.File
	done chan struct{}
}

// Start starts a line in a box.
func (w *World) Start(b *box.Box, line string) *Job {
	w.T.Helper()
	r, wr, err := os.Pipe()
	if err != nil {
		w.T.Fatal(err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		w.T.Fatal(err)
	}
	defer null.Close()
	job, err := b.Start(box.Command{Args: []string{"bash", "-c", line}, Dir: w.Work, Files: [3]*os.File{null, wr, wr}})
	_ = wr.Close()
	if err != nil {
		w.T.Fatal(err)
	}
	j := &Job{t: w.T, job: job, out: &bytes.Buffer{}, read: r, done: make(chan struct{})}
	go func() {
		_, _ = io.Copy(j.out, r)
		close(j.done)
	}()
	return j
}

// Signal sends the command a signal.
func (j *Job) Signal(s syscall.Signal) { j.job.Signal(s) }

// Wait waits for its end, and gives its code and what it printed.
func (j *Job) Wait() (int, string) {
	j.t.Helper()
	exit, err := j.job.Wait()
	if err != nil {
		j.t.Fatal(err)
	}
	_ = j.read.SetReadDeadline(time.Now().Add(time.Second)) // what it left running may hold the other end
	<-j.done
	return exit.Code, j.out.String()
}

// In runs a line in a box.
func (w *World) In(b *box.Box, line string) (int, string) {
	w.T.Helper()
	return w.Start(b, line).Wait()
}

// Needs leaves a test out where a program is missing.
func Needs(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if !slices.ContainsFunc(strings.Split(programs, ":"), func(dir string) bool {
			_, err := os.Stat(filepath.Join(dir, name))
			return err == nil
		}) {
			t.Skipf("there is no %s here", name)
		}
	}
}
