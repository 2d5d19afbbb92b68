// Package broker runs a plain command that leaves this machine (outgoing.Form), once it was allowed, with the one capability that it
// needs: one port of one host. It runs in a box of its own, and no code of the workspace or of a package runs while it has the
// capability.
//
// How that is held:
//   - what reaches out is a program of this machine in a box that is made for it, in a folder that nobody else sees, with settings that
//     are written here. The workspace can be read there; its settings, hooks, filters, helpers and programs are not looked at;
//   - the relay of that box carries to the one port of the one host that was allowed, or to those of a registry, and nowhere else;
//   - what was brought is handed to the workspace afterwards, in the session's own box, which has no way out: scripts of packages run
//     there;
//   - a push carries the commits that its question named, and no others: the other side is asked what it has before anything is sent.
//
// A form that is not done here yet gives ErrNotHere: it stays a question, and is not run by the broker.
package broker

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/box/relay"
	"github.com/tidemark/tidemark/internal/warrant/outgoing"
)

// ErrNotHere is in the error for what the broker does not do.
var ErrNotHere = errors.New("the broker does not do this")

// ErrChanged is in the error of a push that would carry something else than its question said.
var ErrChanged = errors.New("it would carry something else than was asked about")

// Options say for which session the broker works.
type Options struct {
	// Want is what the session's box was made with. Its State is the folder of that box.
	Want box.Want
	// Dir is the folder in which the command was given; empty: the workspace.
	Dir string
	// State is a folder of the caller's in which the broker makes the folders of its own boxes.
	State string
	// Relay says how others are reached. Let, Hosts and Ports are the broker's own.
	Relay relay.Options
	// CAFile holds certificates of registries that programs would not believe otherwise; empty: there are none.
	CAFile string
	// Sums is the database of the sums of modules, as go names it; empty: the one that go asks by itself.
	Sums string
	// Pins are the lists of packages that are as they were before others had a say here; nil: none is known.
	Pins  Pins
	Vouch *Vouch // the same for single lines of files of requirements; nil: nothing vouches for one
	// Engine is the socket of the engine of containers, where it is at no usual place.
	Engine string
	// Inside runs a command in the session's box, which has no way out that was not asked about.
	Inside func(ctx context.Context, c box.Command) (box.Exit, error)
	// SignIn is what signs the owner in at a service, found with this machine's programs; nil: nobody can.
	SignIn func(ctx context.Context, host, programs string) (string, error)
}

// Broker runs what was allowed to leave, for one session.
type Broker struct{ opts Options }

// New makes a broker.
func New(o Options) *Broker { return &Broker{o} }

// Deed is a form that can be run, with what a person must know of it.
type Deed struct {
	Question Question
	Ask      bool  // a person is asked, also where the owner ordered such a command: what it brings nobody has vouched for
	Known    bool  // only versions that are left open ask: the list is the one of before, byte for byte, in the workspace's own folder
	Adds     *Adds // what it would add over there, to be looked at before it does; nil: nothing of this machine's
	run      func(ctx context.Context, files [3]*os.File) (box.Exit, error)
}

// Question is what a form would do, for people. Everything in it but numbers and ids was written by others.
type Question struct {
	Program string   `json:"program"`
	Verb    string   `json:"verb"`
	Remote  string   `json:"remote,omitempty"` // as the repository calls it
	Host    string   `json:"host"`
	Port    int      `json:"port"`
	Place   string   `json:"place,omitempty"` // the repository there, without what signs in
	Refs    []Ref    `json:"refs,omitempty"`
	Commits []Commit `json:"commits,omitempty"`
	Files   []File   `json:"files,omitempty"`
	More    int      `json:"more,omitempty"` // commits that are not listed
	Force   bool     `json:"force,omitempty"`

	Packages []string `json:"packages,omitempty"` // by the names that the command has
	Besides  []string `json:"besides,omitempty"`  // what comes or stays away besides them, and how their list was changed
}

