package broker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/warrant/outgoing"
)

// How much of a push is listed.
const (
	mostCommits = 200
	mostFiles   = 500
)

// update is one thing that a push sets over there.
type update struct {
	local  string // the branch here, if it is one
	commit string // empty: what is there is removed
	name   string // the full name there
	known  string // what it was when we last heard; empty: nothing
	goes   bool   // the branch here is known to go with one over there
}

// passed are the flags of a push that git is given as they are.
var passed = []string{"-q", "--quiet", "-v", "--verbose", "--progress", "--no-progress", "--porcelain", "--atomic"}

// pushing is a push that was found out about.
type pushing struct {
	repo    *repository
	to      *address
	updates []update
	carried []string // ids of the commits that its question names
	flags   map[string]bool
	adds    *Adds
}

// push finds out what a push would carry.
func (b *Broker) push(ctx context.Context, f outgoing.Form) (*Deed, error) {
	known := []string{"-u", "--set-upstream", "--no-verify", "-f", "--force", "--force-with-lease", "-d", "--delete"}
	flags, err := flagsOf(f, append(known, passed...)...)
	if err != nil {
		return nil, err
	}
	r, err := b.open(true)
	if err != nil {
		return nil, err
	}
	p := &pushing{repo: r, flags: flags}
	q, err := p.find(ctx, f)
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	if err := r.close(); err != nil {
		return nil, err
	}
	return &Deed{Question: *q, Adds: p.adds, run: p.run}, nil
}

// flagsOf are the flags of a form, if all of them are known here.
func flagsOf(f outgoing.Form, known ...string) (map[string]bool, error) {
	out := map[string]bool{}
	for _, flag := range f.Flags {
		if !slices.Contains(known, flag) {
			return nil, fmt.Errorf("%s %s %s: %w", f.Program, f.Verb, flag, ErrNotHere)
		}
		out[flag] = true
	}
	return out, nil
}

func (p *pushing) has(flags ...string) bool {
	return slices.ContainsFunc(flags, func(f string) bool { return p.flags[f] })
}

// find finds out what is pushed, where to, and what that carries.
func (p *pushing) find(ctx context.Context, f outgoing.Form) (*Question, error) {
	remote, branches, err := p.operands(ctx, f)
	if err != nil {
		return nil, err
	}
	if p.to, err = p.repo.remote(ctx, remote, true); err != nil {
		return nil, err
	}
	q := &Question{
		Program: "git", Verb: "push", Remote: p.to.name, Host: p.to.to.host, Port: p.to.to.port, Place: p.to.path,
		Force: p.has("-f", "--force", "--force-with-lease"),
	}
	for _, name := range branches {
		u, err := p.update(ctx, name)
		if err != nil {
			return nil, err
		}
		p.updates = append(p.updates, u)
		q.Refs = append(q.Refs, Ref{Name: u.name, From: u.known, To: u.commit})
	}
	known, err := p.knownThere(ctx)
	if err != nil {
		return nil, err
	}
	if p.carried, err = p.carries(ctx, known); err != nil {
		return nil, err
	}
	if err := p.describe(ctx, q, known); err != nil {
		return nil, err
	}
	p.adds, err = p.added(ctx, q, known)
	return q, err
}

// operands are the remote and the branches, where a form does not name them those that git would take.
func (p *pushing) operands(ctx context.Context, f outgoing.Form) (remote string, branches []string, err error) {
	for _, s := range f.Slots {
		if s.Path == "branch" {
			branches = append(branches, s.Text)
		}
	}
	if remote = f.Slot("remote"); remote != "" && len(branches) > 0 {
		return remote, branches, nil
	}
	current, err := p.repo.branch(ctx)
	if err != nil {
		return "", nil, err
	}
	if remote == "" {
		remote = "origin"
		set, err := p.repo.setting(ctx, "branch."+current+".remote")
		if err != nil {
			return "", nil, err
		}
		if len(set) == 1 {
			remote = set[0]
		}
		if remote == "." || strings.ContainsAny(remote, "/:-") && !branchName.MatchString(remote) {
			return "", nil, fmt.Errorf("the branch %s has the remote %q: %w", current, remote, ErrNotHere)
		}
	}
	merge, err := p.repo.setting(ctx, "branch."+current+".merge")
	if err != nil {
		return "", nil, err
	}
	if len(merge) > 1 || len(merge) == 1 && merge[0] != "refs/heads/"+current {
		return "", nil, fmt.Errorf("the branch %s is called otherwise over there: %w", current, ErrNotHere)
	}
	return remote, []string{current}, nil
}

