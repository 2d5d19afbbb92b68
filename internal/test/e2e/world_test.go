//go:build e2e

package e2e_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience bounds one run of an agent, and everything else that is waited for.
const patience = 4 * time.Minute

// world is what one story has to itself: a home, a workspace, a data folder with its
// server, a model and the outside.
type world struct {
	t       *testing.T
	rig     *rig
	home    string
	work    string
	data    string
	admin   string // the server's token, of which the disk has the hash
	wait    time.Duration
	model   *model
	api     string // where the agent finds it
	outside *outside
	server  *exec.Cmd
	port    int           // of the agent's own server, where it has one
	turns   int           // so far
	extra   []string      // flags with which the agent is started besides
	enough  time.Duration // a turn that takes longer is ended, and that is no failure
	held    time.Duration // how long a call of it waits for its answer, besides
	more    []string      // of the environment
	spare   string        // a port that nobody has
	boxed   bool          // commands go to boxes
}

// with is what a story wants besides the ordinary.
type with struct {
	wait  time.Duration           // how long a held call waits for its answer
	bare  bool                    // without our hooks
	box   bool                    // commands go to boxes, which the installer tries
	proxy bool                    // the model is behind our proxy, which takes the place of hooks
	both  bool                    // with proxy: it answers only where hooks report, and they are installed
	file  string                  // what tidemark.yaml says; "": there is none
	last  func(w *world)          // runs before the agent starts
	place func(w *world) []string // of the hooks, as flags; nil is the user's own settings
	top   string                  // the folder that all of it is in; "": one below /tmp, of which a box has its own
}

func open(t *testing.T, r *rig, o with) *world {
	t.Helper()
	top := cmp.Or(o.top, t.TempDir())
	w := &world{
		t: t, rig: r, wait: o.wait, boxed: o.box,
		home: filepath.Join(top, "home"), work: filepath.Join(top, "work"), data: filepath.Join(top, "data"),
	}
	for _, dir := range []string{w.home, w.work, w.data} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { keep(t, top) })
	w.outside = startOutside(t)
	w.model = startModel(t, r.shell)
	w.write(w.home, ".curlrc", "proxy = \""+w.outside.url+"\"\nnoproxy = \"127.0.0.1\"\n")
	w.write(w.work, "notes.txt", notes)
	if w.api = w.model.url; o.proxy {
		w.write(w.data, "tidemark.yaml", proxied(w))
	}
	if o.file != "" {
		w.write(w.data, "tidemark.yaml", o.file)
	}
	w.serve()
	if o.proxy {
		w.api = w.address() + r.api
	}
	if o.both {
		w.api = w.address() + "/llm/" + hooked + strings.TrimPrefix(r.api, "/")
	}
	if err := w.prepare(o); err != nil {
		t.Fatalf("set up %s: %v", r.name, err)
	}
	return w
}

// prepare makes the agent ready for its first turn.
func (w *world) prepare(o with) error {
	if w.rig.settle != nil {
		if err := w.rig.settle(w); err != nil {
			return err
		}
	}
	if !o.bare && (!o.proxy || o.both || w.rig.greets) {
		w.install(o)
	}
	if o.last != nil {
		o.last(w)
	}
	if w.rig.start != nil {
		return w.rig.start(w)
	}
	return nil
}

// install puts the hooks in as a person does; what the trial would show, the stories show.
func (w *world) install(o with) {
	w.t.Helper()
	args := []string{"install", w.rig.name, "--wait", w.wait.String()}
	if !o.box {
		args = append(args, "--trial", "none")
	} else {
		args = append(args, "--box")
	}
	if o.place != nil {
		args = append(args, o.place(w)...)
	}
	said := w.tidemark(args...)
	if o.box && !strings.Contains(said, "boxes: obeyed") {
		w.t.Fatalf("install --box said:\n%s", said)
	}
}

