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
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

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
	lease int    // the open file that holds the lease; -1: none, the box has ended
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

// mayBeOrdered reports whether a call of the session's file tool may be what brought something: to the workspace, and to no folder beside it.
func (b *Box) mayBeOrdered(now *survey, p place) bool {
	return b.want.Ordered != nil && !b.reduced && now.root == b.before.root && !filepath.IsAbs(p.path)
}

// awaits takes down what was put aside: some of it may have been ordered.
func (b *Box) awaits(list []Aside) (told []Aside) {
	for _, a := range list {
		if b.mayBeOrdered(b.before, place{path: a.Path}) {
			b.waits = append(b.waits, waiting{Aside: a, since: time.Now()})
		} else {
			told = append(told, a)
		}
	}
	return told
}

// orders asks the monitor. Where it does not answer nothing was ordered.
func (b *Box) orders(ctx context.Context) []Order {
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
func (b *Box) settle(orders []Order, at time.Time, last bool) (aside []Aside) {
	var wait []waiting
	for _, w := range b.waits {
		if w.since.After(at) {
			wait = append(wait, w)
			continue
		}
		w.asked = true
		left, open := b.place(&w, orders, last)
		switch {
		case open:
			wait = append(wait, w)
		case left && !b.enough(w.Path):
			aside = append(aside, w.Aside)
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
func (b *Box) place(w *waiting, orders []Order, last bool) (left, open bool) {
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
		more := writing || young && lastOrder(path, orders) > b.lastOf(path)
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

// lastOrder is the last call that there was about a file.
func lastOrder(path string, orders []Order) (n uint64) {
	for i := range orders {
		if orders[i].Path == path {
			n = max(n, orders[i].Number)
		}
	}
	return n
}

// beingWritten reports whether somebody has a file open to write to it. Then it has no lease.
func beingWritten(path string) bool {
	f, err := openPlain(path)
	if err != nil {
		return false
	}
	defer f.Close() // and the lease goes with it
	_, err = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	return errors.Is(err, unix.EAGAIN)
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
func (b *Box) putOrdered(path, text string, info fs.FileInfo, orders []Order, writing, more bool) bool {
	var base *string
	if was, there := b.before.places[path]; there && was.saved && was.link == "" {
		base = &was.text
	}
	now := b.placed[path]
	if now != nil {
		base = &now.text
	}
	list := outcomes(base, b.lastOf(path), path, orders)
	slices.Reverse(list) // the same text may have been ordered twice
	i := slices.IndexFunc(list, func(o outcome) bool { return o.text == text })
	switch {
	case i >= 0 && (!writing || list[i].after == lastOrder(path, orders) && (now == nil || now.text != text)):
		return b.put(path, placed{text: text, after: list[i].after}, info)
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
	fd, err := nameless(folder, p.text, mode, like.ModTime(), !b.over)
	if err != nil {
		return false
	}
	if there && was.back { // what we put back ourselves makes room
		if now, err := root.Lstat(path); err == nil && os.SameFile(now, was.info) {
			_ = unix.Unlinkat(folder, filepath.Base(path), 0)
		}
	}
	if err := unix.Linkat(unix.AT_FDCWD, numbered(fd), folder, filepath.Base(path), unix.AT_SYMLINK_FOLLOW); err != nil {
		_ = unix.Close(fd)
		return false
	}
	if p.info, err = root.Lstat(path); err != nil || !isOpen(fd, p.info) { // somebody took the folder away meanwhile
		_ = unix.Close(fd)
		return false
	}
	p.born, p.lease = bornAt(b.before.abs(path)), fd
	b.letGo(old)
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

// nameless makes a file that has no name yet, so that nobody can open it, and returns it open to be read; with a lease if one is wanted.
func nameless(folder int, text string, mode fs.FileMode, wrote time.Time, lease bool) (int, error) {
	out, err := unix.Open(numbered(folder), unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return -1, err
	}
	f := os.NewFile(uintptr(out), "ordered")
	_, err = io.WriteString(f, text)
	at := []unix.Timespec{unix.NsecToTimespec(wrote.UnixNano()), unix.NsecToTimespec(wrote.UnixNano())}
	err = errors.Join(err, f.Chmod(mode), unix.UtimesNanoAt(unix.AT_FDCWD, numbered(out), at, 0))
	fd := -1
	if err == nil {
		fd, err = unix.Open(numbered(out), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	}
	if err = errors.Join(err, f.Close()); err != nil || !lease {
		return fd, err
	}
	if _, err = unix.FcntlInt(uintptr(fd), unix.F_SETOWN, os.Getpid()); err == nil {
		for range 50 { // a program that is just being started may have our files for a moment
			if _, err = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK); !errors.Is(err, unix.EAGAIN) {
				break
			}
			time.Sleep(2 * time.Millisecond)
		}
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func numbered(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// isOpen reports whether an open file is the one that a look saw.
func isOpen(fd int, info fs.FileInfo) bool {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return false
	}
	there, ok := info.Sys().(*syscall.Stat_t)
	return ok && there.Ino == st.Ino && there.Dev == st.Dev
}

// leased reports whether nobody wants to write to a file.
func (p *placed) leased() bool {
	if p.lease < 0 {
		return false
	}
	kind, err := unix.FcntlInt(uintptr(p.lease), unix.F_GETLEASE, 0)
	return err == nil && kind == unix.F_RDLCK
}

// letGo lets whoever waits to write to a file do so.
func (b *Box) letGo(p *placed) {
	if p != nil && p.lease >= 0 {
		_ = unix.Close(p.lease)
		p.lease = -1
	}
}

// letAllGo is for the end of a box.
func (b *Box) letAllGo() {
	for _, p := range b.placed {
		b.letGo(p)
	}
}

// wanted takes what somebody wants to write to out of the workspace, and then lets them.
func (b *Box) wanted() (aside []Aside) {
	for path, p := range b.placed {
		if p.lease < 0 || p.leased() {
			continue
		}
		if info, err := os.Lstat(b.before.abs(path)); err == nil && os.SameFile(info, p.info) {
			if kept, err := b.takeOut(path); err == nil {
				aside = append(aside, Aside{Path: path, Kept: kept})
			}
		}
		b.letGo(p)
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
		(b.over || p.leased())
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
