package proxy

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
)

// hooksWithin is how recently the hooks of a session must have reported something. Before every
// request of an agent with hooks there was a prompt or a tool call, so this is long for people who
// take their time over an agent's own dialog, and short for one that goes on without hooks.
const hooksWithin = 15 * time.Minute

// hooked looks whether the agent's own hooks report the session that a request belongs to, where
// the upstream wants them. A harness that was started without them (a flag, a repository's
// settings, another home) names a session of which the monitor has not heard.
func (p *Proxy) hooked(r *http.Request, u *upstream) *problem {
	agent, names := agentOf(r.Header), namedSessions(r.Header)
	if agent == "" || len(names) == 0 {
		const why = "upstream %s wants an agent with Tidemark's hooks, and this request names no session of one: " +
			"Claude Code, Codex and OpenCode do; others need an upstream without hooks: required"
		return newProblem(http.StatusForbidden, fmt.Sprintf(why, u.Name))
	}
	for _, name := range names {
		v, err := p.o.Monitor.View(r.Context(), agent+":"+name)
		switch {
		case errors.Is(err, engine.ErrNotFound):
		case err != nil:
			return p.explain(r.Context(), err)
		case p.o.Now().Sub(v.Last) <= hooksWithin:
			return nil
		}
	}
	const why = "the hooks of %s have reported nothing of this session for %s: it was started without them, or they are " +
		"switched off. \"tidemark doctor %s\" says which; mend it, and start a new session"
	return newProblem(http.StatusForbidden, fmt.Sprintf(why, agent, hooksWithin, agent))
}

// namedSessions are the sessions that a harness says a request belongs to, its own or the one it
// works for.
func namedSessions(h http.Header) []string {
	var out []string
	for _, header := range slices.Concat(sessionHeaders, parentHeaders) {
		if name := bounded(h.Get(header)); name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
