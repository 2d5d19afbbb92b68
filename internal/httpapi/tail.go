package httpapi

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/internal/store/notify"
)

// tail reads what is new in the log, once for all who watch it, and hands each what it wants to see. A record that a watcher did
// not ask for costs that watcher nothing. While nobody watches it does nothing.
type tail struct {
	log  Log
	feed *notify.Store
	idle chan struct{} // holds one; told when the last watcher has left

	mu       sync.Mutex
	running  bool              // guarded by mu
	last     int64             // guarded by mu; id of the last record that was handed out
	watchers map[*watcher]bool // guarded by mu; those that have everything up to last, or will
}

// watcher is one client that has seen everything the log held when it came.
type watcher struct {
	session, kind string
	bell          chan struct{} // holds one; rung when there is something to take

	queue  []piece // guarded by tail.mu
	after  int64   // guarded by tail.mu; the last record it has, wanted or not
	behind bool    // guarded by tail.mu; it is too slow, and reads on from the log by itself
}

// piece is a record as it goes out.
type piece struct {
	id      int64
	session string
	text    []byte // everybody's
}

// maxQueue bounds what is kept for a client that does not read: places, since the records are everybody's.
const maxQueue = 4096

func newTail(log Log, feed *notify.Store) *tail {
	return &tail{log: log, feed: feed, idle: make(chan struct{}, 1), watchers: map[*watcher]bool{}}
}

// join has a client told from now on that has seen everything up to a record. It is false where others have been told of later ones
// already: the client reads on, and tries again.
func (t *tail) join(w *watcher, after int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running && t.last > after {
		return false
	}
	w.after, w.behind, w.queue = after, false, nil
	t.watchers[w] = true
	if !t.running {
		t.running, t.last = true, after
		go t.run()
	}
	return true
}

// leave ends it.
func (t *tail) leave(w *watcher) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.watchers, w)
	if len(t.watchers) == 0 {
		select {
		case t.idle <- struct{}{}:
		default:
		}
	}
}

// take is what came for a client. Behind says that it must read on by itself, from the record after.
func (t *tail) take(w *watcher) (pieces []piece, behind bool, after int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	pieces, w.queue = w.queue, nil
	if w.behind {
		delete(t.watchers, w)
	}
	return pieces, w.behind, w.after
}

// run hands out records until nobody watches.
func (t *tail) run() {
	for {
		grown := t.feed.Grown() // before reading, or a record could slip in between
		for t.read() {
		}
		t.mu.Lock()
		n := len(t.watchers)
		t.running = n > 0
		t.mu.Unlock()
		if n == 0 {
			return
		}
		select {
		case <-grown:
		case <-t.idle:
		}
		if n > fewWatchers {
			t.gather()
		}
	}
}

// Many watchers are told of what came in a moment together: a write to each of them for each commit would take the time of those
// who wait for the commit.
const (
	fewWatchers = 16
	moment      = 50 * time.Millisecond
)

func (t *tail) gather() {
	timer := time.NewTimer(moment)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.idle:
	}
}

// read hands out the next records, and reports whether there may be more.
func (t *tail) read() bool {
	t.mu.Lock()
	q := store.EntryQuery{After: t.last, Limit: store.MaxLimit}
	watched := len(t.watchers) > 0
	t.mu.Unlock()
	if !watched {
		return false
	}
	entries, err := t.log.Since(context.Background(), q)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil { // everybody finds out for themselves, and is told so
		for w := range t.watchers {
			w.fallBack()
		}
		return false
	}
	for i := range entries {
		t.hand(&entries[i])
	}
	return len(entries) > 0
}

// hand gives a record to those who want it. Preconditions: mu is held.
func (t *tail) hand(e *store.Entry) {
	t.last = e.ID
	var text []byte
	for w := range t.watchers {
		if w.behind || e.ID <= w.after {
			continue
		}
		if !w.wants(e) {
			w.after = e.ID
			continue
		}
		if text == nil {
			var err error
			if text, err = sentEvent(*e); err != nil {
				w.fallBack()
				continue
			}
		}
		if len(w.queue) >= maxQueue {
			w.fallBack()
			continue
		}
		w.queue, w.after = append(w.queue, piece{e.ID, e.Session, text}), e.ID
		w.ring()
	}
}

func (w *watcher) wants(e *store.Entry) bool {
	return (w.session == "" || w.session == e.Session) && (w.kind == "" || w.kind == e.Kind)
}

// fallBack has a client read by itself. Preconditions: tail.mu is held.
func (w *watcher) fallBack() {
	w.behind = true
	w.ring()
}

func (w *watcher) ring() {
	select {
	case w.bell <- struct{}{}:
	default:
	}
}

// sentEvent is a record as a server-sent event.
func sentEvent(e store.Entry) ([]byte, error) {
	body, err := strictjson.Marshal(recordOf(e))
	if err != nil {
		return nil, fmt.Errorf("encode record %d: %w", e.ID, err)
	}
	return fmt.Appendf(nil, "id: %d\nevent: record\ndata: %s\n\n", e.ID, body), nil // JSON has no line breaks of its own
}
