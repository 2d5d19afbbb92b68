package headless

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/base/peer"
	"github.com/tidemark/tidemark/internal/external/auditor"
)

var _ auditor.Answerer = (*Program)(nil)

// Options say which program answers, and where it lives.
type Options struct {
	Recipe *Recipe
	Path   string // of the program; empty: looked for
	Model  string // empty: the recipe's
	Home   string // of the user
	Folder string // private to us, in which each prompt gets its own; it is made
	Getenv func(string) string
	Proof  *Proof        // that this very file was tried; nil: it was not, and does not answer
	Idle   time.Duration // how long one that was started ahead waits; 0 is 10 minutes
	// Children are told of each run, so that a hook of ours that fires in one is known for what it is.
	Children peer.Children
}

// Program is a program that answers.
type Program struct {
	o   Options
	try *trial // while it is tried

	mu      sync.Mutex
	catalog []byte // guarded by mu; as it printed it

	waiting waiting // one that was started ahead
}

// The bounds of one run.
const (
	maxOutput = 64 << 10
	maxModels = 8 << 20 // what it prints about its models
	endLimit  = 2 * time.Second
)

// errUntried is what a program says that nobody has tried.
var errUntried = errors.New("this version of the program was not tried (tidemark model use tries it)")

// New is a program. It starts nothing.
func New(o Options) (*Program, error) {
	switch {
	case !Supported:
		return nil, errors.New("programs cannot be ended with everything they start on this system")
	case o.Recipe == nil:
		return nil, errors.New("no program")
	}
	if o.Model == "" {
		o.Model = o.Recipe.Model
	}
	if o.Path == "" {
		o.Path = Look(o.Recipe, o.Getenv)
	}
	if o.Path == "" || !filepath.IsAbs(o.Path) {
		return nil, fmt.Errorf("%s was not found", o.Recipe.Title)
	}
	return &Program{o: o}, nil
}

// Look finds the program on the PATH; empty: it is not there. Folders that are no whole path are passed over: the working
// folder may be the agent's.
func Look(r *Recipe, getenv func(string) string) string {
	for _, dir := range filepath.SplitList(getenv("PATH")) {
		full := filepath.Join(dir, r.Binary)
		if info, err := os.Stat(full); filepath.IsAbs(dir) && err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return full
		}
	}
	return ""
}

// Name says who answers.
func (p *Program) Name() string { return p.o.Recipe.Name + "/" + p.o.Model }

// Model is what the program is told to ask.
func (p *Program) Model() string { return p.o.Model }

// Check reports whether the program that was tried is still the one that is there, and somebody is logged in as far as it
// can say so without asking its provider for an answer.
func (p *Program) Check(ctx context.Context) error {
	if err := p.o.Proof.holds(p.o.Path, p.o.Recipe); err != nil {
		return err
	}
	if len(p.o.Recipe.Login) == 0 {
		return nil
	}
	_, err := p.within(func(d *desk) (auditor.Reply, error) {
		out, printed, err := d.run(ctx, p.o.Recipe.Login, "", maxOutput)
		if err != nil {
			return auditor.Reply{}, p.explain(err, string(out)+printed)
		}
		return auditor.Reply{}, nil
	})
	return err
}

// Ask has a prompt answered by a run of its own: by one that waits for such a prompt, or by one that is started now.
func (p *Program) Ask(ctx context.Context, q auditor.Prompt) (auditor.Reply, error) {
	if err := p.o.Proof.holds(p.o.Path, p.o.Recipe); err != nil && p.try == nil {
		p.waiting.drop() // it is not what was tried any more
		return auditor.Reply{}, err
	}
	if r := p.waiting.take(q); r != nil {
		reply, err := p.finish(ctx, r, q)
		return p.next(q, reply, errors.Join(err, r.desk.clear()))
	}
	reply, err := p.within(func(d *desk) (auditor.Reply, error) {
		r, err := p.begin(ctx, d, q)
		if err != nil {
			return auditor.Reply{}, err
		}
		return p.finish(ctx, r, q)
	})
	return p.next(q, reply, err)
}

