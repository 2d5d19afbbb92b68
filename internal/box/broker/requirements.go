package broker

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/warrant/outgoing"
)

// A file of requirements is a list of whoever keeps it by hand: it pins packages, or says from which version on they will do, and names
// what those need or leaves it out.

const (
	pipName   = `[A-Za-z0-9][A-Za-z0-9._-]*( ?\[[A-Za-z0-9,._ -]+\])?`
	pipIs     = ` ?(==|>=|<=|~=|!=|<|>) ?[A-Za-z0-9.*+!]+`
	pipTerm   = `[a-z_]+ ?(==|>=|<=|!=|<|>|~=| in | not in ) ?("[A-Za-z0-9._ -]*"|'[A-Za-z0-9._ -]*')`
	pipWhere  = `( ?; ?` + pipTerm + `( (and|or) ` + pipTerm + `)*)?`
	pipHashes = `( --hash=sha256:[0-9a-f]{64})+$`
)

var (
	pipHash    = regexp.MustCompile(pipHashes)
	pipGoesOn  = regexp.MustCompile(`[ \t]\\\r?\n[ \t]+--hash=`)
	pipBlank   = regexp.MustCompile(`[ \t]+`)
	pipPinned  = regexp.MustCompile(`^` + pipName + ` ?== ?[A-Za-z0-9.!+]+` + pipWhere + `$`)
	pipOpen    = regexp.MustCompile(`^` + pipName + `(` + pipIs + `( ?,` + pipIs + `)*)?` + pipWhere + `$`)
	pipArchive = regexp.MustCompile(`(?i)\.(whl|zip|egg|tar|tgz|tbz|txz|tlz|gz|bz2|xz|lz|lzma)( ?[\[;=<>~!].*)?$`)
)

// requirements are the packages of such a file. What is fetched for goes by a list of ours that has their lines and nothing else, so that
// no reader is of another opinion about them. One that pins all of them brings these alone; any other is asked about, and brings what they
// need as well. A line of another form is for whoever can read it.
func (x *installing) requirements(raw []byte) ([]string, error) {
	var out, list []string
	for line := range strings.Lines(pipGoesOn.ReplaceAllString(string(raw), " --hash=")) {
		line, _, _ = strings.Cut(line, " #")
		if line = pipBlank.ReplaceAllString(strings.TrimSpace(line), " "); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		hashes := pipHash.FindString(line)
		name := strings.TrimSuffix(line, hashes)
		pinned := pipPinned.MatchString(name)
		if !pinned && !pipOpen.MatchString(name) || pipArchive.MatchString(name) {
			return nil, fmt.Errorf("%.80q is no package by its name", line)
		}
		x.open = x.open || !pinned
		out, list = append(out, name), append(list, name+hashes)
	}
	if len(out) == 0 {
		return nil, errors.New("it names no packages")
	}
	x.lists[x.list] = []byte(strings.Join(list, "\n") + "\n")
	return slices.Clip(out), nil
}

// Vouch is what vouches for single lines of files of requirements, where a file is not as it was: that it had them before others had a say,
// and packages that the owner ordered by their names and versions. It is for one session's box.
type Vouch struct {
	mu    sync.Mutex
	lists map[string][]string // by path in the workspace
	named []string            // guarded by mu
}

// mostVouching bounds how many files are read for that.
const mostVouching = 64

// Vouching reads the pinned files of a workspace that are called requirements, before anything runs in it.
func Vouching(pins Pins, workspace string) *Vouch {
	v := &Vouch{lists: map[string][]string{}}
	b := &Broker{opts: Options{Want: box.Want{Workspace: workspace}}}
	for _, name := range slices.Sorted(maps.Keys(pins)) {
		if filepath.Ext(name) != ".txt" || !strings.Contains(name, "requirements") || len(v.lists) == mostVouching {
			continue
		}
		path := filepath.Join(workspace, filepath.FromSlash(name))
		raw, err := b.read(path)
		x := installing{lists: map[string][]byte{}}
		if lines, bad := x.requirements(raw); err == nil && bad == nil && pins.holds(workspace, path, raw) {
			v.lists[name] = lines
		}
	}
	return v
}

// Ordered takes down what a command brought that the owner ordered.
func (v *Vouch) Ordered(f outgoing.Form) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, s := range f.Slots {
		if s.Kind == "pip" && pipPinned.MatchString(s.Text) {
			v.named = append(v.named, s.Text)
		}
	}
}

// besides is what a person must know of a file of requirements besides its lines: what else comes or stays away, and what of it is not as
// it was before others had a say. as says that all is.
func (b *Broker) besides(x *installing, list string, as bool) []string {
	out := []string{"what these need comes too, and the registry chooses all versions"}
	if !x.open {
		out = []string{"what these need comes only where the list names it"}
	}
	if as {
		return out
	}
	news, known := b.opts.Vouch.news(b.inWorkspace(list), x.names)
	switch {
	case !known:
		return append(out, "the repository had no such list before others had a say")
	case len(news) == 0:
		return append(out, "lines of the list were taken out, moved or written otherwise since others had a say")
	}
	if more := len(news) - shownNews; more > 0 {
		news = append(news[:shownNews:shownNews], fmt.Sprintf("and %d more", more))
	}
	return append(out, "new or changed in the list since others had a say: "+strings.Join(news, ", "))
}

// shownNews is how many changed lines of a list are named.
const shownNews = 10

// news are the lines of a file that it did not have before; false: nobody knows what it had.
func (v *Vouch) news(name string, lines []string) (out []string, known bool) {
	if v == nil {
		return nil, false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	before, known := v.lists[name]
	for _, l := range lines {
		if !slices.Contains(before, l) {
			out = append(out, l)
		}
	}
	return out, known
}

// all reports whether every line of a file is vouched for.
func (v *Vouch) all(name string, lines []string) bool {
	if v == nil {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return !slices.ContainsFunc(lines, func(l string) bool { return !slices.Contains(v.lists[name], l) && !slices.Contains(v.named, l) })
}
