// Package graph derives the provenance graph of a turn from the events of its log, and
// writes it as W3C PROV-JSON. It is pure.
//
// Invariants:
//   - marks only fall in trust, except for an owner's recorded reset;
//   - a sealed turn takes no more events.
package graph

import "github.com/tidemark/tidemark/trust"

// Graph is the provenance DAG of one turn, derived from the turn's events. Its JSON
// is the TurnGraph of the agent-loop hooks (HOOK-11).
//
// An edge reads as a sentence, "from relation to": llm-2 consumes result-1. The edges
// as written have no cycle. Those that look back in time start only at model calls and
// the output, which no path from what they look back at leads to; and at the history,
// where they end in resets from before the turn, which lead nowhere.
type Graph struct {
	TurnID     string  `json:"turnId"`
	SessionKey string  `json:"sessionKey"`
	AgentID    string  `json:"agentId,omitzero"`
	Timestamp  int64   `json:"timestamp"` // when the turn began, Unix milliseconds
	DurationMs int64   `json:"durationMs"`
	Nodes      []Node  `json:"nodes"` // in the order they came to be
	Edges      []Edge  `json:"edges"`
	Summary    Summary `json:"summary"`
}

// Summary is what a list of turns shows.
type Summary struct {
	MaxTaint        trust.Level `json:"maxTaint"`        // the mark when the turn ended; an owner's reset counts
	ExternalSources []string    `json:"externalSources"` // what brought external or untrusted content
	ToolsBlocked    []string    `json:"toolsBlocked"`    // tools whose calls were refused or held
	IterationCount  int         `json:"iterationCount"`
}

// NodeKind says what a node stands for.
type NodeKind string

// The kinds of nodes.
const (
	NodeInput          NodeKind = "input"
	NodeSystemPrompt   NodeKind = "system_prompt"
	NodeHistory        NodeKind = "history"
	NodeLLMCall        NodeKind = "llm_call"
	NodeToolCall       NodeKind = "tool_call"
	NodeToolResult     NodeKind = "tool_result"
	NodeOutput         NodeKind = "output"
	NodePolicyDecision NodeKind = "policy_decision"
)

// Relation says how the two ends of an edge belong together.
type Relation string

// The relations of edges.
const (
	Triggers    Relation = "triggers"
	Produces    Relation = "produces"
	Consumes    Relation = "consumes"
	DerivesFrom Relation = "derives_from"
	BlockedBy   Relation = "blocked_by"
)

// Node is one thing that entered the context, happened in the turn, or left it.
// Decisions are control, not content: their trust is system and taints nothing.
type Node struct {
	ID             string      `json:"id"`
	Kind           NodeKind    `json:"kind"`
	Trust          trust.Level `json:"trust"`
	Tool           string      `json:"tool,omitzero"`
	Iteration      *int        `json:"iteration,omitzero"`      // nil before the loop starts
	ContentHash    string      `json:"contentHash,omitzero"`    // SHA-256 in hex
	ContentPreview string      `json:"contentPreview,omitzero"` // at most 100 characters
	Blocked        bool        `json:"blocked,omitzero"`
	BlockReason    string      `json:"blockReason,omitzero"`
	Metadata       *Metadata   `json:"metadata,omitzero"`
}

// Edge joins two nodes of the same graph.
type Edge struct {
	From     string   `json:"from"`
	To       string   `json:"to"`
	Relation Relation `json:"relation"`
}

