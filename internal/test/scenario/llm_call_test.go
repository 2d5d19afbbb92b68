package scenario_test

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/internal/test/scenario"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// Call lets the model ask for it, and looks at what the client gets.
func (d *llmDoor) Call(ctx context.Context, ref tidemark.Ref, call tool.Call) (scenario.Outcome, error) {
	c, err := d.talk(ref)
	if err != nil {
		return scenario.Outcome{}, err
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
	got, err := d.utter(c, d.agent.format.call(c.open.n, call))
	if err != nil {
		return scenario.Outcome{}, err
	}
	events, err := d.events(ctx, c)
	if err != nil {
		return scenario.Outcome{}, err
	}
	i := slices.IndexFunc(events, func(e event.Event) bool { return e.Kind == event.CallDecided })
	if i < 0 {
		return scenario.Outcome{}, fmt.Errorf("nothing was decided about %s, and the client got %v", call.Name, got)
	}
	return d.judged(ctx, ref.Session, call, got, events[i].Decided, mark)
}

// utter makes the model say something, and returns what the client got in its place.
func (d *llmDoor) utter(c *thread, text string) (block, error) {
	q, a := c.open, d.agent
	if err := q.say(text); err != nil {
		return block{}, err
	}
	q.n++
	whole := d.world.Monitor.Policy().For(c.agent).Settings().Footer
	if whole { // nobody sees any of the answer before its end
		if err := q.say(a.format.end(true)); err != nil {
			return block{}, err
		}
		close(q.script)
	}
	if err := q.header(); err != nil {
		return block{}, err
	}
	got, err := a.format.read(q.reads)
	if err != nil {
		return block{}, fmt.Errorf("read what the client gets: %w", err)
	}
	c.got = append(c.got, got)
	if whole {
		_, _ = io.Copy(io.Discard, q.reads) // its end
		q.drop()
		c.keep()
	}
	return got, nil
}

// judged is a verdict: whether the call may run from the wire, the rest from the log.
func (d *llmDoor) judged(ctx context.Context, session string, call tool.Call, got block, v *event.Decided, mark trust.Label) (scenario.Outcome, error) {
	if got.kind == "call" != (v.Effect == "allow") {
		return scenario.Outcome{}, fmt.Errorf("the client got a %s, the verdict is %s", got.kind, v.Effect)
	}
	if got.kind == "call" && (got.call.ID != call.ID || got.call.Name != call.Name || string(got.call.Args) != string(call.Args)) {
		return scenario.Outcome{}, fmt.Errorf("the client got %v, the model said %v", got.call, call)
	}
	o := scenario.Outcome{
		Verdict: v.Effect, Kind: v.Kind, Rule: v.Rule, Reason: v.Reason, Taint: v.Level.String(), Evidence: tidemark.Evidence(mark),
		Approved: v.Spent != "", Text: strings.TrimSuffix(got.text, "\nThe owner can also answer with: tidemark approvals watch"),
	}
	o.Counsel(v.Opinion, v.Ruling)
	if m := writeText.FindStringSubmatch(got.text); m != nil {
		o.Write = m[1]
	}
	if m := codeText.FindStringSubmatch(got.text); m != nil {
		o.Code = m[1]
	}
	if o.Code == "" {
		return o, nil
	}
	view, err := d.world.Monitor.View(ctx, session)
	for _, q := range view.Questions {
		if q.Pending() && q.Digest == v.Digest.String() {
			o.Question, o.Prompt = q.ID, q.Prompt
		}
	}
	return o, err
}

var (
	codeText  = regexp.MustCompile(`\nApproval code: (\S+) `)
	writeText = regexp.MustCompile(`\nThe content is kept for review as (\S+);`)
)
