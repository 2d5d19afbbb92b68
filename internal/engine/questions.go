package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/confined"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/question"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/policy"
)

// question is a request as people see it.
func (s *sessionEntry) question(r approval.Request, now int64) Question {
	q := Question{
		ID: r.ID, Session: s.name, Branch: r.Branch, Tool: r.Tool, Args: r.Args, Kind: r.Kind, Rule: r.Rule, Reason: r.Reason,
		Level: r.Level.String(), Step: r.Step, Digest: r.Digest.String(), Asked: time.Unix(0, r.Asked).UTC(),
		Expires: time.Unix(0, r.Expires).UTC(), State: r.State.String(), timeLeft: time.Duration(max(0, r.Expires-now)),
		codeLeft: time.Duration(max(0, r.CodeLives()-now)),
	}
	q.By, q.Agent, q.Agreed, q.People, q.UserUnheard = r.By, s.state.Agent, r.Agreed, r.People, s.state.WordsUnknown()
	if r.State == approval.Pending && now >= r.Expires {
		q.State = "expired"
	}
	const allows = "exactly this call of %s, once; if the policy changes first, or something less trusted is read, it is asked again"
	q.Allows = fmt.Sprintf(allows, r.Tool)
	q.Opens = "nothing further: it is dangerous by itself"
	if r.Kind != policy.KindDanger {
		q.Opens = fmt.Sprintf("%s %s, in this context", r.Tool, r.Keeps.String())
	}
	switch {
	case r.Keeps.Grave():
		q.Opens = "nothing further: such calls are asked about each time"
	case r.Kind != policy.KindDanger && r.Keeps.Act != "" && r.Keeps.Salt != "":
		q.Task = r.Keeps.Opens(taskCalls(&r.Keeps))
	}
	if confined.Verb(r.Tool) != "" {
		q.Allows = "exactly this, until the command that wants it has ended"
		if confined.Verb(r.Tool) == confined.Keep {
			q.Allows = "exactly these files, as they are shown here: one that is another by then is not kept"
		}
	}
	if ask, opinion := s.state.Evidence(r.ID); ask != nil {
		q.Args = cmp.Or(s.bodies(ask), q.Args)
		q.show(ask, opinion, s.state.Item(r.ID))
	} else {
		q.Prompt = q.card().Head()
	}
	q.Always, q.Reads = s.lastingChoices(&r, q.Act)
	return q
}

// outcome is a closed question as people see it.
func (s *sessionEntry) outcome(c approval.Closed, now int64) Question {
	q := s.question(c.Request, now)
	q.State, q.By, q.Note, q.Answered = c.State.String(), c.By, c.Reason, time.Unix(0, c.At).UTC()
	return q
}

// Question reads one question, open or closed of late.
func (m *Monitor) Question(ctx context.Context, name, id string) (Question, error) {
	var q Question
	err := m.with(ctx, Ref{Session: name}, func(s *sessionEntry) error {
		now := m.at(s)
		if r, ok := s.state.Book.Request(id); ok {
			q = s.question(r, now)
			q.Abandoned = m.abandoned(&q)
			return nil
		}
		c, ok := s.state.Book.Outcome(id)
		if !ok {
			return ErrNotFound
		}
		q = s.outcome(c, now)
		return nil
	})
	if err != nil {
		return Question{}, fmt.Errorf("read question: %w", err)
	}
	return q, nil
}

// Find names the session a question belongs to.
func (m *Monitor) Find(ctx context.Context, id string) (session string, ok bool) {
	m.mu.RLock()
	a, ok := m.questions[id]
	m.mu.RUnlock()
	if !ok && m.shared != nil {
		session, err := m.shared.Asked(ctx, id)
		return session, err == nil
	}
	return a.session, ok
}

// FindBy returns the first question whose id satisfies is, among those that are open or were until lately.
func (m *Monitor) FindBy(is func(id string) bool) (id string, ok bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for id := range m.questions {
		if is(id) {
			return id, true
		}
	}
	return "", false
}

