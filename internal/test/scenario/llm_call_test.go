package scenario_test

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/test/scenario"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// ruled is what became of a call: what the client got, what the log says, and the mark it
// was judged against.
type ruled struct {
	got  block
	by   *event.Decided
	mark trust.Label
}

// Call lets the model ask for it, and looks at what the client gets.
func (d *llmDoor) Call(ctx context.Context, ref engine.Ref, call tool.Call) (scenario.Outcome, error) {
	c, err := d.talk(ref)
	if err != nil {
		return scenario.Outcome{}, err
	}
	if r, ok := c.early[call.ID]; ok {
		delete(c.early, call.ID)
		return d.judged(ctx, ref.Session, call, r)
	}
	if err := d.ready(ctx, c, false); err != nil {
		return scenario.Outcome{}, err
	}
	if _, err := d.events(ctx, c); err != nil {
		return scenario.Outcome{}, err
	}
	mark, err := d.world.Monitor.Taint(ctx, d.ref(c))
	if err != nil {
		return scenario.Outcome{}, err
	}
	list := d.agent.together(call)
	got, err := d.utter(c, list)
	if err != nil {
		return scenario.Outcome{}, err
	}
	events, err := d.events(ctx, c)
	if err != nil {
		return scenario.Outcome{}, err
	}
	c.early = map[string]ruled{}
	for i, one := range list {
		at := slices.IndexFunc(events, func(e event.Event) bool { return e.Kind == event.CallDecided && e.Decided.CallID == one.ID })
		if at < 0 {
			return scenario.Outcome{}, fmt.Errorf("nothing was decided about %s, and the client got %v", one.Name, got)
		}
		c.early[one.ID] = ruled{got[i], events[at].Decided, mark}
	}
	first := c.early[call.ID]
	delete(c.early, call.ID)
	return d.judged(ctx, ref.Session, call, first)
}

// together are a call and those that follow it in the story with nothing in between, where
// the format judges the calls of an answer at its end: a model says them in one answer.
func (a *agent) together(call tool.Call) []tool.Call {
	list := []tool.Call{call}
	i := slices.IndexFunc(a.steps, func(st scenario.Step) bool { return st.Verb == scenario.VerbCall && st.Call.ID == call.ID })
	if a.format.several() || i < 0 {
		return list
	}
	for i+1 < len(a.steps) && a.steps[i].Result == nil {
		next := a.steps[i+1]
		if next.Verb != scenario.VerbCall || next.Ref != a.steps[i].Ref || strings.Contains(string(next.Call.Args), "$code") {
			break
		}
		list = append(list, next.Call)
		i++
	}
	return list
}

// utter makes the model ask for calls, and returns what the client got in place of each.
func (d *llmDoor) utter(c *thread, list []tool.Call) ([]block, error) {
	q, a := c.open, d.agent
	if err := q.say(a.format.calls(len(q.wrote), list)); err != nil {
		return nil, err
	}
	for _, call := range list {
		q.wrote = append(q.wrote, block{kind: "call", call: call})
	}
	whole := d.world.Monitor.Policy().For(c.agent).Settings().Footer
	if whole { // nobody sees any of the answer before its end
		if err := q.say(a.format.end(q.wrote, true)); err != nil {
			return nil, err
		}
		close(q.script)
	}
	if err := q.header(); err != nil {
		return nil, err
	}
	got, err := a.format.read(q.reads)
	if err != nil {
		return nil, fmt.Errorf("read what the client gets: %w", err)
	}
	c.got = append(c.got, got...)
	if whole {
		_, _ = io.Copy(io.Discard, q.reads) // its end
		q.drop()
		c.keep()
	}
	return inPlace(list, got)
}

// inPlace says for each call what the client got: itself, or the next of the texts about
// those that are refused, which an answer may have in one.
func inPlace(list []tool.Call, got []block) ([]block, error) {
	var texts []string
	for _, b := range got {
		if b.kind == "text" {
			texts = append(texts, strings.Split(b.text, "\n\n")...)
		}
	}
	var out []block
	for _, call := range list {
		i := slices.IndexFunc(got, func(b block) bool { return b.kind == "call" && b.call.ID == call.ID })
		switch {
		case i >= 0:
			out = append(out, got[i])
		case len(texts) == 0:
			return nil, fmt.Errorf("the client got nothing for %s: %v", call.Name, got)
		default:
			out = append(out, textBlock(texts[0]))
			texts = texts[1:]
		}
	}
	if len(texts) > 0 {
		return nil, fmt.Errorf("the client got texts about no call: %q", texts)
	}
	return out, nil
}

// judged is a verdict: whether the call may run from the wire, the rest from the log.
func (d *llmDoor) judged(ctx context.Context, session string, call tool.Call, r ruled) (scenario.Outcome, error) {
	got, v := r.got, r.by
	if got.kind == "call" != (v.Effect == "allow") {
		return scenario.Outcome{}, fmt.Errorf("the client got a %s, the verdict is %s", got.kind, v.Effect)
	}
	if got.kind == "call" && (got.call.ID != call.ID || got.call.Name != call.Name || string(got.call.Args) != string(call.Args)) {
		return scenario.Outcome{}, fmt.Errorf("the client got %v, the model said %v", got.call, call)
	}
	return r.outcome(ctx, d.world.Monitor, session, got.text)
}

// outcome is a verdict as far as the log and the text that the agent got show it.
func (r ruled) outcome(ctx context.Context, m *engine.Monitor, session, text string) (scenario.Outcome, error) {
	v := r.by
	o := scenario.Outcome{
		Verdict: v.Effect, Kind: v.Kind, Rule: v.Rule, Reason: v.Reason, Taint: v.Level.String(), Evidence: engine.Evidence(r.mark),
		Approved: v.Spent != "", Text: forOwner.ReplaceAllString(text, "$1"),
	}
	o.Counsel(v.Opinion, v.Ruling)
	if found := codeText.FindStringSubmatch(text); found != nil {
		o.Code = found[1]
	}
	view, err := m.View(ctx, session)
	for _, w := range view.Writes {
		if strings.Contains(text, "kept for the owner's review") && w.Digest == v.Digest.String() {
			o.Write = w.ID
		}
	}
	if v.Effect != "confirm" {
		return o, err
	}
	for _, q := range view.Questions {
		if q.Pending() && q.Digest == v.Digest.String() {
			o.Question, o.Prompt = q.ID, q.Prompt
		}
	}
	return o, err
}

var (
	codeText = regexp.MustCompile(`\nApproval code: (\S+) `)
	// forOwner is what a proxy whose operator lets chat commands count adds for the owner.
	forOwner = regexp.MustCompile(`(?s)(repeat exactly the same call\.)\n.*$`)
)
