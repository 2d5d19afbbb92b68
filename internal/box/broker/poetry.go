package broker

import (
	"bytes"
	"context"
	_ "embed" // what poetry is run by is part of the program
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/warrant/outgoing"
)

//go:embed poetry.py
var poetryPython []byte

// poetic is a command of poetry's. It is run twice by this machine's poetry: in the broker's chamber, for a project of ours that has the
// dependencies of the workspace's and nothing else, and in the session's box, with the registry's answers of the first time.
type poetic struct {
	b        *Broker
	python   string // the one that this machine's poetry runs by
	argv     []string
	resolve  []string // what poetry is to find out first; nil: what the lock pins is enough
	project  []byte   // both for the chamber
	lock     []byte
	packages []lockedWheel // what the lock pins
}

// poetryFlags are those of poetry add that say where a package is written down.
var poetryFlags = []string{"-D", "--dev"}

// poetry finds out what a command of poetry's would bring.
func (b *Broker) poetry(f outgoing.Form) (*Deed, error) {
	x := &poetic{b: b, argv: f.Argv}
	raw, was, err := b.list("pyproject.toml")
	if err != nil {
		return nil, err
	}
	project, err := readPoetry(raw)
	if err != nil {
		return nil, fmt.Errorf("pyproject.toml: %w: %w", err, ErrNotHere)
	}
	x.project = project.text
	held := false
	if _, err := os.Lstat(filepath.Join(b.dir(), "poetry.lock")); !errors.Is(err, os.ErrNotExist) {
		raw, now, err := b.list("poetry.lock")
		if err == nil {
			x.lock, x.packages, err = readPoetryLock(raw)
		}
		if err != nil {
			return nil, fmt.Errorf("poetry.lock: %w: %w", err, ErrNotHere)
		}
		held = now
	}
	if x.python, err = b.pythonOf("poetry"); err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrNotHere)
	}
	at := registries("poetry")
	q := Question{Program: f.Program, Verb: f.Verb, Host: at[0].host, Port: at[0].port}
	ask := x.wants(&f, &q, project.needs, held, was)
	if more := len(q.Packages) - shownPackages; more > 0 {
		q.Packages = append(q.Packages[:shownPackages:shownPackages], fmt.Sprintf("and %d more", more))
	}
	return &Deed{Question: q, Ask: ask, run: x.run}, nil
}

// wants notes what is to be fetched, and reports whether a person is asked: held and was say that the lock, and the list of the project,
// are as they were before others had a say. What is named is brought with what the whole project needs, so an order for it alone is one
// for that too only where the project is as it was.
func (x *poetic) wants(f *outgoing.Form, q *Question, needs []string, held, was bool) bool {
	var names []string
	where := []string{"--lock"}
	for _, s := range f.Slots {
		if s.Kind == "poetry" {
			names = append(names, s.Text)
		} else {
			where = append(where, "--"+s.Path+"="+s.Text)
		}
	}
	for _, flag := range f.Flags {
		if slices.Contains(poetryFlags, flag) {
			where = append(where, "--group=dev")
		}
	}
	switch {
	case f.Verb == "add":
		x.resolve = slices.Concat([]string{"add"}, where, []string{"--"}, names)
	case f.Verb == "update":
		x.resolve = slices.Concat([]string{"update", "--lock", "--"}, names)
	case x.lock == nil:
		x.resolve = []string{"lock"}
	default:
		q.Packages = x.pins()
		return !held
	}
	q.Packages = names
	if len(names) > 0 && held && was {
		return false
	}
	if q.Packages = append(q.Packages, needs...); !held { // what it has of them, somebody else may have chosen
		q.Packages = append(q.Packages, x.pins()...)
	}
	return true
}

// pins are the packages of the lock, for people.
func (x *poetic) pins() []string {
	out := make([]string, len(x.packages))
	for i, p := range x.packages {
		out[i] = p.Name + "==" + p.Version
	}
	return out
}

