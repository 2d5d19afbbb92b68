package tidemark

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"time"

	"github.com/tidemark/tidemark/approval"
	"github.com/tidemark/tidemark/audit"
	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/confined"
	"github.com/tidemark/tidemark/internal/question"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/policy"
)

// question is a request as people see it.
func (s *live) question(r approval.Request, now int64) Question {
	q := Question{
		ID: r.ID, Session: s.name, Branch: r.Branch, Tool: r.Tool, Args: r.Args, Kind: r.Kind, Rule: r.Rule, Reason: r.Reason,
		Level: r.Level.String(), Step: r.Step, Digest: r.Digest.String(), Asked: time.Unix(0, r.Asked).UTC(),
		Expires: time.Unix(0, r.Expires).UTC(), State: r.State.String(), timeLeft: time.Duration(max(0, r.Expires-now)),
		codeLeft: time.Duration(max(0, r.CodeLives()-now)),
	}
	q.By, q.Agent, q.Agreed, q.People, q.Wordless = r.By, s.state.Agent, r.Agreed, r.People, s.state.WordsUnknown()
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
func (s *live) outcome(c approval.Closed, now int64) Question {
	q := s.question(c.Request, now)
	q.State, q.By, q.Note, q.Answered = c.State.String(), c.By, c.Reason, time.Unix(0, c.At).UTC()
	return q
}

// Question reads one question, open or closed of late.
func (m *Monitor) Question(ctx context.Context, name, id string) (Question, error) {
	var q Question
	err := m.with(ctx, Ref{Session: name}, func(s *live) error {
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

// Shared is what a monitor asks of a store that others write to as well: where they asked
// something. Everything else it reads from the log, each time before it answers.
type Shared interface {
	// Asking names the sessions that asked something which had not expired by then (Unix
	// nanoseconds). They are looked at before anybody is shown a question.
	Asking(ctx context.Context, now int64) ([]string, error)
	// Asked names the session of a question; ErrNotFound: nobody knows it.
	Asked(ctx context.Context, id string) (session string, err error)
}

// Find names the session a question belongs to.
func (m *Monitor) Find(ctx context.Context, id string) (session string, ok bool) {
	m.mu.RLock()
	a, ok := m.asking[id]
	m.mu.RUnlock()
	if !ok && m.shared != nil {
		session, err := m.shared.Asked(ctx, id)
		return session, err == nil
	}
	return a.session, ok
}

// FindBy names a question that is open, or was of late, by something else that its id tells.
func (m *Monitor) FindBy(is func(id string) bool) (id string, ok bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for id := range m.asking {
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
	for _, a := range m.asking {
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
		err := m.with(ctx, Ref{Session: name}, func(s *live) error {
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
		if m.waiting[id]--; !m.asking[id].open && m.waiting[id] <= 0 {
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
	err := m.with(ctx, Ref{Session: session}, func(s *live) error {
		now := m.at(s)
		r, ok := s.state.Book.Request(id)
		if q := s.question(r, now); !ok || !m.abandoned(&q) {
			return nil
		}
		a := &event.Answer{By: by, IDs: []string{id}, Verdict: event.Withdraw, Reason: "the call was given up before anybody answered"}
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

// asked is what is known of a question without a look at its session.
type asked struct {
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
func (m *Monitor) index(s *live, ask *event.Ask) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if ask.Replaces != "" {
		m.drop(ask.Replaces)
	}
	m.note(ask.ID, asked{s.name, ask.Expires, true, true})
	s.asking = append(s.asking, ask.ID)
}

// Expect says that a question was asked before this start: it is in the queue, and its session is read when
// somebody looks.
func (m *Monitor) Expect(session, id string, until time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.asking[id]; !known {
		m.note(id, asked{session, until.UnixNano(), true, true})
		m.expected[session] = append(m.expected[session], id)
	}
}

// note adds a question, and forgets closed ones where there are many.
// Preconditions: mu is held.
func (m *Monitor) note(id string, a asked) {
	m.asking[id] = a
	if n := len(m.asking); n > maxAsking && n > 2*m.kept {
		over := m.now().Add(-listExpired).UnixNano()
		for id, a := range m.asking {
			if !a.open || a.until < over {
				m.drop(id)
			}
		}
		m.kept = max(len(m.asking), maxAsking)
	}
}

// drop forgets a question. Preconditions: mu is held.
func (m *Monitor) drop(id string) {
	delete(m.asking, id)
	if m.waiting[id] <= 0 {
		delete(m.waiting, id)
	}
}

// track notes which questions of a session are open. One that is not any more is still found by its id.
// Preconditions: s.mu is held and s is loaded.
func (m *Monitor) track(s *live) {
	open := s.state.Book.Requests()
	m.mu.Lock()
	defer m.mu.Unlock()
	if more := m.expected[s.name]; more != nil {
		s.asking = append(s.asking, more...)
		delete(m.expected, s.name)
	}
	for _, id := range s.asking {
		if a, known := m.asking[id]; known && !slices.ContainsFunc(open, func(r approval.Request) bool { return r.ID == id }) {
			m.asking[id] = asked{session: a.session, until: a.until}
			if m.waiting[id] <= 0 {
				delete(m.waiting, id)
			}
		}
	}
	s.asking = s.asking[:0]
	for i := range open {
		r := &open[i]
		m.note(r.ID, asked{s.name, r.Expires, true, r.State == approval.Pending})
		s.asking = append(s.asking, r.ID)
	}
}

// OpenQuestions is how many calls wait for an answer, as far as it is known here. It looks at no session.
func (m *Monitor) OpenQuestions() int {
	now := m.now().UnixNano()
	m.mu.RLock()
	defer m.mu.RUnlock()
	n := 0
	for _, a := range m.asking {
		if a.pending && a.until > now {
			n++
		}
	}
	return n
}

// Line is one paragraph of a question, with its name; the first has none. A paragraph of
// several lines holds one thing in each.
type Line struct{ Name, Text string }

// NobodyWaits is said of a question that is Abandoned.
const NobodyWaits = question.NobodyWaits

// Lines are the question as every surface shows it: what would happen, the call with each value as it is (secrets apart),
// what is missing and where it comes from, what stands behind the rest, what the user asked for, what was read, and what
// each kind of yes opens.
func (q *Question) Lines() []Line {
	var lines []Line
	for _, l := range q.card().Lines() {
		lines = append(lines, Line(l))
	}
	lines[0].Text = q.Prompt
	return lines
}

// Text is the question in plain text.
func (q *Question) Text() string {
	lines := q.card().Lines()
	lines[0].Text = q.Prompt
	return question.Text(lines)
}

// Whole is its call with nothing folded, and what was read that only the user may read.
func (q *Question) Whole() string { return q.card().Whole() }

// Folded is what was read that only the user may read, with the figures that the lines fold: they go to chats.
func (q *Question) Folded() []string { return q.card().WasRead() }

// Would is what would happen, in words; empty where nobody looked at what the call does.
func (q *Question) Would() string { return q.card().Would() }

// NameItem is an item of the mandate in words, as the log, the question and the commands name it.
func NameItem(i *event.Covering) string { return question.Named(i) }

// Whence says in words what stands behind a value of a call.
func Whence(v event.Shown) string { return question.Whence(v) }

// lacks reports whether a slot has less behind it than the policy wants.
func lacks(d warrant.Deed, s *warrant.Slot, set *policy.Set) bool {
	need := set.Needs(d.String(), s.Kind.String())
	return need == "ask" || s.Has < warrant.EvidenceNamed(need)
}

// The bounds of the values that a question shows. One that decides is shown whole: an address, a sum, a command.
const (
	maxValuesShown = 12
	maxValueShown  = 500
)

// redactedValue stands for a secret.
const redactedValue = "[REDACTED]"

// shownValues are what a question shows of the slots of a call: those that lack evidence
// first, then the others. Those the user or the operator never said are nobody's secret: they
// are shown as they are, in memory only.
func shownValues(w *warrant.Warrant, set *policy.Set, redact func(path, value string) string) (live, kept []event.Shown) {
	if w == nil {
		return nil, nil
	}
	for _, lacking := range []bool{true, false} {
		for i := range w.Slots {
			s := &w.Slots[i]
			if lacks(w.Deed, s, set) != lacking || len(live) == maxValuesShown {
				continue
			}
			v := event.Shown{
				Path: text.Cover(redact("", s.Path), 100), Slot: s.Kind.String(), Value: text.Cover(s.Value, maxValueShown),
				Has: s.Has.String(), Why: redact("", s.Why), Lacks: lacking,
				Secret: s.Secret || s.Kind == warrant.Key,
			}
			k := v
			if k.Value = redact(s.Path, v.Value); v.Secret {
				k.Value = redactedValue
			}
			if s.Has >= warrant.Own {
				v = k
			}
			live, kept = append(live, v), append(kept, k)
		}
	}
	return live, kept
}

// quotation is words of the user without secrets, as the log names an item by them: one item covers many calls.
type quotation struct {
	said, redacted string // as it was, and without them
	by             string // the version of the policy whose secrets were taken out
}

// covering is the item that a call was held against, as the log and the question name it, with the slots that it does not
// hold; nil: nobody looked.
func (s *live) covering(set *policy.Set, w *warrant.Warrant, shown []event.Shown) *event.Covering {
	out := itemOf(w, shown)
	if w.Item != nil {
		if q := &s.quoted; q.said != w.Item.Quote || q.by != set.Version() {
			q.said, q.by, q.redacted = w.Item.Quote, set.Version(), set.Redactor().Text(w.Item.Quote)
		}
		out.Quote = s.quoted.redacted
	}
	return out
}

// trace adds to values where they come from, what their records call themselves, and what they could be taken for. The log
// keeps that without secrets.
func (s *live) trace(shown, kept []event.Shown, words []event.Said, redacted func(string) string) {
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

// keepItem adds to what a grant keeps what the mandate says of the call: further ones do the same to the same, or to another
// of the same list, and no more of it.
func (s *live) keepItem(k *event.Kept, w *warrant.Warrant) {
	k.Act = w.Deed.String()
	for i := range w.Slots {
		slot := &w.Slots[i]
		if _, fixed := k.Fixed[slot.Path]; !fixed {
			continue // what is no plain argument stays as it is, or is free and looked at
		}
		switch slot.Kind {
		case warrant.Object:
			if set := s.heard.Whence(slot.Value).Set; set.Many > 1 {
				k.Lists = put(k.Lists, slot.Path, set.String())
			}
		case warrant.Measure:
			if n, err := strconv.ParseFloat(slot.Value, 64); err == nil && n >= 0 {
				k.Most = put(k.Most, slot.Path, n)
			}
		}
	}
}

// judgedBy tells the book what a mandate says of a call: what it does, and whether something of it is missing that a person
// sees each time.
func (x *step) judgedBy(h *approval.Held) {
	s := x.live
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
