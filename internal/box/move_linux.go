package box

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tidemark/tidemark/internal/box/ordered"
)

// How much is kept of what is put aside: a command can make the same file again and again. What is over that is removed.
const (
	mostAside = 100
	mostOfOne = 5
	mostBytes = 64 << 20 // of one file that has to be carried to another file system
)

// move takes a place out of the workspace into the box's folder, and says where it is now, or nothing if enough is kept of its name.
// Other boxes may be at work in the same workspace, so it goes by the folder's descriptor: a path could be made to lead elsewhere
// meanwhile.
func (b *Box) move(now *survey, p place) (string, error) {
	base := now.root
	for _, dir := range now.kept {
		if inside(p.path, dir) {
			base = dir
		}
	}
	below, err := filepath.Rel(base, now.abs(p.path))
	if err != nil {
		return "", err
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return "", err
	}
	defer root.Close()
	give, err := takeRights(root, filepath.Dir(below))
	if err != nil {
		return "", err
	}
	defer give()
	if info, err := root.Lstat(below); err == nil && info.IsDir() {
		_ = root.Chmod(below, info.Mode().Perm()|0o700) // a folder that cannot be written cannot be moved
	}
	if !b.mayBeOrdered(now, p) && b.enough(p.path) {
		b.dropped++
		return "", clearAway(root, below)
	}
	kept, err := b.newAside(filepath.Base(below))
	if err != nil {
		return "", err
	}
	return kept, moveTo(root, below, kept)
}

// enough reports whether so much was put aside that this is not kept.
func (b *Box) enough(path string) bool {
	b.asides[path]++
	return b.moved-b.given >= mostAside || b.asides[path] > mostOfOne
}

// moveTo renames what lies below a root to a path outside it.
func moveTo(root *os.Root, below, kept string) error {
	dir, err := root.Open(filepath.Dir(below))
	if err != nil {
		return err
	}
	defer dir.Close()
	if err = unix.Renameat(int(dir.Fd()), filepath.Base(below), unix.AT_FDCWD, kept); errors.Is(err, unix.EXDEV) {
		return carry(root, below, kept)
	}
	return err
}

// takeRights lets the owner of a folder change it: a command may have closed it. What is returned gives back its mode.
func takeRights(root *os.Root, dir string) (func(), error) {
	info, err := root.Stat(dir)
	if err != nil {
		return nil, err
	}
	mode := info.Mode().Perm()
	if mode&0o700 == 0o700 {
		return func() {}, nil
	}
	if err := root.Chmod(dir, mode|0o700); err != nil {
		return nil, err
	}
	return func() { _ = root.Chmod(dir, mode) }, nil
}

// newAside makes a folder for one place that is put aside, and says what it will be called there.
func (b *Box) newAside(name string) (string, error) {
	aside := filepath.Join(b.want.State, "aside")
	if err := os.MkdirAll(aside, 0o700); err != nil {
		return "", err
	}
	for {
		b.moved++
		dir := filepath.Join(aside, strconv.Itoa(b.moved))
		if err := os.Mkdir(dir, 0o700); !errors.Is(err, fs.ErrExist) {
			return filepath.Join(dir, name), err
		}
	}
}

// carry moves a place to another file system: what can be kept of it. Whatever that is, it does not stay.
func carry(root *os.Root, from, to string) error {
	_ = fs.WalkDir(root.FS(), from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // the rest is kept all the same
		}
		below, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		at := filepath.Join(to, below)
		switch {
		case d.IsDir():
			_ = root.Chmod(path, 0o700)
			return os.MkdirAll(at, 0o700)
		case d.Type()&fs.ModeSymlink != 0:
			if target, err := root.Readlink(path); err == nil {
				_ = os.Symlink(target, at) //nolint:gosec // it is made in a folder of ours, which no box has
			}
		case d.Type().IsRegular():
			_ = root.Chmod(path, 0o600)
			_ = copyFile(root, path, at)
		}
		return nil
	})
	return clearAway(root, from)
}

func copyFile(root *os.Root, from, to string) error {
	in, err := root.OpenFile(from, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.LimitReader(in, mostBytes))
	return errors.Join(err, out.Close())
}

// clearAway removes what lies below a root, whatever its folders' modes.
func clearAway(root *os.Root, path string) error {
	if root.RemoveAll(path) == nil {
		return nil
	}
	_ = fs.WalkDir(root.FS(), path, func(at string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = root.Chmod(at, 0o700)
		}
		return nil
	})
	return root.RemoveAll(path)
}

