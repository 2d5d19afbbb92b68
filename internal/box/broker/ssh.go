package broker

import (
	"cmp"
	"context"
	_ "embed" // the settings are part of the program
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/box/relay"
	"github.com/tidemark/tidemark/internal/warrant/outgoing"
)

// calling is one command of ssh, scp or rsync. The computer is met through one door of the chamber, and must have the key that the owner
// has noted of it. Settings are written here: what the owner's say of the computer is taken as text, and nothing that they would run.
type calling struct {
	b    *Broker
	to   relay.Known
	user string
	as   string   // the name under which its key is noted
	keys []string // what signs in, and what is noted of other computers: files of the owner's
	home string   // of the keys
	args []string // of the program, without settings and places
	own  []string // what is sent, below the workspace; empty: nothing is
	sent []File   // what was listed of it
	far  string   // the path over there; empty: the command is run there
	into string   // in the workspace; empty: nothing is brought
	argv []string // as it was given
}

//go:embed ssh_config
var sshSettings string

var (
	sshHost = regexp.MustCompile(`^[A-Za-z0-9:][A-Za-z0-9.:-]*$`)
	sshUser = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)
	sshPath = regexp.MustCompile(`^[^\x00-\x1f"\\%$]+$`)
)

// secureShell finds out which computer is meant, by the owner's settings, and what is done there.
func (b *Broker) secureShell(ctx context.Context, f outgoing.Form) (*Deed, error) {
	x := &calling{b: b, argv: f.Argv}
	target, err := x.words(f)
	if err != nil {
		return nil, err
	}
	if err := x.find(ctx, target, cmp.Or(f.Slot("p"), f.Slot("P"))); err != nil {
		return nil, err
	}
	place := x.user + "@" + x.to.Host
	if x.far != "" {
		place += ":" + x.far
	}
	q := Question{Program: f.Program, Verb: "order", Host: x.to.Host, Port: x.to.Port, Place: place}
	q.Refs = []Ref{{Name: strings.Join(f.Argv, " ")}}
	var adds *Adds
	switch {
	case x.into != "":
		q.Verb = "bring"
	case x.far != "":
		q.Verb = "carry"
		adds = &Adds{Whole: true} // of files that the owner names what cannot be read is theirs to know
		if x.sent, err = x.b.listed(x.own, adds); err != nil {
			return nil, fmt.Errorf("%s: %w: %w", f.Program, err, ErrNotHere)
		}
		q.Files = x.sent
	}
	return &Deed{Question: q, Adds: adds, run: x.run}, nil
}

// words takes the words of the command apart. An option behind the computer's name would be the other side's.
func (x *calling) words(f outgoing.Form) (target string, err error) {
	begun := false
	for _, w := range f.Argv[1:] {
		option := strings.HasPrefix(w, "-")
		if option && begun && f.Program == "ssh" {
			return "", fmt.Errorf("ssh with an option of the other side's: %w", ErrNotHere)
		}
		begun = begun || f.Slot("host") == w
	}
	for _, s := range f.Slots {
		switch s.Path {
		case "host":
			target = s.Text
		case "order":
			x.args = append(x.args, s.Text)
		case "remotefile":
			var path string
			target, path, _ = strings.Cut(s.Text, ":")
			if x.far = cmp.Or(path, "."); strings.HasPrefix(path, "-") {
				return "", fmt.Errorf("%s of %q: %w", f.Program, path, ErrNotHere)
			}
		case "tree":
			x.own = append(x.own, s.Text)
		case "target":
			x.into = s.Text
		}
	}
	if f.Program != "ssh" {
		x.args = slices.Clone(f.Flags)
	}
	return target, nil
}

// find reads what the owner's settings say of a computer. ssh itself reads them, in a chamber without a way out.
func (x *calling) find(ctx context.Context, target, port string) error {
	x.home = filepath.Join(x.b.opts.Want.Home, ".ssh")
	dir, err := os.MkdirTemp("", "tidemark-look-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	own, read := "none", []string(nil)
	if path := filepath.Join(x.home, "config"); len(existing(path)) > 0 {
		own, read = path, existing(path, path+".d")
	}
	c, err := x.b.chamber(dir, nil, nil, read)
	if err != nil {
		return err
	}
	defer c.close() // nothing was done in it
	ask := []string{"ssh", "-G", "-F", own}
	if port != "" {
		ask = append(ask, "-p", port)
	}
	said, err := c.output(ctx, "", append(ask, "--", target)...)
	if err != nil {
		return fmt.Errorf("ssh: what is set for %s cannot be read: %w: %w", target, err, ErrNotHere)
	}
	return x.settings(said)
}

// settings takes what is needed of the settings for a computer. Whatever leads elsewhere, or runs something, is not done.
func (x *calling) settings(said string) error {
	set := map[string][]string{}
	for line := range strings.Lines(said) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		set[name] = append(set[name], value)
	}
	first := func(name string) string {
		if len(set[name]) == 0 || set[name][0] == "none" {
			return ""
		}
		return set[name][0]
	}
	for _, name := range []string{"proxycommand", "proxyjump", "remotecommand", "knownhostscommand"} {
		if first(name) != "" {
			return fmt.Errorf("ssh: your settings have %s for it: %w", name, ErrNotHere)
		}
	}
	x.to.Host, x.user = strings.ToLower(first("hostname")), first("user")
	port, err := strconv.Atoi(first("port"))
	if err != nil || !sshHost.MatchString(x.to.Host) || !sshUser.MatchString(x.user) || port < 1 || port > 65535 {
		return fmt.Errorf("ssh: what is set for it cannot be read: %w", ErrNotHere)
	}
	x.to.Port = port
	if x.as = strings.ToLower(first("hostkeyalias")); x.as == "" {
		if x.as = x.to.Host; port != sshPort {
			x.as = "[" + x.to.Host + "]:" + strconv.Itoa(port)
		}
	}
	x.keys = existing(slices.Concat(x.files(set["identityfile"]), x.files(strings.Fields(first("userknownhostsfile"))))...)
	return nil
}

