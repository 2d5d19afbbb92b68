package llm

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/door/llm/talk"
	"github.com/tidemark/tidemark/internal/door/llm/wire"
)

// exchange is one request to a model and its answer.
type exchange struct {
	p   *Proxy
	u   *upstream
	rt  route
	who visitor
	w   *response
	r   *http.Request
	out *http.Request // for the provider

	req       *wire.Request // nil where an old answer is fetched
	visit     *talk.Visit   // likewise
	ref       tidemark.Ref
	iteration int
	edit      wire.Edit
	ahead     *ahead // nil: nothing was sent before it was judged
	hooks     *hook.Context
	sent      time.Time
}

// ask is the way of a request to a model: read, entered, judged, sent, and its answer
// judged in turn.
func (x *exchange) ask() *problem {
	ctx := x.r.Context()
	lent, no := x.readBody()
	defer func() { x.ahead.breakOff() }()
	if no != nil {
		return no
	}
	defer lent.done()
	if x.p.plugged() { // plugins that were given up on may still read it
		lent.keep()
	}
	start := x.p.o.Now()
	var err error
	if x.req, err = x.p.cache.ReadSummed(x.rt.api, x.who.tenant, lent.buf, lent.sums); err != nil {
		return newProblem(http.StatusBadRequest, "the request cannot be read in one way only, so it was not sent: "+err.Error())
	}
	if x.rt.api == wire.Gemini {
		x.req.Model, x.req.Stream = x.rt.model, x.rt.stream
	}
	caller := x.p.caller(x.r, x.who, x.req.Hints)
	if no := x.greet(&caller); no != nil {
		return no
	}
	if x.visit, err = x.p.o.Follower.Enter(ctx, caller, x.req); err != nil {
		return x.p.explain(ctx, err)
	}
	x.ref = x.visit.Ref
	x.ref.Gated = caller.Told // its plugin asks about each call before it runs
	refusal, err := x.prepare(ctx, caller)
	if err != nil {
		return x.p.explain(ctx, err)
	}
	if refusal != "" {
		return x.say(ctx, refusal, true)
	}
	if x.rt.api == wire.Gemini && x.edit.Model != "" {
		x.rename()
	}
	body, err := x.req.Apply(x.edit)
	if err != nil {
		return x.p.explain(ctx, err)
	}
	x.p.metrics.prepared(x.u, x.rt.api, x.p.o.Now().Sub(start))
	return x.send(lent, body)
}

// rename asks another model of Gemini's, whose name is in the path.
func (x *exchange) rename() {
	at := strings.LastIndexByte(x.out.URL.Path, '/')
	_, verb, _ := strings.Cut(x.out.URL.Path[at+1:], ":")
	x.out.URL.Path = x.out.URL.Path[:at+1] + strings.ReplaceAll(x.edit.Model, "/", "") + ":" + verb
	x.edit.Model = ""
}

// greet checks the line of a plugin where the upstream wants one, and cuts it out of what
// is sent: it is for us alone.
func (x *exchange) greet(c *talk.Caller) *problem {
	if !x.u.Handshake {
		return nil
	}
	line := x.line()
	session, err := x.p.o.Handshake.Verify(line, x.p.o.Now())
	if err != nil {
		return newProblem(http.StatusForbidden, err.Error()+": this upstream answers only through a host with the plugin")
	}
	c.Session, c.Trusted, c.Told = session, true, true
	for at := 0; ; {
		i := bytes.Index(x.req.Body[at:], []byte(line))
		if i < 0 {
			return nil
		}
		x.edit.Strip = append(x.edit.Strip, wire.Span{Start: at + i, End: at + i + len(line)})
		at += i + len(line)
	}
}

// line is the plugin's line in a system text. Anywhere else it is somebody's quotation.
func (x *exchange) line() string {
	for _, list := range [][]wire.Message{x.req.Head, x.req.New} {
		for i := range list {
			if list[i].Role != wire.System {
				continue
			}
			for j := range list[i].Parts {
				if line := findLine(list[i].Parts[j].Text); line != "" {
					return line
				}
			}
		}
	}
	if x.req.Known == 0 {
		return ""
	}
	all, err := x.req.All() // it stands in a part of the list that was read before
	if err != nil {
		return ""
	}
	for _, raw := range all[:min(x.req.Known, len(all))] {
		if m := hookMessage(raw); m.Role == "system" || m.Role == "developer" {
			if line := findLine(string(raw)); line != "" {
				return line
			}
		}
	}
	return ""
}

// finish records the answer before the client can act on its end. What it got is noted
// even where the answer broke off.
func (x *exchange) finish(ctx context.Context, o result) error {
	ctx = context.WithoutCancel(ctx)
	if x.visit == nil {
		return nil
	}
	if err := x.visit.Left(ctx, o.ID, o.Parts); err != nil {
		return err
	}
	model := o.Model
	if model == "" {
		model = x.req.Model
	}
	released := x.released(o.Parts)
	_, err := x.p.o.Monitor.Answered(ctx, tidemark.Asked{
		Ref: x.ref, Iteration: x.iteration, Model: model, Calls: released, Output: x.visit.Output(o.Parts),
		LatencyMs: x.p.o.Now().Sub(x.sent).Milliseconds(), TokensIn: o.TokensIn, TokensOut: o.TokensOut,
	})
	if err := unlessSealed(err); err != nil {
		return err
	}
	if err := x.iterated(ctx, len(released)); err != nil {
		return err
	}
	if len(released) == 0 && o.Complete && !o.ended && !x.ref.Gated { // a host that asks ends its turns too
		_, err = x.p.o.Monitor.End(ctx, tidemark.Ending{Ref: x.ref, Content: textOf(o.Parts), Blocked: o.blocked, Reason: o.reason})
	}
	return unlessSealed(err)
}

// released are the tools whose calls the client got, as the monitor calls them.
func (x *exchange) released(parts []wire.Part) []string {
	var out []string
	for i := range parts {
		if parts[i].Kind == wire.Call {
			name, _ := x.visit.CallName(parts[i].Name, parts[i].Args)
			out = append(out, name)
		}
	}
	return out
}

// textOf is what an answer says.
func textOf(parts []wire.Part) []byte {
	var b bytes.Buffer
	for i := range parts {
		if parts[i].Kind == wire.Text {
			b.WriteString(parts[i].Text)
		}
	}
	return b.Bytes()
}
