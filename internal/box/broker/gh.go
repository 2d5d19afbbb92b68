package broker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/warrant/outgoing"
)

// ghHost is where repositories are if nothing else is said; it is asked by another name. A computer of a company's own is asked by its
// own.
const ghHost = "github.com"

func ghAPI(host string) string {
	if host == ghHost {
		return "api." + ghHost
	}
	return host
}

// consulting is one deed of gh's. It is done in an empty folder, so that gh finds no repository and runs nothing of one: which
// repository is meant, and which branch, is found out before, as text.
type consulting struct {
	b    *Broker
	host string
	args []string
}

var (
	ghRepository = regexp.MustCompile(`^(?:([a-z0-9-]+(?:\.[a-z0-9-]+)+)/)?([A-Za-z0-9][A-Za-z0-9_.-]*/[A-Za-z0-9][A-Za-z0-9_.-]*)$`)
	// ghNamed are the deeds that are about the branch that is checked out where nothing is named, and ghNumbered those that ask then.
	ghNamed    = []string{"pr edit", "pr comment", "pr review", "pr merge", "pr ready", "pr view", "pr diff", "pr checks"}
	ghNumbered = []string{"run view", "run watch", "run rerun", "run cancel"}
)

// gh finds out what is done, and where. What it refuses without beginning anything is a Refusal, which quotes nothing.
func (b *Broker) gh(ctx context.Context, f outgoing.Form) (*Deed, error) {
	for _, s := range f.Slots {
		if strings.Contains(s.Text, "://") && s.Kind == "reference" {
			return nil, errors.Join(outgoing.AnAddress, ErrNotHere) // it would name another repository
		}
	}
	whole, branch, err := b.ghPlace(ctx, f)
	if err != nil {
		return nil, err
	}
	at := ghRepository.FindStringSubmatch(whole)
	if at == nil || strings.Contains(whole, "..") {
		return nil, errors.Join(outgoing.NoRepository, ErrNotHere)
	}
	host, repo := cmp.Or(at[1], ghHost), at[2]
	words := strings.Fields(f.Verb)
	args := append([]string{"gh"}, words...)
	if words[0] == "repo" {
		args = append(args, host+"/"+repo)
	} else {
		args = append(args, "--repo="+host+"/"+repo)
	}
	rest := ghRest(f, len(words)+1)
	operand := slices.ContainsFunc(f.Slots, func(s outgoing.Slot) bool { return s.Path == "reference" || s.Path == "number" })
	switch {
	case slices.Contains(ghNumbered, f.Verb) && !operand:
		return nil, errors.Join(outgoing.NoNumber, ErrNotHere)
	case slices.Contains(ghNamed, f.Verb) && !operand:
		args = append(args, branch)
	case f.Verb == "pr create":
		if f.Slot("title") == "" || !slices.ContainsFunc(f.Slots, func(s outgoing.Slot) bool { return s.Path == "body" }) {
			return nil, errors.Join(outgoing.NoTexts, ErrNotHere)
		}
		if f.Slot("head") == "" {
			args = append(args, "--head="+branch)
		}
	}
	x := &consulting{b: b, host: host, args: append(args, rest...)}
	q := Question{Program: "gh", Verb: "submit", Host: host, Port: 443, Place: repo}
	if f.Deed == "read" {
		q.Verb = "look"
	}
	q.Refs = []Ref{{Name: "gh " + strings.Join(x.args[1:], " ")}}
	return &Deed{Question: q, run: x.run}, nil
}

// ghPlace is the repository that is meant, and the branch that is checked out: the word of whoever wrote the workspace, which the
// question shows.
func (b *Broker) ghPlace(ctx context.Context, f outgoing.Form) (repo, branch string, err error) {
	repo = f.Slot("repo")
	if repo == "" {
		repo = f.Slot("repository")
	}
	wants := slices.Contains(ghNamed, f.Verb) || f.Verb == "pr create"
	if repo == "" || wants {
		r, err := b.open(true)
		if err != nil {
			return "", "", err
		}
		if repo == "" {
			var at *address
			if at, err = r.remote(ctx, "origin", false); err == nil {
				repo = at.to.host + "/" + strings.TrimSuffix(strings.TrimPrefix(at.path, "/"), ".git")
			}
		}
		if err == nil && wants {
			branch, err = r.branch(ctx)
		}
		if err = errors.Join(err, r.close()); err != nil {
			return "", "", err
		}
	}
	return repo, branch, nil
}