// list reads a list of the workspace's, and reports whether it is what the repository held.
func (b *Broker) list(name string) (raw []byte, held bool, err error) {
	path := filepath.Join(b.dir(), name)
	if raw, err = b.read(path); err != nil {
		return nil, false, fmt.Errorf("%s: %w: %w", name, err, ErrNotHere)
	}
	return raw, b.opts.Pins.holds(b.opts.Want.Workspace, path, raw), nil
}

var (
	startsBy = regexp.MustCompile(`\A#! ?(/[^\s"']+)[^\n]*\n`)
	startsSh = regexp.MustCompile(`\A#! ?/bin/sh\n'''exec' "?(/[^"\n]+?)"? "\$0" "\$@"\n`) // where that is too long for a first line
	aPython  = regexp.MustCompile(`^(python|pypy)[0-9.]*$`)
)

// pythonOf is the Python that a program of this machine is started by.
func (b *Broker) pythonOf(program string) (string, error) {
	for _, dir := range filepath.SplitList(b.programs()) {
		real, err := filepath.EvalSymlinks(filepath.Join(dir, program))
		if err != nil {
			continue
		}
		if b.writable(real) {
			return "", fmt.Errorf("%s lies where commands may write: install it elsewhere", program)
		}
		f, err := os.Open(real)
		if err != nil {
			return "", err
		}
		head, err := io.ReadAll(io.LimitReader(f, 1<<10))
		if err = errors.Join(err, f.Close()); err != nil {
			return "", err
		}
		m := startsSh.FindSubmatch(head)
		if m == nil {
			m = startsBy.FindSubmatch(head)
		}
		if m == nil || !aPython.MatchString(filepath.Base(string(m[1]))) {
			return "", fmt.Errorf("%s does not say which Python it is started by: install it with pipx, or as your system has it", program)
		}
		python := string(m[1]) // as it stands there: where it leads says nothing of the folder that it belongs to
		home, err := filepath.EvalSymlinks(filepath.Dir(python))
		if err != nil {
			return "", fmt.Errorf("the Python of %s is missing: %w", program, err)
		}
		led, err := filepath.EvalSymlinks(python)
		if err != nil || b.writable(home) || b.writable(led) {
			return "", fmt.Errorf("the Python of %s lies where commands may write: install it elsewhere", program)
		}
		return python, nil
	}
	return "", fmt.Errorf("there is no %s of this machine's own: install it outside of the workspace", program)
}

// looked is what the session's box says of the project's environment. It is the workspace's word, and says which of the files that a lock
// has are fetched.
type looked struct {
	Python string   `json:"python"`
	Tags   []string `json:"tags"`
	Have   []string `json:"have"`
}

// ordering is what the chamber is told.
type ordering struct {
	looked

	Hosts    []string      `json:"hosts"`
	To       string        `json:"to"`
	Args     []string      `json:"args"`
	Packages []lockedWheel `json:"packages"`
}

const byPoetry = "poetry.py"

func (x *poetic) run(ctx context.Context, files [3]*os.File) (box.Exit, error) {
	none := box.Exit{Code: box.ExitNoBox}
	dir, err := os.MkdirTemp("", "tidemark-out-*")
	if err != nil {
		return none, err
	}
	defer os.RemoveAll(dir) // what is left over is nobody's
	to := filepath.Join(dir, brought)
	if err = os.Mkdir(to, 0o700); err == nil {
		err = os.WriteFile(filepath.Join(to, byPoetry), poetryPython, 0o600)
	}
	if err != nil {
		return none, err
	}
	about, exit, err := x.look(ctx, to, files)
	if err != nil || exit.Code != 0 {
		return exit, err
	}
	if exit, err = x.fetch(ctx, dir, about, files); err != nil || exit.Code != 0 {
		return exit, err
	}
	shown, done, err := x.b.show(to)
	if err != nil {
		return none, err
	}
	defer done()
	args := slices.Concat([]string{x.python, "-I", filepath.Join(shown, byPoetry), "play", shown}, x.argv[1:])
	return x.b.opts.Inside(ctx, box.Command{Args: args, Dir: x.b.dir(), Files: files})
}

