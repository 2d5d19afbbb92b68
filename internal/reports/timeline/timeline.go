// Package timeline tells a session step by step, for people: who spoke, what was called and
// judged, what came back, and how far trust had fallen. It is pure: a fold over the events.
//
// Invariants:
//   - every event is one step, in the order of the log;
//   - the mark of a step is what the context held after it;
//   - what recording left out is said to be left out.
package timeline

import (
	"cmp"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/question"
	"github.com/tidemark/tidemark/internal/session"
)

// Step is one thing that happened.
type Step struct {
	Seq      uint64          `json:"seq"`
	Time     time.Time       `json:"time"`
	Kind     string          `json:"kind"`
	Turn     string          `json:"turnId,omitzero"`
	Branch   string          `json:"branch,omitzero"`
	Mark     string          `json:"mark"`          // level of the context after it
	Fell     bool            `json:"fell,omitzero"` // it lowered the mark
	Title    string          `json:"title"`
	Text     string          `json:"text,omitzero"`   // what was said or came back, or what it was called with, as far as it was kept
	Did      string          `json:"did,omitzero"`    // of a call: what it does, to whom and to what; of an answer: what it is about
	Effect   string          `json:"effect,omitzero"` // of a call: allow, confine, confirm, deny
	Rule     string          `json:"rule,omitzero"`
	Reason   string          `json:"reason,omitzero"`
	Tool     string          `json:"tool,omitzero"`
	Step     uint64          `json:"step,omitzero"`
	Warrant  string          `json:"warrant,omitzero"` // what stood behind it, in one line
	Item     *event.Covering `json:"item,omitzero"`    // of the mandate: the one that covers the call, or comes closest
	Values   []event.Shown   `json:"values,omitzero"`  // its slots, where a person was asked
	Question string          `json:"question,omitzero"`
	Spent    string          `json:"spent,omitzero"` // approval or grant that let it through
	Proof    string          `json:"proof,omitzero"` // of an approval: passkey, typed, or the channel
}

// Stops reports whether a call was held or denied there.
func (s *Step) Stops() bool { return s.Effect == "confirm" || s.Effect == "deny" }

// Of tells the session whose events these are.
func Of(events iter.Seq2[event.Event, error]) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		state := session.New()
		marks, asked := map[string]int{}, map[string]string{}
		var seq uint64
		for e, err := range events {
			if err != nil {
				yield(Step{}, err)
				return
			}
			seq++
			state.Apply(&e)
			s := step(&e)
			s.recall(asked)
			mark := state.Branch(e.Branch).Mark.Level
			before, known := marks[e.Branch]
			marks[e.Branch] = int(mark)
			s.Seq, s.Mark, s.Fell = seq, mark.String(), known && int(mark) < before
			if !yield(s, nil) {
				return
			}
		}
	}
}

// recall says of an answer what it is about, where its record does not: it is from before answers said so.
func (s *Step) recall(asked map[string]string) {
	switch {
	case s.Question == "":
	case s.Tool != "":
		asked[s.Question] = strings.TrimSpace(s.Tool + ": " + s.Did)
	case s.Did == "":
		s.Did = asked[s.Question]
	}
}

// One tells one event without what came before it: its mark is not known.
func One(e *event.Event) Step { return step(e) }

func step(e *event.Event) Step {
	s := Step{Time: time.Unix(0, e.Time).UTC(), Kind: string(e.Kind), Turn: e.Turn, Branch: e.Branch, Title: string(e.Kind)}
	switch {
	case e.Began != nil:
		s.Title, s.Text, s.Rule = speaker(e.Began), kept(e.Began.Message), e.Began.Rule
	case e.Decided != nil:
		s.decided(e.Decided)
	case e.Seen != nil:
		s.seen(e)
	case e.Model != nil:
		s.model(e)
	case e.Answer != nil:
		s.answer(e.Answer)
	case e.Task != nil:
		s.Title, s.Text = "constraints for the task", e.Task.Failed
	case e.Resource != nil && e.Answer == nil:
		s.Title = "labelled " + e.Resource.Key
		s.Text = "written by " + e.Resource.Tool + " while the context was " + e.Resource.Label.Level.String()
	case e.Pins != nil:
		s.pins(e.Pins)
	case e.Person != nil:
		s.Title, s.Text = strings.TrimSpace(e.Person.By+" "+e.Person.Act), e.Person.Detail
	case e.Pruning != nil:
		s.Title = "pruned " + e.Pruning.Session
		s.Text, s.Reason = fmt.Sprintf("%d records", e.Pruning.Records), strings.TrimSuffix("by "+e.Pruning.By+": "+e.Pruning.Why, ": ")
	case e.Hold != nil:
		s.hold(e.Hold)
	case e.Box != nil:
		s.box(e)
	case e.Contract != nil:
		s.Title, s.Text = "what the message asks for", strings.TrimSpace(e.Contract.Why+" "+e.Contract.Failed)
	}
	return s
}

