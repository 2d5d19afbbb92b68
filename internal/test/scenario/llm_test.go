package scenario_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/llm/conversation"
	"github.com/tidemark/tidemark/internal/llm/proxy"
	"github.com/tidemark/tidemark/internal/test/scenario"
	"github.com/tidemark/tidemark/tool"
)

const llmToken = "agent-token-0123456789"

// llmDoor is the LLM proxy between a client and a scripted model, over real sockets. What
// may run is read off the wire: the client got the call, or our words in its place. What
// the wire does not carry is read from the log, and both must agree.
type llmDoor struct {
	world   *scenario.World
	window  scenario.Window
	agent   *agent
	model   *httptest.Server
	proxies map[bool]*httptest.Server // by whether user messages are the owner's
	closers []func()
}

var (
	_ scenario.Door   = (*llmDoor)(nil)
	_ scenario.Hearer = (*llmDoor)(nil)
	_ scenario.Window = (*llmDoor)(nil)
	_ io.Closer       = (*llmDoor)(nil)
)

// llmRig tells a story in one of the formats.
func llmRig(f format) func(*scenario.Scenario) scenario.Rig {
	return func(s *scenario.Scenario) scenario.Rig {
		a := newAgent(s, f)
		return scenario.Rig{Store: openWatched, Door: func(w *scenario.World) (scenario.Door, error) { return openLLM(w, a) }}
	}
}

func openLLM(w *scenario.World, a *agent) (*llmDoor, error) {
	inner, err := scenario.OpenEngine(w)
	if err != nil {
		return nil, err
	}
	window, ok := inner.(scenario.Window)
	store, watches := w.Store.(*watched)
	if !ok || !watches {
		return nil, fmt.Errorf("engine is a %T, store a %T", inner, w.Store)
	}
	transport := &http.Transport{}
	a.client = &http.Client{Transport: transport}
	model := httptest.NewServer(http.HandlerFunc(a.answer))
	d := &llmDoor{world: w, window: window, agent: a, model: model, proxies: map[bool]*httptest.Server{}}
	quiet := slog.New(slog.DiscardHandler)
	o := proxy.Options{
		Monitor: w.Monitor, Feed: store.Store, Bus: hook.New(hook.Options{Logger: quiet}),
		Follower: conversation.New(w.Monitor, conversation.Options{Commands: true, HostTools: func(string) []string { return tool.Usual(nil) }}), Commands: true,
		Tokens: proxy.Tokens{Agent: llmToken}, MaxContext: 1 << 20, MaxConcurrent: 64, Logger: quiet, Now: w.Now,
	}
	for _, name := range []string{"openai", "anthropic", "gemini"} {
		o.Upstreams = append(o.Upstreams, proxy.Upstream{Name: name, API: name, BaseURL: d.model.URL})
	}
	for _, owner := range []bool{true, false} {
		o.Owner = owner
		proxy, err := proxy.New(o)
		if err != nil {
			return nil, errors.Join(err, d.Close())
		}
		server := httptest.NewServer(a.watch(proxy.Handler(http.NotFoundHandler())))
		d.proxies[owner] = server
		d.closers = append(d.closers, server.Close, proxy.Close)
	}
	d.closers = append(d.closers, d.model.Close, transport.CloseIdleConnections)
	return d, nil
}

// Close stops proxy and model. The client keeps its conversations.
func (d *llmDoor) Close() error {
	d.agent.close()
	for _, c := range d.closers {
		c()
	}
	return nil
}

// talk is the conversation of a context, or ErrUnseen where it cannot be told.
func (d *llmDoor) talk(ref engine.Ref) (*thread, error) {
	c := d.agent.talks[place{ref.Session, ref.Branch}]
	if c == nil || c.lost || ref.Turn != "" {
		return nil, scenario.ErrUnseen
	}
	return c, nil
}

