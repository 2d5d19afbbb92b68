package conversation_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/llm/conversation"
	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// world is a monitor, a follower before it, and clients that keep their own history.
type world struct {
	testing.TB
	store    *memory.Store
	monitor  *engine.Monitor
	follower *conversation.Follower
	cache    *format.Cache
	calls    int
	notes    *notebook           // what outlives a restart besides the log
	keeper   conversation.Keeper // in the place of notes, where there are several servers
	vouched  []string            // instructions of the operator's
	later    bool                // what is recorded waits, as through the proxy, and a restart forgets it
}

func newWorld(t testing.TB) *world {
	w := &world{TB: t, store: memory.New()}
	w.restart()
	return w
}

// restart forgets everything but the log.
func (w *world) restart() {
	w.Helper()
	m, err := engine.New(engine.Options{Policy: policy.Default(), Store: w.store, Now: time.Now, Rand: rand.Reader})
	if err != nil {
		w.Fatal(err)
	}
	o := conversation.Options{Commands: true, Instructions: w.vouched}
	if w.notes != nil {
		o.Key, o.Keeper = []byte("a key of this installation"), w.notes
	}
	if w.keeper != nil {
		o.Key, o.Keeper = []byte("a key of this installation"), w.keeper
	}
	w.monitor, w.follower, w.cache = m, conversation.New(told{m, w}, o), format.NewCache(64)
}

// message is one entry of a Chat conversation.
type message map[string]any

func user(text string) message      { return message{"role": "user", "content": text} }
func assistant(text string) message { return message{"role": "assistant", "content": text} }

func asks(id, name, args string) message {
	return message{"role": "assistant", "content": nil, "tool_calls": []any{
		message{"id": id, "type": "function", "function": message{"name": name, "arguments": args}},
	}}
}

func result(id, text string) message {
	return message{"role": "tool", "tool_call_id": id, "content": text}
}

// chat is a client: it repeats its history with every request.
type chat struct {
	*world
	who     conversation.Caller
	history []message
	visit   *conversation.Visit
}

func (w *world) chat(tenant string) *chat {
	return &chat{world: w, who: conversation.Caller{Tenant: tenant, Owner: true}, history: []message{{"role": "system", "content": "You help."}}}
}

// fork is a client with a copy of the history up to n messages, the instructions apart.
func (c *chat) fork(n int) *chat {
	return &chat{world: c.world, who: c.who, history: append([]message(nil), c.history[:n+1]...)}
}

// send adds messages and enters.
func (c *chat) send(more ...message) *conversation.Visit {
	c.Helper()
	c.history = append(c.history, more...)
	return c.enter(nil)
}

// tries adds messages and sees whether it may enter.
func (c *chat) tries(more ...message) error {
	c.Helper()
	c.history = append(c.history, more...)
	raw, err := json.Marshal(message{"model": "m", "messages": c.history})
	if err != nil {
		c.Fatal(err)
	}
	c.visit, err = c.knock(raw)
	return err
}

// knock sends a request.
func (c *chat) knock(raw []byte) (*conversation.Visit, error) {
	c.Helper()
	r, err := c.cache.Read(format.Chat, c.who.Tenant, raw)
	if err != nil {
		c.Fatal(err)
	}
	if c.visit != nil { // a client has one request at a time
		c.visit.Leave()
	}
	return c.follower.Enter(c.Context(), c.who, r)
}

func (c *chat) enter(extra message) *conversation.Visit {
	c.Helper()
	body := message{"model": "m", "messages": c.history}
	for k, v := range extra {
		body[k] = v
	}
	raw, err := json.Marshal(body)
	if err != nil {
		c.Fatal(err)
	}
	v, err := c.knock(raw)
	if err != nil {
		c.Fatal(err)
	}
	if _, err := c.monitor.Tools(c.Context(), engine.ModelCall{Ref: v.Ref, Iteration: -1}, c.how()...); err != nil {
		c.Fatal(err)
	}
	c.visit = v
	return v
}

// answers is the model's text, relayed.
func (c *chat) answers(text string) {
	c.Helper()
	c.left(format.Part{Kind: format.Text, Text: text})
	c.history = append(c.history, assistant(text))
}

func (c *chat) left(parts ...format.Part) {
	c.Helper()
	if err := c.visit.Answered(c.Context(), conversation.Reply{}, parts); err != nil {
		c.Fatal(err)
	}
	_, err := c.monitor.Replied(c.Context(), engine.ModelReply{Ref: c.visit.Ref, Output: c.visit.Output(parts)}, c.how()...)
	if err != nil {
		c.Fatal(err)
	}
}

// runs is a call that is decided, let through and answered by the tool.
func (c *chat) runs(name, args, back string) *conversation.Visit {
	c.Helper()
	c.World().calls++
	id := fmt.Sprintf("call_%d", c.calls)
	if v := c.decide(id, name, args); !v.Allowed() {
		c.Fatalf("%s: got %s (%s), want allow", name, v.Effect, v.Rule)
	}
	c.left(format.Part{Kind: format.Call, CallID: id, Name: name, Args: []byte(args)})
	return c.send(asks(id, name, args), result(id, back))
}

// World is the world itself, past the chat.
func (w *world) World() *world { return w }

// how is how the world's clients and its follower have their reports written.
func (w *world) how() []engine.RecordOption {
	if w.later {
		return []engine.RecordOption{engine.DeferWrite()}
	}
	return nil
}

// told is the monitor as the follower reports to it: at once, where nothing waits.
type told struct {
	*engine.Monitor
	w *world
}

func (t told) Begin(ctx context.Context, turn engine.Turn, _ ...engine.RecordOption) (engine.Opening, error) {
	return t.Monitor.Begin(ctx, turn, t.w.how()...)
}

func (t told) Observe(ctx context.Context, o engine.Observation, _ ...engine.RecordOption) (trust.Label, error) {
	return t.Monitor.Observe(ctx, o, t.w.how()...)
}

func (c *chat) decide(id, name, args string) engine.Verdict {
	c.Helper()
	v, err := c.monitor.Decide(c.Context(), c.visit.Ref, tool.Call{ID: id, Name: name, Args: []byte(args)})
	if err != nil {
		c.Fatal(err)
	}
	return v
}

// want is the level of the branch that the latest request is in.
func (c *chat) want(level trust.Level) {
	c.Helper()
	mark, err := c.monitor.Taint(c.Context(), c.visit.Ref)
	if err != nil {
		c.Fatal(err)
	}
	if mark.Level != level {
		c.Errorf("branch %q of %s is %s, want %s (sources %+v)", c.visit.Ref.Branch, c.visit.Ref.Session, mark.Level, level, mark.Sources)
	}
}

func (w *world) turns(session string) uint64 {
	w.Helper()
	v, err := w.monitor.View(w.Context(), session)
	if err != nil {
		w.Fatal(err)
	}
	return v.Turns
}
