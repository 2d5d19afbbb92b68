package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/approval"
	cut "github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// Turn is the start of a turn: who speaks, over which channel, and what they said.
type Turn struct {
	Ref    Ref
	Agent  string
	Sender trust.Sender
	// Message is the sender's own text; nil when the host does not pass it.
	Message *string
	// Plain says that the message is text and nothing else: the door cannot tell a person
	// from a program that speaks in their place, so no chat command is carried out.
	Plain bool
	// Found says that the message did not just arrive but was found at the end of the
	// context: it counts only if the turn has no message yet.
	Found bool
	// UserUnheard says that the door cannot hear what the user says, here or earlier: no message does not
	// mean that nothing was asked for. It counts while no message of theirs is known.
	UserUnheard bool
	// HostTools are the tools that came with the host itself and work where it runs, by the names
	// calls have here. Nil: the door does not say, and what was said before holds.
	HostTools []string
	// ControlTools are those by which the host's framework steers itself (plans, to-dos, hand-offs, the final
	// answer, asking the user), by the names calls have here: they are neither acts nor reads. Nil: as HostTools.
	ControlTools []string
	// Undescribed says that the door never tells what tools are, so that it need not be waited for.
	Undescribed bool
	// Parent is the branch this one was forked from; a new branch starts from its taint.
	Parent string
	// Forked says that Parent is known, so that an empty one means the main branch. A new
	// branch of unknown parent starts from everything the session holds.
	Forked bool
	// Start is what a new branch holds already, where the door has read all of it: the
	// branch starts from exactly that, and not from what its parent holds by now (BEY-03).
	Start *trust.Label
	// From is the sub-agent session whose result starts this turn.
	From string
	// Contract is what the message asks for, where the host has had it understood itself, by
	// somebody who read the user's words and the tools and nothing else. It counts only if the
	// message is the user's own.
	Contract *intent.Contract
	// Items is the host's census of the context (HOOK-03), if it has one.
	Items []event.Item
	// Claim is what the door knows about who speaks. Nil: whoever calls holds the monitor itself, and their word counts.
	Claim *event.Claim
}

// Opening is what Begin found.
type Opening struct {
	Turn      string
	Level     trust.Level // the classification of this turn's sender
	Rule      string      // which row of the classification decided
	Taint     trust.Label // what the context holds now
	Continued bool        // the turn was open already
	Command   string      // approve, deny, reset-trust: what a chat command did
	Notice    string      // the outcome of a chat command, for the user
	Taken     bool        // the session is whose the claim offered
	Unproven  bool        // who spoke could not be proven, so the words are nobody's
}

// Begin opens a turn, or joins the one that has just been opened. A message of the
// verified owner that is a chat command is carried out.
func (m *Monitor) Begin(ctx context.Context, t Turn, how ...RecordOption) (Opening, error) {
	if strings.HasPrefix(t.Ref.Session, reserved) {
		return Opening{}, fmt.Errorf("begin turn: %w: names that begin with %q are ours", ErrRef, reserved)
	}
	if t.Contract != nil {
		kept, err := t.Contract.Within(nil)
		if err != nil {
			return Opening{}, fmt.Errorf("begin turn: %w", err)
		}
		t.Contract = &kept
	}
	if err := t.Ref.check(); err != nil {
		return Opening{}, fmt.Errorf("begin turn: %w", err)
	}
	if err := m.families.Spawned(ctx, t.Sender.SpawnedBy, t.Ref.Session); err != nil {
		return Opening{}, fmt.Errorf("begin turn: %w", err)
	}
	inherited, err := m.inherit(ctx, t)
	if err != nil {
		return Opening{}, err
	}
	family, err := m.familyOf(ctx, t)
	if err != nil {
		return Opening{}, err
	}
	family.inherited = inherited
	var open Opening
	recorded := false // the turn; another replica may have moved on before its command
	err = m.with(ctx, t.Ref, func(s *sessionEntry) error {
		set := m.policy.Load().For(agentOf(t.Agent, s.State.Agent))
		if !recorded {
			var err error
			if open, err = m.open(ctx, s, set, &t, recordingOf(how), &family); err != nil {
				return err
			}
			recorded = true
		}
		if err := m.command(ctx, s, set, t, &open); err != nil {
			return err
		}
		open.Taint = s.State.Branch(t.Ref.Branch).Mark
		m.table.TrackMemory(s.Entry)
		return nil
	})
	if err != nil {
		return Opening{}, fmt.Errorf("begin turn: %w", err)
	}
	m.table.EvictContexts(ctx)
	m.families.Adopt(t.Sender.SpawnedBy, t.Ref.Session)
	return open, nil
}

