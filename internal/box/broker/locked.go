package broker

import (
	"crypto/sha1" //nolint:gosec // the name that git gives
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/warrant/outgoing"
)

// Pins are lists of packages that the workspace's repository held before anything was run here that others may have had a say in: what
// git calls their bytes, by path in the workspace. What such a list pins is fetched unasked; one that is not known, or that has
// changed since, is asked about.
type Pins map[string]string

// maxList bounds a list of packages.
const maxList = 16 << 20

// shownPackages is how many packages of a list are shown.
const shownPackages = 60

// lock is how a manager pins packages: the list that does, other files of the workspace's that it is read with, and what reads it.
type lock struct {
	list  string
	with  []string
	names func(raw []byte) ([]string, error)
}

var locks = map[string]lock{
	"npm":   {list: "package-lock.json", with: []string{"package.json"}, names: lockedNPM},
	"uv":    {list: "uv.lock", with: []string{"pyproject.toml"}, names: lockedUV},
	"pnpm":  {list: "pnpm-lock.yaml", names: lockedPNPM},
	"yarn":  {list: "yarn.lock", with: []string{"package.json"}, names: lockedYarn},
	"cargo": {list: "Cargo.lock", names: lockedCargo},

	"bundle": {list: "Gemfile.lock", names: lockedBundle},
	"poetry": {list: "poetry.lock"}, // read by what knows all of poetry's commands
}

// IsLock reports whether files of a name pin packages, or say to poetry which ones are wanted.
func IsLock(base string) bool {
	if base == "pyproject.toml" {
		return true
	}
	for _, l := range locks {
		if l.list == base {
			return true
		}
	}
	return false
}

// locked finds out what an installation would bring of what a list in the workspace names.
func (b *Broker) locked(f outgoing.Form, manager string) (*Deed, error) {
	x := &installing{b: b, manager: manager, argv: f.Argv, lists: map[string][]byte{}}
	l, ok := locks[manager]
	if !ok {
		other := func(s outgoing.Slot) bool { return s.Path != "requirement" }
		if len(slices.DeleteFunc(slices.Clone(f.Slots), other)) > 1 {
			return nil, fmt.Errorf("several lists at once: %w", ErrNotHere)
		}
		l = lock{list: f.Slot("requirement"), names: x.requirements}
	}
	x.list = filepath.Base(l.list)
	for i, name := range append([]string{l.list}, l.with...) {
		path := filepath.Join(b.dir(), filepath.FromSlash(name))
		raw, err := b.read(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %w", name, err, ErrNotHere)
		}
		x.lists[filepath.Base(name)] = raw
		if i == 0 {
			x.pinned = b.opts.Pins.holds(b.opts.Want.Workspace, path, raw)
		}
	}
	var err error
	if x.names, err = l.names(x.lists[x.list]); err == nil {
		err = x.alone()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", l.list, err, ErrNotHere)
	}
	as, known := x.pinned, false
	if name := b.inWorkspace(l.list); !ok { // a file of requirements
		known = x.open && as && name == path.Clean(l.list) // of that name in another folder nobody spoke
		x.pinned = !x.open && (as || b.opts.Vouch.all(name, x.names))
	}
	at := registries(manager)
	q := Question{Program: f.Program, Verb: f.Verb, Host: at[0].host, Port: at[0].port, Packages: slices.Clone(x.names)}
	if more := len(q.Packages) - shownPackages; more > 0 {
		q.Packages = append(q.Packages[:shownPackages:shownPackages], fmt.Sprintf("and %d more", more))
	}
	if !ok && !x.pinned {
		q.Besides = b.besides(x, l.list, as)
	}
	return &Deed{Question: q, Ask: !x.pinned, Known: known, run: x.run}, nil
}

// inWorkspace is a file that a command names, by its path in the workspace.
func (b *Broker) inWorkspace(name string) string {
	rel, err := filepath.Rel(b.opts.Want.Workspace, filepath.Join(b.dir(), filepath.FromSlash(name)))
	if err != nil {
		return ""
	}
	return filepath.ToSlash(rel)
}

// read reads a file of the workspace: one that lies in it, and is no link.
func (b *Broker) read(path string) ([]byte, error) {
	rel, err := filepath.Rel(b.opts.Want.Workspace, path)
	if err != nil || !filepath.IsLocal(rel) {
		return nil, errors.New("it lies outside the workspace")
	}
	root, err := os.OpenRoot(b.opts.Want.Workspace)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if info, err := root.Lstat(rel); err != nil || !info.Mode().IsRegular() {
		return nil, errors.New("it is no file")
	}
	f, err := root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0) // whatever it is by now, nothing waits for it
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxList+1))
	if err == nil && len(raw) > maxList {
		err = errors.New("it is too long")
	}
	return raw, err
}

// holds reports whether a list is, byte for byte, what the repository held.
func (p Pins) holds(workspace, path string, raw []byte) bool {
	rel, err := filepath.Rel(workspace, path)
	if err != nil {
		return false
	}
	head := fmt.Appendf(nil, "blob %d\x00", len(raw))
	switch want := p[filepath.ToSlash(rel)]; len(want) {
	case 2 * sha1.Size:
		sum := sha1.Sum(append(head, raw...)) //nolint:gosec // as above
		return hex.EncodeToString(sum[:]) == want
	case 2 * sha256.Size:
		sum := sha256.Sum256(append(head, raw...))
		return hex.EncodeToString(sum[:]) == want
	}
	return false
}

var (
	npmName    = regexp.MustCompile(`^(@[a-z0-9][a-z0-9._-]*/)?[A-Za-z0-9][A-Za-z0-9._-]*$`)
	npmVersion = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+([.+-][0-9A-Za-z.+-]+)?$`)
)

// lockedNPM are the packages of a lock file of npm's: each from the registry, in one version. What it takes from elsewhere nobody fetches.
func lockedNPM(raw []byte) ([]string, error) {
	var lock struct {
		Packages map[string]struct {
			Name     string `json:"name"`
			Version  string `json:"version"`
			Resolved string `json:"resolved"`
			Link     bool   `json:"link"`
		} `json:"packages"`
	}
	if err := strictjson.Unmarshal(raw, &lock); err != nil {
		return nil, errors.New("it cannot be read")
	}
	var out []string
	for path, p := range lock.Packages {
		at := strings.LastIndex(path, "node_modules/")
		if at < 0 || p.Link {
			continue // the workspace's own
		}
		name := path[at+len("node_modules/"):]
		if p.Name != "" {
			name = p.Name
		}
		from := "https://" + registries("npm")[0].host + "/"
		if !npmName.MatchString(name) || !npmVersion.MatchString(p.Version) || p.Resolved != "" && !strings.HasPrefix(p.Resolved, from) {
			return nil, fmt.Errorf("%.80q comes from elsewhere than the registry", path)
		}
		out = append(out, name+"@"+p.Version)
	}
	slices.Sort(out)
	if out = slices.Compact(out); len(out) == 0 {
		return nil, errors.New("it pins no packages")
	}
	return out, nil
}
