package judge

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/mcp/wire"
	"github.com/tidemark/tidemark/tool"
)

// Say sends something to the client while its request is held.
type Say func(message []byte) error

// Up judges a message of the client's. It waits where a call is held; then the client is kept waiting, if it can be told
// anything before the answer.
func (c *Conn) Up(ctx context.Context, m *wire.Message, ends Ends) Passage {
	return c.Enter(ctx, m, ends)()
}

// Enter is Up in two parts: messages are entered in the order in which they come, so that a client can
// cancel what it has just asked, and what is returned may then wait beside others.
func (c *Conn) Enter(ctx context.Context, m *wire.Message, ends Ends) func() Passage {
	done := func(p Passage) func() Passage { return func() Passage { return p } }
	switch m.Kind() {
	case wire.Request:
		return c.request(ctx, m, ends)
	case wire.Notification:
		switch {
		case m.Method == cancelMethod:
			return done(c.cancelled(m))
		case !strings.HasPrefix(m.Method, "notifications/"): // a request that wants no answer is one all the same
			return done(Passage{Reply: Failure(nil, wire.CodeRequest, m.Method+" without an id is not passed on")})
		}
		if m.Method == "notifications/initialized" {
			c.isReady()
		}
		return done(Passage{Forward: m.Raw})
	case wire.Response:
		return c.answered(ctx, m)
	}
	return done(Passage{Reply: Failure(m.ID, wire.CodeRequest, "this is no message")})
}

// Waits reports whether a message may wait for a decision.
func (c *Conn) Waits(m *wire.Message) bool {
	return m.Method == callMethod || pseudo[m.Method] != "" || m.Kind() == wire.Response
}

// request takes a request in; what it returns asks about it where it would do something.
func (c *Conn) request(ctx context.Context, m *wire.Message, ends Ends) func() Passage {
	done := func(p Passage) func() Passage { return func() Passage { return p } }
	a, err := c.ask(m)
	if err != nil {
		return done(Passage{Reply: faultOf(m, err)})
	}
	ctx, cancel := context.WithCancel(ctx)
	r := &request{
		id: slices.Clone(m.ID), key: m.Key(), method: m.Method, place: c.o.Origin.place(a.Meta), cursor: a.Cursor, task: a.TaskID,
		modern: modern(a.Meta), token: slices.Clone(a.Meta.Get("progressToken")), hostID: callID(a.Meta), cancel: cancel,
		ends: ends, revision: revision(a.Meta),
	}
	if r.modern {
		r.declared, r.client = slices.Clone(a.Meta.Get(capabilityKey)), clientName(a.Meta.Get(clientKey))
	}
	if news, ok := Listener(m); ok {
		r.news = news
		c.isReady()
	}
	c.understand(m, r, a)
	if why := c.enter(r); why != "" {
		cancel()
		return done(Passage{Reply: Failure(m.ID, wire.CodeRequest, why)})
	}
	if r.call.Name == "" {
		cancel()
		c.left(r)
		return done(Passage{Forward: m.Raw})
	}
	return func() Passage {
		defer cancel()
		out, why := c.judge(ctx, m, r, a, ends.Client)
		if why == nil {
			return out
		}
		if c.leave(r); r.isGone(c) {
			return Passage{} // nobody waits for it
		}
		return Passage{Reply: r.refusal(*why)}
	}
}

// ask reads what a request names. Of methods that nobody here knows it is their own affair.
func (c *Conn) ask(m *wire.Message) (*wire.Asked, error) {
	switch {
	case m.Method == callMethod, m.Method == listMethod, pseudo[m.Method] != "", strings.HasPrefix(m.Method, "tasks/"):
		return m.Ask()
	}
	meta, _ := wire.ReadObject(m.Param("_meta")) // what is none says nothing
	return &wire.Asked{Meta: meta}, nil
}