// open records the turn, or what t adds to the one that is open.
func (m *Monitor) open(
	ctx context.Context, s *sessionEntry, set *policy.Set, t *Turn, how recording, family *family,
) (Opening, error) {
	var open Opening
	if set.Facts() { // before the message: what is heard now is heard as it was said
		if err := m.listen(ctx, s, family); err != nil {
			return Opening{}, err
		}
	}
	holder := t.settle(s.State, &open)
	open.Level, open.Rule = set.Classify(t.Sender)
	b := s.State.Branch(t.Ref.Branch)
	if t.Ref.Turn != "" && !b.Turn.Has(t.Ref.Turn) && b.Sealed(t.Ref.Turn) {
		return Opening{}, ErrSealed
	}
	inherited := s.State.JoinOwn(t.Ref.Session, family.inherited, t.Sender.SpawnedBy, t.From)
	label := m.turnLabel(s, *t, open, inherited, b)
	if t.toldAgain(s, b, &open) {
		t.Message = nil
	}
	var event *event.Event
	if t.joins(b) {
		open.Continued, open.Turn = true, b.Turn.ID
		event = m.joinEvent(s, b, *t, label, open.Level, holder)
	} else {
		event = m.beganEvent(s, set, *t, open, label)
		open.Turn, event.Began.Holder, event.Began.Unproven = event.Turn, holder, open.Unproven
	}
	if event == nil {
		return open, nil
	}
	words := t.speaksForUser(open.Level)
	if trace := s.noteMessage(t, words, label, family.argued); event.Began != nil {
		event.Began.Trace, event.Began.Bounds = trace, family.bounds
		if s.State.Version == 0 {
			event.Began.Kin = family.kin
		}
	} else {
		event.Seen.Trace = trace
	}
	if err := m.table.Put(ctx, s.Entry, how.later, event); err != nil {
		return open, err
	}
	s.hearTools(t)
	if words {
		said := utterance{text: cut.Cover(*t.Message, maxMessage), cut: len(*t.Message) > maxMessage, steps: s.State.Steps()}
		said.apart = messageOf(event).Text != *t.Message
		s.keepWord(s.State.Version, said)
	}
	if t.Contract != nil && words {
		s.noteContract()
	}
	if len(s.tools) > 0 || t.Undescribed {
		m.prepare(ctx, s, set)
	}
	return open, nil
}

// hearTools tells judgement which tools are the host's and its framework's, where a turn says so.
func (s *sessionEntry) hearTools(t *Turn) {
	if s.heard != nil && t.HostTools != nil {
		s.heard.Host(t.HostTools)
	}
	if s.heard != nil && t.ControlTools != nil {
		s.heard.Control(t.ControlTools)
	}
}

// newTools are tools of the host where a turn tells something new of them.
func newTools(told, known []string) []string {
	if told == nil || known != nil && slices.Equal(told, known) {
		return nil
	}
	return told
}

func agentOf(given, known string) string {
	if given != "" {
		return given
	}
	return known
}

