// Package explain says what would happen to a call, for people, without a monitor: no session, no record, no permit. It is pure.
package explain

import (
	"slices"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/facts"
	"github.com/tidemark/tidemark/internal/question"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// Explanation says what would happen to a call, without deciding anything.
type Explanation struct {
	Tool     string          `json:"tool"`
	Taint    trust.Level     `json:"taint"`
	Mode     string          `json:"mode"` // allow, confirm, restrict
	Kind     string          `json:"kind,omitzero"`
	Rule     string          `json:"rule"`
	Reasons  []policy.Reason `json:"reasons"`
	May      []policy.Reason `json:"may,omitzero"`      // rules that look at each call, and may ask
	Standing []policy.Reason `json:"standing,omitzero"` // mandates of the file that let calls of it run for good
	Visible  bool            `json:"visible"`           // layer 1
	Response trust.Level     `json:"response"`          // what its result would bring in
	Why      string          `json:"responseRule"`
	Source   bool            `json:"source"`
	Sink     bool            `json:"sink"`
	Caution  bool            `json:"caution"`        // what follows its result is audited
	Act      string          `json:"act,omitzero"`   // what the call would do; of a call with arguments
	Slots    []event.Shown   `json:"slots,omitzero"` // what stands behind it, slot by slot
	Item     *event.Covering `json:"item,omitzero"`  // the item of the mandate that covers it or comes closest, and what is missing
	Policy   string          `json:"policy"`
}

// Example is a conversation that an example call is judged in.
type Example struct {
	Said []string // messages of the user's own
	Read []string // texts that somebody else wrote and the agent read

	Tools []tool.Definition // what the agent is offered; a tool that is not among them is understood by its name
}

// Word is what becomes of the call as people say it: allow, ask, deny or hide. Programs have Mode.
func (x *Explanation) Word() string {
	switch {
	case x.Mode == "confirm":
		return "ask"
	case x.Mode == "restrict" && x.Visible:
		return "deny"
	case x.Mode == "restrict":
		return "hide"
	}
	return x.Mode
}

// Tool asks the policy about a tool at a level, for people. It makes no permit.
func Tool(set *policy.Set, name string, level trust.Level, args []byte) Explanation {
	return Call(set, name, level, args, Example{})
}

// Call asks about a call in a conversation: with arguments, it says what stands behind
// each slot of it. A level below local is one in which something was read that is not told.
func Call(set *policy.Set, name string, level trust.Level, args []byte, x Example) Explanation {
	given := name
	name = tool.Name(name)
	in := policy.Input{Tool: name, Taint: level, Levels: 1 << level, Sens: trust.Internal, Tainted: level <= trust.External}
	out := Explanation{Tool: name, Taint: level, Visible: set.Visible(&in), May: set.May(name, level), Policy: set.Version()}
	for _, m := range set.Standing() {
		if slices.Contains(m.Tools, name) {
			out.Standing = append(out.Standing, policy.Reason{Rule: m.Rule, Effect: policy.Allow, Text: m.Text, Pos: m.Pos})
		}
	}
	if args != nil {
		a := tool.NewArgs(args)
		in.Args = &a
	}
	if in.Args != nil && set.Facts() {
		facts := facts.Call{Of: x.judgement(level), Name: given, Args: in.Args}
		in.Facts = &facts
		plain := func(_, value string) string { return value } // whoever asks wrote the values
		out.Act = facts.Deed().String()
		w := facts.Found
		out.Slots, _ = question.Values(w, set, plain)
		out.Item = question.Item(w, out.Slots)
	}
	d := set.Judge(&in)
	out.Mode, out.Kind, out.Rule, out.Reasons = d.Effect.Mode(), d.Kind, d.Rule, d.Reasons
	t := set.Traits(name, in.Args)
	out.Response, out.Why, out.Source, out.Sink, out.Caution = t.Level, t.Rule, t.Source, t.Sink, t.Caution
	return out
}

// judgement is what the conversation has said and read.
func (x *Example) judgement(level trust.Level) *warrant.Context {
	c := warrant.New(vocabulary.Shipped())
	c.Tools(x.Tools)
	for _, text := range x.Said {
		c.User(text)
	}
	for _, text := range x.Read {
		c.Content(text)
	}
	switch {
	case level <= trust.Shared:
		c.Outside()
	case level == trust.Local && len(x.Read) == 0:
		c.Content("something")
	}
	return c
}
