package notify

import "github.com/tidemark/tidemark/internal/event"

// audience is those who listen to one session. Store.mu guards all of it.
type audience struct {
	listeners int
	news      int              // counts what may change the verdict on any call of the session
	bells     map[string]*bell // by question
}

// bell is what everybody who watches one question hears.
type bell struct {
	rung    chan struct{} // closed when there is something to look at
	digest  string        // of the call that was asked about
	waiters int           // guarded by Store.mu
}

// Listener hears what happens in one session. One belongs to one caller.
type Listener struct {
	store   *Store
	session string
	to      *audience
}

// Listen begins to listen to a session; nothing recorded after that is missed. Close ends
// it.
func (s *Store) Listen(session string) *Listener {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.audiences[session]
	if a == nil {
		a = &audience{bells: map[string]*bell{}}
		s.audiences[session] = a
	}
	a.listeners++
	return &Listener{store: s, session: session, to: a}
}

// Close ends it. A listener is closed once.
func (l *Listener) Close() {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	if l.to.listeners--; l.to.listeners == 0 {
		delete(l.store.audiences, l.session)
	}
}

// News is how much there was so far that may change the verdict on any call of the
// session: a grant, a reset, a reviewed write.
func (l *Listener) News() int {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	return l.to.news
}

// Watch is one caller's interest in one question.
type Watch struct {
	by       *Listener
	question string
	bell     *bell
}

// Watch begins to watch a question about the call of that digest, and says how much news
// there was so far. Stop ends it.
func (l *Listener) Watch(question, digest string) (w *Watch, news int) {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	b := l.to.bells[question]
	if b == nil || b.isRung() {
		b = &bell{rung: make(chan struct{}), digest: digest}
		l.to.bells[question] = b
	}
	b.waiters++
	l.store.watching.Add(1)
	return &Watch{l, question, b}, l.to.news
}

// Changed is closed when something was recorded that may have changed the question, or
// the verdict on its call.
func (w *Watch) Changed() <-chan struct{} { return w.bell.rung }

// Stop ends it. A watch is stopped once.
func (w *Watch) Stop() {
	s, a := w.by.store, w.by.to
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watching.Add(-1)
	if w.bell.waiters--; w.bell.waiters == 0 && a.bells[w.question] == w.bell {
		delete(a.bells, w.question)
	}
}

// Watching is how many watches there are now: callers who wait for an answer.
func (s *Store) Watching() int64 { return s.watching.Load() }

// Listening is how many sessions somebody listens to.
func (s *Store) Listening() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.audiences)
}

// tell wakes whoever the event concerns.
// Preconditions: Store.mu is held.
func (a *audience) tell(e *event.Event) {
	switch e.Kind {
	case event.Answered:
		for _, id := range e.Answer.IDs {
			a.bells[id].ring()
		}
		if e.Answer.Grant != nil { // it may cover other calls that wait
			a.tellAll(true)
		}
	case event.TrustReset, event.WriteReviewed:
		a.tellAll(true)
	case event.TryFailed: // the last one kills every question
		a.tellAll(false)
	case event.CallDecided:
		a.decided(e.Decided)
	}
}

// decided wakes those whose question the decision closed: it was replaced, its approval
// is spent, or the call went through without an answer.
func (a *audience) decided(d *event.Decided) {
	if d.Ask != nil {
		a.bells[d.Ask.Replaces].ring()
	}
	if !d.Runs() || len(a.bells) == 0 {
		return
	}
	digest := d.Digest.String()
	for id, b := range a.bells {
		if id == d.Spent || b.digest == digest {
			b.ring()
		}
	}
}

func (a *audience) tellAll(news bool) {
	if news {
		a.news++
	}
	for _, b := range a.bells {
		b.ring()
	}
}

func (b *bell) ring() {
	if b != nil && !b.isRung() {
		close(b.rung)
	}
}

func (b *bell) isRung() bool {
	select {
	case <-b.rung:
		return true
	default:
		return false
	}
}