// look has the session's box say what the project's environment is like.
func (x *poetic) look(ctx context.Context, to string, files [3]*os.File) (*looked, box.Exit, error) {
	none := box.Exit{Code: box.ExitNoBox}
	shown, done, err := x.b.show(to)
	if err != nil {
		return nil, none, err
	}
	defer done()
	r, w, err := os.Pipe()
	if err != nil {
		return nil, none, err
	}
	defer r.Close()
	var out bytes.Buffer
	heard := make(chan struct{})
	go func() {
		_, _ = io.Copy(&out, io.LimitReader(r, most)) // what is too long cannot be read
		_, _ = io.Copy(io.Discard, r)
		close(heard)
	}()
	args := []string{x.python, "-I", filepath.Join(shown, byPoetry), "look"}
	exit, err := x.b.opts.Inside(ctx, box.Command{Args: args, Dir: x.b.dir(), Files: [3]*os.File{files[0], w, files[2]}})
	_ = w.Close()
	select { // a program that is left over may hold the other end
	case <-heard:
	case <-ctx.Done():
		return nil, none, ctx.Err()
	}
	if err != nil || exit.Code != 0 {
		return nil, exit, err
	}
	about, err := readLooked(out.Bytes())
	return about, exit, err
}

var (
	lookedPython = regexp.MustCompile(`^[0-9]{1,2}(\.[0-9]{1,3}){2}$`)
	lookedTag    = regexp.MustCompile(`^[a-z0-9_]{1,40}-[a-z0-9_]{1,40}-[a-z0-9_]{1,60}$`)
)

func readLooked(raw []byte) (*looked, error) {
	var out looked
	lines := bytes.Split(bytes.TrimSpace(raw), []byte("\n"))
	if err := strictjson.Unmarshal(lines[len(lines)-1], &out); err != nil {
		return nil, errors.New("the project's environment cannot be read")
	}
	bad := func(t string) bool { return !lookedTag.MatchString(t) }
	if !lookedPython.MatchString(out.Python) || len(out.Tags) > 8000 || slices.ContainsFunc(out.Tags, bad) {
		return nil, errors.New("the project's environment is of no kind that is known")
	}
	return &out, nil
}

// fetch has this machine's poetry find out what is needed, and fetches it, into a folder that nobody else sees.
func (x *poetic) fetch(ctx context.Context, dir string, about *looked, files [3]*os.File) (box.Exit, error) {
	none := box.Exit{Code: box.ExitNoBox}
	at := registries("poetry")
	order := ordering{looked: *about, Hosts: []string{at[0].host, at[1].host}, To: filepath.Join(dir, brought), Args: x.resolve}
	if x.resolve == nil {
		order.Packages = x.packages
	}
	told, err := strictjson.Marshal(order)
	if err != nil {
		return none, err
	}
	given := map[string][]byte{"order.json": told, byPoetry: poetryPython, "pyproject.toml": x.project}
	if x.lock != nil {
		given["poetry.lock"] = x.lock
	}
	for name, raw := range given {
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o600); err != nil {
			return none, err
		}
	}
	own := filepath.Join(dir, "own")
	env, read := []string{
		"POETRY_CACHE_DIR=" + own, "POETRY_CONFIG_DIR=" + own, "POETRY_DATA_DIR=" + own, "POETRY_KEYRING_ENABLED=false",
		"POETRY_SOLVER_LAZY_WHEEL=false", "POETRY_VIRTUALENVS_CREATE=false", "PYTHON_KEYRING_BACKEND=keyring.backends.null.Keyring",
		"NETRC=" + os.DevNull,
	}, []string(nil)
	if ca := x.b.opts.CAFile; ca != "" {
		env, read = append(env, "REQUESTS_CA_BUNDLE="+ca), []string{ca}
	}
	c, err := x.b.chamber(dir, at, env, read)
	if err != nil {
		return none, err
	}
	defer c.close() // what was fetched is in the folder
	args := []string{x.python, "-I", filepath.Join(dir, byPoetry), "fetch", filepath.Join(dir, "order.json")}
	return c.runQuietly(ctx, files[2], args...)
}