// ghRest are the words of a command behind its verb, without the repository.
func ghRest(f outgoing.Form, from int) []string {
	var out []string
	for rest := f.Argv[from:]; len(rest) > 0; rest = rest[1:] {
		name, _, given := strings.Cut(rest[0], "=")
		switch {
		case name == "-R" || name == "--repo":
			if !given {
				rest = rest[1:]
			}
		case f.Verb == "repo view" && rest[0] == f.Slot("repository"):
		default:
			out = append(out, rest[0])
		}
	}
	return out
}

// signTime is how long it may take to find what signs somebody in.
const signTime = 20 * time.Second

// SignIn asks gh, with its owner's own settings and outside every box, what signs them in at a host.
func SignIn(ctx context.Context, host, programs string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, signTime)
	defer cancel()
	for _, dir := range filepath.SplitList(programs) {
		path := filepath.Join(dir, "gh")
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
			continue
		}
		me, err := user.Current()
		if err != nil {
			return "", err
		}
		run := "/run/user/" + me.Uid
		cmd := exec.CommandContext(ctx, path, "auth", "token", "--hostname", host) //nolint:gosec // a program of this machine's
		cmd.Dir, cmd.WaitDelay = "/", time.Second
		cmd.Env = []string{
			"HOME=" + me.HomeDir, "PATH=/usr/local/bin:/usr/bin:/bin", "XDG_RUNTIME_DIR=" + run,
			"DBUS_SESSION_BUS_ADDRESS=unix:path=" + run + "/bus", "GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1",
		}
		out, err := cmd.Output()
		token := strings.TrimSpace(string(out))
		if err != nil || token == "" || strings.ContainsAny(token, " \n\t") {
			return "", outgoing.NotSignedIn
		}
		return token, nil
	}
	return "", outgoing.NoProgram
}

func (x *consulting) run(ctx context.Context, files [3]*os.File) (box.Exit, error) {
	none := box.Exit{Code: box.ExitNoBox}
	if x.b.opts.SignIn == nil {
		return none, errors.Join(outgoing.NoSignIn, ErrNotHere)
	}
	token, err := x.b.opts.SignIn(ctx, x.host, x.b.programs())
	if err != nil {
		return none, fmt.Errorf("gh: %w: %w", err, ErrNotHere)
	}
	dir, err := os.MkdirTemp("", "tidemark-out-*")
	if err != nil {
		return none, err
	}
	env := []string{
		"GH_TOKEN=" + token, "GH_ENTERPRISE_TOKEN=" + token, "GH_CONFIG_DIR=" + filepath.Join(dir, "gh"), "GH_HOST=" + x.host,
		"GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1", "GH_PAGER=cat", "GH_BROWSER=/bin/false", "GH_EDITOR=/bin/false",
		"GH_TELEMETRY=0", "NO_COLOR=1", "XDG_STATE_HOME=" + dir, "XDG_DATA_HOME=" + dir, "XDG_CACHE_HOME=" + dir,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CEILING_DIRECTORIES=/",
	}
	var read []string
	if ca := x.b.opts.CAFile; ca != "" {
		env, read = append(env, "SSL_CERT_FILE="+ca), []string{ca}
	}
	c, err := x.b.chamber(dir, []place{{ghAPI(x.host), 443}}, env, read)
	if err != nil {
		return none, errors.Join(err, os.RemoveAll(dir))
	}
	exit, err := c.run(ctx, files, x.args...)
	return exit, errors.Join(err, c.close(), os.RemoveAll(dir))
}
