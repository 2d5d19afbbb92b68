package box

import (
	"bytes"
	"context"
	"encoding/binary"
	"io/fs"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// watcher puts aside what comes while the box runs, as soon as it comes: the root of the workspace, the folders of its repositories
// and those that hold guarded places are watched. The look at the end finds what came anywhere else.
type watcher struct {
	box     *Box
	events  *os.File
	open    sync.Mutex     // held while the number of events is used, and while it is closed
	number  int            // of events; -1: closed
	folders map[int]string // by the kernel's number; guarded by open
	guards  guards
	ended   sync.WaitGroup
	looking sync.Mutex // held by who looks
	mu      sync.Mutex
	aside   []Aside // guarded by mu

	wake chan struct{} // something that was put aside may have been ordered
	live context.Context
	die  context.CancelFunc
}

// watched is what may bring something to a folder.
const watched = unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_CLOSE_WRITE | unix.IN_ATTRIB | unix.IN_ONLYDIR | unix.IN_DONT_FOLLOW

// watchFor begins to watch the workspace of a box, or says nothing where the kernel gives no watches: then the look at the end is all.
func watchFor(b *Box) *watcher {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil
	}
	w := &watcher{
		box: b, events: os.NewFile(uintptr(fd), "watch"), number: fd, folders: map[int]string{}, guards: b.before.guards,
		wake: make(chan struct{}, 1),
	}
	if !w.follow() {
		_ = w.events.Close()
		return nil
	}
	w.live, w.die = context.WithCancel(context.Background())
	w.ended.Add(1)
	go w.run()
	if b.want.Ordered != nil && !b.reduced {
		w.ended.Add(1)
		go w.settles()
	}
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
		w.open.Lock() // a reduced box looks after each command as well
		dir := w.folders[number]
		w.open.Unlock()
		if mask&unix.IN_Q_OVERFLOW != 0 || w.guarded(dir, name) {
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
		w.tells(w.box.awaits(aside))
		w.follow()
		for path, p := range now.places {
			if p.info.IsDir() {
				w.fresh(path)
			}
		}
	}
}

// tells takes down what was put aside and not ordered. What may have been is to be asked about.
func (w *watcher) tells(aside []Aside) {
	w.mu.Lock()
	w.aside = append(w.aside, aside...)
	w.mu.Unlock()
	if len(w.box.waits) > 0 {
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}

// stillWaits is how long after one look at what may still be written the next one is.
const stillWaits = 50 * time.Millisecond

// settles asks whether what was put aside was ordered, and takes out of the workspace what was and somebody wants to write to.
func (w *watcher) settles() {
	defer w.ended.Done()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGIO)
	defer signal.Stop(signals)
	var again <-chan time.Time
	var last time.Time
	for {
		select {
		case <-w.live.Done():
			return
		case <-signals:
			w.looking.Lock()
			w.tells(w.box.awaits(w.box.wanted()))
			w.looking.Unlock()
		case <-w.wake: // a command that makes one such file after the other does not keep the monitor busy
			again = time.After(time.Until(last.Add(stillWaits)))
		case <-again:
			last, again = time.Now(), w.settle()
		}
	}
}

// settle is one look at what was put aside; what is returned says when the next is due, if any is.
func (w *watcher) settle() <-chan time.Time {
	at := time.Now()
	orders := w.box.orders(w.live)
	w.looking.Lock()
	defer w.looking.Unlock()
	if w.live.Err() != nil {
		return nil // the last look is the box's end
	}
	aside := w.box.settle(orders, at, false)
	w.mu.Lock()
	w.aside = append(w.aside, aside...)
	w.mu.Unlock()
	if len(w.box.waits) == 0 {
		return nil
	}
	return time.After(stillWaits)
}

// asked waits until everything that was put aside so far has been asked about.
func (w *watcher) asked() {
	until := time.Now().Add(orderWait)
	for w.box.unasked.Load() > 0 && time.Now().Before(until) && w.live.Err() == nil {
		time.Sleep(time.Millisecond)
	}
}

// whole waits until the look that goes on has listed everything that it moved.
func (w *watcher) whole() {
	w.looking.Lock()
	defer w.looking.Unlock()
}

// stop ends the watch.
func (w *watcher) stop() {
	w.die()
	w.open.Lock()
	w.number = -1
	_ = w.events.Close()
	w.open.Unlock()
	w.ended.Wait()
}