// next is what was answered. After an answer the next run is started ahead; after none it is not: it would fail as well.
func (p *Program) next(q auditor.Prompt, reply auditor.Reply, err error) (auditor.Reply, error) {
	if err != nil {
		return auditor.Reply{}, err
	}
	p.Warm(q)
	return reply, nil
}

// begin starts a run that waits for a prompt with such instructions and such a form.
func (p *Program) begin(ctx context.Context, d *desk, q auditor.Prompt) (*run, error) {
	if err := d.lay(ctx, q); err != nil {
		return nil, err
	}
	var more []string
	if p.try != nil {
		more = p.o.Recipe.Trial.Argv
	}
	return d.start(p.o.Recipe.command(d.places(q.Schema), q.Schema, more), maxOutput)
}

// finish hands a run its prompt and reads the answer.
func (p *Program) finish(ctx context.Context, r *run, q auditor.Prompt) (auditor.Reply, error) {
	words, err := inputs[p.o.Recipe.Input](q.User)
	if err != nil {
		r.stop()
		return auditor.Reply{}, p.explain(err, "")
	}
	out, printed, err := r.end(ctx, words)
	if err != nil {
		return auditor.Reply{}, p.explain(err, string(out)+printed)
	}
	reply, err := answers[p.o.Recipe.Answer](out)
	if err != nil {
		return auditor.Reply{}, p.explain(err, string(out)+printed)
	}
	return reply, nil
}

// explain says why there is no answer. What the program printed is looked through, and never repeated.
func (p *Program) explain(err error, printed string) error {
	low := strings.ToLower(printed)
	if slices.ContainsFunc(p.o.Recipe.Away, func(sign string) bool { return strings.Contains(low, sign) }) {
		return fmt.Errorf("%s: nobody is logged in", p.o.Recipe.Title)
	}
	return fmt.Errorf("%s: %w", p.o.Recipe.Title, err)
}

// desk is the folder of one run.
type desk struct {
	p   *Program
	dir string
}

// sit makes the folder of a run.
func (p *Program) sit() (*desk, error) {
	if err := os.MkdirAll(p.o.Folder, 0o700); err != nil {
		return nil, fmt.Errorf("make folder: %w", err)
	}
	dir, err := os.MkdirTemp(p.o.Folder, runFolder)
	if err != nil {
		return nil, fmt.Errorf("make folder: %w", err)
	}
	return &desk{p: p, dir: dir}, nil
}

// runFolder begins the names of such folders.
const runFolder = "run-"

// clear takes the folder away.
func (d *desk) clear() error {
	if err := os.RemoveAll(d.dir); err != nil {
		return fmt.Errorf("take folder away: %w", err)
	}
	return nil
}

// within makes a folder for one run, and takes it away.
func (p *Program) within(step func(*desk) (auditor.Reply, error)) (out auditor.Reply, err error) {
	d, err := p.sit()
	if err != nil {
		return out, err
	}
	out, err = step(d)
	if gone := d.clear(); gone != nil {
		return auditor.Reply{}, errors.Join(err, gone)
	}
	return out, err
}

func (d *desk) places(schema string) places {
	out := places{"dir": d.dir, "home": d.p.o.Home, "model": d.p.o.Model, "schema": schema}
	t := d.p.try
	if a := d.p.o.Recipe.Auth; a != nil {
		if out["auth"] = a.Without; t != nil || d.p.o.Getenv(a.Key) != "" {
			out["auth"] = a.With
		}
	}
	if t != nil {
		out["url"], out["key"], out["canary"], out["mark"] = t.url, t.key, t.canary, t.mark
	}
	return out
}

