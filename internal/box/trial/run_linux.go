package trial

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/box"
)

// secret is what must not be seen in the box.
const secret = "tidemark-trial-secret"

// world is what is tried against: made for it, and really there.
type world struct {
	dir   string
	calls calls
	end   []func()
}

// Run makes a box and tries its promises from inside.
func Run(a Around) ([]Row, error) {
	w := &world{}
	defer w.close()
	if err := w.build(a); err != nil {
		return nil, fmt.Errorf("try a box: %w", err)
	}
	env := append(os.Environ(), "TIDEMARK_TRIAL_KEY="+secret)
	want := box.Want{
		Workspace: w.calls.Workspace, Home: w.calls.Home, State: filepath.Join(w.dir, "state"), Env: env,
		First: a.First, Reduced: a.Reduced,
	}
	if a.Data != "" {
		want.Hide = []string{a.Data}
	}
	b, err := box.Open(want)
	if err != nil {
		return []Row{lacking(err)}, nil
	}
	w.calls.Reduced = b.Reduced()
	rows, err := w.try(b)
	report, bad := b.Close()
	if err = errors.Join(err, bad); err != nil {
		return nil, fmt.Errorf("try a box: %w", err)
	}
	version, err := box.Landlock()
	if err != nil {
		return nil, fmt.Errorf("try a box: %w", err)
	}
	made := Row{Name: "box", Held: true}
	made.Text = fmt.Sprintf("it can be made: namespaces, Landlock of version %d, a filter of calls", version)
	if b.Reduced() {
		made.Reduced, made.Text = true, reducedText
		rows = append(rows, w.putBack())
	}
	aside := Row{Name: "file that runs later", Text: "a new .envrc stayed in the workspace"}
	for _, f := range report.Aside {
		if f.Path == ".envrc" {
			aside.Held, aside.Text = true, "a new .envrc was put aside"
		}
	}
	return append(append([]Row{made}, rows...), aside), nil
}

// reducedText is what the doctor says of a reduced box.
const reducedText = "reduced: there are no namespaces, so commands have no sockets and no loopback, see which other processes run, " +
	"and guarded files are put back, not kept; agents' commands are asked about, tidemark run runs"

// putBack is the row for settings that a command changed in a reduced box.
func (w *world) putBack() Row {
	text, err := os.ReadFile(w.calls.Config)
	if err != nil || len(text) > 0 {
		return Row{Name: "settings of git", Text: "what a command changed there stayed"}
	}
	return Row{Name: "settings of git", Held: true, Text: "what a command changed there was put back"}
}

func (w *world) close() {
	for _, f := range w.end {
		f()
	}
}

// build makes a home with a key, a workspace with a repository, and things outside that can be reached from here.
func (w *world) build(a Around) error {
	dir, err := os.MkdirTemp("", "tidemark-trial-*")
	if err != nil {
		return err
	}
	w.end = append(w.end, func() { _ = os.RemoveAll(dir) })
	if w.dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	c := calls{Home: filepath.Join(w.dir, "home"), Workspace: filepath.Join(w.dir, "home", "work"), Data: a.Data, Monitor: a.Monitor}
	git := filepath.Join(c.Workspace, ".git")
	c.Key, c.Config, c.Start = filepath.Join(c.Home, ".ssh", "id_trial"), filepath.Join(git, "config"), filepath.Join(c.Home, ".bashrc")
	c.Socket = filepath.Join(c.Home, "s")
	err = errors.Join(os.MkdirAll(git, 0o700), os.MkdirAll(filepath.Dir(c.Key), 0o700), os.WriteFile(c.Key, []byte(secret), 0o600),
		os.WriteFile(c.Config, nil, 0o600), os.WriteFile(c.Start, nil, 0o600), copySelf(filepath.Join(c.Workspace, "trial")))
	if err != nil {
		return err
	}
	if err := w.listen("unix", c.Socket, nil); err != nil {
		return err
	}
	if err := w.listen("tcp", "127.0.0.1:0", &c.Port); err != nil {
		return err
	}
	if own := ownAddress(); own != "" {
		_ = w.listen("tcp", net.JoinHostPort(own, "0"), &c.Outside) // without it that row is left out
	}
	other := exec.Command("sleep", "600")
	if err := other.Start(); err == nil {
		c.Process = other.Process.Pid
		w.end = append(w.end, func() { _ = other.Process.Kill(); _ = other.Wait() })
	}
	w.calls = c
	return nil
}

func (w *world) listen(network, address string, at *string) error {
	l, err := net.Listen(network, address) //nolint:noctx // on this machine
	if err != nil {
		return err
	}
	w.end = append(w.end, func() { _ = l.Close() })
	if at != nil {
		*at = l.Addr().String()
	}
	return nil
}

// ownAddress is one of this machine that is not its own loopback; "" if it has none.
func ownAddress() string {
	list, _ := net.InterfaceAddrs()
	for _, a := range list {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && n.IP.To4() != nil {
			return n.IP.String()
		}
	}
	return ""
}

// copySelf puts this program where the box shows it.
func copySelf(to string) error {
	from, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer from.Close()
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o700) //nolint:gosec // it is run
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
}

// try runs this program in the box, where it tries, and reads what it says.
func (w *world) try(b *box.Box) ([]Row, error) {
	ask, err := strictjson.Marshal(w.calls)
	if err != nil {
		return nil, err
	}
	in, err := os.CreateTemp(w.dir, "ask")
	if err != nil {
		return nil, err
	}
	defer in.Close()
	out, err := os.CreateTemp(w.dir, "said")
	if err != nil {
		return nil, err
	}
	defer out.Close()
	if _, err := in.Write(ask); err != nil {
		return nil, err
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	job, err := b.Start(box.Command{
		Args: []string{"./trial", name}, Dir: w.calls.Workspace, Files: [3]*os.File{in, out, os.Stderr},
	})
	if err != nil {
		return nil, err
	}
	exit, err := job.Wait()
	if err != nil || exit.Code != 0 {
		return nil, fmt.Errorf("what tries in the box ended with %d: %w", exit.Code, err)
	}
	said, err := os.ReadFile(out.Name())
	if err != nil {
		return nil, err
	}
	var rows []Row
	return rows, strictjson.Unmarshal(said, &rows)
}

// held is a row for something that must not work.
func held(name string, err error, yes, no string) Row {
	if err == nil {
		return Row{Name: name, Text: no}
	}
	return Row{Name: name, Held: true, Text: fmt.Sprintf("%s (%s)", yes, reason(err))}
}

// reason is the system's own word for a fault, without the paths of this trial.
func reason(err error) string {
	var e syscall.Errno
	if errors.As(err, &e) {
		return e.Error()
	}
	return err.Error()
}
