package hook

import (
	"errors"
	"fmt"
)

// The checks of decoded events. A field that event and context both have must not
// differ: whoever reads the one must not see another session than who reads the other.

func (e *BeforeLLMCall) check(c *Context) error {
	for i, t := range e.Tools {
		if _, err := toolName(t.raw); err != nil {
			return fmt.Errorf("event.tools[%d]: %w", i, err)
		}
	}
	return first(
		agree("sessionKey", &e.SessionKey, &c.SessionKey), agree("agentId", &e.AgentID, &c.AgentID),
		atLeastZero("iteration", int64(e.Iteration)), atLeastZero("tokenEstimate", e.TokenEstimate))
}

func (e *AfterLLMCall) check(*Context) error {
	ids := make(map[string]bool, len(e.ToolCalls))
	for i := range e.ToolCalls {
		t := &e.ToolCalls[i]
		field := fmt.Sprintf("toolCalls[%d]", i)
		if err := first(needed(field+".id", t.ID), needed(field+".name", t.Name),
			object(field+".arguments", &t.Arguments)); err != nil {
			return err
		}
		if ids[t.ID] {
			return fmt.Errorf("event.%s.id: repeats an earlier one", field)
		}
		ids[t.ID] = true
	}
	if u := e.TokenUsage; u != nil {
		if err := first(atLeastZero("tokenUsage.input", u.Input), atLeastZero("tokenUsage.output", u.Output)); err != nil {
			return err
		}
	}
	return atLeastZero("iteration", int64(e.Iteration))
}

func (e *ContextAssembled) check(c *Context) error {
	return first(agree("sessionKey", &e.SessionKey, &c.SessionKey), agree("agentId", &e.AgentID, &c.AgentID))
}

func (e *LoopIterationStart) check(c *Context) error {
	return first(agree("sessionKey", &e.SessionKey, &c.SessionKey), atLeastZero("iteration", int64(e.Iteration)))
}

func (e *LoopIterationEnd) check(c *Context) error {
	return first(agree("sessionKey", &e.SessionKey, &c.SessionKey), atLeastZero("iteration", int64(e.Iteration)))
}

func (e *BeforeResponseEmit) check(c *Context) error {
	return agree("sessionKey", &e.SessionKey, &c.SessionKey)
}

func (e *MessageReceived) check(c *Context) error {
	return first(agree("sessionKey", &e.SessionKey, &c.SessionKey),
		agree("runId", &e.RunID, &c.RunID), agree("senderId", &e.SenderID, &c.SenderID))
}

func (e *BeforeAgentStart) check(*Context) error { return nil }

func (e *BeforeToolCall) check(c *Context) error {
	return first(needed("toolName", e.ToolName), object("params", &e.Params), agree("runId", &e.RunID, &c.RunID))
}

func (e *AfterToolCall) check(c *Context) error {
	return first(needed("toolName", e.ToolName), object("params", &e.Params), agree("runId", &e.RunID, &c.RunID))
}

func (e *ToolResultPersist) check(*Context) error {
	if e.Message == nil {
		return errors.New("event.message: missing")
	}
	return nil
}

func (e *MessageSending) check(*Context) error { return nil }

func (e *AgentEnd) check(c *Context) error { return agree("runId", &e.RunID, &c.RunID) }

// agree completes one from the other.
func agree(field string, inEvent, inContext *string) error {
	switch {
	case *inEvent == "":
		*inEvent = *inContext
	case *inContext == "":
		*inContext = *inEvent
	case *inEvent != *inContext:
		return fmt.Errorf("event.%s and ctx.%s differ", field, field)
	}
	return nil
}

// object completes an absent object.
func object(field string, v *JSON) error {
	if *v == nil {
		*v = JSON("{}")
	}
	if v.Kind() != '{' {
		return fmt.Errorf("event.%s: want an object, got %s", field, kindOf(*v))
	}
	return nil
}

func needed(field, s string) error {
	if s == "" {
		return fmt.Errorf("event.%s: missing", field)
	}
	return nil
}

func atLeastZero(field string, n int64) error {
	if n < 0 {
		return fmt.Errorf("event.%s: %d is negative", field, n)
	}
	return nil
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
