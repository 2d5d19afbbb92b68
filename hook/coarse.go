package hook

// MessageReceived comes when somebody spoke, before a turn starts.
type MessageReceived struct {
	From       string  `json:"from"`
	Content    string  `json:"content"`
	Timestamp  float64 `json:"timestamp,omitzero"` // Unix milliseconds
	ThreadID   string  `json:"threadId,omitzero"`
	MessageID  string  `json:"messageId,omitzero"`
	SenderID   string  `json:"senderId,omitzero"`
	SessionKey string  `json:"sessionKey,omitzero"`
	RunID      string  `json:"runId,omitzero"`
	Metadata   JSON    `json:"metadata,omitzero"`
}

// BeforeAgentStart comes when a turn starts.
type BeforeAgentStart struct {
	Prompt       string `json:"prompt"`
	Messages     []JSON `json:"messages"`
	SystemPrompt string `json:"systemPrompt,omitzero"`
}

// BeforeToolCall comes before one tool runs.
type BeforeToolCall struct {
	ToolName   string `json:"toolName"`
	Params     JSON   `json:"params,omitzero"` // an object; nil is the empty one
	ToolCallID string `json:"toolCallId,omitzero"`
	RunID      string `json:"runId,omitzero"`
}

// AfterToolCall comes after a tool ran, failed or was refused.
type AfterToolCall struct {
	ToolName   string  `json:"toolName"`
	Params     JSON    `json:"params,omitzero"`
	ToolCallID string  `json:"toolCallId,omitzero"`
	RunID      string  `json:"runId,omitzero"`
	Result     JSON    `json:"result,omitzero"` // any JSON
	Error      string  `json:"error,omitzero"`
	DurationMs float64 `json:"durationMs,omitzero"`
	Hold       bool    `json:"hold,omitzero"` // the host keeps it from its model, and shows what the answer says instead
	Own        bool    `json:"own,omitzero"`  // the host's framework wrote it about itself: a list of to-dos, a hand-off
}

// ToolResultPersist comes before a tool's result is saved to the transcript. Some
// hosts do not know the tool any more at this point: ToolName may be empty.
type ToolResultPersist struct {
	ToolName    string `json:"toolName,omitzero"`
	ToolCallID  string `json:"toolCallId,omitzero"`
	Message     JSON   `json:"message,omitzero"`
	IsSynthetic bool   `json:"isSynthetic,omitzero"` // made by the host, not by the tool
}

// MessageSending comes before a message leaves over a channel.
type MessageSending struct {
	To        string `json:"to"`
	Content   string `json:"content"`
	ReplyToID string `json:"replyToId,omitzero"`
	ThreadID  string `json:"threadId,omitzero"`
	Metadata  JSON   `json:"metadata,omitzero"`
}

// AgentEnd comes when the turn is over.
type AgentEnd struct {
	Messages   []JSON  `json:"messages"`
	Success    bool    `json:"success"`
	Error      string  `json:"error,omitzero"`
	DurationMs float64 `json:"durationMs,omitzero"`
	RunID      string  `json:"runId,omitzero"`
}

// Hook implements Event.
func (*MessageReceived) Hook() Name { return NameMessageReceived }

// Hook implements Event.
func (*BeforeAgentStart) Hook() Name { return NameBeforeAgentStart }

// Hook implements Event.
func (*BeforeToolCall) Hook() Name { return NameBeforeToolCall }

// Hook implements Event.
func (*AfterToolCall) Hook() Name { return NameAfterToolCall }

// Hook implements Event.
func (*ToolResultPersist) Hook() Name { return NameToolResultPersist }

// Hook implements Event.
func (*MessageSending) Hook() Name { return NameMessageSending }

// Hook implements Event.
func (*AgentEnd) Hook() Name { return NameAgentEnd }
