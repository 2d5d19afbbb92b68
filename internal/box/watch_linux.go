package box

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// watcher puts aside what comes while the box runs, as soon as it comes: the root of the workspace, the folders of its repositories
// and those that hold guarded places are watched. The look at the end finds what came anywhere else.
type watcher struct {
	box     *Box
	events  *os.File
	open    sync.Mutex     // held while the number of events is used, and while it is closed
	number  int            // of events; -1: closed
	folders map[int]string // by the kernel's number
	guards  guards
	ended   sync.WaitGroup
	looking sync.Mutex // held by who looks
	mu      sync.Mutex
	aside   []Aside // guarded by mu
}

// watched is what may bring something to a folder.
const watched = unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_CLOSE_WRITE | unix.IN_ATTRIB | unix.IN_ONLYDIR | unix.IN_DONT_FOLLOW

// watchFor begins to watch the workspace of a box, or says nothing where the kernel gives no watches: then the look at the end is all.
func watchFor(b *Box) *watcher {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil
	}
	w := &watcher{box: b, events: os.NewFile(uintptr(fd), "watch"), number: fd, folders: map[int]string{}, guards: b.before.guards}
	if !w.follow() {
		_ = w.events.Close()
		return nil
	}
	w.ended.Add(1)
	go w.run()
	return w
}

// follow watches the folders in which guarded places may come, and reports whether it can.
func (w *watcher) follow() bool {
	s := w.box.before
	ok := w.add(".")
	for _, repo := range s.repos {
		w.add(repo)
		w.add(filepath.Join(repo, "info"))
		w.add(filepath.Join(repo, "objects", "info"))
	}
	for _, paths := range []map[string][]string{w.guards.root, w.guards.any} {
		for _, path := range slices.Concat(slices.Collect(maps.Values(paths))...) {
			if dir := filepath.Dir(path); dir != "." {
				w.add(dir)
			}
			w.fresh(path)
		}
	}
	for _, path := range s.named {
		w.add(filepath.Dir(path))
		w.fresh(path)
	}
	return ok
}

// fresh watches a guarded folder that came, with those in it: it may fill. One that was there before cannot.
func (w *watcher) fresh(path string) {
	if _, there := w.box.before.places[path]; there && !w.box.reduced {
		return
	}
	_ = filepath.WalkDir(w.box.before.abs(path), func(at string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			w.add(at)
		}
		return nil
	})
}

func (w *watcher) add(dir string) bool {
	w.open.Lock()
	defer w.open.Unlock()
	if w.number < 0 {
		return false
	}
	n, err := unix.InotifyAddWatch(w.number, w.box.before.abs(dir), watched)
	if err == nil {
		w.folders[n] = dir
	}
	return err == nil
}

// run looks whenever something came to a watched folder under a name that is guarded, until it is stopped.
func (w *watcher) run() {
	defer w.ended.Done()
	buffer := make([]byte, 64<<10)
	for {
		n, err := w.events.Read(buffer)
		if err != nil {
			return
		}
		if w.concerns(buffer[:n]) {
			w.look()
		}
	}
}

// concerns reports whether any of the events is about a guarded name. What was lost may have been.
func (w *watcher) concerns(events []byte) bool {
	for len(events) >= unix.SizeofInotifyEvent {
		number := int(int32(binary.NativeEndian.Uint32(events)))
		mask := binary.NativeEndian.Uint32(events[4:])
		size := int(binary.NativeEndian.Uint32(events[12:]))
		name := string(bytes.TrimRight(events[unix.SizeofInotifyEvent:unix.SizeofInotifyEvent+size], "\x00"))
		events = events[unix.SizeofInotifyEvent+size:]
		if mask&unix.IN_Q_OVERFLOW != 0 || w.guarded(w.folders[number], name) {
			return true
		}
	}
	return false
}

func (w *watcher) guarded(dir, name string) bool {
	if name == "" { // it is about the folder itself
		return true
	}
	if slices.Contains(w.box.before.repos, dir) || strings.HasSuffix(dir, "info") {
		return slices.ContainsFunc(w.guards.git, func(g string) bool { return filepath.Base(g) == name || strings.HasPrefix(g, name+"/") })
	}
	return dir != "." || name == ".git" || len(w.guards.of(name, true)) > 0 ||
		slices.ContainsFunc(w.box.before.named, func(n string) bool { return n == name || strings.HasPrefix(n, name+"/") })
}

// look puts aside what is there by now. Folders that came are watched from now on, and looked at once more: something may have come
// to them before they were.
func (w *watcher) look() {
	w.looking.Lock()
	defer w.looking.Unlock()
	for range 2 {
		now := w.box.before.again()
		aside, _ := w.box.putAside(now) // what could not be put aside now is told by the look at the end
		w.mu.Lock()
		w.aside = append(w.aside, aside...)
		w.mu.Unlock()
		w.follow()
		for path, p := range now.places {
			if p.info.IsDir() {
				w.fresh(path)
			}
		}
	}
}

// stop ends the watch.
func (w *watcher) stop() {
	w.open.Lock()
	w.number = -1
	_ = w.events.Close()
	w.open.Unlock()
	w.ended.Wait()
}
