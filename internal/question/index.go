package question

import (
	"slices"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/internal/event"
)

// The bounds of what is found by an id alone: how many questions before those that are closed are
// forgotten, and how long one is listed after its time.
const (
	maxAsking   = 4096
	listExpired = time.Hour
)

// Index finds open questions by their ids alone, and knows who waits for the answers. It is safe for concurrent use.
type Index struct {
	now func() time.Time

	mu        sync.RWMutex
	questions map[string]listed   // guarded by mu; by their id
	expected  map[string][]string // guarded by mu; of those, the ones that no look at their session has confirmed, by session
	waiting   map[string]int      // guarded by mu; how many wait for the answer to a question
	kept      int                 // guarded by mu; how many of questions were open when it was last cleared
}

// NewIndex makes an Index of nothing.
func NewIndex(now func() time.Time) *Index {
	return &Index{now: now, questions: map[string]listed{}, expected: map[string][]string{}, waiting: map[string]int{}}
}

// Find names the session of a question.
func (x *Index) Find(id string) (session string, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	a, ok := x.questions[id]
	return a.session, ok
}

// Asking adds the sessions that have open questions.
func (x *Index) Asking(names map[string]bool) {
	over := x.now().Add(-listExpired).UnixNano()
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, a := range x.questions {
		if a.open && a.until > over {
			names[a.session] = true
		}
	}
}

// listed is what the monitor keeps of a question, so that its session need not be read.
type listed struct {
	session string
	until   int64 // Unix nanoseconds; nobody can answer it later
	open    bool  // it waits for an answer, or is approved and not spent
	pending bool  // it waits for an answer
}

// Ask keeps the queue findable: a question is being asked in a session. An event that is not recorded after all leaves an id that leads
// nowhere.
func (x *Index) Ask(session string, ask *event.Ask) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if ask.Replaces != "" {
		x.drop(ask.Replaces)
	}
	x.note(ask.ID, listed{session, ask.Expires, true, true})
}

// Expect says that a question was asked before this start: it is in the queue, and its session is read when
// somebody looks.
func (x *Index) Expect(session, id string, until time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, known := x.questions[id]; !known {
		x.note(id, listed{session, until.UnixNano(), true, true})
		x.expected[session] = append(x.expected[session], id)
	}
}

// note adds a question, and forgets closed ones where there are many.
// Preconditions: mu is held.
func (x *Index) note(id string, a listed) {
	x.questions[id] = a
	if n := len(x.questions); n > maxAsking && n > 2*x.kept {
		over := x.now().Add(-listExpired).UnixNano()
		for id, a := range x.questions {
			if !a.open || a.until < over {
				x.drop(id)
			}
		}
		x.kept = max(len(x.questions), maxAsking)
	}
}

// drop forgets a question. Preconditions: mu is held.
func (x *Index) drop(id string) {
	delete(x.questions, id)
	if x.waiting[id] <= 0 {
		delete(x.waiting, id)
	}
}

// Track notes which questions of a session are open, and which of before are not any more: those are still found by their ids. It returns
// those that are open.
func (x *Index) Track(session string, before []string, open []approval.Request) []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	if more := x.expected[session]; more != nil {
		before = append(before, more...)
		delete(x.expected, session)
	}
	for _, id := range before {
		if a, known := x.questions[id]; known && !slices.ContainsFunc(open, func(r approval.Request) bool { return r.ID == id }) {
			x.questions[id] = listed{session: a.session, until: a.until}
			if x.waiting[id] <= 0 {
				delete(x.waiting, id)
			}
		}
	}
	before = before[:0]
	for i := range open {
		r := &open[i]
		x.note(r.ID, listed{session, r.Expires, true, r.State == approval.Pending})
		before = append(before, r.ID)
	}
	return before
}

// Open is how many calls wait for an answer, as far as it is known here. It looks at no session.
func (x *Index) Open() int {
	now := x.now().UnixNano()
	x.mu.RLock()
	defer x.mu.RUnlock()
	n := 0
	for _, a := range x.questions {
		if a.pending && a.until > now {
			n++
		}
	}
	return n
}

// Await says that a caller is held until a question has its answer, and goes on by itself then.
// Whoever answers is told so. The caller calls done when it no longer waits; a question whose
// last caller has gone is Abandoned while it is open.
func (x *Index) Await(id string) (done func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.waiting[id]++
	return func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		if x.waiting[id]--; !x.questions[id].open && x.waiting[id] <= 0 {
			delete(x.waiting, id) // nobody will ask about it any more
		}
	}
}

// Abandoned reports whether callers waited for the answer to a question, and none does now.
func (x *Index) Abandoned(q *Question) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	n, waited := x.waiting[q.ID]
	return q.Pending() && waited && n <= 0
}

// Awaited reports whether somebody waits for the answer to each of the questions.
func (x *Index) Awaited(ids []string) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return !slices.ContainsFunc(ids, func(id string) bool { return x.waiting[id] == 0 })
}

// FindBy returns the first question whose id satisfies is, among those that are open or were until lately.
func (x *Index) FindBy(is func(id string) bool) (id string, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for id := range x.questions {
		if is(id) {
			return id, true
		}
	}
	return "", false
}