// Questions lists what is open in the sessions known since the start, oldest first: the
// queue. With a Shared store, in all of them. It reads sessions with open questions only.
func (m *Monitor) Questions(ctx context.Context) ([]Question, error) {
	names, over := map[string]bool{}, m.now().Add(-listExpired).UnixNano()
	m.mu.RLock()
	for _, a := range m.questions {
		if a.open && a.until > over {
			names[a.session] = true
		}
	}
	m.mu.RUnlock()
	out := []Question{}
	var failed []error
	if m.shared != nil {
		elsewhere, err := m.shared.Asking(ctx, m.now().UnixNano())
		if err != nil {
			failed = append(failed, err)
		}
		for _, name := range elsewhere {
			names[name] = true
		}
	}
	for name := range names {
		err := m.with(ctx, Ref{Session: name}, func(s *sessionEntry) error {
			now := m.at(s)
			for _, r := range s.state.Book.Requests() {
				q := s.question(r, now)
				q.Abandoned = m.abandoned(&q)
				out = append(out, q)
			}
			return nil
		})
		if err != nil && !errors.Is(err, audit.ErrBroken) { // of a session whose log was changed no call runs, whatever is answered
			failed = append(failed, err)
		}
	}
	sort.SliceStable(out, func(i, k int) bool { return out[i].Asked.Before(out[k].Asked) })
	return out, errors.Join(failed...)
}

// Await says that a caller is held until a question has its answer, and goes on by itself then.
// Whoever answers is told so. The caller calls done when it no longer waits; a question whose
// last caller has gone is Abandoned while it is open.
func (m *Monitor) Await(id string) (done func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting[id]++
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.waiting[id]--; !m.questions[id].open && m.waiting[id] <= 0 {
			delete(m.waiting, id) // nobody will ask about it any more
		}
	}
}

// abandoned reports whether callers waited for the answer to a question, and none does now.
func (m *Monitor) abandoned(q *Question) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	n, waited := m.waiting[q.ID]
	return q.Pending() && waited && n <= 0
}

// Withdraw closes a question about a call that its host has given up, where nobody else waits for the answer. It
// opens nothing: the same call asks anew.
func (m *Monitor) Withdraw(ctx context.Context, session, id, by string) error {
	err := m.with(ctx, Ref{Session: session}, func(s *sessionEntry) error {
		now := m.at(s)
		r, ok := s.state.Book.Request(id)
		if q := s.question(r, now); !ok || !m.abandoned(&q) {
			return nil
		}
		a := &event.Answer{By: by, IDs: []string{id}, Verdict: event.Withdraw, Reason: "the agent gave the call up before anybody answered"}
		turn := s.state.Branch(r.Branch).Turn.ID
		if err := m.append(ctx, s, &event.Event{Kind: event.Answered, Time: now, Branch: r.Branch, Turn: turn, Answer: a}); err != nil {
			return err
		}
		delete(s.codes, id)
		return nil
	})
	if err != nil {
		return fmt.Errorf("withdraw question: %w", err)
	}
	return nil
}

// awaited reports whether somebody waits for the answer to each of the questions.
func (m *Monitor) awaited(ids []string) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return !slices.ContainsFunc(ids, func(id string) bool { return m.waiting[id] == 0 })
}

// listed is what the monitor keeps of a question, so that its session need not be read.
type listed struct {
	session string
	until   int64 // Unix nanoseconds; nobody can answer it later
	open    bool  // it waits for an answer, or is approved and not spent
	pending bool  // it waits for an answer
}

// The bounds of what is found by an id alone: how many questions before those that are closed are
// forgotten, and how long one is listed after its time.
const (
	maxAsking   = 4096
	listExpired = time.Hour
)

// index keeps the queue findable. An event that is not recorded after all leaves an id
// that leads nowhere.
// Preconditions: s.mu is held.
func (m *Monitor) index(s *sessionEntry, ask *event.Ask) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if ask.Replaces != "" {
		m.drop(ask.Replaces)
	}
	m.note(ask.ID, listed{s.name, ask.Expires, true, true})
	s.openQuestions = append(s.openQuestions, ask.ID)
}

// Expect says that a question was asked before this start: it is in the queue, and its session is read when
// somebody looks.
func (m *Monitor) Expect(session, id string, until time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.questions[id]; !known {
		m.note(id, listed{session, until.UnixNano(), true, true})
		m.expected[session] = append(m.expected[session], id)
	}
}

