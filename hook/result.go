package hook

// In every result nil or absent means "no change". A list that is there replaces:
// an empty tools list is "no tools", an empty toolCalls list "no calls".
//
// BlockedBy and CanceledBy name the plugin that refused. The Bus sets them; what a
// handler puts there is ignored.

// BeforeLLMCallResult answers before_llm_call.
type BeforeLLMCallResult struct {
	Messages     []JSON  `json:"messages,omitzero"` // objects
	SystemPrompt *string `json:"systemPrompt,omitzero"`
	Model        string  `json:"model,omitzero"` // call another model
	Tools        []Tool  `json:"tools,omitzero"` // keeps the tools of these names, adds none
	Block        bool    `json:"block,omitzero"` // abort the turn
	BlockReason  string  `json:"blockReason,omitzero"`
	BlockedBy    string  `json:"-"`
}

// AfterLLMCallResult answers after_llm_call.
type AfterLLMCallResult struct {
	ToolCalls   []ToolCall `json:"toolCalls,omitzero"` // keeps the calls of these ids, adds none
	Block       bool       `json:"block,omitzero"`     // run no tool, answer in text
	BlockReason string     `json:"blockReason,omitzero"`
	BlockedBy   string     `json:"-"`
}

// BeforeResponseEmitResult answers before_response_emit.
type BeforeResponseEmitResult struct {
	Content      *string `json:"content,omitzero"`
	AppendFooter string  `json:"appendFooter,omitzero"` // goes below the content, after earlier footers
	Block        bool    `json:"block,omitzero"`
	BlockReason  string  `json:"blockReason,omitzero"`
	BlockedBy    string  `json:"-"`
}

// BeforeAgentStartResult answers before_agent_start.
type BeforeAgentStartResult struct {
	SystemPrompt   *string `json:"systemPrompt,omitzero"`
	PrependContext string  `json:"prependContext,omitzero"` // goes before the prompt, after earlier ones
}

// BeforeToolCallResult answers before_tool_call.
type BeforeToolCallResult struct {
	Params      JSON   `json:"params,omitzero"` // replaces them whole; an object
	Block       bool   `json:"block,omitzero"`
	BlockReason string `json:"blockReason,omitzero"`
	BlockedBy   string `json:"-"`
}

// ToolResultPersistResult answers tool_result_persist.
type ToolResultPersistResult struct {
	Message JSON `json:"message,omitzero"` // an object
}

// MessageSendingResult answers message_sending.
type MessageSendingResult struct {
	Content      *string `json:"content,omitzero"`
	Cancel       bool    `json:"cancel,omitzero"`
	CancelReason string  `json:"cancelReason,omitzero"`
	CanceledBy   string  `json:"-"`
}