// understand makes a call of what a request would do; others only pass.
func (c *Conn) understand(m *wire.Message, r *request, a *wire.Asked) {
	switch {
	case m.Method == callMethod:
		r.call = tool.Call{Name: c.name(a.Name), Args: a.Arguments}
		if len(a.Arguments) == 0 {
			r.call.Args = []byte("{}")
		}
	case pseudo[m.Method] != "":
		rest, _ := m.Rest()                               // params that were read once
		if m.Method == updateMethod && a.Answers != nil { // who is asked about it sees what it says
			rest, _ = wire.Put(rest, "inputResponses", a.Answers)
		}
		r.call = tool.Call{Name: c.name(pseudo[m.Method]), Args: rest}
	case m.Method == "initialize":
		c.mu.Lock()
		c.declared, c.client = slices.Clone(m.Param("capabilities")), clientName(m.Param("clientInfo"))
		c.mu.Unlock()
	}
	r.call.Args = slices.Clone(r.call.Args)
	if r.call.Name != "" {
		r.call.ID = r.hostID
		if r.call.ID == "" {
			r.call.ID = c.o.Memory.newID()
		}
	}
}

// enter notes that a request is open; why says that it cannot be.
func (c *Conn) enter(r *request) (why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[r.key] != nil {
		return "a request with this id is open already"
	}
	if len(c.open) >= maxOpen {
		return "too many requests are open"
	}
	c.open[r.key] = r
	if r.came = c.o.Now(); r.client == "" {
		r.client = c.client
	}
	return ""
}

// left notes that a request has gone to the server.
func (c *Conn) left(r *request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r.sent = true
	if r.call.Name != "" {
		p := r.place
		c.last = &p
	}
}

// leave forgets a request.
func (c *Conn) leave(r *request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[r.key] == r {
		delete(c.open, r.key)
	}
}

// plainName is what a tool may be called: the names that MCP allows. Others could be taken for one
// another.
func plainName(s string) bool {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
	return s != "" && len(s) <= 128 && strings.Trim(s, allowed) == ""
}

// judge decides whether a request may leave; why is the refusal.
func (c *Conn) judge(ctx context.Context, m *wire.Message, r *request, a *wire.Asked, say Say) (out Passage, why *string) {
	no := func(text string) (Passage, *string) { return Passage{}, &text }
	if m.Method == callMethod {
		if !plainName(a.Name) {
			return no("Tool '" + text.Shown(a.Name) + "' has a name that MCP does not allow, so it was not called.")
		}
		refusal, err := c.mayCall(ctx, a.Name)
		if err != nil {
			return no(c.fault(ctx, "look up the tool", err))
		}
		if refusal != "" {
			return no(refusal)
		}
	}
	forward := m.Raw
	if isOurs(a.State) {
		var err error
		if forward, err = c.retried(ctx, m, r, a); err != nil {
			return no(c.fault(ctx, "take the answer", err))
		}
		a.State, a.Answers = nil, nil
	}
	if a.Answers != nil && m.Method != updateMethod {
		if why := c.answers(ctx, r, a, say); why != nil {
			return Passage{}, why
		}
	}
	if m.Method != updateMethod && (a.State != nil || a.Answers != nil) {
		if earlier := c.o.Memory.takeRound(r, a.State); earlier != nil {
			r.place = earlier.place
			c.left(r)
			return Passage{Forward: forward}, nil
		}
	}
	reply, ok := c.decide(ctx, r, say)
	if !ok {
		if reply.whole != nil {
			c.leave(r)
			return Passage{Reply: reply.whole}, nil
		}
		return Passage{}, &reply.text
	}
	if a.Answers != nil && m.Method == updateMethod {
		if why := c.answers(ctx, r, a, say); why != nil {
			return Passage{}, why
		}
	}
	if r.leaves != nil {
		var err error
		if forward, err = withArguments(m, forward, r.leaves); err != nil {
			return no(c.fault(ctx, "put in what is kept", err))
		}
		r.call.Args = r.leaves
	}
	c.left(r)
	return Passage{Forward: forward}, nil
}

