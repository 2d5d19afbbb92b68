package proxy

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/llm/conversation"
	"github.com/tidemark/tidemark/internal/llm/format"
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

	vouches  bool             // the operator vouches for the path
	envelope *format.Envelope // nil: the request has none
	framed   bool             // the answer comes in frames, and goes out in frames

	req         *format.Request     // nil where an old answer is fetched
	visit       *conversation.Visit // likewise
	ref         engine.Ref
	hostReports bool   // the host reports its turns itself
	asksAgain   bool   // and asks about each call before it runs it
	answers     string // how addresses in the answer are judged, where somebody else has spoken
	argued      bool   // somebody has
	iteration   int
	edit        format.Edit
	early       *earlyRequest     // nil: nothing was sent before it was judged
	carrier     http.RoundTripper // what takes it to the provider; nil: the upstream has its own
	hooks       *hook.Context
	sent        time.Time
	keeps       bool // results may be kept from the model
}

// ask is the way of a request to a model: read, entered, judged, sent, and its answer
// judged in turn.
func (x *exchange) ask() *problem {
	ctx := x.r.Context()
	lent, no := x.readBody()
	defer func() { x.early.breakOff() }()
	if no != nil {
		return no
	}
	defer lent.done()
	if x.p.seesRequests() { // plugins that were given up on may still read it
		lent.keep()
	}
	start := x.p.o.Now()
	greeting, no := x.understand(lent)
	if no != nil {
		return no
	}
	caller := x.p.caller(x.r, x.who, x.req.Hints)
	if x.u.Handshake {
		caller.Session, caller.Trusted, caller.HostReports = greeting, true, true
	}
	caller.Keeps = x.keeping(&caller)
	no = x.enter(ctx, caller)
	if x.visit != nil {
		defer x.visit.Leave()
	}
	if no != nil {
		return no
	}
	defer x.lend()()
	if no := x.putAside(); no != nil {
		return no
	}
	x.p.flushes.Ask(x.ref.Session)
	defer x.p.flushes.Ask(x.ref.Session) // what the answer brings comes after that
	refusal, err := x.prepare(ctx, caller)
	if err != nil {
		return x.p.explain(ctx, err)
	}
	if refusal != "" {
		return x.say(ctx, refusal, true)
	}
	body, err := x.changed()
	if err != nil {
		return x.p.explain(ctx, err)
	}
	x.p.metrics.prepared(x.u, x.rt.api, x.p.o.Now().Sub(start))
	return x.send(lent, body)
}

// lend tells whoever may ask with it of the credential that the request goes out with.
func (x *exchange) lend() (back func()) {
	if x.p.o.Lend == nil || x.u.Sign != nil {
		return func() {}
	}
	return x.p.o.Lend(x.ref.Session, x.u.Name, x.u.API, x.rt.api.String(), x.out.Header)
}

// changed is the request as it goes out, in its envelope if it came in one.
func (x *exchange) changed() ([]byte, error) {
	model := x.edit.Model
	switch {
	case x.envelope != nil:
		x.edit.Model = ""
	case x.rt.inPath && model != "":
		x.rename()
	}
	body, err := x.req.Apply(x.edit)
	if err != nil || x.envelope == nil {
		return body, err
	}
	return x.envelope.Put(body, model), nil
}

const whyUnread = "the request cannot be read in one way only, so it was not sent: "

// understand reads the request. Lines of plugins are for us alone: they are cut out before
// anybody reads it, on every upstream. Where one is wanted, the session it names is the
// greeting.
func (x *exchange) understand(lent *lease) (greeting string, no *problem) {
	clean := x.u.sent.known(x.who.tenant, lent.sums.Blocks())
	if x.p.callers.inBody(lent.buf[max(0, clean-longToken):]) {
		return "", newProblem(http.StatusForbidden, whyStray)
	}
	body, found := handshakeMarks().Cut(lent.buf, clean)
	sums := lent.sums
	if found != nil {
		if _, more := handshakeMarks().Cut(body, 0); more != nil {
			return "", newProblem(http.StatusBadRequest, "lines of our plugin stand inside one another")
		}
		sums = x.p.cache.NewSums()
	}
	var err error
	if x.rt.wrapped {
		if x.envelope, err = format.Wrapped(body); err != nil {
			return "", newProblem(http.StatusBadRequest, whyUnread+err.Error())
		}
		body, sums, x.rt.model = x.envelope.Inner(), x.p.cache.NewSums(), x.envelope.Model
	}
	if err = x.read(body, sums); err == nil {
		err = x.showKept()
	}
	if err != nil {
		return "", newProblem(http.StatusBadRequest, whyUnread+err.Error())
	}
	if x.rt.hosted && x.req.Hints.Version == "" {
		return "", newProblem(http.StatusBadRequest, whyHosted)
	}
	if x.u.Handshake {
		return x.greeted(found)
	}
	return "", nil
}

