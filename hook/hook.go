// Package hook is the plugin interface of the agent loop: the events a host emits
// around every model call and tool call, the results a handler may answer with, and
// the Bus that runs many handlers as one.
//
// JSON names are those of the agent-loop hook RFC and of OpenClaw's plugin hooks, so
// a handler sees the same object as a Go function and as an HTTP endpoint.
//
// The package starts goroutines and reads the clock (a handler runs under a time
// limit) but opens nothing and keeps no state besides the registered handlers.
//
// Invariants:
//   - nothing a handler does adds a tool or a tool call: results only narrow;
//   - one block blocks, whatever the other handlers say;
//   - a handler that errs, panics, or outlives its limit changes nothing, and blocks
//     unless it was registered as FailOpen;
//   - a handler that was given up on cannot reach the composed result any more;
//   - a hook nobody handles costs no allocation.
//
// Messages are handed over by reference and are read-only: a handler that wants
// other messages returns them. The caller of the Bus must not reuse their bytes
// after a dispatch, because a handler that was given up on may still read them.
package hook

import (
	"fmt"
	"slices"
)

// Name names a hook.
type Name string

// The hooks of the inner loop, and the coarse ones around it.
const (
	NameMessageReceived    Name = "message_received"     // somebody spoke
	NameBeforeAgentStart   Name = "before_agent_start"   // a turn starts
	NameContextAssembled   Name = "context_assembled"    // the context is complete, before the first model call
	NameLoopIterationStart Name = "loop_iteration_start" // one model call and its tool calls
	NameBeforeLLMCall      Name = "before_llm_call"      // the request is ready
	NameAfterLLMCall       Name = "after_llm_call"       // the response is here, no tool has run
	NameBeforeToolCall     Name = "before_tool_call"     // one tool is about to run
	NameAfterToolCall      Name = "after_tool_call"      // it ran
	NameToolResultPersist  Name = "tool_result_persist"  // its result is about to be saved
	NameLoopIterationEnd   Name = "loop_iteration_end"   // the iteration is over
	NameBeforeResponseEmit Name = "before_response_emit" // the answer is ready
	NameMessageSending     Name = "message_sending"      // a message leaves over a channel
	NameAgentEnd           Name = "agent_end"            // the turn is over
)

// Names lists all hooks in the order a turn meets them.
func Names() []Name {
	return []Name{
		NameMessageReceived, NameBeforeAgentStart, NameContextAssembled, NameLoopIterationStart,
		NameBeforeLLMCall, NameAfterLLMCall, NameBeforeToolCall, NameAfterToolCall,
		NameToolResultPersist, NameLoopIterationEnd, NameBeforeResponseEmit, NameMessageSending, NameAgentEnd,
	}
}

// ParseName returns the hook of that exact name.
func ParseName(s string) (Name, error) {
	if n := Name(s); slices.Contains(Names(), n) {
		return n, nil
	}
	return "", fmt.Errorf("unknown hook %q", s)
}

// Context is what a host knows about the run an event belongs to. Hosts add fields
// of their own; those are ignored.
type Context struct {
	SessionKey      string           `json:"sessionKey,omitzero"`
	SessionID       string           `json:"sessionId,omitzero"`
	RunID           string           `json:"runId,omitzero"` // the turn
	AgentID         string           `json:"agentId,omitzero"`
	Branch          string           `json:"branch,omitzero"`          // a context of its own inside the session
	ParentBranch    *string          `json:"parentBranch,omitzero"`    // branch a new one was forked from; "" is the main context
	MessageProvider string           `json:"messageProvider,omitzero"` // empty for cron and heartbeat
	ChannelID       string           `json:"channelId,omitzero"`
	SenderID        string           `json:"senderId,omitzero"`
	SenderIsOwner   bool             `json:"senderIsOwner,omitzero"` // verified by the host
	GroupID         string           `json:"groupId,omitzero"`
	SpawnedBy       string           `json:"spawnedBy,omitzero"`      // parent session of a sub-agent
	SenderMetadata  *bool            `json:"senderMetadata,omitzero"` // false: the host cannot supply sender metadata
	InputProvenance *InputProvenance `json:"inputProvenance,omitzero"`
	WorkspaceDir    string           `json:"workspaceDir,omitzero"`
	Trigger         string           `json:"trigger,omitzero"`      // user, cron, heartbeat, …
	Wordless        bool             `json:"wordless,omitzero"`     // nobody hears what the user says to this host: silence means nothing
	HostTools       []string         `json:"hostTools,omitzero"`    // the host's own tools, as calls name them; missing: it does not say
	ControlTools    []string         `json:"controlTools,omitzero"` // those by which its framework steers itself; missing: none
	Undescribed     bool             `json:"undescribed,omitzero"`  // no hook of this host says what its tools are
	Dialog          string           `json:"dialog,omitzero"`       // the host whose own dialog asks about held calls; around tool calls
	Wait            int              `json:"wait,omitzero"`         // before_tool_call: seconds the host waits for the owner to answer
	Boxes           bool             `json:"boxes,omitzero"`        // before_tool_call: the host runs a command in a box if told to
	Brokers         bool             `json:"brokers,omitzero"`      // and a plain command that leaves by a broker
	Looks           bool             `json:"looks,omitzero"`        // before_tool_call: the host can look up by itself what is asked of it
	Record          string           `json:"record,omitzero"`       // the file in which the host keeps the conversation, where it names one
	RecordSum       string           `json:"recordSum,omitzero"`    // before_tool_call: what the call says there, where it has no id
	Hello           *Hello           `json:"hello,omitzero"`        // who speaks here, for the server alone: plugins are not shown it
}

// HelloVersion is the version of the protocol that Hello speaks.
const HelloVersion = 1

// Hello is how a host says who it is, in every event. The answer to the first message of a session that comes with one carries a
// ticket, or says that the process is known: words, results and ends that come later need the same. The ticket belongs in the
// memory of the host and nowhere else; a host that makes it of a secret of its own can make it again.
type Hello struct {
	Version int    `json:"version"`
	Agent   string `json:"agent,omitzero"`   // which client this is
	Process string `json:"process,omitzero"` // a host that cannot keep a ticket is known by its process: self, or parent of a hook's agent
	Ticket  string `json:"ticket,omitzero"`  // what the first answer of the session carried, or was made by the host
	Server  string `json:"server,omitzero"`  // the address the host means, as the server announced it
}

// InputProvenance says where the words that started a turn came from.
type InputProvenance struct {
	Kind             string `json:"kind"` // external_user, inter_session, internal_system
	SourceSessionKey string `json:"sourceSessionKey,omitzero"`
}

// clone shares nothing that a handler could write to.
func (c Context) clone() *Context {
	if c.ParentBranch != nil {
		parent := *c.ParentBranch
		c.ParentBranch = &parent
	}
	if c.SenderMetadata != nil {
		known := *c.SenderMetadata
		c.SenderMetadata = &known
	}
	if c.InputProvenance != nil {
		from := *c.InputProvenance
		c.InputProvenance = &from
	}
	c.Hello = nil // a ticket is nobody else's business
	c.HostTools = slices.Clone(c.HostTools)
	c.ControlTools = slices.Clone(c.ControlTools)
	return &c
}