// What the session's own file tool brings to a guarded place is put aside like everything else that comes there: nobody can tell who
// wrote it. Then the monitor says what calls of that tool were let to leave there, and what was put aside holds exactly that, byte for
// byte, is put in its place: not the file that somebody wrote, which somebody may still hold open, but a new one that nobody had.
//
// A command may open that one too. So it has a lease before it has a name: whoever wants to write to it, by whatever name or number of
// an open file, waits until we let go, and we take it out of the workspace first. Where there are no leases nothing is put in place
// while the box is open.

// placed is a file that stands in a guarded place because it was ordered.
type placed struct {
	text  string
	after uint64 // the call that it is of
	file  *ordered.File
	info  fs.FileInfo
	born  int64
	again int // how often it was put back since that call
}

// standing is what stood in a place at some time because it was ordered.
type standing struct{ path, text string }

// waiting is something that was put aside, and that may be what was ordered.
type waiting struct {
	Aside
	since time.Time
	asked bool // at least once
}

// How long what was put aside may still be written by whoever is at it, how long the monitor may take, how often a file is put back for
// one call, and how large it may be.
const (
	stillWritten = 3 * time.Second
	orderWait    = 3 * time.Second
	mostAgain    = 20
	mostPlaced   = 1 << 20
)

// mayBeOrdered reports whether a call of the session's file tool may be what brought something: to the workspace, and to no folder
// beside it.
func (b *Box) mayBeOrdered(now *survey, p place) bool {
	return b.want.Ordered != nil && !b.reduced && now.root == b.before.root && !filepath.IsAbs(p.path)
}

// awaits takes down what was put aside: some of it may have been ordered.
func (b *Box) awaits(list []Aside) (told []Aside) {
	for _, a := range list {
		if b.mayBeOrdered(b.before, place{path: a.Path}) {
			b.waits = append(b.waits, waiting{Aside: a, since: time.Now()})
			b.unasked.Add(1)
		} else {
			told = append(told, a)
		}
	}
	return told
}

// orders asks the monitor. Where it does not answer nothing was ordered.
func (b *Box) orders(ctx context.Context) []ordered.Order {
	ctx, cancel := context.WithTimeout(ctx, orderWait)
	defer cancel()
	list, err := b.want.Ordered(ctx)
	if err != nil {
		return nil
	}
	return list
}

// settle puts in place what was ordered of what waits, by what the monitor said when it was asked at that time, and returns what was not.
// What may still be being written waits on, unless this is the last time.
func (b *Box) settle(orders []ordered.Order, at time.Time, last bool) (aside []Aside) {
	var wait []waiting
	for _, w := range b.waits {
		if w.since.After(at) {
			wait = append(wait, w)
			continue
		}
		if !w.asked {
			w.asked = true
			b.unasked.Add(-1)
		}
		left, open := b.place(&w, orders, last)
		switch {
		case open:
			wait = append(wait, w)
		case left && !b.enough(w.Path):
			aside = append(aside, b.apart(w.Aside)...)
		default:
			if b.given++; left {
				b.dropped++
			}
			_ = removeAll(filepath.Dir(w.Kept))
		}
	}
	b.waits = wait
	return aside
}

// place puts in place what was ordered of one thing that was put aside. left: something of it was not; open: a call may be at it. Somebody
// may still be in the folder that was put aside, so it is gone through by its own root.
func (b *Box) place(w *waiting, orders []ordered.Order, last bool) (left, open bool) {
	root, err := os.OpenRoot(filepath.Dir(w.Kept))
	if err != nil {
		return true, false
	}
	defer root.Close()
	top := filepath.Base(w.Kept)
	err = fs.WalkDir(root.FS(), top, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		below, err := filepath.Rel(top, at)
		if err != nil {
			return err
		}
		path := filepath.Join(w.Path, below)
		kept := filepath.Join(root.Name(), at)
		young := !last && time.Since(w.since) < stillWritten
		writing := young && beingWritten(kept)
		more := writing || young && ordered.Last(path, orders) > b.lastOf(path)
		text, info, ok := readAt(kept)
		if ok && b.putOrdered(path, text, info, orders, writing, more) {
			return root.Remove(at)
		}
		if !more {
			b.restore(path)
		}
		if ok && !more && b.stood[standing{path, text}] { // it was ordered, and something else was since
			return root.Remove(at)
		}
		left, open = true, open || more
		return nil
	})
	return left || err != nil, open
}