// answers asks about what a request answers a server, besides what it asks for; why is the refusal. Where a person has
// let the request through with all that it says, nobody is asked twice.
func (c *Conn) answers(ctx context.Context, r *request, a *wire.Asked, say Say) (why *string) {
	cargo := &request{id: r.id, method: r.method, place: r.place, token: r.token, modern: true, gated: r.approved}
	cargo.call = tool.Call{ID: r.call.ID + "-answers", Name: c.name("input_answers"), Args: slices.Clone(a.Answers)}
	reply, ok := c.decide(ctx, cargo, say)
	if !ok {
		return &reply.text
	}
	r.place = cargo.place
	return nil
}

// reply is what goes back for a request that does not leave: a refusal in words, or a whole message.
type reply struct {
	text  string
	whole []byte
}

// decide asks the monitor about a call, and waits where it is held.
func (c *Conn) decide(ctx context.Context, r *request, say Say) (reply, bool) {
	_ = c.offer(ctx, r.place) // without it less is understood, which is the strict side
	patience := c.o.Patience
	if r.token == nil || say == nil {
		patience = min(patience, blindPatience)
	}
	elicits := c.o.Elicit && !r.elicited && c.canElicit(r)
	ask := Ask{Place: r.place, Call: r.call, Patience: patience, Elicits: elicits, Local: c.o.Local, Gated: r.gated, Client: r.client}
	if elicits {
		ask.Patience = 0
	}
	ruling, err := c.wait(ctx, r, ask, say)
	if err == nil && ruling.Held != nil && elicits {
		if ruling.Held.Dialog {
			if whole := c.elicit(ctx, r, ruling.Held, say); whole != nil {
				return reply{whole: whole}, false
			}
		}
		ask.Patience = patience
		ruling, err = c.wait(ctx, r, ask, say)
	}
	switch {
	case err != nil:
		c.o.Memory.forget(r.place.Session) // a monitor that started anew knows nothing of the server's tools
		return reply{text: c.fault(ctx, "decide", err)}, false
	case ruling.Answer != nil:
		return reply{whole: r.says(ruling.Answer)}, false
	case !ruling.Allowed():
		return reply{text: ruling.Refusal}, false
	case ctx.Err() != nil || r.isGone(c):
		return reply{text: "The request was given up before it was answered, so it did not run."}, false
	}
	r.place, r.approved, r.leaves = ruling.Place, ruling.Approved, ruling.Args
	return reply{}, true
}

// isGone reports whether the client has given a request up.
func (r *request) isGone(c *Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return r.gone
}

type ruled struct {
	ruling Ruling
	err    error
}

// wait asks, and keeps the client waiting meanwhile.
func (c *Conn) wait(ctx context.Context, r *request, ask Ask, say Say) (Ruling, error) {
	if ask.Patience == 0 || r.token == nil || say == nil {
		return c.rule(ctx, r, ask)
	}
	done := make(chan ruled, 1)
	go func() {
		ruling, err := c.rule(ctx, r, ask)
		done <- ruled{ruling, err}
	}()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case got := <-done:
			return got.ruling, got.err
		case <-tick.C:
			if err := say(progress(r.token, progressStart+n, "waiting for the owner: tidemark approvals watch")); err != nil {
				r.cancel()
				<-done
				return Ruling{}, err
			}
		}
	}
}

// fault is what the model and its user are told where something failed: nothing ran. What it was
// stands in the log.
func (c *Conn) fault(ctx context.Context, what string, err error) string {
	c.o.Logger.LogAttrs(ctx, slog.LevelWarn, "mcp: "+what, slog.String("server", c.o.Server.Name), slog.String("error", err.Error()))
	if errors.Is(err, context.Canceled) {
		return "The request was given up before it was decided, so it did not run."
	}
	var known *Unreachable
	if errors.As(err, &known) {
		return "Tidemark: " + known.Error()
	}
	return "Tidemark could not " + what + ", so this did not run. Its log says more; try again later, or answer with what you have."
}

