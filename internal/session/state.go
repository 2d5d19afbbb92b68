package session

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// MaxName bounds the names of sessions, branches, turns and tools: they are keys, not
// content.
const MaxName = 512

// State is the fold over a session's log: Apply is the only thing that changes it.
// Others read its fields and leave them as they are.
type State struct {
	Version uint64 // how many events were folded
	Agent   string
	Parent  string // session that spawned this one
	Turns   uint64
	First   int64 // when the first event was recorded, Unix nanoseconds
	Last    int64
	Book    approval.Book
	Words   []Word // the user's own messages, oldest first
	Traces  Traces
	Keys    []string // of what is sealed in the log, the latest last, each sealed by the operator's
	Task    Task
	// Kin are the sessions it works for, the eldest first; nil: nobody noted them.
	Kin []event.Kin
	// Speaker is who said the latest of the user's words: provider:id; empty: nobody told.
	Speaker string
	// Holder is whose the session is: words of anybody else are nobody's.
	Holder event.Holder
	// Tools names the log with the definitions the model was offered last; zero: none is kept.
	Tools tool.Digest
	// HostTools are the tools that are the host's own; nil: nobody said.
	HostTools []string
	// ControlTools are those by which the host's framework steers itself; nil: nobody said.
	ControlTools []string
	// Added are tools that nobody described, as calls of them showed them.
	Added []event.AddedTool
	// Acts are what an isolated model said of acts since the latest message.
	Acts Acts
	// Audits is how often a model was asked about it: for an opinion, a plan or a contract.
	Audits int
	// Planned says that a question showed what the task at hand was understood as.
	Planned bool
	// Repairs is how often the agent was told what to take out of a text, since the user last spoke.
	Repairs int
	// Pruned says that something was taken out of its log.
	Pruned bool
	// Closed is why nothing may act in it any more; empty: it may. Only the owner's reset opens it again.
	Closed string
	// Temp are files and folders below /tmp that calls put there which ran outside boxes, the latest last.
	Temp []string

	main        Taint
	branches    map[string]*Taint
	counts      map[string]*count
	steps       int64
	denied      int64
	writes      map[string]*Write
	writeSize   int64 // of all of them
	questions   map[string]*evidence
	cautious    map[string]bool // tools that declare themselves cautioned
	marks       map[string]int64
	bounds      []string
	userUnheard bool                 // a door that cannot hear the user began a turn
	shown       map[tool.Digest]bool // what agents got instead of results that are kept from them; nil: nothing
	extracted   map[tool.Digest]int  // how many values were extracted, by source; nil: none
}

var _ policy.History = (*State)(nil)

// New is the state before the first event.
func New() *State { return &State{counts: map[string]*count{}} }

// Size is about how many bytes of memory the state takes: what is kept of an event, for the latest
// of them. What is kept of earlier ones is bounded.
func (s *State) Size() int {
	const least, perEvent, latest = 2 << 10, 512, 128
	return least + perEvent*int(min(s.Version, latest)) // a small number
}

// Apply folds one event. It must not fail and must not look at anything but the event.
func (s *State) Apply(e *event.Event) {
	s.Version++
	if s.First == 0 {
		s.First = e.Time
	}
	s.Last = max(s.Last, e.Time)
	s.Pruned = s.Pruned || len(e.Pruned) > 0
	if e.Decided != nil && e.Decided.Run != "" {
		s.Outlive(e.Decided.Run)
	}
	b := s.ownBranch(e.Branch)
	s.endTurn(e, b)
	b.Apply(e)
	s.traced(e)
	switch e.Kind {
	case event.TurnBegan:
		s.spoke(e.Began.Words, e.Began.GoesOn)
		s.began(e.Began)
	case event.ContextSeen:
		s.spoke(e.Seen.Words, e.Seen.GoesOn)
		s.said(e.Seen.Words, e.Seen.Contract)
		s.host(e.Seen.HostTools, e.Seen.ControlTools)
		s.held(e.Seen.Holder)
	case event.ModelCalled:
		s.declared(e.Model.Cautious)
		if e.Model.Tools != nil {
			s.Tools = *e.Model.Tools
		}
	case event.TaskPlanned:
		s.audited(e.Task.Model)
		s.Task = readTask(e.Task)
	case event.ContractDrawn:
		s.audited(e.Contract.Model)
		s.agreed(e.Contract)
	case event.CallDecided:
		s.decided(e)
		s.laid(e.Decided.Temp)
	case event.ResultSeen:
		s.resulted(e.Seen)
		s.keptBack(e.Seen)
	case event.Answered:
		s.answered(e)
	case event.TryFailed:
		s.Book.Fail(e.Time)
	case event.GrantRevoked:
		for _, id := range e.Answer.IDs {
			s.Book.Revoke(id)
		}
	case event.WriteReviewed:
		s.reviewed(e)
	case event.TurnSealed:
		s.Book.EndTurn(e.Branch, e.Time)
	case event.SessionClosed, event.TrustReset:
		s.close(e.Box)
	}
}

// maxTemp is how many files below /tmp are known.
const maxTemp = 64

// laid notes files below /tmp, the latest last.
func (s *State) laid(files []string) {
	for _, f := range files {
		list := append(slices.DeleteFunc(slices.Clone(s.Temp), func(o string) bool { return o == f }), f)
		s.Temp = list[max(0, len(list)-maxTemp):]
	}
}