// read takes a body for the request.
func (x *exchange) read(body []byte, sums *format.Sums) (err error) {
	if x.req, err = x.p.cache.ReadSummed(x.rt.api, x.who.tenant, body, sums); err != nil {
		return err
	}
	x.req.Stream = x.req.Stream || x.rt.socket
	if x.rt.inPath {
		x.req.Model, x.req.Stream = x.rt.model, x.rt.stream || x.req.Stream
	}
	return nil
}

// greeted is the session that the plugin's line names. It counts in a system text alone:
// anywhere else it is somebody's quotation.
func (x *exchange) greeted(found []format.Excerpt) (string, *problem) {
	session, why := "", ErrHandshake
	for _, f := range found {
		if !x.req.Instructs(f.At) {
			continue
		}
		named, err := x.p.o.Handshake.Verify(f.Text, x.p.o.Now())
		switch {
		case err != nil:
			why = err
		case session != "" && session != named:
			return "", newProblem(http.StatusForbidden, "two lines of our plugin name different sessions: nobody can tell which one speaks")
		default:
			session = named
		}
	}
	if session == "" {
		return "", newProblem(http.StatusForbidden, why.Error()+whyPlugin)
	}
	return session, nil
}

const whyPlugin = ": this upstream answers only through a host with the plugin"

// enter finds the conversation. Calls are left to a host that asks about each before it
// runs it, as long as it does.
func (x *exchange) enter(ctx context.Context, c conversation.Caller) *problem {
	var err error
	if x.visit, err = x.p.o.Follower.Enter(ctx, c, x.req); err != nil {
		return x.p.explain(ctx, err)
	}
	x.ref, x.hostReports = x.visit.Ref, c.HostReports
	if !c.HostReports {
		return nil
	}
	if x.asksAgain, err = x.p.hosts.asks(ctx, x.p.o.Monitor, x.ref); err != nil {
		return x.p.explain(ctx, err)
	}
	return nil
}

// rename asks another model where its name is in the path.
func (x *exchange) rename() {
	if call := x.rt.cloud; call.verb != "" {
		call.model = x.edit.Model
		x.out.URL.Path, x.out.URL.RawPath = call.path()
		x.out.URL.Path, x.out.URL.RawPath = x.u.base.Path+x.out.URL.Path, x.u.base.Path+x.out.URL.RawPath
		x.edit.Model = ""
		return
	}
	at := strings.LastIndexByte(x.out.URL.Path, '/')
	_, verb, _ := strings.Cut(x.out.URL.Path[at+1:], ":")
	x.out.URL.Path = x.out.URL.Path[:at+1] + strings.ReplaceAll(x.edit.Model, "/", "") + ":" + verb
	x.edit.Model = ""
}

// finish records the answer before the client can act on its end. What it got is noted
// even where the answer broke off.
func (x *exchange) finish(ctx context.Context, o result) error {
	ctx = context.WithoutCancel(ctx)
	x.owe(o)
	if x.visit == nil {
		x.p.o.Follower.Fetched(x.who.tenant, o.Parts)
		return nil
	}
	released := x.released(o.Parts)
	if err := x.noted(ctx, o, released); err != nil || len(released) == 0 {
		return err
	}
	return x.p.o.Monitor.Flush(ctx, x.ref.Session) // who gets calls may act on them
}

// noted tells of the answer.
func (x *exchange) noted(ctx context.Context, o result, released []string) error {
	if err := x.visit.Answered(ctx, x.reply(o), o.Parts); err != nil {
		return err
	}
	if x.asksAgain {
		x.p.hosts.left(x.ref.Session, o.Parts)
	}
	model := o.Model
	if model == "" {
		model = x.req.Model
	}
	_, err := x.p.o.Monitor.Replied(ctx, engine.ModelReply{
		Ref: x.ref, Iteration: x.iteration, Model: model, Calls: released, Output: x.visit.Output(o.Parts),
		LatencyMs: x.p.o.Now().Sub(x.sent).Milliseconds(), TokensIn: o.TokensIn, TokensOut: o.TokensOut,
	}, engine.DeferWrite())
	if err := unlessSealed(err); err != nil {
		return err
	}
	if err := x.iterated(ctx, len(released)); err != nil {
		return err
	}
	if len(released) == 0 && o.Complete && !o.ended && !x.hostReports { // a host that tells of its turns ends them too
		e := engine.Ending{Ref: x.ref, Content: textOf(o.Parts), Blocked: o.blocked, Reason: o.reason}
		_, err = x.p.o.Monitor.End(ctx, e, engine.DeferWrite())
	}
	return unlessSealed(err)
}

// released are the tools whose calls the client got, as the monitor calls them.
func (x *exchange) released(parts []format.Part) []string {
	var out []string
	for i := range parts {
		if parts[i].Kind == format.Call {
			name, _ := x.visit.CallName(parts[i].Name, parts[i].Args)
			out = append(out, name)
		}
	}
	return out
}

// textOf is what an answer says.
func textOf(parts []format.Part) []byte {
	var b bytes.Buffer
	for i := range parts {
		if parts[i].Kind == format.Text {
			b.WriteString(parts[i].Text)
		}
	}
	return b.Bytes()
}