// told reports whether the proxy can be told of such a turn: it knows one user, who is the
// owner or nobody, sub-agents by the session they work for, and one name of a client.
func told(t engine.Turn) bool {
	s := t.Sender
	if t.Agent != "" && t.Agent != s.Provider && !s.IsOwner {
		return false
	}
	if t.Message == nil && s.ID+s.SpawnedBy != "" || t.Ref.Turn != "" || t.From != "" || len(t.Items) > 0 ||
		s.Group != "" || s.Provider == "" {
		return false
	}
	return s.SpawnedBy != "" && !s.IsOwner && !s.Unknown || s.SpawnedBy == "" && (s.IsOwner && !s.Unknown || s.Unknown || s.ID == "")
}

// begin finds the conversation of a turn, or begins one.
func (d *llmDoor) begin(t engine.Turn) (*thread, error) {
	at := place{t.Ref.Session, t.Ref.Branch}
	c := d.agent.talks[at]
	if c == nil {
		c = &thread{place: at}
		d.agent.talks[at] = c
		if t.Forked {
			from := d.agent.talks[place{t.Ref.Session, t.Parent}]
			if from == nil || from.lost {
				c.lost = true
				return nil, scenario.ErrUnseen
			}
			if err := d.agent.leave(from); err != nil {
				return nil, err
			}
			c.history, c.seen = slices.Clone(from.history), from.seen
		}
	}
	if c.lost = c.lost || !told(t); c.lost {
		return nil, scenario.ErrUnseen
	}
	if parent := d.agent.talks[place{session: t.Sender.SpawnedBy}]; parent != nil { // a client runs tools when it has the whole answer
		if err := d.agent.leave(parent); err != nil {
			return nil, err
		}
	}
	c.owner, c.parent, c.agent = t.Sender.IsOwner || t.Sender.SpawnedBy != "", t.Sender.SpawnedBy, t.Agent
	if c.agent == "" {
		c.agent = t.Sender.Provider
	}
	return c, nil
}

// Begin sends the user's message.
func (d *llmDoor) Begin(ctx context.Context, t engine.Turn) (scenario.Outcome, error) {
	c, err := d.begin(t)
	if err != nil {
		return scenario.Outcome{}, err
	}
	if err := d.agent.leave(c); err != nil {
		return scenario.Outcome{}, err
	}
	words := "{}" // what a webhook brings where the story does not say it
	if t.Message != nil {
		words = *t.Message
	}
	c.history = append(c.history, entry{"user", []block{textBlock(words)}})
	events, err := d.send(ctx, c)
	if err != nil {
		return scenario.Outcome{}, err
	}
	o := scenario.Outcome{Notice: userNotice(c.open.shown.system)}
	for _, e := range events {
		if e.Kind != event.TurnBegan {
			continue
		}
		began(&o, e.Began, words)
	}
	o.Taint, err = d.taint(ctx, c)
	return o, err
}

// userNotice is the outcome of a chat command, which the model is told to pass on.
func userNotice(system string) string {
	_, notice, _ := strings.Cut(system, "Tidemark: ")
	notice, _, _ = strings.Cut(notice, "\n")
	return notice
}

// began puts what the log says of a turn into o.
func began(o *scenario.Outcome, e *event.Began, words string) {
	o.Level, o.Rule = e.Level.String(), e.Rule
	if e.Command {
		o.Command = commandOf(words)
	}
}

func commandOf(text string) string {
	cmd, err := approval.ParseCommand(text)
	if err != nil {
		return ""
	}
	return map[approval.Verb]string{approval.Approve: "approve", approval.Refuse: "deny", approval.Reset: "reset-trust"}[cmd.Verb]
}

// send asks the model, and returns what was recorded until it was asked.
func (d *llmDoor) send(ctx context.Context, c *thread) ([]event.Event, error) {
	if err := d.agent.send(ctx, d.proxies[c.owner].URL, c); err != nil {
		return nil, err
	}
	events, err := d.events(ctx, c)
	for _, e := range events {
		if e.Kind == event.ModelCalled {
			c.branch = e.Branch
		}
	}
	return events, err
}

