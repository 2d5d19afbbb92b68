package conversation

import (
	"errors"

	"github.com/tidemark/tidemark/internal/agents/harness"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// A provider asks before it runs a tool of an MCP server, and the client answers. The question
// was judged as the call itself, so an answer adds nothing to it; but to a call that was not let
// through nobody may say yes.

// ErrApproval says that a request approves of a call which nobody let through.
var ErrApproval = errors.New("the request approves of a call that nobody let through here")

// recalledFetched is the kind of a call that was let through in an answer fetched later.
const recalledFetched engine.RecalledKind = startKind + 1

// Fetched notes the calls that a client got with an answer whose conversation nobody knows.
func (f *Follower) Fetched(tenant string, parts []format.Part) {
	for i := range parts {
		if p := &parts[i]; p.Kind == format.Call && p.CallID != "" {
			f.pastOf(tenant).remember(recalledFetched, tool.DigestOf([]byte(p.CallID)), memory{label: nothing()})
		}
	}
}

// approval is what the answer to such a question brings. Whether it was the user or the
// harness that gave it, and why, nobody can tell: it is no word of the user's.
func (e *entry) approval(p *format.Part, now bool) (trust.Label, error) {
	l := nothing()
	if string(p.Args) != "false" && !e.released(p.CallID) {
		if now {
			return l, ErrApproval
		}
		l = unseen("history") // it was acted on long ago
	}
	if trimmed(p.Text) == "" {
		return l, nil
	}
	_, brought := e.divided(harness.Split{Words: p.Text})
	return l.Join(brought).Join(local()), nil
}

// released reports whether a call was let through.
func (e *entry) released(id string) bool {
	if _, ok := e.past.recognise(recalledFetched, tool.DigestOf([]byte(id))); ok {
		return true
	}
	return e.session.calls[id] != nil
}