// inherit reads what other sessions bring in: the parent's taint at spawn, the child's
// at return (BEY-06). A parent nobody knows brings nothing of its own; what the turn is
// worth is then decided by its classification alone. A child nobody knows is untrusted.
func (m *Monitor) inherit(ctx context.Context, t Turn) (trust.Label, error) {
	out, err := m.child(ctx, t.Ref, t.From)
	if err != nil {
		return trust.Label{}, fmt.Errorf("begin turn: %w", err)
	}
	if name := t.Sender.SpawnedBy; name != "" && name != t.Ref.Session {
		l, known, err := m.mark(ctx, name)
		if err != nil {
			return trust.Label{}, fmt.Errorf("begin turn: %w", err)
		}
		if known {
			out = out.Join(l)
		}
	}
	return out, nil
}

// turnLabel is what the turn brings into its context: the sender's words, what it was
// spawned from, and what the host says is in there already.
func (m *Monitor) turnLabel(s *sessionEntry, t Turn, open Opening, inherited trust.Label, b *session.Taint) trust.Label {
	l := trust.Label{Level: open.Level, Sensitivity: trust.Internal}
	if open.Level <= trust.Shared {
		src := trust.Source{Level: open.Level, Step: uint64(s.State.Steps()), Kind: "message", Detail: senderText(t.Sender)}
		if t.From != "" || t.Sender.SpawnedBy != "" {
			src.Kind = "sub_agent"
		}
		l.Sources = []trust.Source{src}
	}
	l = l.Join(inherited)
	if t.Ref.Branch != "" && !b.Begun() && s.State.Version > 0 {
		switch {
		case t.Start != nil:
		case t.Forked || t.Parent != "":
			l = l.Join(s.State.Branch(t.Parent).Settled())
		default:
			l = l.Join(s.State.Mark())
		}
	}
	if t.Start != nil {
		l = l.Join(*t.Start)
	}
	for _, it := range t.Items {
		item := trust.Label{Level: it.Trust, Sensitivity: trust.Internal}
		if it.Trust <= trust.Shared {
			item.Sources = []trust.Source{{Level: it.Trust, Step: uint64(s.State.Steps()), Kind: it.Kind, Tool: tool.Name(it.Tool)}}
		}
		l = l.Join(item)
	}
	return l
}

func senderText(s trust.Sender) string {
	parts := make([]string, 0, 3)
	for _, p := range []string{s.Provider, s.Group, s.ID} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, " ")
}

// toldAgain reports whether a hook's process says once more what its turn has said, before anything was done: an agent with hooks in two
// places tells each prompt twice. Said twice is asked for twice, so the second telling counts for nothing.
func (t *Turn) toldAgain(s *sessionEntry, b *session.Taint, open *Opening) bool {
	same := t.Message != nil && t.Ref.Turn != "" && t.Ref.Turn == b.Turn.ID && b.Turn.Open && t.Claim != nil && t.Claim.Shows.Process != ""
	if !same || open.Unproven || !t.speaksForUser(open.Level) || len(s.State.Words) == 0 {
		return false
	}
	last := s.State.Words[len(s.State.Words)-1]
	u, heard := s.spoken[last.Seq]
	return heard && last.Turn == s.State.Turns && u.steps == s.State.Steps() && u.text == *t.Message
}

// joins reports whether t belongs to the turn that is open: hosts announce one turn in
// several hooks (message received, context assembled, first model call). Its message
// must count once, so t loses it where the turn has one.
func (t *Turn) joins(b *session.Taint) bool {
	if !b.Turn.Has(t.Ref.Turn) {
		return false
	}
	same := t.Ref.Turn != "" && t.Ref.Turn == b.Turn.ID
	switch {
	case t.Message == nil:
		return b.Turn.Fresh || same
	case b.Turn.Fresh && !b.Turn.Said:
		return true
	case t.Found && (b.Turn.Fresh || same):
		t.Message = nil
		return true
	case same:
		t.Ref.Turn = "" // said in the middle of a run: a turn of its own, of another name
	}
	return false
}