const sshPort = 22

// files are files of the owner's, as their settings name them. One that is elsewhere than in the folder for keys is not taken.
func (x *calling) files(names []string) []string {
	var out []string
	own := "~"
	if me, err := user.Current(); err == nil {
		own = me.HomeDir // as ssh says it
	}
	for _, n := range names {
		for _, home := range []string{"~/", own + "/"} {
			if rest, ok := strings.CutPrefix(n, home); ok {
				n = filepath.Join(x.b.opts.Want.Home, rest)
			}
		}
		if n = filepath.Clean(n); below(n, x.home) && sshPath.MatchString(n) {
			out = append(out, n)
		}
	}
	return out
}

// write writes the settings of the chamber.
func (x *calling) write(dir string) (string, error) {
	var s strings.Builder
	s.WriteString(sshSettings)
	fmt.Fprintf(&s, "Port %d\nUser %s\nHostKeyAlias %s\n", x.to.Port, x.user, x.as)
	known := false
	for _, path := range x.keys {
		word := "IdentityFile"
		if strings.HasPrefix(filepath.Base(path), "known_hosts") {
			if word = "UserKnownHostsFile"; known {
				continue
			}
			known = true
		}
		fmt.Fprintf(&s, "%s \"%s\"\n", word, path)
	}
	if !known {
		s.WriteString("UserKnownHostsFile none\n")
	}
	path := filepath.Join(dir, "ssh_config")
	return path, os.WriteFile(path, []byte(s.String()), 0o600)
}

// command is what runs in the chamber.
func (x *calling) command(dir, settings string) ([]string, error) {
	const there = "there" // every name is the one computer's
	far := there + ":" + x.far
	var sent []string
	for i, o := range x.own {
		to := filepath.Join(dir, "sent", strconv.Itoa(i), filepath.Base(o))
		if err := x.b.copied(o, to, x.sent); err != nil {
			return nil, err
		}
		if strings.HasSuffix(o, "/") {
			to += "/"
		}
		sent = append(sent, to)
	}
	if x.into != "" {
		sent, far = []string{far}, filepath.Join(dir, brought)+"/"
	}
	switch x.argv[0] {
	case "ssh":
		return append([]string{"ssh", "-F", settings, "-T", there}, x.args...), nil
	case "scp":
		return slices.Concat([]string{"scp", "-F", settings}, x.args, []string{"--"}, sent, []string{far}), nil
	}
	return slices.Concat([]string{"rsync", "--rsh=ssh -F " + settings}, x.args, []string{"--"}, sent, []string{far}), nil
}

// putThere puts what was brought where the program would: into a folder, or under a new name. rsync makes the folder that a folder
// is to be put into.
const putThere = `how=-R; [ "$0" = rsync ] && how=-a
for one in "$1"/*; do :; done
[ "$0" = rsync ] && [ -d "$one" ] && { mkdir -p -- "$2" || exit; }
if [ -d "$2" ] || [ "${2%/}" != "$2" ]; then exec cp "$how" -- "$1"/. "$2"; fi
exec cp "$how" -- "$one" "$2"`

func (x *calling) run(ctx context.Context, files [3]*os.File) (box.Exit, error) {
	none := box.Exit{Code: box.ExitNoBox}
	dir, err := os.MkdirTemp("", "tidemark-out-*")
	if err != nil {
		return none, err
	}
	exit, err := x.call(ctx, dir, files)
	if err != nil || exit.Code != 0 || x.into == "" {
		return exit, errors.Join(err, os.RemoveAll(dir))
	}
	shown, done, err := x.b.show(filepath.Join(dir, brought))
	if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
		return none, err
	}
	defer done()
	args := []string{"sh", "-c", putThere, x.argv[0], shown, x.into}
	return x.b.opts.Inside(ctx, box.Command{Args: args, Dir: x.b.dir(), Files: files})
}

// call has it done over there. What is sent is what lies in the chamber, and nothing of the workspace is read there: its links could
// lead to what signs in.
func (x *calling) call(ctx context.Context, dir string, files [3]*os.File) (box.Exit, error) {
	none := box.Exit{Code: box.ExitNoBox}
	if err := os.Mkdir(filepath.Join(dir, brought), 0o700); err != nil {
		return none, err
	}
	settings, err := x.write(dir)
	if err != nil {
		return none, err
	}
	args, err := x.command(dir, settings)
	if err != nil {
		return none, err
	}
	c, err := x.b.around(dir, func(o *relay.Options) { o.Known = &x.to }, nil, x.keys)
	if err != nil {
		return none, err
	}
	exit, err := c.run(ctx, files, args...)
	return exit, errors.Join(err, c.close())
}
