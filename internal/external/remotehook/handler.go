package remotehook

import (
	"context"
	"errors"
	"net/http"

	"github.com/tidemark/tidemark/hook"
)

// Handler is the plugin as a bus registers it.
func (p *Plugin) Handler() hook.Handler {
	h := hook.Handler{Name: p.o.Name, Priority: p.o.Priority, FailOpen: p.o.FailOpen, Limit: p.o.Limit}
	for _, n := range p.o.Hooks {
		p.handle(n, &h.On)
	}
	return h
}

func (p *Plugin) handle(n hook.Name, on *hook.Handlers) {
	switch n {
	case hook.NameMessageReceived:
		on.MessageReceived = tells[hook.MessageReceived](p)
	case hook.NameBeforeAgentStart:
		on.BeforeAgentStart = asks[hook.BeforeAgentStart, hook.BeforeAgentStartResult](p)
	case hook.NameContextAssembled:
		on.ContextAssembled = tells[hook.ContextAssembled](p)
	case hook.NameLoopIterationStart:
		on.LoopIterationStart = tells[hook.LoopIterationStart](p)
	case hook.NameBeforeLLMCall:
		on.BeforeLLMCall = asks[hook.BeforeLLMCall, hook.BeforeLLMCallResult](p)
	case hook.NameAfterLLMCall:
		on.AfterLLMCall = asks[hook.AfterLLMCall, hook.AfterLLMCallResult](p)
	case hook.NameBeforeToolCall:
		on.BeforeToolCall = asks[hook.BeforeToolCall, hook.BeforeToolCallResult](p)
	case hook.NameAfterToolCall:
		on.AfterToolCall = tells[hook.AfterToolCall](p)
	case hook.NameToolResultPersist:
		on.ToolResultPersist = asks[hook.ToolResultPersist, hook.ToolResultPersistResult](p)
	case hook.NameLoopIterationEnd:
		on.LoopIterationEnd = tells[hook.LoopIterationEnd](p)
	case hook.NameBeforeResponseEmit:
		on.BeforeResponseEmit = asks[hook.BeforeResponseEmit, hook.BeforeResponseEmitResult](p)
	case hook.NameMessageSending:
		on.MessageSending = asks[hook.MessageSending, hook.MessageSendingResult](p)
	case hook.NameAgentEnd:
		on.AgentEnd = tells[hook.AgentEnd](p)
	}
}

// eventOf is a pointer to one of the hook package's event types.
type eventOf[E any] interface {
	*E
	hook.Event
}

func asks[E, R any, P eventOf[E]](p *Plugin) hook.Func[E, R] {
	return func(ctx context.Context, event *E, c *hook.Context) (*R, error) {
		resp, err := p.post(ctx, P(event), c)
		if err != nil {
			return nil, err
		}
		body, err := read(resp)
		switch {
		case err != nil:
			return nil, err
		case resp.StatusCode == http.StatusNoContent:
			return nil, nil
		case !isJSON(resp.Header.Get("Content-Type")):
			return nil, errors.New("read answer: content type is not JSON")
		}
		return hook.DecodeResult[R](body)
	}
}

func tells[E any, P eventOf[E]](p *Plugin) hook.Observer[E] {
	return func(ctx context.Context, event *E, c *hook.Context) error {
		resp, err := p.post(ctx, P(event), c)
		if err != nil {
			return err
		}
		_, err = read(resp)
		return err
	}
}