// cancelled ends the wait of a held call; one that has left is cancelled at the server. One that is
// done is nobody's concern.
func (c *Conn) cancelled(m *wire.Message) Passage {
	id := m.Param("requestId")
	key := (&wire.Message{ID: id}).Key()
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.open[key]
	if r == nil {
		return Passage{}
	}
	r.gone = true
	delete(c.open, key)
	if !r.sent {
		if r.call.Name != "" && byClock(wire.Text(m.Params, "reason")) {
			go c.leaveOpen(r)
			return Passage{}
		}
		r.cancel()
		return Passage{}
	}
	return Passage{Forward: m.Raw}
}

// giveUpWithin is how long a wait may take to end by itself.
const giveUpWithin = 5 * time.Second

// leaveOpen ends the wait of a call whose client's clock has run out, so that its question stays.
func (c *Conn) leaveOpen(r *request) {
	ctx, cancel := context.WithTimeout(context.Background(), giveUpWithin)
	defer cancel()
	if err := c.o.Port.GiveUp(ctx, GivenUp{Place: r.place, Call: r.call, Client: r.client, After: c.o.Now().Sub(r.came)}); err != nil {
		_ = c.fault(ctx, "leave a question open", err)
		r.cancel()
	}
}

// clientName is what a client calls itself.
func clientName(info []byte) string {
	return text.Head(strings.TrimSpace(wire.Text(info, "name")+" "+wire.Text(info, "version")), maxNamed)
}

// answered takes the client's answer to a request: the server's, or one of our own.
func (c *Conn) answered(ctx context.Context, m *wire.Message) func() Passage {
	done := func(p Passage) func() Passage { return func() Passage { return p } }
	key := m.Key()
	c.mu.Lock()
	mine, q := c.ours[key], c.asked[key]
	delete(c.ours, key)
	if mine == nil {
		delete(c.asked, key)
	}
	c.mu.Unlock()
	switch {
	case mine != nil:
		mine <- answer{result: slices.Clone(m.Result)}
		return done(Passage{})
	case q == nil:
		return done(Passage{}) // nobody asked
	case m.Result == nil || q.method == rootsMethod || q.method == "ping" && isBare(m.Result):
		return done(Passage{Forward: m.Raw})
	}
	what := map[string]string{samplingMethod: "sampling_answer", elicitMethod: "elicitation_answer"}[q.method]
	if what == "" {
		what = "answer"
	}
	if q.method == elicitMethod && isNo(m.Result) {
		return done(Passage{Forward: m.Raw})
	}
	r := &request{id: slices.Clone(m.ID), method: q.method, place: q.places[0]}
	r.call = tool.Call{ID: c.o.Memory.newID(), Name: c.name(what), Args: slices.Clone(m.Result)}
	return func() Passage {
		reply, ok := c.decide(ctx, r, nil)
		if ok {
			return Passage{Forward: m.Raw}
		}
		c.o.Logger.LogAttrs(ctx, slog.LevelWarn, "mcp: an answer was kept from the server", slog.String("server", c.o.Server.Name),
			slog.String("why", reply.text))
		return Passage{Forward: Failure(r.id, codeDeclined, "the answer was refused by security policy")}
	}
}

// isBare reports whether an answer says nothing besides some of its members.
func isBare(result []byte, besides ...string) bool {
	err := wire.Members(result, func(key string, value []byte) error {
		v := strings.Trim(string(value), " \t\r\n")
		if key == "resultType" && v == `"complete"` || slices.Contains(besides, key) || v == "null" || v == "{}" {
			return nil
		}
		return errors.New("it says something")
	})
	return err == nil
}

// isNo reports whether the answer to a question is a no, and holds nothing else.
func isNo(result []byte) bool {
	action := wire.Text(result, "action")
	return (action == "decline" || action == "cancel") && isBare(result, "action")
}

func faultOf(m *wire.Message, err error) []byte {
	var f *wire.Fault
	if errors.As(err, &f) {
		return FaultReply(f)
	}
	return Failure(m.ID, wire.CodeInternal, err.Error())
}
