package hook

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"
	"time"
)

// plugin is a registration as all of its links share it.
type plugin struct {
	name       string
	priority   int
	failClosed bool
	limit      time.Duration
	stuck      atomic.Int32 // calls given up on that have not returned
}

// link is one plugin's function on one hook.
type link[E, R any] struct {
	*plugin
	fn Func[E, R]
}

// chain is all links on one hook, in the order they run.
type chain[E, R any] []link[E, R]

// nothing is the result of an observer.
type nothing struct{}

// table is all chains. It is replaced, never changed.
type table struct {
	plugins []string
	handled []Name

	messageReceived    chain[MessageReceived, nothing]
	beforeAgentStart   chain[BeforeAgentStart, BeforeAgentStartResult]
	contextAssembled   chain[ContextAssembled, nothing]
	loopIterationStart chain[LoopIterationStart, nothing]
	beforeLLMCall      chain[BeforeLLMCall, BeforeLLMCallResult]
	afterLLMCall       chain[AfterLLMCall, AfterLLMCallResult]
	beforeToolCall     chain[BeforeToolCall, BeforeToolCallResult]
	afterToolCall      chain[AfterToolCall, nothing]
	toolResultPersist  chain[ToolResultPersist, ToolResultPersistResult]
	loopIterationEnd   chain[LoopIterationEnd, nothing]
	beforeResponseEmit chain[BeforeResponseEmit, BeforeResponseEmitResult]
	messageSending     chain[MessageSending, MessageSendingResult]
	agentEnd           chain[AgentEnd, nothing]
}

// with is the table with one more plugin.
func (t *table) with(p *plugin, on *Handlers) *table {
	return &table{
		plugins:            append(slices.Clip(t.plugins), p.name),
		handled:            append(slices.Clip(t.handled), on.names()...),
		messageReceived:    watched(t.messageReceived, p, on.MessageReceived),
		beforeAgentStart:   linked(t.beforeAgentStart, p, on.BeforeAgentStart),
		contextAssembled:   watched(t.contextAssembled, p, on.ContextAssembled),
		loopIterationStart: watched(t.loopIterationStart, p, on.LoopIterationStart),
		beforeLLMCall:      linked(t.beforeLLMCall, p, on.BeforeLLMCall),
		afterLLMCall:       linked(t.afterLLMCall, p, on.AfterLLMCall),
		beforeToolCall:     linked(t.beforeToolCall, p, on.BeforeToolCall),
		afterToolCall:      watched(t.afterToolCall, p, on.AfterToolCall),
		toolResultPersist:  linked(t.toolResultPersist, p, on.ToolResultPersist),
		loopIterationEnd:   watched(t.loopIterationEnd, p, on.LoopIterationEnd),
		beforeResponseEmit: linked(t.beforeResponseEmit, p, on.BeforeResponseEmit),
		messageSending:     linked(t.messageSending, p, on.MessageSending),
		agentEnd:           watched(t.agentEnd, p, on.AgentEnd),
	}
}

// names lists the hooks that have a function.
func (h *Handlers) names() []Name {
	var out []Name
	for _, f := range []struct {
		name Name
		set  bool
	}{
		{NameMessageReceived, h.MessageReceived != nil},
		{NameBeforeAgentStart, h.BeforeAgentStart != nil},
		{NameContextAssembled, h.ContextAssembled != nil},
		{NameLoopIterationStart, h.LoopIterationStart != nil},
		{NameBeforeLLMCall, h.BeforeLLMCall != nil},
		{NameAfterLLMCall, h.AfterLLMCall != nil},
		{NameBeforeToolCall, h.BeforeToolCall != nil},
		{NameAfterToolCall, h.AfterToolCall != nil},
		{NameToolResultPersist, h.ToolResultPersist != nil},
		{NameLoopIterationEnd, h.LoopIterationEnd != nil},
		{NameBeforeResponseEmit, h.BeforeResponseEmit != nil},
		{NameMessageSending, h.MessageSending != nil},
		{NameAgentEnd, h.AgentEnd != nil},
	} {
		if f.set {
			out = append(out, f.name)
		}
	}
	return out
}

// linked is the chain with one more link; the given one stays as it is.
func linked[E, R any](c chain[E, R], p *plugin, fn Func[E, R]) chain[E, R] {
	if fn == nil {
		return c
	}
	c = append(slices.Clip(c), link[E, R]{p, fn})
	slices.SortStableFunc(c, func(a, b link[E, R]) int { return cmp.Compare(b.priority, a.priority) })
	return c
}

func watched[E any](c chain[E, nothing], p *plugin, fn Observer[E]) chain[E, nothing] {
	if fn == nil {
		return c
	}
	return linked(c, p, func(ctx context.Context, event *E, hc *Context) (*nothing, error) {
		return nil, fn(ctx, event, hc)
	})
}