// beingWritten reports whether somebody has a file open to write to it.
func beingWritten(path string) bool {
	f, err := openPlain(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return ordered.BeingWritten(f)
}

// lastOf is the call that a file in its place is of.
func (b *Box) lastOf(path string) uint64 {
	if p := b.placed[path]; p != nil {
		return p.after
	}
	return 0
}

// putOrdered puts a text in its place, if it is what was ordered. While somebody writes to it nothing less will do than all that was; and
// what stood there already may be about to be written, if more was ordered.
func (b *Box) putOrdered(path, text string, info fs.FileInfo, orders []ordered.Order, writing, more bool) bool {
	var base *string
	if was, there := b.before.places[path]; there && was.saved && was.link == "" {
		base = &was.text
	}
	now := b.placed[path]
	if now != nil {
		base = &now.text
	}
	list := ordered.Outcomes(base, b.lastOf(path), path, orders)
	slices.Reverse(list) // the same text may have been ordered twice
	i := slices.IndexFunc(list, func(o ordered.Outcome) bool { return o.Text == text })
	switch {
	case i >= 0 && (!writing || list[i].After == ordered.Last(path, orders) && (now == nil || now.text != text)):
		return b.put(path, placed{text: text, after: list[i].After}, info)
	case now != nil && now.text == text && !more:
		return b.put(path, placed{text: text, after: now.after, again: now.again + 1}, info)
	}
	return false
}

// restore puts back what was in place, where something else took that and has been put aside. What is there now stays.
func (b *Box) restore(path string) {
	if p := b.placed[path]; p != nil && !b.untouched(path, b.before.abs(path)) {
		b.put(path, placed{text: p.text, after: p.after, again: p.again + 1}, p.info)
	}
}

// put makes the file: with a lease before it has a name, if the box is open.
func (b *Box) put(path string, p placed, like fs.FileInfo) bool {
	old := b.placed[path]
	if p.again > mostAgain && !b.over {
		return false
	}
	root, err := os.OpenRoot(b.before.root)
	if err != nil {
		return false
	}
	defer root.Close()
	dir := filepath.Dir(path)
	if root.MkdirAll(dir, 0o755) != nil {
		return false
	}
	folder, err := folderBelow(root, dir)
	if err != nil {
		return false
	}
	defer unix.Close(folder)
	mode := like.Mode().Perm()&0o644 | 0o600
	was, there := b.before.places[path]
	if there && was.saved {
		mode = was.info.Mode().Perm()
	}
	if p.file, err = ordered.Make(folder, p.text, mode, like.ModTime(), !b.over); err != nil {
		return false
	}
	if there && was.back { // what we put back ourselves makes room
		if now, err := root.Lstat(path); err == nil && os.SameFile(now, was.info) {
			_ = unix.Unlinkat(folder, filepath.Base(path), 0)
		}
	}
	err = p.file.Name(folder, filepath.Base(path))
	if err == nil {
		p.info, err = root.Lstat(path)
	}
	if err != nil || !p.file.Is(p.info) { // something is there, or somebody took the folder away meanwhile
		p.file.LetGo()
		return false
	}
	p.born = bornAt(b.before.abs(path))
	if old != nil {
		old.file.LetGo()
	}
	b.placed[path], b.stood[standing{path, p.text}] = &p, true
	if there && was.saved {
		was.text, was.info, was.born, was.back = p.text, p.info, p.born, true
		b.before.places[path] = was
	}
	return true
}

// folderBelow opens a folder of the workspace without following a link: a command could put one in the way.
func folderBelow(root *os.Root, dir string) (int, error) {
	top, err := root.Open(".")
	if err != nil {
		return -1, err
	}
	defer top.Close()
	return unix.Openat2(int(top.Fd()), dir, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS,
	})
}

// letAllGo is for the end of a box.
func (b *Box) letAllGo() {
	for _, p := range b.placed {
		p.file.LetGo()
	}
}

// wanted takes what somebody wants to write to out of the workspace, and then lets them.
func (b *Box) wanted() (aside []Aside) {
	for path, p := range b.placed {
		if !p.file.Open() || p.file.Leased() {
			continue
		}
		if info, err := os.Lstat(b.before.abs(path)); err == nil && os.SameFile(info, p.info) {
			if kept, err := b.takeOut(path); err == nil {
				aside = append(aside, Aside{Path: path, Kept: kept})
			}
		}
		p.file.LetGo()
	}
	return aside
}

// takeOut moves a file that was put in place into the box's folder.
func (b *Box) takeOut(path string) (string, error) {
	root, err := os.OpenRoot(b.before.root)
	if err != nil {
		return "", err
	}
	defer root.Close()
	give, err := takeRights(root, filepath.Dir(path))
	if err != nil {
		return "", err
	}
	defer give()
	kept, err := b.newAside(filepath.Base(path))
	if err != nil {
		return "", err
	}
	return kept, moveTo(root, path, kept)
}