// environment is what the agent's processes see. Nothing of the person's own is in it.
func (w *world) environment() []string {
	return append([]string{
		"HOME=" + w.home, "TERM=dumb", "LANG=C.UTF-8", "NO_COLOR=1", "TIDEMARK_DATA=" + w.data, "TMPDIR=" + w.home,
		"PATH=" + filepath.Join(cache(), "bin") + string(filepath.ListSeparator) + os.Getenv("PATH"),
	}, append(w.rig.env(w), w.more...)...)
}

// keep copies what a failed story left behind, for the person who looks into it.
func keep(t *testing.T, top string) {
	to := os.Getenv("E2E_KEEP")
	if !t.Failed() || to == "" {
		return
	}
	if err := os.CopyFS(filepath.Join(to, strings.ReplaceAll(t.Name(), "/", "-")), os.DirFS(top)); err != nil {
		t.Logf("keep %s: %v", top, err)
	}
}

func (w *world) write(dir, name, content string) {
	w.t.Helper()
	file := filepath.Join(dir, name)
	err := os.MkdirAll(filepath.Dir(file), 0o700)
	if err == nil {
		err = os.WriteFile(file, []byte(content), 0o600)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// file is a file of the workspace, "" where there is none.
func (w *world) file(name string) string {
	raw, err := os.ReadFile(filepath.Join(w.work, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		w.t.Fatal(err)
	}
	return strings.TrimSpace(string(raw))
}

// settings are the files of the agent's home that a person or an installer wrote.
func (w *world) settings() map[string]string {
	out := map[string]string{}
	for _, dir := range []string{".claude", ".codex", ".gemini", ".copilot", ".config/opencode", ".openclaw", ".factory", ".agents/plugins", ".cline"} {
		for _, ext := range []string{"*.json", "*.toml", "*/*.json", "*/*.js", "*/*ToolUse"} {
			files, err := filepath.Glob(filepath.Join(w.home, dir, ext))
			if err != nil {
				w.t.Fatal(err)
			}
			for _, f := range files {
				raw, err := os.ReadFile(f)
				if err != nil {
					w.t.Fatal(err)
				}
				out[strings.TrimPrefix(f, w.home)] = string(raw)
			}
		}
	}
	return out
}

// program is one of the two under test.
func program(name string) string { return filepath.Join(os.Getenv("E2E_PROGRAMS"), name) }

// turn runs the agent once on what the user says, and returns all that it printed.
func (w *world) turn(prompt string) string {
	w.t.Helper()
	return w.by(w.rig.command, prompt)
}

func (w *world) by(run runner, prompt string) string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), cmp.Or(w.enough, patience+w.held))
	defer cancel()
	cmd := run(ctx, w, prompt, w.turns > 0)
	cmd.Args = append(cmd.Args, w.extra...)
	w.turns++
	cmd.Dir, cmd.Env = w.work, w.environment()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // agents leave children behind
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	w.write(filepath.Dir(w.home), fmt.Sprintf("turn-%d.log", w.turns), string(out))
	w.write(filepath.Dir(w.home), "model.log", w.model.saw())
	if ctx.Err() != nil && w.enough == 0 {
		w.t.Fatalf("%s did not end within %v; it printed:\n%s", w.rig.name, patience, tail(out))
	}
	if err != nil {
		w.t.Logf("%s ended with %v", w.rig.name, err)
	}
	return string(out)
}

func tail(out []byte) string {
	if len(out) > 3000 {
		out = out[len(out)-3000:]
	}
	return string(out)
}

// tidemark runs a command of the program.
func (w *world) tidemark(args ...string) string {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), program("tidemark"), append(args, "--data", w.data, "--token-stdin")...)
	cmd.Env, cmd.Stdin = w.environment(), strings.NewReader(w.admin+"\n")
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Errorf("tidemark %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

var cache = sync.OnceValue(func() string { return os.Getenv("E2E_CACHE") })