// joinEvent records what the later hook adds; nil when it adds nothing.
func (m *Monitor) joinEvent(
	s *sessionEntry, b *session.Taint, t Turn, label trust.Label, level trust.Level, holder *event.Holder,
) *event.Event {
	host, control := newTools(t.HostTools, s.State.HostTools), newTools(t.ControlTools, s.State.ControlTools)
	if len(t.Items) == 0 && b.Mark.Covers(label) && t.Message == nil && host == nil && control == nil && holder == nil {
		return nil
	}
	seen := &event.Seen{Label: label, Census: t.Items, From: t.From, HostTools: host, ControlTools: control, Holder: holder}
	e := &event.Event{Kind: event.ContextSeen, Time: m.table.At(s.Entry), Branch: t.Ref.Branch, Turn: b.Turn.ID, Seen: seen}
	if t.Message != nil {
		seen.Content = m.content([]byte(*t.Message), m.policy.Load(), false, true)
		seen.Words = t.speaksForUser(level)
		if seen.GoesOn = seen.Words && warrant.GoesOn(*t.Message); seen.Words && t.Contract != nil {
			seen.Contract = m.contract(*t.Contract)
		}
	}
	return e
}

func (m *Monitor) beganEvent(s *sessionEntry, set *policy.Set, t Turn, open Opening, label trust.Label) *event.Event {
	id, auto := s.State.NextTurn(t.Ref.Turn)
	cfg := set.Settings()
	began := &event.Began{
		Agent: t.Agent, Sender: t.Sender, Level: open.Level, Rule: open.Rule, Label: label,
		Parent: t.Parent, Carry: cfg.TaintScope != "turn", Auto: auto, UserUnheard: t.UserUnheard && t.Message == nil,
		HostTools: newTools(t.HostTools, s.State.HostTools), ControlTools: newTools(t.ControlTools, s.State.ControlTools),
	}
	if t.Message != nil {
		began.Message = m.content([]byte(*t.Message), set, false, true)
		began.Words = t.speaksForUser(open.Level)
		if began.GoesOn = began.Words && warrant.GoesOn(*t.Message); began.Words && t.Contract != nil {
			began.Contract = m.contract(*t.Contract)
		}
		cmd, _ := t.command()
		began.Command = cmd.Verb != approval.None
	}
	if t.Sender.SpawnedBy != "" || t.Ref.Branch != "" && !s.State.Branch(t.Ref.Branch).Begun() {
		began.Caution = cautioned(set, label)
	}
	return &event.Event{Kind: event.TurnBegan, Time: m.table.At(s.Entry), Branch: t.Ref.Branch, Turn: id, Began: began}
}

// reopen begins a turn the host did not announce. A context nobody began is untrusted;
// one that was begun goes on with the mark it has.
func (m *Monitor) reopen(ctx context.Context, s *sessionEntry, ref Ref, how recording) error {
	b := s.State.Branch(ref.Branch)
	began := &event.Began{Level: trust.Untrusted, Rule: "not-begun", Carry: true}
	if b.Begun() {
		began.Level, began.Rule = b.Mark.Level, session.Continued
		began.Label = trust.Label{Level: b.Mark.Level, Sensitivity: b.Mark.Sensitivity}
	} else {
		began.Label = trust.Label{Level: trust.Untrusted, Sensitivity: trust.Internal,
			Sources: []trust.Source{{Kind: neverBegun}}}
	}
	var id string
	id, began.Auto = s.State.NextTurn(ref.Turn)
	return m.table.Put(ctx, s.Entry, how.later, &event.Event{
		Kind: event.TurnBegan, Time: m.table.At(s.Entry), Branch: ref.Branch, Turn: id, Began: began,
	})
}

// fromOwner reports whether the turn's message is the verified owner's.
func (t Turn) fromOwner() bool {
	return t.Message != nil && t.Sender.IsOwner && !t.Sender.Unknown && t.Sender.SpawnedBy == "" && t.From == ""
}

// listen makes the judgement of a session before its message is noted, and tells a new one
// what the user said to its parent.
// Preconditions: s.mu is held and s is loaded.
func (m *Monitor) listen(ctx context.Context, s *sessionEntry, f *family) error {
	fresh := s.heard == nil && s.State.Version == 0
	c, err := m.judgement(ctx, s)
	if err != nil || !fresh {
		return err
	}
	tell(c, m.key, f.said)
	return nil
}
