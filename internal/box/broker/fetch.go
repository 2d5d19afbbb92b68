package broker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/warrant/outgoing"
)

// fetching is a fetch or a clone that was found out about.
type fetching struct {
	b      *Broker
	to     *address
	borrow bool     // the workspace's objects are known
	wanted []string // what is brought, for git
	handed []string // what is done with it in the session's box: "@" is where it is
	after  []string // and then
	merges []string // and then, for all to see
	quiet  bool
}

// fetch finds out what a fetch would bring.
func (b *Broker) fetch(ctx context.Context, f outgoing.Form) (*Deed, error) {
	x, err := b.fetching(ctx, f, "-n", "--progress", "--no-progress")
	if err != nil {
		return nil, err
	}
	return x.deed("fetch"), nil
}

// merging are the flags of a pull that say how what was brought is merged.
var merging = []string{
	"--ff-only", "--ff", "--no-ff", "--rebase", "-r", "--no-rebase", "--autostash", "--no-autostash", "--no-edit", "--stat", "--no-stat",
}

// pull finds out what a pull would bring: it is fetched as by a fetch, and merged in the session's box, from the workspace's own
// branch of what is over there.
func (b *Broker) pull(ctx context.Context, f outgoing.Form) (*Deed, error) {
	x, err := b.fetching(ctx, f, slices.Clone(merging)...)
	if err != nil {
		return nil, err
	}
	branch, err := b.pulled(ctx, f)
	if err != nil {
		return nil, err
	}
	x.merges = []string{"git", "pull", "--no-recurse-submodules"}
	for _, flag := range f.Flags {
		if slices.Contains(merging, flag) || flag == "-q" || flag == "--quiet" {
			x.merges = append(x.merges, flag)
		}
	}
	x.merges = append(x.merges, ".", "refs/remotes/"+x.to.name+"/"+branch)
	return x.deed("pull"), nil
}

// pulled is the branch over there that a pull merges: the one that is named, or the one that the branch here goes with.
func (b *Broker) pulled(ctx context.Context, f outgoing.Form) (string, error) {
	var named []string
	for _, s := range f.Slots {
		if s.Path == "branch" {
			named = append(named, s.Text)
		}
	}
	if len(named) == 1 && branchName.MatchString(named[0]) {
		return named[0], nil
	}
	if len(named) > 0 {
		return "", fmt.Errorf("git pull of several branches: %w", ErrNotHere)
	}
	r, err := b.open(true)
	if err != nil {
		return "", err
	}
	current, err := r.branch(ctx)
	var merge []string
	if err == nil {
		merge, err = r.setting(ctx, "branch."+current+".merge")
	}
	if err = errors.Join(err, r.close()); err != nil {
		return "", err
	}
	if len(merge) != 1 || !branchName.MatchString(strings.TrimPrefix(merge[0], "refs/heads/")) {
		return "", fmt.Errorf("the branch %s goes with none over there: %w", current, ErrNotHere)
	}
	return strings.TrimPrefix(merge[0], "refs/heads/"), nil
}