// events are the records of the conversation's session since the last look. Through the proxy
// they are written a moment after they count.
func (d *llmDoor) events(ctx context.Context, c *thread) ([]event.Event, error) {
	if err := d.world.Monitor.Flush(ctx, c.place.session); err != nil {
		return nil, err
	}
	out, err := recorded(ctx, d.world.Store, c.place.session, c.seen)
	c.seen += uint64(len(out))
	return out, err
}

// recorded are the events of a session after the first ones.
func recorded(ctx context.Context, log engine.Store, session string, first uint64) ([]event.Event, error) {
	var out []event.Event
	for r, err := range log.Load(ctx, session, first) {
		if err != nil {
			return nil, err
		}
		e, err := event.FromRecord(r)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

func (d *llmDoor) ref(c *thread) engine.Ref {
	return engine.Ref{Session: c.place.session, Branch: c.branch}
}

func (d *llmDoor) taint(ctx context.Context, c *thread) (string, error) {
	l, err := d.world.Monitor.Taint(ctx, d.ref(c))
	return l.Level.String(), err
}

// ready makes sure that the model is being asked and can go on, in an answer that has
// nothing in it yet if that must be fresh.
func (d *llmDoor) ready(ctx context.Context, c *thread, fresh bool) error {
	q := c.open
	switch {
	case q != nil && q.told != "":
		return scenario.ErrUnseen // the turn is over, and the model was not asked
	case q == nil && c.sealed:
		return scenario.ErrUnseen // a client whose turn is over waits for its user
	case q != nil && (len(q.wrote) == 0 || !fresh && d.agent.format.several()):
		return nil
	}
	c.again = c.again || q != nil && !d.agent.format.several()
	if err := d.agent.leave(c); err != nil {
		return err
	}
	_, err := d.send(ctx, c)
	if err == nil && c.open.told != "" {
		return scenario.ErrUnseen
	}
	return err
}

// Model reads what the model was shown. Where that was looked at before, the client asks
// once more.
func (d *llmDoor) Model(ctx context.Context, call engine.ModelCall) (scenario.Outcome, error) {
	c, err := d.talk(call.Ref)
	if err != nil {
		return scenario.Outcome{}, err
	}
	if c.sealed || c.open != nil && c.open.told != "" && c.looked {
		return scenario.Outcome{}, scenario.ErrUnseen // a client whose turn is over waits for its user
	}
	if c.open == nil || c.looked || len(c.open.wrote) > 0 {
		if err := d.agent.leave(c); err != nil {
			return scenario.Outcome{}, err
		}
		if _, err := d.send(ctx, c); err != nil {
			return scenario.Outcome{}, err
		}
	}
	c.looked = true
	o := scenario.Outcome{}
	if o.Taint, err = d.taint(ctx, c); err != nil {
		return o, err
	}
	if c.open.told != "" {
		m := blockedText.FindStringSubmatch(c.open.told)
		if m == nil {
			return o, fmt.Errorf("the proxy answered %q", c.open.told)
		}
		o.Blocked, o.Reason, o.Rule = true, m[1], m[2]
		return o, nil
	}
	for _, name := range call.Tools {
		if !slices.Contains(c.open.shown.tools, name) {
			o.Hidden = append(o.Hidden, name)
		}
	}
	o.Notice = strings.TrimSuffix(strings.TrimPrefix(c.open.shown.system, "[tidemark notice]\n"), "\n[end of tidemark notice]")
	return o, nil
}

var blockedText = regexp.MustCompile(`^Tidemark: this turn was ended by security policy: (.*) \(rule (.*)\)\.$`)

// Wants is no step of its own here: an answer and its calls are one.
func (*llmDoor) Wants(context.Context, engine.ModelReply) (scenario.Outcome, error) {
	return scenario.Outcome{}, scenario.ErrUnseen
}

// Result sends back what the tool brought.
func (d *llmDoor) Result(ctx context.Context, r engine.Observation) (scenario.Outcome, error) {
	c, err := d.talk(r.Ref)
	if err != nil {
		return scenario.Outcome{}, err
	}
	from := d.agent.talks[place{session: r.From}]
	if r.Result.CallID == "" || r.From != "" && (from == nil || from.lost) {
		c.lost = true // a result belongs to a call, and does not say whose it is
		return scenario.Outcome{}, scenario.ErrUnseen
	}
	if err := d.agent.leave(c); err != nil {
		return scenario.Outcome{}, err
	}
	call := tool.Call{ID: r.Result.CallID, Name: r.Result.Name}
	c.history = append(c.history, entry{"user", []block{{kind: "result", text: string(r.Result.Content), call: call, failed: r.Result.Error}}})
	if c.sealed { // the client tells it with its next message
		return scenario.Outcome{}, scenario.ErrUnseen
	}
	events, err := d.send(ctx, c)
	if err != nil {
		return scenario.Outcome{}, err
	}
	var o scenario.Outcome
	for _, e := range events {
		if e.Kind == event.ResultSeen {
			o.Level = e.Seen.Label.Level.String()
		}
	}
	o.Taint, err = d.taint(ctx, c)
	return o, err
}

// End is an answer in words.
func (d *llmDoor) End(ctx context.Context, end engine.Ending) (scenario.Outcome, error) {
	c, err := d.talk(end.Ref)
	if err != nil {
		return scenario.Outcome{}, err
	}
	if err := d.ready(ctx, c, c.released()); err != nil {
		return scenario.Outcome{}, err
	}
	if err := c.open.say(d.agent.format.text(len(c.open.wrote), string(end.Content))); err != nil {
		return scenario.Outcome{}, err
	}
	c.open.wrote = append(c.open.wrote, textBlock(string(end.Content)))
	rest, err := d.agent.finish(c.open, false)
	if err != nil {
		return scenario.Outcome{}, err
	}
	c.got = append(c.got, rest...)
	c.keep()
	c.sealed = true
	events, err := d.events(ctx, c)
	var text string
	for _, b := range rest {
		if text += b.text; b.kind != "text" {
			err = errors.Join(err, fmt.Errorf("the client got %v", rest))
		}
	}
	if err != nil {
		return scenario.Outcome{}, err
	}
	footer, ok := strings.CutPrefix(text, string(end.Content))
	o := scenario.Outcome{Footer: strings.TrimPrefix(footer, "\n\n")}
	for _, e := range events {
		if e.Kind == event.TurnSealed {
			o.Taint = e.Seen.Label.Level.String()
		}
	}
	if !ok || o.Taint == "" {
		return o, fmt.Errorf("the client got %q and the log %d records", text, len(events))
	}
	return o, nil
}

// State looks at the context the monitor keeps for the conversation.
func (d *llmDoor) State(ctx context.Context, ref engine.Ref) (scenario.Outcome, error) {
	c, err := d.talk(ref)
	if err != nil {
		return scenario.Outcome{}, err
	}
	return d.window.State(ctx, d.ref(c))
}

// Picture is that of the session, without the name of the client: a client of this door
// has one, and stories do not tell it. Where the model is asked more often than the story
// says, as it must be to go on in words after a call that was judged at the end of its
// answer, the picture is another.
func (d *llmDoor) Picture(ctx context.Context, session, turn string) (string, error) {
	c, err := d.talk(engine.Ref{Session: session})
	if err != nil {
		return "", err
	}
	if len(d.agent.tools[session]) == 0 || c.again {
		return "", scenario.ErrUnseen
	}
	text, err := d.window.Picture(ctx, session, turn)
	return strings.Replace(text, " · agent "+c.agent, "", 1), err
}