func (d *desk) write(name string, text []byte) error {
	path := filepath.Join(d.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// lay puts everything in the folder that the program reads. None of it holds words.
func (d *desk) lay(ctx context.Context, q auditor.Prompt) error {
	r := d.p.o.Recipe
	files := map[string][]byte{"system.txt": []byte(q.System)}
	if q.Schema != "" {
		files["schema.json"] = []byte(q.Schema)
	}
	for name, text := range r.Files {
		files[name] = []byte(d.places(q.Schema).fill(text))
	}
	for name, text := range files {
		if err := d.write(name, text); err != nil {
			return fmt.Errorf("write what it reads: %w", err)
		}
	}
	if r.Catalog == nil {
		return d.link()
	}
	printed, err := d.models(ctx) // before it can find a login
	if err != nil {
		return err
	}
	list, err := r.Catalog.of(printed, d.p.o.Model, q.System)
	if err == nil {
		err = d.write(r.Catalog.File, list)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", r.Title, err)
	}
	return d.link()
}

// link has the program find its own login, which we do not read.
func (d *desk) link() error {
	for name, to := range d.p.o.Recipe.Links {
		target := d.places("").fill(to)
		if _, err := os.Stat(target); err != nil {
			continue // it says itself that nobody is logged in
		}
		path := filepath.Join(d.dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.Symlink(target, path)); err != nil {
			return fmt.Errorf("show it its login: %w", err)
		}
	}
	return nil
}

// models is what the program prints about its models. It is asked once.
func (d *desk) models(ctx context.Context) ([]byte, error) {
	d.p.mu.Lock()
	defer d.p.mu.Unlock()
	if d.p.catalog != nil {
		return d.p.catalog, nil
	}
	out, _, err := d.run(ctx, d.p.o.Recipe.Catalog.Argv, "", maxModels)
	if err != nil {
		return nil, fmt.Errorf("%s: ask for its models: %w", d.p.o.Recipe.Title, err)
	}
	d.p.catalog = out
	return out, nil
}

// passed are the variables of the user's that any program may need to reach its provider.
var passed = []string{
	"PATH", "LANG", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
}

// environment is all that a run finds in its, with the word by which a hook in it is known.
func (d *desk) environment(word string) []string {
	r := d.p.o.Recipe
	env := map[string]string{
		"HOME": filepath.Join(d.dir, "home"), "TMPDIR": filepath.Join(d.dir, "tmp"), "NO_COLOR": "1", "TERM": "dumb",
		peer.ReaderVariable: cmp.Or(word, "unknown"), // set in any case: a hook that cannot be known has at least nothing read
	}
	for _, name := range append(slices.Clone(passed), r.Keep...) {
		if v := d.p.o.Getenv(name); v != "" {
			env[name] = v
		}
	}
	put := func(from map[string]string) {
		for name, v := range from {
			env[name] = d.places("").fill(v)
		}
	}
	put(r.Env)
	if t := d.p.try; t != nil {
		for _, name := range r.Keep {
			delete(env, name) // the user's own
		}
		for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"} {
			env[name] = t.url // which lets nothing through
		}
		env["NO_PROXY"], env["no_proxy"] = "127.0.0.1", "127.0.0.1"
		put(r.Trial.Env)
	}
	var out []string
	for name, v := range env {
		out = append(out, name+"="+v)
	}
	slices.Sort(out)
	return out
}

// run starts the program and waits for its end.
func (d *desk) run(ctx context.Context, args []string, input string, most int) (out []byte, printed string, err error) {
	r, err := d.start(args, most)
	if err != nil {
		return nil, "", err
	}
	return r.end(ctx, input)
}

// bounded keeps so much of what is printed, and reads on: a program that cannot print hangs.
type bounded struct {
	most int
	full func() // called once there is more; nil: it does not matter

	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
	more bool         // guarded by mu
}

var _ io.Writer = (*bounded)(nil)

func (b *bounded) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	kept := p[:min(len(p), b.most-b.text.Len())]
	b.text.Write(kept)
	if len(kept) < len(p) && !b.more {
		if b.more = true; b.full != nil {
			b.full()
		}
	}
	return len(p), nil
}

func (b *bounded) bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Clone(b.text.Bytes())
}

func (b *bounded) over() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.more && b.full != nil
}
