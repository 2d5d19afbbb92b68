package broker

import (
	"context"
	_ "embed" // the settings are part of the program
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// repository is a repository of the workspace, looked at from a folder of the broker's own. Its objects are borrowed; its settings
// are read as text, by name, and never heeded.
type repository struct {
	b    *Broker
	dir  string // the broker's folder, with a repository of its own in it
	git  string // the workspace's
	look *chamber
	work *chamber // around another folder: what the workspace's settings run can write there, and nowhere else
}

// names of what is in the broker's folder
const (
	cleanName  = "clean.git"
	globalName = "gitconfig"
)

// open makes a folder with a clean repository that borrows the objects of the workspace's, if it has one.
func (b *Broker) open(borrow bool) (*repository, error) {
	dir, err := os.MkdirTemp("", "tidemark-out-*")
	if err != nil {
		return nil, err
	}
	r := &repository{b: b, dir: dir, git: filepath.Join(b.opts.Want.Workspace, ".git")}
	err = r.make(borrow)
	if err == nil {
		r.look, err = b.chamber(dir, nil, r.environment(), []string{b.opts.Want.Workspace})
	}
	if err == nil && borrow {
		r.work, err = r.workChamber()
	}
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

func (r *repository) workChamber() (*chamber, error) {
	dir, err := os.MkdirTemp("", "tidemark-look-*")
	if err != nil {
		return nil, err
	}
	env := append(r.noSettings(), "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
	c, err := r.b.chamber(dir, nil, env, []string{r.b.opts.Want.Workspace})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return c, nil
}

func (r *repository) close() error {
	var err error
	if r.look != nil {
		err = r.look.close()
	}
	if r.work != nil {
		err = errors.Join(err, r.work.close(), os.RemoveAll(r.work.dir))
	}
	return errors.Join(err, os.RemoveAll(r.dir))
}

func (r *repository) clean() string { return filepath.Join(r.dir, cleanName) }

// make writes the clean repository. Its settings are all here.
func (r *repository) make(borrow bool) error {
	files := map[string]string{
		cleanName + "/HEAD":       "ref: refs/heads/main\n",
		cleanName + "/config":     "[core]\n\trepositoryformatversion = 0\n\tbare = true\n",
		cleanName + "/refs/.keep": "",
		globalName:                globalSettings,
	}
	if borrow {
		if info, err := os.Lstat(r.git); err != nil || !info.IsDir() {
			return fmt.Errorf("the workspace has no repository of its own: %w", ErrNotHere)
		}
		files[cleanName+"/objects/info/alternates"] = filepath.Join(r.git, "objects") + "\n"
	} else {
		files[cleanName+"/objects/.keep"] = ""
	}
	for name, text := range files {
		path := filepath.Join(r.dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			return err
		}
	}
	return errors.Join(os.Remove(r.clean()+"/refs/.keep"), r.dropKeep())
}

func (r *repository) dropKeep() error {
	if err := os.Remove(r.clean() + "/objects/.keep"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

//go:embed settings.gitconfig
var globalSettings string

// environment is what git is told besides: its own settings of the machine and of the owner are not read.
func (r *repository) environment() []string {
	return append(r.noSettings(), "GIT_CONFIG_GLOBAL="+filepath.Join(r.dir, globalName))
}

func (r *repository) noSettings() []string {
	return []string{
		"GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_ATTR_NOSYSTEM=1",
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_OPTIONAL_LOCKS=0", "GIT_TEMPLATE_DIR=", "GIT_PROTOCOL_FROM_USER=0", "GIT_NO_LAZY_FETCH=1",
	}
}

// inClean runs git in the clean repository, without any capability.
func (r *repository) inClean(ctx context.Context, input string, args ...string) (string, error) {
	return r.look.output(ctx, input, append([]string{"git", "--git-dir=" + r.clean()}, args...)...)
}

// inWork runs git on the workspace's repository, without any capability: what its settings run has none either. What is printed is
// the word of whoever wrote the workspace, and taken only for what it must be anyway.
func (r *repository) inWork(ctx context.Context, args ...string) (string, error) {
	out, err := r.work.output(ctx, "", append([]string{"git", "--git-dir=" + r.git}, args...)...)
	return strings.TrimSpace(out), err
}

// setting reads all values of a setting of the workspace's repository, as text.
func (r *repository) setting(ctx context.Context, name string) ([]string, error) {
	out, err := r.look.output(ctx, "", "git", "config", "--file", filepath.Join(r.git, "config"), "--no-includes", "-z", "--get-all", name)
	if f := (*failure)(nil); errors.As(err, &f) && f.code == 1 {
		return nil, nil // it is not set
	}
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(strings.Split(out, "\x00"), func(v string) bool { return v == "" }), nil
}

// address is where a remote is.
type address struct {
	name string // of the remote; empty: it was given as an address
	url  string // for git
	to   place
	path string
	read []string // what signs in
}

var (
	shortURL = regexp.MustCompile(`^([a-z][a-z0-9_-]*)@([A-Za-z0-9.-]+):([A-Za-z0-9_][A-Za-z0-9_./~-]*)$`)
	pathURL  = regexp.MustCompile(`^/[A-Za-z0-9_./~-]+$`)
	hexID    = regexp.MustCompile(`^[0-9a-f]{40}$`)
)

// remote finds the address of a remote: what is written in the repository's own settings under its name, once, and nothing that other
// settings make of it.
func (r *repository) remote(ctx context.Context, name string, push bool) (*address, error) {
	if strings.Contains(name, ":") {
		return r.b.parse("", name)
	}
	var values []string
	for _, key := range []string{".pushurl", ".url"} {
		if key == ".pushurl" && !push {
			continue
		}
		v, err := r.setting(ctx, "remote."+name+key)
		if err != nil {
			return nil, err
		}
		if values = v; len(v) > 0 {
			break
		}
	}
	if len(values) != 1 {
		return nil, fmt.Errorf("the remote %s has %d addresses: %w", name, len(values), ErrNotHere)
	}
	return r.b.parse(name, values[0])
}

// parse reads an address. It must be one that git needs no helper of another name for.
func (b *Broker) parse(name, text string) (*address, error) {
	a := &address{name: name, url: text}
	if m := shortURL.FindStringSubmatch(text); m != nil {
		a.to, a.path = place{strings.ToLower(m[2]), 22}, m[3]
	} else {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || !pathURL.MatchString(u.Path) || u.RawQuery != "" || u.Fragment != "" || u.Opaque != "" {
			return nil, fmt.Errorf("the address of %s cannot be read: %w", name, ErrNotHere)
		}
		ports := map[string]int{"https": 443, "ssh": 22}
		port := ports[u.Scheme]
		if u.Port() != "" && port != 0 {
			if port, err = strconv.Atoi(u.Port()); err != nil {
				return nil, fmt.Errorf("the address of %s cannot be read: %w", name, ErrNotHere)
			}
		}
		if port == 0 {
			return nil, fmt.Errorf("an address with %s: %w", u.Scheme, ErrNotHere)
		}
		a.to, a.path = place{strings.ToLower(u.Hostname()), port}, strings.TrimPrefix(u.Path, "/")
	}
	if strings.HasPrefix(a.to.host, "-") || strings.HasPrefix(a.path, "-") {
		return nil, fmt.Errorf("the address of %s cannot be read: %w", name, ErrNotHere)
	}
	return a, nil
}

// commit is the id of what a name stands for in the workspace.
func (r *repository) commit(ctx context.Context, name string) (string, error) {
	out, err := r.inWork(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err != nil || !hexID.MatchString(out) {
		return "", fmt.Errorf("there is no %s here", name)
	}
	return out, nil
}

// branch is the branch that is checked out.
func (r *repository) branch(ctx context.Context) (string, error) {
	out, err := r.inWork(ctx, "symbolic-ref", "--short", "-q", "HEAD")
	if err != nil || !branchName.MatchString(out) {
		return "", fmt.Errorf("no branch is checked out: %w", ErrNotHere)
	}
	return out, nil
}

var branchName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_./#-]*$`)

// signIn adds to the settings what of the owner's own settings signs them in, and says what must be read for it: certificates, and
// helpers that are known and read a file.
func (r *repository) signIn(ctx context.Context, a *address) error {
	home := r.b.opts.Want.Home
	if a.to.port == 22 || strings.HasPrefix(a.url, "ssh:") {
		a.read = append(a.read, existing(filepath.Join(home, ".ssh"))...)
		return nil
	}
	var more strings.Builder
	own := filepath.Join(home, ".gitconfig")
	get := func(name string) string {
		out, err := r.look.output(ctx, "", "git", "config", "--file", own, "--no-includes", "--get", name)
		if err != nil {
			return ""
		}
		return strings.TrimSuffix(out, "\n")
	}
	if ca := get("http.sslcainfo"); filepath.IsAbs(ca) && !strings.ContainsAny(ca, "\n\"\\") {
		fmt.Fprintf(&more, "[http]\n\tsslCAInfo = \"%s\"\n", ca)
		a.read = append(a.read, existing(ca)...)
	}
	if get("credential.helper") == "store" {
		more.WriteString("[credential]\n\thelper = store\n")
		a.read = append(a.read, existing(filepath.Join(home, ".git-credentials"), filepath.Join(home, ".config/git/credentials"))...)
	}
	return os.WriteFile(filepath.Join(r.dir, globalName), []byte(globalSettings+more.String()), 0o600)
}

func existing(paths ...string) []string {
	return slices.DeleteFunc(paths, func(p string) bool {
		_, err := os.Stat(p)
		return err != nil
	})
}

// out makes the chamber that reaches an address. It can read the workspace's objects, and what signs in.
func (r *repository) out(a *address) (*chamber, error) {
	return r.b.chamber(r.dir, []place{a.to}, r.environment(), append([]string{r.b.opts.Want.Workspace}, a.read...))
}
