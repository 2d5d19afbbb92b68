package box

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// putAside takes what came into being since the box was made, and would run elsewhere or later, out of the workspace.
func (b *Box) putAside(now *survey) ([]Aside, error) {
	var out []Aside
	var errs []error
	for _, path := range slices.Sorted(maps.Keys(now.places)) {
		p := now.places[path]
		if b.stands(now, p) || !b.ordered(now, p) && stays(now, p) {
			continue
		}
		for _, part := range b.parts(now, p) {
			aside, err := b.putAsideOne(now, part)
			out, errs = append(out, aside...), append(errs, err)
		}
	}
	return out, errors.Join(append(errs, now.before.bringBackAll(now))...)
}

// putAsideOne puts aside one place, or a part of one.
func (b *Box) putAsideOne(now *survey, p place) (out []Aside, err error) {
	kept, err := b.move(now, p)
	switch {
	case errors.Is(err, fs.ErrNotExist): // it went with a folder above it, or whoever made it took it away
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("put aside %s: %w", p.path, err)
	case kept != "":
		shown := p.path
		if now.root != b.want.Workspace { // of a folder besides it
			shown = now.abs(p.path)
		}
		out = []Aside{{Path: shown, Kept: kept, Was: now.before.places[p.path].link}}
	}
	if b.ordered(now, p) { // what was ordered comes back otherwise
		return out, nil
	}
	if err := now.before.putBack(p.path); err != nil {
		return out, fmt.Errorf("put back %s: %w", p.path, err)
	}
	return out, nil
}

// mostParts is how many files of a folder are put aside one by one.
const mostParts = 50

// parts are what is to be put aside of a place: all of it, or, of a folder in which something stands that was ordered, the rest.
func (b *Box) parts(now *survey, p place) []place {
	whole := []place{p}
	if p.link != "" || !p.info.IsDir() || now.root != b.before.root {
		return whole
	}
	var rest []place
	stands := false
	err := filepath.WalkDir(now.abs(p.path), func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		path, err := filepath.Rel(now.root, at)
		switch {
		case err != nil || len(rest) > mostParts:
			return fs.ErrInvalid
		case b.untouched(path, at):
			stands = true
		default:
			rest = append(rest, place{path: path})
		}
		return nil
	})
	if err != nil || !stands {
		return whole
	}
	return rest
}

// apart is what is left of a folder that was put aside, file by file where something stands in its place that was ordered: the folder
// could not come back.
func (b *Box) apart(a Aside) []Aside {
	stands := false
	for path := range b.placed {
		stands = stands || inside(path, a.Path) && path != a.Path
	}
	root, err := os.OpenRoot(filepath.Dir(a.Kept))
	if err != nil || !stands {
		return []Aside{a}
	}
	defer root.Close()
	var out []Aside
	top := filepath.Base(a.Kept)
	err = fs.WalkDir(root.FS(), top, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		below, err := filepath.Rel(top, at)
		if err != nil || len(out) > mostParts {
			return fs.ErrInvalid
		}
		kept, err := b.newAside(filepath.Base(at))
		if err == nil {
			err = moveTo(root, at, kept)
		}
		if err == nil {
			out = append(out, Aside{Path: filepath.Join(a.Path, below), Kept: kept})
		}
		return err
	})
	if err != nil {
		return append(out, a)
	}
	b.given++
	_ = removeAll(filepath.Dir(a.Kept))
	return out
}

// stays reports whether a guarded place is as it was, or came and does nothing.
func stays(now *survey, p place) bool {
	was, there := now.before.places[p.path]
	if h, copied := now.before.held[p.path]; copied {
		return now.unchanged(h, was, p)
	}
	known := slices.Concat(now.before.repos, now.before.kept)
	switch {
	case there && !p.judged && replaced(was, p):
		return now.saysNoMore(was, p)
	case there && !p.judged && p.link == was.link && sameFile(was, p):
		return true
	case p.git != "":
		return now.harmless(p, known)
	case filepath.Base(p.path) == ".git":
		return p.link == "" && now.leadsHome(p.path, known)
	case p.info.IsDir() && !holdsFiles(now.abs(p.path)):
		return true
	}
	return now.before.held == nil && (carried(now, p) || copied(now, p))
}

// carried reports whether a folder that holds a place has been moved, with the mount that keeps it as it is.
func carried(now *survey, p place) bool {
	for _, other := range now.before.places {
		if other.link == "" && p.link == "" && !other.back && sameFile(other, p) {
			return true
		}
	}
	return false
}

// replaced reports whether a guarded file has been replaced outside, so that its guard is gone.
func replaced(was, p place) bool { return was.saved && p.link == "" && (was.back || !sameFile(was, p)) }

// saysNoMore reports whether a file that was replaced holds what it held, or settings of git that are no weightier.
func (s *survey) saysNoMore(was, p place) bool {
	text, ok := readPlain(s.abs(p.path))
	return ok && (text == was.text || p.git != "" && filepath.Base(p.path) == "config" && lightChange(was.text, text))
}