// fetching finds out what is brought, and whence.
func (b *Broker) fetching(ctx context.Context, f outgoing.Form, more ...string) (*fetching, error) {
	more = append(more, "-q", "--quiet", "-v", "--verbose", "-p", "--prune", "--no-tags", "--no-recurse-submodules")
	flags, err := flagsOf(f, more...)
	if err != nil || f.Slot("depth") != "" || f.Slot("deepen") != "" {
		return nil, errors.Join(err, ErrNotHere)
	}
	r, err := b.open(true)
	if err != nil {
		return nil, err
	}
	name := f.Slot("remote")
	if name == "" {
		name = "origin"
	}
	to, err := r.remote(ctx, name, false)
	if err = errors.Join(err, r.close()); err != nil {
		return nil, err
	}
	if to.name == "" {
		return nil, fmt.Errorf("git fetch of an address: %w", ErrNotHere) // it has no place in the workspace
	}
	x := &fetching{b: b, to: to, borrow: true, quiet: flags["-q"] || flags["--quiet"]}
	x.handed = []string{"git", "fetch", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"}
	if flags["-p"] || flags["--prune"] {
		x.handed = append(x.handed, "--prune")
	}
	x.handed = append(x.handed, "@")
	for _, s := range f.Slots {
		if s.Path != "branch" {
			continue
		}
		if strings.ContainsAny(s.Text, ":") || strings.HasPrefix(s.Text, "refs/") {
			return nil, fmt.Errorf("git fetch %s: %w", s.Text, ErrNotHere)
		}
		x.wanted = append(x.wanted, "+refs/heads/"+s.Text+":refs/heads/"+s.Text)
		x.handed = append(x.handed, "+refs/heads/"+s.Text+":refs/remotes/"+name+"/"+s.Text)
	}
	if len(x.wanted) == 0 {
		x.wanted = []string{"+refs/heads/*:refs/heads/*"}
		x.handed = append(x.handed, "+refs/heads/*:refs/remotes/"+name+"/*")
	}
	return x, nil
}

// clone finds out what a clone would bring.
func (b *Broker) clone(_ context.Context, f outgoing.Form) (*Deed, error) {
	flags, err := flagsOf(f, "-q", "--quiet", "-v", "--verbose", "--progress", "--no-tags")
	if err != nil || f.Slot("depth") != "" {
		return nil, errors.Join(err, ErrNotHere)
	}
	to, err := b.parse("", f.Slot("source"))
	if err != nil {
		return nil, err
	}
	folder := f.Slot("folder")
	if folder == "" {
		folder = strings.TrimSuffix(path.Base(to.path), ".git")
	}
	if !branchName.MatchString(folder) {
		return nil, fmt.Errorf("git clone into %s: %w", folder, ErrNotHere)
	}
	x := &fetching{b: b, to: to, quiet: flags["-q"] || flags["--quiet"]}
	x.wanted = []string{"+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"}
	x.handed = []string{"git", "clone", "--no-local", "--no-recurse-submodules"}
	if branch := f.Slot("branch"); branch != "" {
		x.handed = append(x.handed, "--branch="+branch)
	}
	x.handed = append(x.handed, "--", "@", folder)
	x.after = []string{"git", "-C", folder, "remote", "set-url", "origin", to.url}
	return x.deed("clone"), nil
}

func (x *fetching) deed(verb string) *Deed {
	q := Question{Program: "git", Verb: verb, Remote: x.to.name, Host: x.to.to.host, Port: x.to.to.port, Place: x.to.path}
	for _, w := range x.wanted {
		_, name, _ := strings.Cut(w, ":")
		q.Refs = append(q.Refs, Ref{Name: name})
	}
	return &Deed{Question: q, run: x.run}
}

// run brings objects into a folder of the broker's own, and hands them to the session's box.
func (x *fetching) run(ctx context.Context, files [3]*os.File) (box.Exit, error) {
	none := box.Exit{Code: box.ExitNoBox}
	r, err := x.b.open(x.borrow)
	if err != nil {
		return none, err
	}
	exit, err := x.bring(ctx, r, files)
	if err != nil || exit.Code != 0 {
		return exit, errors.Join(err, r.close())
	}
	shown, done, err := x.b.show(r.clean())
	if err = errors.Join(err, r.close()); err != nil {
		return none, err
	}
	defer done()
	args := make([]string, len(x.handed))
	for i, a := range x.handed {
		if args[i] = a; a == "@" {
			args[i] = shown
		}
	}
	exit, err = x.b.opts.Inside(ctx, box.Command{Args: args, Dir: x.b.dir(), Files: files})
	if err == nil && exit.Code == 0 && x.after != nil {
		err = x.b.inside(ctx, x.after...)
	}
	if err == nil && exit.Code == 0 && x.merges != nil {
		exit, err = x.b.opts.Inside(ctx, box.Command{Args: x.merges, Dir: x.b.dir(), Files: files})
	}
	return exit, err
}

func (x *fetching) bring(ctx context.Context, r *repository, files [3]*os.File) (box.Exit, error) {
	none := box.Exit{Code: box.ExitNoBox}
	if err := r.signIn(ctx, x.to); err != nil {
		return none, err
	}
	out, err := r.out(x.to)
	if err != nil {
		return none, err
	}
	defer out.close() // what was brought is in the folder
	git := []string{"git", "--git-dir=" + r.clean()}
	if !x.borrow {
		if err := x.head(ctx, r, out); err != nil {
			return none, err
		}
	}
	args := append(git, "fetch", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--no-auto-maintenance",
		"--upload-pack=git-upload-pack")
	if x.quiet {
		args = append(args, "--quiet")
	}
	args = append(append(args, "--end-of-options", x.to.url), x.wanted...)
	return out.run(ctx, files, args...)
}

// head asks which branch is the first one over there.
func (x *fetching) head(ctx context.Context, r *repository, out *chamber) error {
	text, err := out.output(ctx, "", "git", "--git-dir="+r.clean(), "ls-remote", "--symref", "--quiet", x.to.url, "HEAD")
	if err != nil {
		return err
	}
	for line := range strings.Lines(text) {
		name, ok := strings.CutPrefix(strings.TrimSpace(line), "ref: refs/heads/")
		if name, _, _ = strings.Cut(name, "\t"); ok && branchName.MatchString(name) {
			return os.WriteFile(filepath.Join(r.clean(), "HEAD"), []byte("ref: refs/heads/"+name+"\n"), 0o600)
		}
	}
	return nil
}

// show copies a folder to where the session's box sees it. Nothing that reaches out looks at it any more. It is complete before it can
// be seen: commands of the session could have what is written go elsewhere otherwise.
func (b *Broker) show(dir string) (shown string, done func(), err error) {
	name := "fetched-" + rand.Text()[:12] + ".git"
	unseen, seen := filepath.Join(b.opts.Want.State, name), filepath.Join(b.opts.Want.State, "tmp", name)
	err = os.CopyFS(unseen, os.DirFS(dir))
	if err == nil {
		err = os.Rename(unseen, seen)
	}
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(unseen))
	}
	return filepath.Join("/tmp", name), func() { _ = os.RemoveAll(seen) }, nil // with the box, if not now
}

// inside runs a command in the session's box of which nobody needs to hear.
func (b *Broker) inside(ctx context.Context, args ...string) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	exit, err := b.opts.Inside(ctx, box.Command{Args: args, Dir: b.dir(), Files: [3]*os.File{null, null, null}})
	if err == nil && exit.Code != 0 {
		err = &failure{args: args, code: exit.Code}
	}
	return err
}

// setUpstream writes down which branch over there a branch goes with. The file is guarded from the session's box, so it is added to
// here: names that say nothing else, behind everything that is there.
func (r *repository) setUpstream(branch, remote, there string) error {
	if !branchName.MatchString(branch) || remote != "." && !branchName.MatchString(remote) || !branchName.MatchString(there) {
		return fmt.Errorf("set upstream of %s: %w", branch, ErrNotHere)
	}
	name := filepath.Join(r.git, "config") // no command of a box can put something else in its place
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("set upstream of %s: the repository's settings are no plain file", branch)
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return fmt.Errorf("set upstream of %s: %w", branch, err)
	}
	_, err = fmt.Fprintf(f, "\n[branch \"%s\"]\n\tremote = \"%s\"\n\tmerge = \"%s\"\n", branch, remote, there)
	return errors.Join(err, f.Close())
}
