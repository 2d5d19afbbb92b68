// Package session is the fold: the state of a session is what its events make of it, one
// after the other, and nothing else. It is pure.
//
// State is the fold of a whole session, Taint that of one of its contexts. Each is the
// same on every machine and after every restart.
//
// Invariant: marks only fall in trust, except for an owner's recorded reset.
package session

import (
	"slices"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// Taint is the fold of one branch's events: what its context holds by now.
// The zero Taint is a context nobody began: untrusted and private.
type Taint struct {
	Mark      trust.Label // the high-water mark of everything that entered
	Levels    uint8       // bit l is set when content of level l entered
	Tainted   bool        // a taint source fired, or the context began with one
	Sensitive bool        // a sensitive read happened
	Unheard   bool        // something from outside came in that nobody reported
	Turn      Turn

	begun   bool
	caution Caution
	owed    pending
	open    ring
	past    [8]string // turns sealed of late, so that what still comes in for them is known to be late
	next    int       // where in past the next one goes
}

// Turn is where the branch's latest turn stands.
type Turn struct {
	ID        string
	Open      bool
	Auto      bool // named by us: calls with a run id the host never announced belong to it
	Fresh     bool // nothing but its beginning happened yet
	Blocked   bool // a rule ended it
	Said      bool // its message is recorded
	Owner     bool // started by the verified owner
	Command   bool // its message is a chat command
	Provider  string
	Level     trust.Level // the classification of its sender
	Iteration int
	Models    int // model calls so far
}

// pending is what calls that were let through will bring, until results arrive.
type pending struct {
	any         bool
	level       trust.Level
	sensitivity trust.Sensitivity
	source      bool
	sensitive   bool
}

// Begun reports whether anybody ever began a turn in this context.
func (t *Taint) Begun() bool { return t.begun }

// Sealed reports whether the turn of that name has ended; "" is the latest one.
func (t *Taint) Sealed(turn string) bool {
	if turn == "" || turn == t.Turn.ID {
		return t.Turn.ID != "" && !t.Turn.Open
	}
	return slices.Contains(t.past[:], turn)
}

// Settled is the mark with what calls still owe that were let through: what the context
// holds once they are done, whether anybody reports their results or not.
func (t *Taint) Settled() trust.Label {
	if !t.owed.any {
		return t.Mark
	}
	c := t.Clone()
	c.settle()
	return c.Mark
}

// With is the context as it would be with something in it that has this label.
func (t *Taint) With(l trust.Label) *Taint {
	c := t.Clone()
	c.enter(l)
	c.Tainted = c.Tainted || l.Level <= trust.External
	return c
}

// Clone is a copy that can be folded further without touching t.
func (t *Taint) Clone() *Taint {
	c := *t
	c.open.calls = slices.Clone(t.open.calls)
	return &c
}

// Has reports whether the open turn is the one of that name; "" is whichever is open.
func (t *Turn) Has(name string) bool { return t.Open && (name == "" || name == t.ID || t.Auto) }

// Call is what is remembered of a recent call until its result arrives.
type Call struct {
	ID     string
	Tool   string
	Step   uint64
	Level  trust.Level
	Sens   trust.Sensitivity
	Source bool
	Secret bool
	Wary   bool   // what follows its result is audited
	Run    string // the start of the server that records its result after it was shown; "": whoever reports it
	Seen   bool   // its result has been recorded, or counted without one

	Ticket *tool.Digest // of a call that runs in a box; nil: of others
	LookUp string       // the name that we look up by it ourselves; "": the agent wanted it

	Returns bool // it starts a sub-agent that is to return a value
}

// Call finds a recent call by its host id, or the latest unanswered one of the tool.
func (t *Taint) Call(id, tool string) (Call, bool) {
	if c := t.open.find(id, tool); c != nil {
		return *c, true
	}
	return Call{}, false
}

// Apply folds one event of this branch. It costs the same however long the session is.
func (t *Taint) Apply(e *event.Event) {
	switch e.Kind {
	case event.TurnBegan:
		t.begin(e)
	case event.ContextSeen:
		t.Turn.Said = t.Turn.Said || e.Seen.Content != nil
		t.enter(e.Seen.Label)
	case event.ResultSeen:
		t.Turn.Fresh = t.Turn.Fresh && e.Late
		t.read(e.Seen)
	case event.ModelCalled:
		t.Turn.Fresh = false
		t.Turn.Iteration = e.Iteration
		t.Turn.Models++
		t.Turn.Blocked = t.Turn.Blocked || e.Model.Blocked
		t.settle()
	case event.CallDecided:
		t.Turn.Fresh = t.Turn.Fresh && e.Late
		if e.Decided.Runs() && !e.Decided.Gated {
			t.expect(e.Decided)
		}
	case event.TrustReset:
		t.reset(e.Answer.Level)
	case event.TurnSealed:
		t.Turn.Open = false
		t.past[t.next], t.next = t.Turn.ID, (t.next+1)%len(t.past)
		t.settle()
		t.open = ring{}
	}
}

// read takes a result in. One that is kept from the agent answers its call, and nothing of it enters.
func (t *Taint) read(s *event.Seen) {
	switch {
	case s.Refused != "":
		t.open.refuse(s.CallID, s.Tool)
		t.owe()
	case s.Held == nil:
		t.enter(s.Label)
		t.Tainted = t.Tainted || s.Source
		t.Sensitive = t.Sensitive || s.Sensitive
		t.caution.seen(s.Tool, s.Caution)
		t.open.answer(s.CallID, s.Tool)
	case s.Held.Owed:
		for i := range t.open.calls {
			if c := &t.open.calls[i]; c.Returns && !c.Seen {
				c.Level, c.Sens = c.Level.Join(s.Label.Level), c.Sens.Join(s.Label.Sensitivity)
				c.Source, c.Secret, c.Wary = c.Source || s.Source, c.Secret || s.Sensitive, c.Wary || s.Caution
				t.owed.add(c)
			}
		}
	case !s.Held.Extracted: // otherwise it is a value of one that has come
		t.open.answer(s.CallID, s.Tool)
		t.owe()
	}
}

// Awaits reports whether the only sub-agents whose results are to come are such as return a value.
func (t *Taint) Awaits(tool string) bool {
	some := false
	for i := range t.open.calls {
		switch c := &t.open.calls[i]; {
		case c.Seen || c.Tool != tool:
		case !c.Returns:
			return false
		default:
			some = true
		}
	}
	return some && !t.open.lost
}

// owe counts anew what calls still bring, unless some of them are forgotten.
func (t *Taint) owe() {
	if t.open.lost {
		return
	}
	t.owed = pending{}
	for i := range t.open.calls {
		if c := &t.open.calls[i]; !c.Seen {
			t.owed.add(c)
		}
	}
}

func (t *Taint) begin(e *event.Event) {
	b := e.Began
	if t.begun && b.Carry {
		t.settle()
		t.enter(b.Label)
	} else {
		// A fresh context, or the seed's per-turn scope: the mark starts over. Session
		// taint in the sense of SEQ-03 does not.
		t.Mark, t.Levels, t.owed, t.begun = b.Label, 1<<b.Label.Level, pending{}, true
		t.Tainted = t.Tainted || b.Label.Level <= trust.External
		t.Sensitive = t.Sensitive || b.Label.Sensitivity >= trust.Private // what it starts from was read by somebody
	}
	if i := slices.Index(t.past[:], e.Turn); i >= 0 {
		t.past[i] = "" // a host that uses a name again
	}
	if !b.Command { // a command is no new task: what was read still steers the model
		t.caution.begin()
	}
	for _, name := range b.Caution {
		t.caution.seen(name, true)
	}
	t.Turn = Turn{
		ID: e.Turn, Open: true, Auto: b.Auto, Fresh: true, Said: b.Message != nil,
		Owner: b.Sender.IsOwner && b.Sender.SpawnedBy == "", Command: b.Command,
		Provider: b.Sender.Provider, Level: b.Level,
	}
}

// enter lowers the mark to what came in.
func (t *Taint) enter(l trust.Label) {
	t.Mark = t.Mark.Join(l)
	t.Levels |= 1 << l.Level
	if l.Level <= trust.External {
		t.Tainted = true
	}
}

// expect notes what an allowed call will bring. A host that never reports the result
// must not leave the context looking cleaner than it is: settle makes it count.
func (t *Taint) expect(d *event.Decided) {
	c := Call{
		ID: d.CallID, Tool: d.Tool, Step: d.Step, Level: d.Expect, Sens: d.ExpectS,
		Source: d.Source, Secret: d.Private, Wary: d.Caution, Run: d.Run, Ticket: d.Ticket, LookUp: d.LookUp, Returns: d.Returns,
	}
	t.owed.add(&c)
	if c.Ticket != nil { // what is let to a command in a box comes with that command's own result
		for i := range t.open.calls {
			if o := &t.open.calls[i]; o.Ticket != nil && *o.Ticket == *c.Ticket {
				o.Level, o.Source = o.Level.Join(c.Level), o.Source || c.Source
			}
		}
	}
	t.open.add(c)
}

func (p *pending) add(c *Call) {
	if !p.any {
		p.level, p.sensitivity = c.Level, c.Sens
	} else {
		p.level, p.sensitivity = p.level.Join(c.Level), p.sensitivity.Join(c.Sens)
	}
	p.any = true
	p.source = p.source || c.Source
	p.sensitive = p.sensitive || c.Secret
}

// settle counts calls whose results were never reported, at the latest when the
// model is asked again.
func (t *Taint) settle() {
	if !t.owed.any {
		return
	}
	var sources []trust.Source
	for i := range t.open.calls {
		c := &t.open.calls[i]
		if !c.Seen && c.Level <= trust.Shared {
			sources = append(sources, trust.Source{Level: c.Level, Step: c.Step, Kind: "tool_result", Tool: c.Tool})
		}
		if !c.Seen && c.Wary {
			t.caution.seen(c.Tool, true)
		}
		t.Unheard = t.Unheard || !c.Seen && (c.Source || c.Level <= trust.External)
		c.Seen = true
	}
	for _, s := range sources {
		t.Mark = t.Mark.Join(trust.Label{Level: trust.System, Sensitivity: trust.Public, Sources: []trust.Source{s}})
	}
	t.enter(trust.Label{Level: t.owed.level, Sensitivity: t.owed.sensitivity})
	t.Tainted = t.Tainted || t.owed.source
	t.Sensitive = t.Sensitive || t.owed.sensitive
	t.owed = pending{}
}

// Covers reports whether a result brings nothing that the record of its call does not say already: then a crash that
// takes its record leaves the context no cleaner.
func (c *Call) Covers(s *event.Seen) bool {
	return !c.Seen && s.From == "" && s.Label.Level >= c.Level && s.Label.Sensitivity.Join(c.Sens) == c.Sens &&
		(c.Source || !s.Source) && (c.Secret || !s.Sensitive) && (c.Wary || !s.Caution)
}

// lose settles what is owed where some of it was shown and is forgotten.
func (t *Taint) lose() {
	t.settle()
	t.Unheard = true
}

// due reports whether results of another start of the server are missing.
func (t *Taint) due(run string) bool {
	for i := range t.open.calls {
		if c := &t.open.calls[i]; !c.Seen && c.Run != "" && c.Run != run {
			return true
		}
	}
	return false
}

// reset is the owner's word that the context may be trusted again (BEY-07). What was
// read stays sensitive: trust says nothing about secrets. It says nothing either about
// calls that are still running: what they bring comes after the owner looked.
func (t *Taint) reset(level trust.Level) {
	t.Mark = trust.Label{Level: level, Sensitivity: t.Mark.Sensitivity}
	t.Levels = 1 << level
	t.Tainted = level <= trust.External
	t.caution, t.Unheard = Caution{}, false
	t.owed = pending{}
	for i := range t.open.calls {
		if c := &t.open.calls[i]; !c.Seen {
			t.owed.add(c)
		}
	}
}
