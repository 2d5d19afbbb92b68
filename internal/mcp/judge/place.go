package judge

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/tidemark/tidemark/internal/mcp/wire"
)

// Origin is what a relay knows of whose messages it carries. Of what it knows, what a call says of
// itself comes first: environments are inherited by other agents, and outlive a conversation.
type Origin struct {
	Env     func(name string) string // of the process; nil: there is none
	Session string                   // what else tells conversations apart; "": nothing does
	Owner   bool                     // whoever speaks is the owner
	Gateway bool                     // it came over HTTP
	Machine string                   // the machine elsewhere whose token it came with; "": this one
}

// common is the session of all who do not say which conversation they are in: relays that agents start, by whatever launcher,
// and clients over HTTP. What one of them read may be what another is asked to do, and nobody here can tell. The name is
// that of the first who shared it.
const common = "http"

// variables name an agent's conversation in its environment, and the agent as its hooks spell it.
var variables = []struct{ name, agent string }{
	{"CLAUDE_CODE_SESSION_ID", "claude"}, {"COPILOT_AGENT_SESSION_ID", "copilot"}, {"QWEN_CODE_SESSION_ID", "qwen"},
}

// conversations name an agent's conversation in what a call says of itself.
var conversations = []struct{ key, agent string }{{"vscode.conversationId", "vscode"}, {"sessionID", "opencode"}}

// SessionVariable names the session for whatever an agent starts.
const SessionVariable = "TIDEMARK_SESSION"

// place finds the session of a message by its metadata, which may be missing: one of the machine that it comes from.
func (o *Origin) place(meta wire.Object) Place { return o.told(meta).on(o.Machine) }

// told is the place as a message tells it.
func (o *Origin) told(meta wire.Object) Place {
	p := Place{Agent: "mcp", Owner: o.Owner, Gateway: o.Gateway}
	if session, thread := meta.Text("sessionId"), meta.Text("threadId"); session != "" && thread != "" {
		p.Session, p.Agent = named("codex", session), "codex"
		if thread != session {
			p.Branch = named("", thread)
		}
		return p
	}
	for _, c := range conversations {
		if id := meta.Text(c.key); id != "" {
			p.Session, p.Agent = named(c.agent, id), c.agent
			return p
		}
	}
	if o.Env != nil {
		if name := o.Env(SessionVariable); name != "" {
			p.Session = named("", name)
			return p
		}
		for _, v := range variables {
			if id := o.Env(v.name); id != "" {
				p.Session, p.Agent = named(v.agent, id), v.agent
				return p
			}
		}
	}
	if o.Session != "" {
		p.Session = named("mcp", o.Session)
		return p
	}
	p.Session = named("mcp", common)
	return p
}

// callID is the id that the agent's hook, or its model, knows a call by; "" where it is not told.
func callID(meta wire.Object) string {
	for _, key := range []string{"claudecode/toolUseId", "callId"} {
		if id := meta.Text(key); id != "" {
			return id
		}
	}
	return ""
}

// maxNamed is the longest name that is kept as it is.
const maxNamed = 200

// named spells a session as the hooks of an agent do. A name that cannot be kept is told by its hash.
func named(agent, id string) string {
	if agent != "" {
		id = agent + ":" + id
	}
	if len(id) > maxNamed || strings.ContainsFunc(id, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		sum := sha256.Sum256([]byte(id))
		id = agent + ":" + hex.EncodeToString(sum[:16])
	}
	return id
}
