package httpapi

import (
	"cmp"
	"context"
	"errors"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
)

// The hooks around a turn. Those that only tell reach the monitor first: what it has to
// know must not depend on a plugin.

// plainAnswer answers hooks whose result has no fields.
type plainAnswer struct {
	Tidemark *note `json:"tidemark"`
}

type agentStartAnswer struct {
	hook.BeforeAgentStartResult
	Tidemark *note `json:"tidemark"`
}

type responseEmitAnswer struct {
	hook.BeforeResponseEmitResult
	Tidemark *note `json:"tidemark"`
}

type messageSendingAnswer struct {
	hook.MessageSendingResult
	Tidemark *note `json:"tidemark"`
}

func (a *API) messageReceived(ctx context.Context, event *hook.MessageReceived, c *hook.Context) (any, error) {
	a.beats(c, "")
	t := turnOf(ctx, c)
	t.Sender.ID = cmp.Or(t.Sender.ID, event.SenderID, event.From)
	if t.Sender.Provider == "" && t.Sender.ID != "" {
		t.Sender.Provider = "message" // somebody spoke: not the system itself
	}
	t.Message = &event.Content
	opening, hello, err := a.begin(ctx, t)
	if err != nil {
		return nil, err
	}
	if err := a.bus.MessageReceived(ctx, event, c); err != nil {
		return nil, pluginFault(err)
	}
	return plainAnswer{openingNote(opening, hello)}, nil
}

func (a *API) beforeAgentStart(ctx context.Context, event *hook.BeforeAgentStart, c *hook.Context) (any, error) {
	t := turnOf(ctx, c)
	if event.Prompt != "" {
		t.Message, t.Found = &event.Prompt, true
	}
	opening, hello, err := a.begin(ctx, t)
	if err != nil {
		return nil, err
	}
	result, err := a.bus.BeforeAgentStart(ctx, event, c)
	if err != nil {
		return nil, pluginFault(err)
	}
	return agentStartAnswer{result, openingNote(opening, hello)}, nil
}

func (a *API) contextAssembled(ctx context.Context, e *hook.ContextAssembled, c *hook.Context) (any, error) {
	t := turnOf(ctx, c)
	for _, s := range e.Sources {
		t.Items = append(t.Items, event.Item{Kind: s.Kind, Tool: s.Tool, Trust: s.Trust, Index: s.MessageIndex})
	}
	t.Message, t.Found = lastWords(e.Messages), true
	opening, hello, err := a.begin(ctx, t)
	if err != nil {
		return nil, err
	}
	if err := a.bus.ContextAssembled(ctx, e, c); err != nil {
		return nil, pluginFault(err)
	}
	return plainAnswer{openingNote(opening, hello)}, nil
}

func (a *API) loopIterationStart(ctx context.Context, event *hook.LoopIterationStart, c *hook.Context) (any, error) {
	if err := a.bus.LoopIterationStart(ctx, event, c); err != nil {
		return nil, pluginFault(err)
	}
	return a.plain(ctx, c)
}

func (a *API) loopIterationEnd(ctx context.Context, event *hook.LoopIterationEnd, c *hook.Context) (any, error) {
	if err := a.bus.LoopIterationEnd(ctx, event, c); err != nil {
		return nil, pluginFault(err)
	}
	return a.plain(ctx, c)
}

func (a *API) plain(ctx context.Context, c *hook.Context) (any, error) {
	at, err := a.monitor.Standing(ctx, refOf(c))
	if err != nil {
		return nil, err
	}
	n := contextNote(at.Taint)
	n.WordsUnknown = at.WordsUnknown
	return plainAnswer{n}, nil
}

// beforeResponseEmit seals the turn with what really goes out.
func (a *API) beforeResponseEmit(ctx context.Context, event *hook.BeforeResponseEmit, c *hook.Context) (any, error) {
	if err := a.own(ctx, refOf(c), "the answer of a turn"); err != nil {
		return nil, err
	}
	result := a.bus.BeforeResponseEmit(ctx, event, c)
	content := event.Content
	if result.Content != nil {
		content = *result.Content
	}
	ended, err := a.monitor.End(ctx, engine.Ending{
		Ref: refOf(c), Content: []byte(content), Blocked: result.Block, Reason: result.BlockReason,
	})
	if err != nil {
		return nil, err
	}
	n := contextNote(ended.Taint)
	n.TurnID, n.Label = ended.Turn, &ended.Taint
	if result.Block {
		n.Rule = "plugin:" + result.BlockedBy
	} else if ended.Footer {
		result.AppendFooter = joinLines(result.AppendFooter, hook.Footer(ended.Taint))
	}
	return responseEmitAnswer{result, n}, nil
}

func joinLines(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}

func (a *API) messageSending(ctx context.Context, event *hook.MessageSending, c *hook.Context) (any, error) {
	mark, err := a.monitor.Taint(ctx, refOf(c))
	if err != nil {
		return nil, err
	}
	result := a.bus.MessageSending(ctx, event, c)
	n := contextNote(mark)
	if result.Cancel {
		n.Rule = "plugin:" + result.CanceledBy
	}
	return messageSendingAnswer{result, n}, nil
}

// agentEnd seals the turn of a host that has no before_response_emit.
func (a *API) agentEnd(ctx context.Context, event *hook.AgentEnd, c *hook.Context) (any, error) {
	ref := refOf(c)
	if err := a.own(ctx, ref, "the end of a turn"); err != nil {
		return nil, err
	}
	open, err := a.monitor.Open(ctx, ref)
	if err != nil {
		return nil, err
	}
	if open {
		_, err := a.monitor.End(ctx, engine.Ending{Ref: ref})
		if err != nil && !errors.Is(err, engine.ErrSealed) { // sealed in between: what we wanted
			return nil, err
		}
	}
	if err := a.bus.AgentEnd(ctx, event, c); err != nil {
		return nil, pluginFault(err)
	}
	return a.plain(ctx, c)
}
