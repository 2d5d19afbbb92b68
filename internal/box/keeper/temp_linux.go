package keeper

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// A box has a /tmp of its own. What calls of its session put into the machine's before, or by the agent's own file tools, is copied into
// it: a script that the agent has just written is there when it is run.
//
// Invariants:
//   - only what the monitor names, below /tmp: files and folders of this user, and no file that has a second name;
//   - no link is followed, neither on the machine's side nor on the box's, which its commands change as they like: what is written
//     there is a new file in a folder that was walked to part by part;
//   - each file is copied once, and again when it was written again outside. Nothing is ever copied back.

// The bounds of what is copied into a box.
const (
	mostBrought = 5000     // files and folders of one box
	mostBytes   = 64 << 20 // of all of them
	deepest     = 40
)

// temp is what was copied into a box.
type temp struct {
	mu    sync.Mutex
	seen  map[string]stamp // guarded by mu, as all below: what was there when it was copied
	files int
	bytes int64
}

// stamp tells one writing of a file from the next.
type stamp struct {
	inode uint64
	size  int64
	wrote unix.Timespec
}

const machineTemp = "/tmp"

// noLinks is how every path is walked.
const noLinks = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS

// bring copies what is named into the box's /tmp, as far as it may be. What may not is left out: a command that wants it says so.
func (h *held) bring(names []string, say func(string, ...any)) {
	h.temp.mu.Lock()
	defer h.temp.mu.Unlock()
	if h.temp.seen == nil {
		h.temp.seen = map[string]stamp{}
	}
	for _, name := range names {
		below, ok := strings.CutPrefix(name, machineTemp+"/")
		if !ok || filepath.Clean(name) != name || below == "" || h.shown(name) {
			continue
		}
		if err := h.temp.copy(below, filepath.Join(h.want.State, "tmp")); err != nil && !errors.Is(err, unix.ENOENT) {
			say("copy %s into the box of session %s: %v", name, h.grant.Session, err)
		}
	}
}

// shown reports whether a path is in the box already, or must not be: the workspace, what lies around it, what is hidden.
func (h *held) shown(path string) bool {
	lies := func(a, b string) bool { return a == b || strings.HasPrefix(a, b+"/") }
	for _, other := range slices.Concat([]string{h.want.Workspace, h.want.Home, h.want.State}, h.want.Hide, h.want.Read, h.want.Write) {
		if lies(path, other) || lies(other, path) {
			return true
		}
	}
	return false
}

// copy copies a file or a folder from below the machine's /tmp to the same place below the box's.
func (t *temp) copy(name, box string) error {
	from, err := openFolder(machineTemp)
	if err != nil {
		return err
	}
	defer unix.Close(from)
	to, err := openFolder(box)
	if err != nil {
		return err
	}
	defer unix.Close(to)
	file, err := openBelow(from, name)
	if err != nil {
		return err
	}
	defer file.Close()
	dir, err := folderBelow(to, filepath.Dir(name))
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	return t.put(file, dir, filepath.Base(name), name)
}

// put copies an open file or folder into a folder of the box.
func (t *temp) put(file *os.File, dir int, base, name string) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &st); err != nil {
		return err
	}
	if int(st.Uid) != os.Getuid() || strings.Count(name, "/") > deepest {
		return fmt.Errorf("%s is somebody else's, or too deep", name)
	}
	now := stamp{st.Ino, st.Size, st.Mtim}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		if t.seen[name] == now {
			return nil
		}
		if st.Nlink != 1 {
			return fmt.Errorf("%s has another name as well", name)
		}
	case unix.S_IFDIR:
		if _, was := t.seen[name]; was {
			return nil // what is written into it later is named by itself
		}
		now = stamp{inode: st.Ino}
	default:
		return fmt.Errorf("%s is neither a file nor a folder", name)
	}
	if t.files++; t.files > mostBrought {
		return errors.New("there is too much of it")
	}
	t.seen[name] = now
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return t.folder(file, dir, base, name)
	}
	if t.bytes += st.Size; t.bytes > mostBytes {
		return errors.New("it is too large")
	}
	return write(file, dir, base, &st)
}

// folder copies what is in a folder. Links in it are made anew as they stand: in the box they lead to what is there.
func (t *temp) folder(from *os.File, dir int, base, name string) error {
	to, err := folderBelow(dir, base)
	if err != nil {
		return err
	}
	defer unix.Close(to)
	entries, err := from.ReadDir(mostBrought)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	var faults []error
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink != 0 {
			text := make([]byte, 4096)
			if n, err := unix.Readlinkat(int(from.Fd()), e.Name(), text); err == nil && n < len(text) {
				_ = unix.Symlinkat(string(text[:n]), to, e.Name()) // one that is there stays
			}
			continue
		}
		file, err := openBelow(int(from.Fd()), e.Name())
		if err == nil {
			err = errors.Join(t.put(file, to, e.Name(), name+"/"+e.Name()), file.Close())
		}
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

// write makes a file anew, with what another holds.
func write(file *os.File, dir int, base string, st *unix.Stat_t) error {
	fresh := ".tidemark-" + base
	const flags = unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Openat(dir, fresh, flags, 0o600)
	if errors.Is(err, unix.EEXIST) {
		if err = unix.Unlinkat(dir, fresh, 0); err == nil {
			fd, err = unix.Openat(dir, fresh, flags, 0o600)
		}
	}
	if err != nil {
		return err
	}
	out := os.NewFile(uintptr(fd), base)
	_, err = io.Copy(out, io.LimitReader(file, st.Size))
	times := []unix.Timeval{unix.NsecToTimeval(st.Atim.Nano()), unix.NsecToTimeval(st.Mtim.Nano())}
	err = errors.Join(err, unix.Fchmod(fd, st.Mode&0o777), unix.Futimes(fd, times), out.Close())
	if err == nil {
		err = unix.Renameat(dir, fresh, dir, base) // a link of that name is replaced, not followed
	}
	if err != nil {
		return errors.Join(err, unix.Unlinkat(dir, fresh, 0))
	}
	return nil
}

func openFolder(path string) (int, error) {
	return unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
}

// openBelow opens a file or a folder to read.
func openBelow(dir int, name string) (*os.File, error) {
	const flags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
	fd, err := unix.Openat2(dir, name, &unix.OpenHow{Flags: flags, Resolve: noLinks})
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// folderBelow opens a folder part by part, and makes what is not there.
func folderBelow(dir int, name string) (int, error) {
	const flags = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	at, err := unix.Dup(dir)
	for part := range strings.SplitSeq(filepath.Clean(name), "/") {
		if err != nil {
			return -1, err
		}
		if part == "." {
			continue
		}
		next := -1
		if err = unix.Mkdirat(at, part, 0o700); err == nil || errors.Is(err, unix.EEXIST) {
			next, err = unix.Openat2(at, part, &unix.OpenHow{Flags: flags, Resolve: noLinks})
		}
		_ = unix.Close(at)
		at = next
	}
	return at, err
}