// Ref is what would be set over there.
type Ref struct {
	Name string `json:"name"`
	From string `json:"from,omitempty"` // what we think it is now; empty: there is none
	To   string `json:"to,omitempty"`   // empty: it is removed
}

// Commit is a commit that would be carried.
type Commit struct {
	ID      string `json:"id"`
	Author  string `json:"author"`
	Subject string `json:"subject"`
}

// File is a file that they change.
type File struct {
	Path    string `json:"path"`
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
	Binary  bool   `json:"binary,omitempty"`
	Size    int64  `json:"size,omitempty"` // of one that is sent whole
	sum     [sha256.Size]byte
}

// Prepare finds out what a form would do. Nothing is asked outside for it.
func (b *Broker) Prepare(ctx context.Context, f outgoing.Form) (*Deed, error) {
	switch f.Program {
	case "gh":
		return b.gh(ctx, f)
	case "curl":
		return b.curl(f)
	case "ssh", "scp", "rsync":
		return b.secureShell(ctx, f)
	case "kubectl":
		return b.kubectl(ctx, f)
	case "docker":
		return b.docker(f)
	}
	switch f.Program + " " + f.Verb {
	case "git push":
		return b.push(ctx, f)
	case "git fetch":
		return b.fetch(ctx, f)
	case "git pull":
		return b.pull(ctx, f)
	case "git clone":
		return b.clone(ctx, f)
	case "npm install", "npm i", "npm add":
		return b.install(f, "npm")
	case "npm ci":
		return b.locked(f, "npm")
	case "go get":
		return b.goGet(f)
	case "uv add", "uv pip install":
		return b.install(f, "uv")
	case "uv sync":
		return b.locked(f, "uv")
	case "pnpm install", "pnpm i", "yarn install", "cargo fetch", "bundle install":
		return b.locked(f, f.Program)
	case "poetry install", "poetry sync", "poetry add", "poetry update":
		return b.poetry(f)
	case "pip install", "pip3 install", "python -m pip install", "python3 -m pip install":
		if f.Slot("requirement") != "" {
			return b.locked(f, "pip")
		}
		return b.install(f, "pip")
	}
	return nil, errors.Join(outgoing.NotDone, ErrNotHere)
}

// dir is the folder in which the command was given.
func (b *Broker) dir() string { return cmp.Or(b.opts.Dir, b.opts.Want.Workspace) }

// Run runs the form.
func (d *Deed) Run(ctx context.Context, files [3]*os.File) (box.Exit, error) {
	return d.run(ctx, files)
}

// place is a port of a host.
type place struct {
	host string
	port int
}

// chamber is a box of the broker's own, around a folder that nobody else sees.
type chamber struct {
	dir string
	box *box.Box
	env []string
}

// chamber makes a box that reaches some places and reads some paths besides.
func (b *Broker) chamber(dir string, to []place, env, read []string) (*chamber, error) {
	if len(to) == 0 {
		return b.around(dir, nil, env, read)
	}
	return b.around(dir, func(o *relay.Options) {
		o.Let = func(_ context.Context, a relay.Ask) relay.Decision {
			return relay.Decision{Allow: slices.Contains(to, place{a.Host, a.Port}), Why: "only " + to[0].host + " was allowed"}
		}
	}, env, read)
}

// around makes a box around a folder, with a relay. Without one nothing leaves it.
func (b *Broker) around(dir string, way func(*relay.Options), env, read []string) (*chamber, error) {
	if way == nil {
		return b.through(dir, nil, env, read)
	}
	o := b.opts.Relay
	o.Hosts, o.Ports = nil, nil
	way(&o)
	return b.through(dir, relay.New(o), env, read)
}

// through makes a box around a folder, with a way out of it.
func (b *Broker) through(dir string, way box.Way, env, read []string) (*chamber, error) {
	w := b.opts.Want
	given := append([]string{
		"HOME=" + w.Home, "LANG=C.UTF-8", "PATH=" + b.programs(),
	}, env...)
	keep := make([]string, 0, len(given))
	for _, e := range given {
		name, _, _ := strings.Cut(e, "=")
		keep = append(keep, name)
	}
	want := box.Want{
		Workspace: dir, Home: w.Home, State: filepath.Join(b.opts.State, "out-"+rand.Text()[:12]), Hide: slices.Clone(w.Hide), Read: read,
		Env: given, Keep: keep, First: w.First, Out: way,
	}
	made, err := box.Open(want)
	if err != nil {
		return nil, err
	}
	return &chamber{dir: dir, box: made, env: given}, nil
}