// box tells what became of a command that was to run in a box.
func (s *Step) box(e *event.Event) {
	s.Tool, s.Step = e.Box.Tool, e.Box.Step
	switch e.Kind {
	case event.SessionClosed:
		s.Title, s.Effect, s.Rule, s.Reason = "closed to acts", "deny", "session-closed", e.Box.Reason
	case event.BoxEnded:
		s.Title, s.Text = fmt.Sprintf("%s ended in its box with %d", cmp.Or(e.Box.Tool, "a command"), e.Box.Exit), e.Box.Report
	default:
		s.Title = strings.ReplaceAll(s.Kind, ".", " ")
	}
}

// hold tells what must not be pruned, or may be again.
func (s *Step) hold(h *event.Hold) {
	s.Title = "held " + h.Session + h.Person
	if h.Ended {
		s.Title = "released " + h.Session + h.Person
	}
	s.Reason = strings.TrimSuffix("by "+h.By+": "+h.Why, ": ")
}

// pins tells what became of definitions of an MCP server.
func (s *Step) pins(p *event.Pins) {
	acts := map[string]string{"first": "first seen of ", "held": "hidden of ", "accepted": "accepted of ", "denied": "kept hidden of ",
		"listed": "first listed (" + p.List + ") of "}
	s.Title = acts[p.Act] + p.Server
	var names []string
	for _, i := range p.Items {
		name := i.Name
		if name == "" {
			name = "its instructions"
		}
		names = append(names, name)
	}
	if s.Text = strings.Join(names, ", "); p.By != "" {
		s.Reason = strings.TrimSuffix("by "+p.By+": "+p.Note, ": ")
	}
}

// speaker says whose turn it is.
func speaker(b *event.Began) string {
	who := "somebody"
	switch {
	case b.Sender.SpawnedBy != "":
		who = "another session"
	case b.Sender.IsOwner:
		who = "the owner"
	case b.Sender.ID != "":
		who = b.Sender.ID
	}
	if b.Sender.Provider != "" {
		who += " (" + b.Sender.Provider + ")"
	}
	return who + ", " + b.Level.String()
}

// kept is what recording left of a text.
func kept(c *event.Content) string {
	switch {
	case c == nil:
		return ""
	case c.Text != "":
		return c.Text
	case c.Preview != "":
		return c.Preview
	}
	return fmt.Sprintf("(%d bytes, text not recorded)", c.Bytes)
}

func (s *Step) decided(d *event.Decided) {
	s.Title, s.Tool, s.Effect, s.Rule, s.Reason, s.Step = d.Tool, d.Tool, d.Effect, d.Rule, d.Reason, d.Step
	s.Warrant, s.Item, s.Spent, s.Text = d.Warrant, d.Item, d.Spent, d.Args
	s.Did = question.Did(d.Warrant, d.Args)
	if d.Ask != nil {
		s.Question, s.Values, s.Text = d.Ask.ID, d.Ask.Values, d.Ask.Args
		s.Did = question.DidTo(d.Ask.Act, d.Ask.Values, d.Ask.Args)
	}
}

func (s *Step) seen(e *event.Event) {
	s.Tool, s.Step, s.Text, s.Reason = e.Seen.Tool, e.Seen.Step, kept(e.Seen.Content), e.Seen.Reason
	switch e.Kind {
	case event.ResultSeen:
		s.Title = e.Seen.Tool + " came back, " + e.Seen.Label.Level.String()
	case event.ContextSeen:
		s.Title = "the host listed the context, " + e.Seen.Label.Level.String()
	case event.TurnSealed:
		s.Title = "answered"
		if e.Seen.Blocked {
			s.Title, s.Effect = "the answer was denied", "deny"
		}
	}
}

func (s *Step) model(e *event.Event) {
	s.Title = "the model was asked"
	if e.Kind == event.ModelAnswered {
		s.Title = "the model answered"
	}
	if len(e.Model.Calls) > 0 {
		s.Text = "wants " + strings.Join(e.Model.Calls, ", ")
	}
	if len(e.Model.Removed) > 0 {
		s.Text = strings.TrimSpace(s.Text + " hidden from it: " + strings.Join(e.Model.Removed, ", "))
	}
	if e.Model.Blocked || e.Model.Stopped {
		s.Effect, s.Rule, s.Reason = "deny", e.Model.Rule, e.Model.Reason
	}
}

func (s *Step) answer(a *event.Answer) {
	what := map[string]string{
		"approve": "approved", event.Agree: "approved", "deny": "denied",
		"release": "released", "discard": "discarded",
	}[a.Verdict]
	if what == "" {
		what = strings.ReplaceAll(s.Kind, ".", " ")
	}
	s.Title, s.Reason, s.Did = strings.TrimSpace(what+" by "+a.By+" ("+a.Via+")"), a.Reason, a.What
	if a.Verdict == event.Agree {
		s.Title += "; one more person needed"
	}
	if len(a.IDs) > 0 {
		s.Question = a.IDs[0]
	}
	if a.Proof != nil {
		s.Proof = a.Proof.Kind
	}
}
