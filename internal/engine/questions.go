package engine

import (
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
)

// Question reads one question, open or closed of late.
func (m *Monitor) Question(ctx context.Context, name, id string) (Question, error) {
	var q Question
	err := m.with(ctx, Ref{Session: name}, func(s *sessionEntry) error {
		now := m.table.At(s.Entry)
		if r, ok := s.State.Book.Request(id); ok {
			q = s.question(r, now)
			q.Abandoned = m.questions.Abandoned(&q)
			return nil
		}
		c, ok := s.State.Book.Outcome(id)
		if !ok {
			return ErrNotFound
		}
		q = s.questions().Outcome(c, now)
		return nil
	})
	if err != nil {
		return Question{}, fmt.Errorf("read question: %w", err)
	}
	return q, nil
}

// Find names the session a question belongs to.
func (m *Monitor) Find(ctx context.Context, id string) (session string, ok bool) {
	session, ok = m.questions.Find(id)
	if !ok && m.shared != nil {
		session, err := m.shared.Asked(ctx, id)
		return session, err == nil
	}
	return session, ok
}

// Questions lists what is open in the sessions known since the start, oldest first: the
// queue. With a Shared store, in all of them. It reads sessions with open questions only.
func (m *Monitor) Questions(ctx context.Context) ([]Question, error) {
	names := map[string]bool{}
	m.questions.Asking(names)
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
			now := m.table.At(s.Entry)
			for _, r := range s.State.Book.Requests() {
				q := s.question(r, now)
				q.Abandoned = m.questions.Abandoned(&q)
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

// Withdraw closes a question about a call that its host has given up, where nobody else waits for the answer. It
// opens nothing: the same call asks anew.
func (m *Monitor) Withdraw(ctx context.Context, session, id, by string) error {
	err := m.with(ctx, Ref{Session: session}, func(s *sessionEntry) error {
		now := m.table.At(s.Entry)
		r, ok := s.State.Book.Request(id)
		if q := s.question(r, now); !ok || !m.questions.Abandoned(&q) {
			return nil
		}
		a := &event.Answer{By: by, IDs: []string{id}, Verdict: event.Withdraw, Reason: "the agent gave the call up before anybody answered"}
		turn := s.State.Branch(r.Branch).Turn.ID
		e := &event.Event{Kind: event.Answered, Time: now, Branch: r.Branch, Turn: turn, Answer: a}
		if err := m.table.Append(ctx, s.Entry, e); err != nil {
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
			h.Open = h.Open || question.Lacks(w.Deed, slot, x.set)
		}
	}
}

// FindBy returns the first question whose id satisfies is, among those that are open or were until lately.
func (m *Monitor) FindBy(is func(id string) bool) (id string, ok bool) { return m.questions.FindBy(is) }

// Await says that a caller is held until a question has its answer, and goes on by itself then. Whoever answers is told so. The caller
// calls done when it no longer waits; a question whose last caller has gone is Abandoned while it is open.
func (m *Monitor) Await(id string) (done func()) { return m.questions.Await(id) }

// Expect says that a question was asked before this start: it is in the queue, and its session is read when somebody looks.
func (m *Monitor) Expect(session, id string, until time.Time) { m.questions.Expect(session, id, until) }

// OpenQuestions is how many calls wait for an answer, as far as it is known here. It looks at no session.
func (m *Monitor) OpenQuestions() int { return m.questions.Open() }

// questions is the session as its questions are told.
// Preconditions: s.mu is held and s is loaded.
func (s *sessionEntry) questions() question.About {
	return question.About{Session: s.Name, State: s.State, Bodies: s.bodies, Defined: func(name string) bool { return s.pin(name) != "" }}
}

// question is a request as people see it.
func (s *sessionEntry) question(r approval.Request, now int64) question.Question {
	return s.questions().Of(r, now)
}