// programs is where programs are looked for: never in the workspace, nor in what commands of a box may write.
func (b *Broker) programs() string {
	var out []string
	for _, e := range b.opts.Want.Env {
		list, ok := strings.CutPrefix(e, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			real, err := filepath.EvalSymlinks(dir)
			if err == nil && filepath.IsAbs(dir) && !b.writable(real) {
				out = append(out, real)
			}
		}
	}
	return strings.Join(append(out, "/usr/local/bin", "/usr/bin", "/bin"), string(filepath.ListSeparator))
}

// writable reports whether commands of the session, or anybody, may write below a path.
func (b *Broker) writable(path string) bool {
	for _, dir := range append([]string{b.opts.Want.Workspace, os.TempDir()}, b.opts.Want.Write...) {
		if real, err := filepath.EvalSymlinks(dir); err != nil || below(path, real) {
			return true // what cannot be known is not trusted
		}
	}
	return false
}

func below(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// runQuietly runs a program in the chamber that is told nothing, and whose errors alone are shown.
func (c *chamber) runQuietly(ctx context.Context, errs *os.File, args ...string) (box.Exit, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return box.Exit{Code: box.ExitNoBox}, err
	}
	defer null.Close()
	return c.run(ctx, [3]*os.File{null, null, errs}, args...)
}

// run runs a program in the chamber.
func (c *chamber) run(ctx context.Context, files [3]*os.File, args ...string) (box.Exit, error) {
	job, err := c.box.Start(box.Command{Args: args, Dir: c.dir, Files: files})
	if err != nil {
		return box.Exit{Code: box.ExitNoBox}, err
	}
	stop := context.AfterFunc(ctx, func() { job.Signal(terminate) })
	defer stop()
	return job.Wait()
}

// most is how much of what a program prints is read.
const most = 4 << 20

// output runs a program and reads what it prints.
func (c *chamber) output(ctx context.Context, input string, args ...string) (string, error) {
	in, err := os.CreateTemp(c.dir, "in-*")
	if err != nil {
		return "", err
	}
	defer os.Remove(in.Name())
	defer in.Close()
	if _, err := in.WriteString(input); err != nil {
		return "", err
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer r.Close()
	var out, faults bytes.Buffer
	done := make(chan struct{})
	go func() {
		_, _ = io.Copy(&out, io.LimitReader(r, most+1)) // what is too long is told below
		_, _ = io.Copy(io.Discard, r)
		close(done)
	}()
	er, ew, err := os.Pipe()
	if err != nil {
		return "", errors.Join(err, w.Close())
	}
	defer er.Close()
	heard := make(chan struct{})
	go func() {
		_, _ = io.Copy(&faults, io.LimitReader(er, 4<<10))
		_, _ = io.Copy(io.Discard, er)
		close(heard)
	}()
	exit, err := c.run(ctx, [3]*os.File{in, w, ew}, args...)
	_, _ = w.Close(), ew.Close()
	<-done
	<-heard
	switch {
	case err != nil:
		return "", err
	case exit.Code != 0:
		return "", &failure{args: args, code: exit.Code, text: strings.TrimSpace(faults.String())}
	case out.Len() > most:
		return "", fmt.Errorf("%s: it prints too much", args[0])
	}
	return out.String(), nil
}

// failure is a program that ended with a code.
type failure struct {
	args []string
	code int
	text string
}

func (f *failure) Error() string {
	return fmt.Sprintf("%s: exit %d: %s", strings.Join(f.args, " "), f.code, f.text)
}

// close ends the chamber. What was in its folder stays.
func (c *chamber) close() error {
	_, err := c.box.Close()
	return err
}
