package waiting

import (
	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/event"
)

// room is the callers of one session who wait, or may have to. Feed.mu guards all of it.
type room struct {
	callers int
	news    int               // counts what may change the verdict on any call of the session
	watches map[string]*watch // by question
}

// watch is everybody who waits for one question. All of them share one channel.
type watch struct {
	changed chan struct{} // closed when there is something to look at
	digest  string        // of the call that was asked about
	waiters int           // guarded by Feed.mu
}

// enter announces a caller before its call is judged, so that nothing recorded after
// that is missed; exit takes it back.
func (f *Feed) enter(session string) *room {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.rooms[session]
	if r == nil {
		r = &room{watches: map[string]*watch{}}
		f.rooms[session] = r
	}
	r.callers++
	return r
}

func (f *Feed) exit(session string, r *room) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.callers--; r.callers == 0 {
		delete(f.rooms, session)
	}
}

// heard is how much news there was so far.
func (f *Feed) heard(r *room) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return r.news
}

// join starts to wait for a question; leave ends it.
func (f *Feed) join(r *room, q *tidemark.Question) (w *watch, news int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w = r.watches[q.ID]
	if w == nil || w.awake() {
		w = &watch{changed: make(chan struct{}), digest: q.Digest}
		r.watches[q.ID] = w
	}
	w.waiters++
	f.watching.Add(1)
	return w, r.news
}

func (f *Feed) leave(r *room, q *tidemark.Question, w *watch) (news int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watching.Add(-1)
	if w.waiters--; w.waiters == 0 && r.watches[q.ID] == w {
		delete(r.watches, q.ID)
	}
	return r.news
}

// tell wakes whoever the event concerns.
// Preconditions: Feed.mu is held.
func (r *room) tell(e *event.Event) {
	switch e.Kind {
	case event.Answered:
		for _, id := range e.Answer.IDs {
			r.watches[id].wake()
		}
		if e.Answer.Grant != nil { // it may cover other calls that wait
			r.tellAll(true)
		}
	case event.TrustReset, event.WriteReviewed:
		r.tellAll(true)
	case event.TryFailed: // the last one kills every question
		r.tellAll(false)
	case event.CallDecided:
		r.decided(e.Decided)
	}
}

// decided wakes those whose question the decision closed: it was replaced, its approval
// is spent, or the call went through without an answer.
func (r *room) decided(d *event.Decided) {
	if d.Ask != nil {
		r.watches[d.Ask.Replaces].wake()
	}
	if d.Effect != "allow" || len(r.watches) == 0 {
		return
	}
	digest := d.Digest.String()
	for id, w := range r.watches {
		if id == d.Spent || w.digest == digest {
			w.wake()
		}
	}
}

func (r *room) tellAll(news bool) {
	if news {
		r.news++
	}
	for _, w := range r.watches {
		w.wake()
	}
}

func (w *watch) wake() {
	if w != nil && !w.awake() {
		close(w.changed)
	}
}

func (w *watch) awake() bool {
	select {
	case <-w.changed:
		return true
	default:
		return false
	}
}