// sameFile reports whether two looks saw one file.
func sameFile(a, b place) bool { return os.SameFile(a.info, b.info) && a.born == b.born }

// bornAt is when a file came into being, or 0 where the file system does not say.
func bornAt(path string) int64 {
	var x unix.Statx_t
	if unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME, &x) != nil || x.Mask&unix.STATX_BTIME == 0 {
		return 0
	}
	return x.Btime.Sec*1e9 + int64(x.Btime.Nsec)
}

// putBack writes anew a guarded file that was there before the box and has been put aside since: without it a repository may be none.
func (s *survey) putBack(path string) error {
	p, there := s.places[path]
	if _, copied := s.held[path]; copied {
		return s.bringBack(path)
	}
	if !there || !p.saved {
		return nil
	}
	base := s.root
	for _, dir := range s.kept {
		if inside(path, dir) {
			base = dir
		}
	}
	below, err := filepath.Rel(base, s.abs(path))
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return err
	}
	defer root.Close()
	f, err := root.OpenFile(below, os.O_CREATE|os.O_EXCL|os.O_WRONLY, p.info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = f.WriteString(p.text)
	info, statErr := f.Stat()
	if err = errors.Join(err, statErr, f.Close()); err == nil {
		p.info, p.born, p.back = info, bornAt(s.abs(path)), true
		s.places[path] = p
	}
	return err
}

// copied reports whether a place holds the very bytes of one that was there before, under the same name in its repository: as in a
// copy of the repository or in another worktree of it. The same file in another folder is read by somebody else.
func copied(now *survey, p place) bool {
	if p.link != "" || now.rootOf(p.path) == now.before.rootOf(p.path) {
		return false
	}
	below := func(s *survey, path string) string {
		name, _ := filepath.Rel(s.rootOf(path), path)
		return name
	}
	for _, other := range now.before.places {
		if other.link == "" && below(now.before, other.path) == below(now, p.path) && sameBytes(now.abs(other.path), now.abs(p.path)) {
			return true
		}
	}
	return false
}

// sameBytes reports whether two files, or all files of two folders, are alike.
func sameBytes(a, b string) bool {
	one, two := contents(a), contents(b)
	return one != nil && maps.Equal(one, two)
}

// mostCompared bounds what is read to compare: what is larger is no copy of anything.
const mostCompared = 8 << 20

// contents are the files below a path and what they hold, or nothing if there is anything that cannot be compared.
func contents(top string) map[string]string {
	out, size := map[string]string{}, 0
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := openPlain(path)
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		text, err := io.ReadAll(io.LimitReader(f, int64(mostCompared-size)+1))
		if size += len(text); size > mostCompared {
			return fs.ErrInvalid
		}
		name, _ := filepath.Rel(top, path)
		out[name] = info.Mode().String() + string(text)
		return err
	})
	if err != nil {
		return nil
	}
	return out
}

// holdsFiles reports whether there is anything but folders below a folder.
func holdsFiles(dir string) bool {
	found := false
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// stands reports whether a guarded place holds nothing but what was ordered, untouched.
func (b *Box) stands(now *survey, p place) bool {
	if len(b.placed) == 0 || p.link != "" || now.root != b.before.root {
		return false
	}
	found := false
	err := filepath.WalkDir(now.abs(p.path), func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		path, err := filepath.Rel(now.root, at)
		if err != nil || !b.untouched(path, at) {
			return fs.ErrInvalid
		}
		found = true
		return nil
	})
	return err == nil && found
}

// Stands reports whether something stands in a place because it was ordered: what was put aside there cannot come back.
func (b *Box) Stands(path string) bool {
	if b.watch != nil {
		b.watch.looking.Lock()
		defer b.watch.looking.Unlock()
	}
	return b.placed[path] != nil
}

// ordered reports whether a place is one in which a file stands that was ordered: then only that may. Git's settings may change lightly.
func (b *Box) ordered(now *survey, p place) bool {
	return p.git == "" && now.root == b.before.root && b.placed[p.path] != nil
}

func (b *Box) untouched(path, at string) bool {
	p := b.placed[path]
	if p == nil {
		return false
	}
	text, info, ok := readAt(at)
	return ok && text == p.text && os.SameFile(info, p.info) && bornAt(at) == p.born && info.Mode() == p.info.Mode() &&
		(b.over || p.file.Leased())
}

// readAt reads a small plain file.
func readAt(path string) (string, fs.FileInfo, bool) {
	f, err := openPlain(path)
	if err != nil {
		return "", nil, false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", nil, false
	}
	var text strings.Builder
	n, err := io.Copy(&text, io.LimitReader(f, mostPlaced+1))
	return text.String(), info, err == nil && n <= mostPlaced
}