// Metadata is what is known of a node beyond its schema.
type Metadata struct {
	// Of a call and the decision about it.
	Effect     string `json:"effect,omitzero"` // allow, confine, confirm, deny
	Kind       string `json:"kind,omitzero"`   // escalate, danger, taint-escalation, intent-block
	Rule       string `json:"rule,omitzero"`   // also of an input: the row that classified it
	Step       uint64 `json:"step,omitzero"`
	ApprovalID string `json:"approvalId,omitzero"` // the question asked, or the approval spent
	CallID     string `json:"callId,omitzero"`
	Warrant    string `json:"warrant,omitzero"` // what stood behind the call, slot by slot
	Taint      string `json:"taint,omitzero"`   // the mark it was judged against
	Policy     string `json:"policy,omitzero"`
	Reason     string `json:"reason,omitzero"`
	WriteID    string `json:"writeId,omitzero"` // a memory write kept for review

	// Of an answer or a reset.
	Verdict   string   `json:"verdict,omitzero"` // approve, deny, failed
	By        string   `json:"by,omitzero"`
	Via       string   `json:"via,omitzero"`
	Approvals []string `json:"approvals,omitempty"` // the questions it answers
	Grant     string   `json:"grant,omitzero"`
	Reset     bool     `json:"reset,omitzero"`
	Before    string   `json:"before,omitzero"` // the mark the reset cleared

	// Of a model call.
	Model     string   `json:"model,omitzero"`
	Removed   []string `json:"removed,omitempty"` // tools hidden from it
	Calls     []string `json:"calls,omitempty"`   // tools it asked for
	LatencyMs int64    `json:"latencyMs,omitzero"`
	TokensIn  int64    `json:"tokensIn,omitzero"`
	TokensOut int64    `json:"tokensOut,omitzero"`

	// Of content.
	Provider  string `json:"provider,omitzero"`
	Sender    string `json:"sender,omitzero"`
	Parent    string `json:"parent,omitzero"`  // branch the turn was forked from
	Carried   bool   `json:"carried,omitzero"` // the mark of earlier turns is part of it
	From      string `json:"from,omitzero"`    // child session or branch whose result it is
	Source    bool   `json:"source,omitzero"`  // a taint source fired
	Sensitive bool   `json:"sensitive,omitzero"`
	Author    string `json:"author,omitzero"`  // who wrote it, where its server says so
	Readers   string `json:"readers,omitzero"` // who may read it besides the user; empty: nobody
	Held      string `json:"held,omitzero"`    // the handle of what is kept from the agent; of a value, of what it was extracted from
	Error     bool   `json:"error,omitzero"`
	Index     *int   `json:"index,omitzero"` // place in the host's message list
}

// Marks is the high-water mark after each node. It only falls in trust, except at an
// owner's reset.
func (g *Graph) Marks() []trust.Level {
	marks, mark := make([]trust.Level, len(g.Nodes)), trust.System
	for i := range g.Nodes {
		mark = g.Nodes[i].lower(mark)
		marks[i] = mark
	}
	return marks
}

// lower is the mark once the node is there.
func (n *Node) lower(mark trust.Level) trust.Level {
	if n.IsReset() {
		return n.Trust
	}
	if n.Metadata != nil && n.Metadata.Held != "" { // nobody has read it
		return mark
	}
	return mark.Join(n.Trust)
}

// IsReset reports whether the node is an owner's reset of the mark.
func (n *Node) IsReset() bool { return n.Metadata != nil && n.Metadata.Reset }

// IsAnswer reports whether the node is what a person said to a question.
func (n *Node) IsAnswer() bool { return n.Metadata != nil && n.Metadata.Verdict != "" }

// Outcome is what became of a call, or what a decision says, in one word of its own
// per outcome: "allow", "confine" (it ran in a box), "approved" (it ran on an approval), "confirm" (held),
// "taint-escalation" (held because of taint alone), "danger" (held for what it does,
// whatever the taint), "deny"; of answers "approve", "deny", "failed"; "reset"; and
// "blocked" for what a rule stopped without judging a call. Everything else has none.
func (n *Node) Outcome() string {
	m := n.Metadata
	switch {
	case m == nil || m.Effect == "" && m.Verdict == "" && !m.Reset:
		if n.Blocked {
			return "blocked"
		}
		return ""
	case m.Reset:
		return "reset"
	case m.Verdict != "":
		return m.Verdict
	case m.Effect == allowed && m.ApprovalID != "":
		return "approved"
	case m.Effect == "confirm" && (m.Kind == "taint-escalation" || m.Kind == "danger"):
		return m.Kind
	case m.Effect == allowed, m.Effect == confined, m.Effect == "confirm":
		return m.Effect
	default:
		return "deny"
	}
}