// update reads one branch of the command line.
func (p *pushing) update(ctx context.Context, text string) (update, error) {
	from, to, both := strings.Cut(text, ":")
	if p.has("-d", "--delete") {
		if both {
			return update{}, fmt.Errorf("to delete %s: %w", text, ErrNotHere)
		}
		return p.tracked(ctx, update{name: "refs/heads/" + from})
	}
	if from == "HEAD" {
		current, err := p.repo.branch(ctx)
		if err != nil {
			return update{}, err
		}
		if from = current; !both {
			to = current
		}
	}
	if !both && to == "" {
		to = from
	}
	u := update{local: from, name: "refs/heads/" + strings.TrimPrefix(to, "refs/heads/")}
	if strings.HasPrefix(to, "refs/") && !strings.HasPrefix(to, "refs/heads/") {
		return update{}, fmt.Errorf("to push to %s: %w", to, ErrNotHere)
	}
	var err error
	if u.commit, err = p.repo.commit(ctx, "refs/heads/"+strings.TrimPrefix(from, "refs/heads/")); err != nil {
		return update{}, fmt.Errorf("push %s: %w: %w", text, err, ErrNotHere) // a tag, or nothing
	}
	set, err := p.repo.setting(ctx, "branch."+u.local+".merge")
	if err != nil {
		return update{}, err
	}
	u.goes = len(set) > 0
	return p.tracked(ctx, u)
}

// tracked adds what the workspace last heard of a branch over there. It is the workspace's word.
func (p *pushing) tracked(ctx context.Context, u update) (update, error) {
	if p.to.name != "" {
		if id, err := p.repo.commit(ctx, p.tracking(u)); err == nil {
			u.known = id
		}
	}
	return u, ctx.Err()
}

func (p *pushing) tracking(u update) string {
	return "refs/remotes/" + p.to.name + "/" + strings.TrimPrefix(u.name, "refs/heads/")
}

// knownThere are the commits that the workspace says are over there.
func (p *pushing) knownThere(ctx context.Context) ([]string, error) {
	if p.to.name == "" {
		return nil, nil
	}
	out, err := p.repo.inWork(ctx, "for-each-ref", "--format=%(objectname)", "refs/remotes/"+p.to.name+"/")
	if err != nil {
		return nil, err
	}
	ids := strings.Fields(out)
	if slices.ContainsFunc(ids, func(id string) bool { return !hexID.MatchString(id) }) {
		return nil, errors.New("the workspace's branches cannot be read")
	}
	return ids, nil
}

// carries are the commits that are not over there, given what is.
func (p *pushing) carries(ctx context.Context, there []string) ([]string, error) {
	input, any := p.selection(there)
	if !any {
		return nil, nil
	}
	out, err := p.repo.inClean(ctx, input, "rev-list", "--ignore-missing", "--stdin")
	if err != nil {
		return nil, err
	}
	ids := strings.Fields(out)
	slices.Sort(ids)
	return ids, nil
}

// selection names, for git, the commits that are pushed and not those that are there.
func (p *pushing) selection(there []string) (string, bool) {
	var b strings.Builder
	any := false
	for _, u := range p.updates {
		if u.commit != "" {
			any = true
			b.WriteString(u.commit + "\n")
		}
	}
	for _, id := range there {
		b.WriteString("^" + id + "\n")
	}
	return b.String(), any
}

// describe lists the commits and the files that they change, as the clean repository has them.
func (p *pushing) describe(ctx context.Context, q *Question, there []string) error {
	input, any := p.selection(there)
	if !any {
		return nil
	}
	log := []string{"log", "--ignore-missing", "--stdin", "-z", "--no-color", "--no-ext-diff", "--no-textconv",
		"--no-show-signature", "--no-mailmap"}
	most := "--max-count=" + strconv.Itoa(mostCommits)
	out, err := p.repo.inClean(ctx, input, append(slices.Clone(log), most, "--format=%H%x1f%an <%ae>%x1f%s")...)
	if err != nil {
		return err
	}
	for line := range strings.SplitSeq(strings.Trim(out, "\x00"), "\x00") {
		if part := strings.SplitN(line, "\x1f", 3); len(part) == 3 {
			q.Commits = append(q.Commits, Commit{ID: part[0], Author: part[1], Subject: part[2]})
		}
	}
	q.More = max(0, len(p.carried)-len(q.Commits))
	// against each parent, so that a merge hides nothing that it brings itself
	out, err = p.repo.inClean(ctx, input, append(slices.Clone(log), "-m", "--no-renames", "--numstat", "--format=")...)
	if err != nil {
		return err
	}
	q.Files = filesOf(out)
	return nil
}

