package telemetry

import (
	"container/list"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/tidemark/tidemark/internal/event"
)

// span is one operation that has ended.
type span struct {
	trace, id, parent string
	name              string
	kind              int
	start, end        int64 // Unix nanoseconds
	attrs             []attr
	failed            string // why; "": it did not
}

// Kinds of spans, as the protocol numbers them.
const (
	internal = 1
	server   = 2
	client   = 3
)

// fold makes spans and figures from events. Ids follow from names, so that a span knows its
// parent without anybody having kept it.
type fold struct {
	figures
	open map[place]*list.Element // turns that have not ended
	age  *list.List              // of them, the one that was longest silent first
}

type place struct{ session, branch string }

// turn is one that has not ended.
type turn struct {
	place
	id          string
	agent, from string
	start, last int64
	calls       []*event.Event // allowed, without a result yet
}

// Bounds on what is kept.
const (
	maxTurns = 4096
	maxOpen  = 256 // calls of a turn
)

func newFold(now time.Time) *fold {
	return &fold{figures: newFigures(now), open: map[place]*list.Element{}, age: list.New()}
}

// add folds one event, and returns the spans that ended with it.
func (f *fold) add(session string, e *event.Event) []span {
	at := place{session, e.Branch}
	var out []span
	if e.Kind == event.TurnBegan {
		out = f.close(at, e.Time)
		t := &turn{place: at, id: e.Turn, agent: e.Began.Agent, from: e.Began.Sender.Provider, start: e.Time}
		f.open[at] = f.age.PushBack(t)
		if f.age.Len() > maxTurns {
			if oldest, ok := f.age.Front().Value.(*turn); ok {
				out = append(out, f.close(oldest.place, oldest.last)...)
			}
		}
	}
	t := f.turn(at, e)
	t.last = e.Time
	switch e.Kind {
	case event.ModelAnswered:
		out = append(out, f.model(t, e))
	case event.CallDecided:
		f.decided(e.Decided)
		if e.Decided.Runs() && len(t.calls) < maxOpen {
			t.calls = append(t.calls, e)
		} else {
			out = append(out, t.call(e, e.Time, false))
		}
	case event.ResultSeen:
		out = append(out, f.result(t, e)...)
	case event.TurnSealed:
		out = append(out, f.close(at, e.Time)...)
	}
	return out
}

// turn is the open one, or one that stands for what came outside of any.
func (f *fold) turn(at place, e *event.Event) *turn {
	if el := f.open[at]; el != nil {
		f.age.MoveToBack(el)
		if t, ok := el.Value.(*turn); ok {
			return t
		}
	}
	return &turn{place: at, id: e.Turn, start: e.Time}
}

// close ends the turn of a place, and with it the calls of which no result came.
func (f *fold) close(at place, end int64) []span {
	el := f.open[at]
	if el == nil {
		return nil
	}
	delete(f.open, at)
	t, ok := f.age.Remove(el).(*turn)
	if !ok {
		return nil
	}
	var out []span
	for _, c := range t.calls {
		out = append(out, t.call(c, end, false))
	}
	s := span{
		trace: t.trace(), id: t.root(), name: "invoke_agent", kind: internal, start: t.start, end: max(end, t.start),
		attrs: append(t.common("invoke_agent"), text("tidemark.sender.provider", t.from)),
	}
	if t.agent != "" {
		s.name += " " + t.agent
		s.attrs = append(s.attrs, text("gen_ai.agent.name", t.agent))
	}
	return append(out, s)
}

// end closes every turn.
func (f *fold) end(now time.Time) []span {
	var out []span
	for at := range f.open {
		out = append(out, f.close(at, now.UnixNano())...)
	}
	return out
}

func (t *turn) trace() string { return digest(16, t.session, t.branch, t.id) }

func (t *turn) root() string { return digest(8, t.session, t.branch, t.id, "turn") }

// common are the attributes that every span of a turn has.
func (t *turn) common(operation string) []attr {
	return []attr{text("gen_ai.operation.name", operation), text("gen_ai.conversation.id", t.session)}
}

// model is a model call.
func (f *fold) model(t *turn, e *event.Event) span {
	m := e.Model
	f.answered(m)
	s := span{
		trace: t.trace(), parent: t.root(), id: digest(8, t.session, t.branch, t.id, "model", strconv.FormatInt(e.Time, 10)),
		name: "chat " + m.Name, kind: client, start: e.Time - m.LatencyMs*int64(time.Millisecond), end: e.Time,
		attrs: append(t.common("chat"), text("gen_ai.request.model", m.Name), number("tidemark.iteration", int64(e.Iteration))),
	}
	if m.TokensIn > 0 || m.TokensOut > 0 {
		s.attrs = append(s.attrs, number("gen_ai.usage.input_tokens", m.TokensIn), number("gen_ai.usage.output_tokens", m.TokensOut))
	}
	if m.Blocked {
		s.failed = "blocked by " + m.Rule
	}
	return s
}

// result ends the call that it belongs to.
func (f *fold) result(t *turn, e *event.Event) []span {
	for i, c := range t.calls {
		d := c.Decided
		same := d.CallID != "" && d.CallID == e.Seen.CallID || d.CallID == "" && d.Tool == e.Seen.Tool
		if !same {
			continue
		}
		t.calls = append(t.calls[:i:i], t.calls[i+1:]...)
		if t.from == "mcp" {
			f.ran(time.Duration(e.Time - c.Time))
		}
		return []span{t.call(c, e.Time, e.Seen.Error)}
	}
	return nil
}

// call is a tool call, with what was decided about it.
func (t *turn) call(e *event.Event, end int64, failed bool) span {
	d := e.Decided
	s := span{
		trace: t.trace(), parent: t.root(), id: digest(8, t.session, t.branch, t.id, "call", strconv.FormatUint(d.Step, 10)),
		name: "execute_tool " + d.Tool, kind: internal, start: e.Time, end: max(end, e.Time),
		attrs: append(t.common("execute_tool"), text("gen_ai.tool.name", d.Tool), text("gen_ai.tool.call.id", d.CallID),
			text("tidemark.verdict", d.Effect), text("tidemark.kind", d.Kind), text("tidemark.rule", d.Rule),
			text("tidemark.warrant", d.Warrant), text("tidemark.taint", d.Level.String()), text("tidemark.policy", d.Policy)),
	}
	if t.from == "mcp" {
		s.name, s.kind = "tools/call "+d.Tool, server
		s.attrs = append(s.attrs, text("mcp.method.name", "tools/call"))
	}
	switch {
	case !d.Runs():
		s.failed = d.Effect + " by " + d.Rule
		s.attrs = append(s.attrs, text("error.type", "tidemark."+d.Effect))
	case failed:
		s.failed = "the tool answered with an error"
		s.attrs = append(s.attrs, text("error.type", "tool_error"))
	}
	return s
}

// digest is an id of so many bytes, in hexadecimal.
func digest(n int, parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(strconv.Itoa(len(p))))
		h.Write([]byte{':'})
		h.Write([]byte(p))
	}
	return hex.EncodeToString(h.Sum(nil)[:n])
}
