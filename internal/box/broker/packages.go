package broker

import (
	"context"
	_ "embed" // the registries are part of the program
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/warrant/outgoing"
)

//go:embed registries.txt
var registriesText string

// registries are the places that a manager of packages is let to.
func registries(manager string) []place {
	for line := range strings.Lines(registriesText) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != manager {
			continue
		}
		var out []place
		for _, w := range words[1:] {
			host, text, err := net.SplitHostPort(w)
			port, err2 := strconv.Atoi(text)
			if err != nil || err2 != nil {
				panic("broker: " + w + " is no place") // it is part of the program
			}
			out = append(out, place{host, port})
		}
		return out
	}
	panic("broker: no registry of " + manager)
}

// installing is an installation of packages by their names. They are fetched in the broker's chamber, where nothing of them and
// nothing of the workspace runs, and installed in the session's box, which has no way out: there their scripts run.
type installing struct {
	b       *Broker
	manager string
	argv    []string // as it was given
	names   []string
	more    []string // options that choose other packages

	lists  map[string][]byte // lists of the workspace's that name them, as they were read
	list   string            // the one that is asked for; empty: names are
	pinned bool
	open   bool // it does not say of each in which version
}

// brought is the folder, in the broker's own, that the session is handed.
const brought = "brought"

// install finds out what an installation would bring.
func (b *Broker) install(f outgoing.Form, manager string) (*Deed, error) {
	x := &installing{b: b, manager: manager, argv: f.Argv}
	for _, s := range f.Slots {
		if s.Kind != manager && (manager != "uv" || s.Kind != "pip") {
			return nil, fmt.Errorf("%s %s %s: %w", f.Program, f.Verb, s.Path, ErrNotHere)
		}
		x.names = append(x.names, s.Text)
	}
	for _, flag := range f.Flags {
		if manager == "pip" && (flag == "--pre" || flag == "--no-deps") {
			x.more = append(x.more, flag)
		}
	}
	if manager == "uv" {
		x.lists = map[string][]byte{uvNames: []byte(strings.Join(x.names, "\n") + "\n")}
	}
	at := registries(manager)
	q := Question{Program: f.Program, Verb: f.Verb, Host: at[0].host, Port: at[0].port, Packages: slices.Clone(x.names)}
	return &Deed{Question: q, run: x.run}, nil
}

func (x *installing) run(ctx context.Context, files [3]*os.File) (box.Exit, error) {
	none := box.Exit{Code: box.ExitNoBox}
	dir, err := os.MkdirTemp("", "tidemark-out-*")
	if err != nil {
		return none, err
	}
	exit, err := x.fetch(ctx, dir, files)
	if err != nil || exit.Code != 0 {
		return exit, errors.Join(err, os.RemoveAll(dir))
	}
	shown, done, err := x.b.show(filepath.Join(dir, brought))
	if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
		return none, err
	}
	defer done()
	args := slices.Concat([]string{"env"}, x.offline(shown), x.inside(shown))
	return x.b.opts.Inside(ctx, box.Command{Args: args, Dir: x.b.dir(), Files: files})
}

// fetch fetches packages, and what they need, into a folder that nobody else sees.
func (x *installing) fetch(ctx context.Context, dir string, files [3]*os.File) (box.Exit, error) {
	none := box.Exit{Code: box.ExitNoBox}
	if err := os.Mkdir(filepath.Join(dir, brought), 0o700); err != nil {
		return none, err
	}
	for name, raw := range x.given() {
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o600); err != nil {
			return none, err
		}
	}
	var env, read []string
	if ca := x.b.opts.CAFile; ca != "" {
		env, read = []string{"NODE_EXTRA_CA_CERTS=" + ca, "SSL_CERT_FILE=" + ca, "CARGO_HTTP_CAINFO=" + ca}, []string{ca}
	}
	c, err := x.b.chamber(dir, registries(x.manager), append(env, "PIP_CONFIG_FILE="+os.DevNull), read)
	if err != nil {
		return none, err
	}
	defer c.close()                                       // what was fetched is in the folder
	return c.runQuietly(ctx, files[2], x.command(dir)...) // what is installed is told by the second part
}

// command is what fetches: with settings of its own, from the registry, and without running anything of a package. What would have to
// be built is not fetched.
func (x *installing) command(dir string) []string {
	to := filepath.Join(dir, brought)
	switch x.manager {
	case "uv":
		return x.uv(dir)
	case "go":
		return x.goFetch(dir)
	case "pnpm":
		return x.pnpm(dir)
	case "yarn":
		return x.yarn(dir)
	case "cargo":
		return x.cargo(dir)
	case "bundle":
		return x.bundle(dir)
	}
	if x.manager == "npm" {
		verb, what := "install", x.names
		if x.lists != nil {
			verb, what = "ci", nil
		}
		return append([]string{
			"npm", verb, "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier",
			"--userconfig=" + filepath.Join(dir, "user"), "--globalconfig=" + filepath.Join(dir, "machine"), // there are none
			"--cache=" + to, "--prefix=" + dir, "--registry=https://" + registries("npm")[0].host + "/", "--script-shell=/bin/false",
			"--git=/bin/false", "--no-save", "--package-lock=" + strconv.FormatBool(x.lists != nil), "--loglevel=error", "--",
		}, what...)
	}
	out := []string{
		"python3", "-I", "-m", "pip", "download", "--isolated", "--no-input", "--disable-pip-version-check", "--only-binary=:all:",
		"--no-cache-dir", "-q", "--index-url=https://" + registries("pip")[0].host + "/simple", "--dest=" + to,
	}
	if ca := x.b.opts.CAFile; ca != "" {
		out = append(out, "--cert="+ca)
	}
	if x.list != "" && !x.open {
		out = append(out, "--no-deps") // what the list does not name is not fetched
	}
	if x.list != "" {
		return append(out, "-r", filepath.Join(dir, x.list))
	}
	return slices.Concat(out, x.more, []string{"--"}, x.names)
}

// offline are the variables by which the manager takes what was fetched, and looks nowhere else.
func (x *installing) offline(shown string) []string {
	if x.manager == "npm" {
		return []string{
			"npm_config_cache=" + shown, "npm_config_offline=true", "npm_config_audit=false", "npm_config_fund=false",
			"npm_config_update_notifier=false",
		}
	}
	switch x.manager {
	case "go":
		return goOffline(shown)
	case "pnpm":
		return []string{"npm_config_offline=true", "pnpm_config_offline=true", noOther}
	case "yarn":
		return []string{"YARN_CACHE_FOLDER=" + shown, noOther}
	case "cargo":
		return nil
	case "bundle":
		return []string{"BUNDLE_CACHE_PATH=" + shown, "BUNDLE_DISABLE_VERSION_CHECK=1", "BUNDLE_FROZEN=true"}
	case "uv":
		out := []string{"UV_CACHE_DIR=" + shown, "UV_OFFLINE=1", "UV_PYTHON_DOWNLOADS=never", "UV_LINK_MODE=copy"}
		if x.list != "" {
			out = append(out, "UV_FROZEN=1") // nothing but what the lock names was fetched
		}
		return out
	}
	return []string{"PIP_NO_INDEX=1", "PIP_FIND_LINKS=" + shown, "PIP_DISABLE_PIP_VERSION_CHECK=1"}
}