// close notes why nothing may act in the session any more; nil: it may again.
func (s *State) close(b *event.Box) {
	if s.Closed = ""; b != nil {
		s.Closed = cmp.Or(b.Reason, "a command did not run in its box")
	}
}

// endTurn ends a turn that nobody sealed, with the next one.
func (s *State) endTurn(e *event.Event, b *Taint) {
	if e.Kind == event.TurnBegan && b.ends(e.Began) {
		s.Book.EndTurn(e.Branch, e.Time)
	}
}

// audited counts an answer of a model.
func (s *State) audited(model string) {
	if model != "" {
		s.Audits++
	}
}

// Due reports whether results are missing that another start of the server may have shown.
func (s *State) Due(run string) bool {
	if s.main.due(run) {
		return true
	}
	for _, b := range s.branches {
		if b.due(run) {
			return true
		}
	}
	return false
}

// Outlive counts what another start of the server has shown and not recorded: as what it was expected to be, and as
// something that nobody remembers.
func (s *State) Outlive(run string) {
	if !s.Due(run) {
		return
	}
	s.main.lose()
	for _, b := range s.branches {
		b.lose()
	}
}

// Continued is the rule of a turn that a host goes on with unannounced: a run that was
// waiting while the owner sent a chat command is no new turn.
const Continued = "continued"

// ends reports whether a turn that begins ends the one before. A chat command does not,
// and neither does the run that goes on after one.
func (t *Taint) ends(b *event.Began) bool {
	return t.Turn.Open && !b.Command && (!t.Turn.Command || b.Rule != Continued)
}

func (s *State) began(b *event.Began) {
	s.Turns++
	if b.Agent != "" {
		s.Agent = b.Agent
	}
	if b.Sender.SpawnedBy != "" {
		s.Parent = b.Sender.SpawnedBy
	}
	if s.Version == 1 {
		s.Kin = b.Kin
	}
	s.bind(b.Bounds)
	s.userUnheard = s.userUnheard || b.UserUnheard
	s.host(b.HostTools, b.ControlTools)
	s.said(b.Words, b.Contract)
	if b.Words {
		s.Speaker = ""
		if b.Sender.ID != "" {
			s.Speaker = b.Sender.Provider + ":" + b.Sender.ID
		}
	}
	s.held(b.Holder)
}

// held notes whose the session is from now on.
func (s *State) held(by *event.Holder) {
	if by != nil {
		s.Holder = *by
	}
}

// host notes which tools are the host's own, and which steer it, where somebody said it.
func (s *State) host(tools, control []string) {
	if tools != nil {
		s.HostTools = tools
	}
	if control != nil {
		s.ControlTools = control
	}
}

// WordsUnknown reports whether the user may have said what nobody here has heard: a door that
// cannot hear them began the session, and no message of theirs is known.
func (s *State) WordsUnknown() bool { return s.userUnheard && len(s.Words) == 0 }

// NextTurn is the name of the turn that begins now: the one the host gives it, or ours.
func (s *State) NextTurn(given string) (id string, auto bool) {
	if given != "" {
		return given, false
	}
	return fmt.Sprintf("turn-%d", s.Turns+1), true
}

// Branch is the taint of a context; one nobody began is the zero Taint, the worst.
func (s *State) Branch(name string) *Taint {
	if name == "" {
		return &s.main
	}
	if b := s.branches[name]; b != nil {
		return b
	}
	return &Taint{}
}

func (s *State) ownBranch(name string) *Taint {
	if name == "" {
		return &s.main
	}
	b := s.branches[name]
	if b == nil {
		b = &Taint{}
		if s.branches == nil {
			s.branches = map[string]*Taint{}
		}
		s.branches[name] = b
	}
	return b
}

// Branches are the names of the contexts there are, in order: the main one first, where
// it was begun or is the only one.
func (s *State) Branches() []string {
	names := slices.Sorted(maps.Keys(s.branches))
	if s.main.Begun() || len(names) == 0 {
		names = slices.Insert(names, 0, "")
	}
	return names
}

// Neutral is the label that adds nothing to another.
func Neutral() trust.Label { return trust.Label{Level: trust.System, Sensitivity: trust.Public} }

// Mark joins all branches, with what their calls still owe: whoever takes something from
// this session takes it from a context that may hold those results by now.
func (s *State) Mark() trust.Label {
	l := Neutral()
	if s.main.Begun() || len(s.branches) == 0 {
		l = s.main.Settled()
	}
	for _, b := range s.branches {
		l = l.Join(b.Settled())
	}
	return l
}

// Forked reports whether the session has other branches than the main one.
func (s *State) Forked() bool { return len(s.branches) > 0 }

// JoinOwn adds the session's own taint where a name says that content comes from it: a
// branch that works for another branch of the same session.
func (s *State) JoinOwn(session string, l trust.Label, names ...string) trust.Label {
	if s.Version > 0 && slices.Contains(names, session) {
		return l.Join(s.Mark())
	}
	return l
}

// Tainted reports whether a taint source fired in any context of the session.
func (s *State) Tainted() bool {
	if s.main.Tainted {
		return true
	}
	for _, b := range s.branches {
		if b.Tainted {
			return true
		}
	}
	return false
}