// note adds a question, and forgets closed ones where there are many.
// Preconditions: mu is held.
func (m *Monitor) note(id string, a listed) {
	m.questions[id] = a
	if n := len(m.questions); n > maxAsking && n > 2*m.kept {
		over := m.now().Add(-listExpired).UnixNano()
		for id, a := range m.questions {
			if !a.open || a.until < over {
				m.drop(id)
			}
		}
		m.kept = max(len(m.questions), maxAsking)
	}
}

// drop forgets a question. Preconditions: mu is held.
func (m *Monitor) drop(id string) {
	delete(m.questions, id)
	if m.waiting[id] <= 0 {
		delete(m.waiting, id)
	}
}

// track notes which questions of a session are open. One that is not any more is still found by its id.
// Preconditions: s.mu is held and s is loaded.
func (m *Monitor) track(s *sessionEntry) {
	open := s.state.Book.Requests()
	m.mu.Lock()
	defer m.mu.Unlock()
	if more := m.expected[s.name]; more != nil {
		s.openQuestions = append(s.openQuestions, more...)
		delete(m.expected, s.name)
	}
	for _, id := range s.openQuestions {
		if a, known := m.questions[id]; known && !slices.ContainsFunc(open, func(r approval.Request) bool { return r.ID == id }) {
			m.questions[id] = listed{session: a.session, until: a.until}
			if m.waiting[id] <= 0 {
				delete(m.waiting, id)
			}
		}
	}
	s.openQuestions = s.openQuestions[:0]
	for i := range open {
		r := &open[i]
		m.note(r.ID, listed{s.name, r.Expires, true, r.State == approval.Pending})
		s.openQuestions = append(s.openQuestions, r.ID)
	}
}

// OpenQuestions is how many calls wait for an answer, as far as it is known here. It looks at no session.
func (m *Monitor) OpenQuestions() int {
	now := m.now().UnixNano()
	m.mu.RLock()
	defer m.mu.RUnlock()
	n := 0
	for _, a := range m.questions {
		if a.pending && a.until > now {
			n++
		}
	}
	return n
}

// trace adds to values where they come from, what their records call themselves, and what they could be taken for. The log
// keeps that without secrets.
func (s *sessionEntry) trace(shown, kept []event.Shown, words []event.Said, redacted func(string) string) {
	for i := range shown {
		v, k := &shown[i], &kept[i]
		if v.Path == "" || v.Secret || v.Slot == warrant.Cargo.String() && !v.Lacks {
			continue
		}
		from := s.heard.Whence(v.Value)
		if slices.ContainsFunc(shown, func(o event.Shown) bool { return o.Slot == warrant.Measure.String() && o.Path == v.Path }) {
			// A sum has no name: who writes a record with that figure, if only as its id, would name the payment.
			from.Title, from.Facts = "", ""
		}
		v.From, v.Title, v.Said, v.Look = from.From, from.Title, from.Yours, question.Look(v.Value, words)
		k.From, k.Title, k.Said, k.Look = redacted(v.From), redacted(v.Title), v.Said, redacted(v.Look)
		if v.Lacks && (v.Slot == warrant.Object.String() || v.Slot == warrant.Aim.String()) {
			v.Facts = redacted(from.Facts)
			k.Facts = v.Facts
		}
		if v.Lacks {
			v.Packed = question.Unpacked(v.Value, redacted)
			k.Packed = v.Packed
		}
	}
}

// judgedBy tells the book what a mandate says of a call: what it does, and whether something of it is missing that a person
// sees each time.
func (x *step) judgedBy(h *approval.Held) {
	s := x.entry
	if x.wants != nil {
		h.Act = confined.Act(&x.wants.Wanted)
	}
	if s.input.Facts == nil || s.facts.Found == nil {
		return
	}
	w := s.facts.Found
	h.Act = w.Deed.String()
	h.Among = func(list, value string) bool { return s.heard.Among(mandate.SetNamed(list), value) }
	for i := range w.Slots {
		switch slot := &w.Slots[i]; slot.Kind {
		case warrant.Act, warrant.Aim, warrant.Object, warrant.Measure:
			h.Open = h.Open || slot.Fault || slot.Secret
		default:
			h.Open = h.Open || lacks(w.Deed, slot, x.set)
		}
	}
}