// filesOf adds up what commits change, file by file.
func filesOf(numbers string) []File {
	at := map[string]int{}
	var out []File
	for line := range strings.SplitSeq(numbers, "\x00") {
		part := strings.SplitN(strings.TrimLeft(line, "\n"), "\t", 3)
		if len(part) != 3 {
			continue
		}
		i, seen := at[part[2]]
		if !seen {
			if len(out) == mostFiles {
				continue
			}
			i = len(out)
			at[part[2]] = i
			out = append(out, File{Path: part[2]})
		}
		added, err := strconv.Atoi(part[0])
		removed, err2 := strconv.Atoi(part[1])
		out[i].Binary = out[i].Binary || err != nil || err2 != nil
		out[i].Added, out[i].Removed = out[i].Added+added, out[i].Removed+removed
	}
	return out
}

// run pushes. What is over there is asked first: if the push would carry commits that its question did not name, nothing is sent.
func (p *pushing) run(ctx context.Context, files [3]*os.File) (box.Exit, error) {
	none := box.Exit{Code: box.ExitNoBox}
	r, err := p.repo.b.open(true)
	if err != nil {
		return none, err
	}
	p.repo = r
	exit, err := p.send(ctx, files)
	if err = errors.Join(err, r.close()); err != nil {
		return none, err
	}
	if exit.Code == 0 {
		err = p.follow(ctx)
	}
	return exit, err
}

func (p *pushing) send(ctx context.Context, files [3]*os.File) (box.Exit, error) {
	none := box.Exit{Code: box.ExitNoBox}
	if err := p.repo.signIn(ctx, p.to); err != nil {
		return none, err
	}
	out, err := p.repo.out(p.to)
	if err != nil {
		return none, err
	}
	defer out.close() // nothing of it is kept
	git := []string{"git", "--git-dir=" + p.repo.clean()}
	listed, err := out.output(ctx, "", append(git, "ls-remote", "--refs", "--quiet", p.to.url)...)
	if err != nil {
		return none, err
	}
	if err := p.same(ctx, listed); err != nil {
		return none, err
	}
	return out.run(ctx, files, append(git, p.arguments()...)...)
}

// same holds what is over there against what the question named. That less is carried is fine.
func (p *pushing) same(ctx context.Context, listed string) error {
	var there []string
	for line := range strings.Lines(listed) {
		if id, _, ok := strings.Cut(line, "\t"); ok && hexID.MatchString(id) {
			there = append(there, id)
		}
	}
	carried, err := p.carries(ctx, there)
	if err != nil {
		return err
	}
	for _, id := range carried {
		if _, named := slices.BinarySearch(p.carried, id); !named {
			return fmt.Errorf("commit %s is not there yet: %w", id, ErrChanged)
		}
	}
	return nil
}

// arguments are those of git: the address and the ids that were found out, not names that may have changed since.
func (p *pushing) arguments() []string {
	out := []string{"push", "--no-verify", "--no-signed", "--no-follow-tags", "--recurse-submodules=no", "--receive-pack=git-receive-pack"}
	for _, f := range passed {
		if p.flags[f] {
			out = append(out, f)
		}
	}
	if p.has("-f", "--force") {
		out = append(out, "--force")
	}
	if p.has("--force-with-lease") {
		for _, u := range p.updates {
			out = append(out, "--force-with-lease="+u.name+":"+u.known)
		}
	}
	out = append(out, "--end-of-options", p.to.url)
	for _, u := range p.updates {
		out = append(out, u.commit+":"+u.name)
	}
	return out
}

// follow has the workspace know what is over there now, in the session's own box.
func (p *pushing) follow(ctx context.Context) error {
	if p.to.name == "" {
		return nil
	}
	var faults error
	for _, u := range p.updates {
		args := []string{"git", "update-ref", p.tracking(u), u.commit}
		if u.commit == "" {
			args = []string{"git", "update-ref", "-d", p.tracking(u)}
		}
		faults = errors.Join(faults, p.repo.b.inside(ctx, args...))
		if p.has("-u", "--set-upstream") && u.commit != "" && !u.goes {
			faults = errors.Join(faults, p.repo.setUpstream(u.local, p.to.name, u.name))
		}
	}
	return faults
}
