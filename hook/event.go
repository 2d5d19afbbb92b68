package hook

import (
	"slices"

	"github.com/tidemark/tidemark/trust"
)

// Event is what a handler is told. Only pointers to this package's event types are
// events. In an event a nil list is an empty one.
type Event interface {
	// Hook is the hook the event belongs to.
	Hook() Name
	// check completes the event and its context from one another and says what is wrong.
	check(c *Context) error
}

// BeforeLLMCall comes before every model call of the loop, recursive ones included.
type BeforeLLMCall struct {
	Messages      []JSON `json:"messages"` // complete, as they will be sent
	SystemPrompt  string `json:"systemPrompt"`
	Model         string `json:"model"`
	Iteration     int    `json:"iteration"` // 0 is the first call
	Tools         []Tool `json:"tools"`     // what the model may see
	TokenEstimate int64  `json:"tokenEstimate,omitzero"`
	SessionKey    string `json:"sessionKey"`
	AgentID       string `json:"agentId,omitzero"`

	// HostTools are the names of the tools that came with the host itself and work where it
	// runs. It stands beside the definitions because a server writes those. Missing: the host
	// does not say; empty: none is.
	HostTools []string `json:"hostTools,omitzero"`
}

// AfterLLMCall comes with the model's response, before any of its tool calls runs.
type AfterLLMCall struct {
	Messages   []JSON      `json:"messages"`
	Response   JSON        `json:"response,omitzero"`
	ToolCalls  []ToolCall  `json:"toolCalls"`
	Iteration  int         `json:"iteration"`
	Model      string      `json:"model"`
	LatencyMs  float64     `json:"latencyMs"`
	TokenUsage *TokenUsage `json:"tokenUsage,omitzero"`
}

// TokenUsage is what a model call consumed.
type TokenUsage struct {
	Input  int64 `json:"input"`
	Output int64 `json:"output"`
}

// ContextAssembled comes once per turn: the census of what is in the context.
type ContextAssembled struct {
	SystemPrompt string   `json:"systemPrompt"`
	Messages     []JSON   `json:"messages"`
	Sources      []Source `json:"sources"`
	SessionKey   string   `json:"sessionKey"`
	AgentID      string   `json:"agentId,omitzero"`
}

// Source is one entry of the census. Trust that the host does not name is untrusted.
type Source struct {
	Kind         string      `json:"kind"` // system_prompt, user_message, tool_result, compacted_history
	Tool         string      `json:"tool,omitzero"`
	Trust        trust.Level `json:"trust"`
	MessageIndex int         `json:"messageIndex"`
}

// LoopIterationStart opens an iteration.
type LoopIterationStart struct {
	Iteration          int    `json:"iteration"`
	PendingToolResults int    `json:"pendingToolResults"`
	MessageCount       int    `json:"messageCount"`
	SessionKey         string `json:"sessionKey"`
}

// LoopIterationEnd closes an iteration.
type LoopIterationEnd struct {
	Iteration        int    `json:"iteration"`
	ToolCallsMade    int    `json:"toolCallsMade"`
	NewMessagesAdded int    `json:"newMessagesAdded"`
	WillContinue     bool   `json:"willContinue"`
	SessionKey       string `json:"sessionKey"`
}

// BeforeResponseEmit comes when the answer is ready and has not left yet.
type BeforeResponseEmit struct {
	Content    string   `json:"content"`
	TaintedBy  []string `json:"taintedBy,omitempty"`
	Channel    string   `json:"channel,omitzero"`
	SessionKey string   `json:"sessionKey"`
}

// Hook implements Event.
func (*BeforeLLMCall) Hook() Name { return NameBeforeLLMCall }

// Hook implements Event.
func (*AfterLLMCall) Hook() Name { return NameAfterLLMCall }

// Hook implements Event.
func (*ContextAssembled) Hook() Name { return NameContextAssembled }

// Hook implements Event.
func (*LoopIterationStart) Hook() Name { return NameLoopIterationStart }

// Hook implements Event.
func (*LoopIterationEnd) Hook() Name { return NameLoopIterationEnd }

// Hook implements Event.
func (*BeforeResponseEmit) Hook() Name { return NameBeforeResponseEmit }

// lend is the event as a handler gets it: the lists that decide what may run are
// its own, so that writing to them reaches nobody; messages are shared.
func (e BeforeLLMCall) lend() *BeforeLLMCall {
	e.Tools = slices.Clone(e.Tools)
	return &e
}

func (e AfterLLMCall) lend() *AfterLLMCall {
	e.ToolCalls = slices.Clone(e.ToolCalls)
	return &e
}

// lend is the same for events without such lists.
func lend[E any](e E) *E { return &e }
