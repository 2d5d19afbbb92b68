package proxy

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/llm/conversation"
	"github.com/tidemark/tidemark/internal/llm/format"
)

// The headers clients of ours may send. None of them is ever forwarded.
const (
	ownHeaders    = "X-Tidemark-"
	tokenHeader   = "X-Tidemark-Token"
	sessionHeader = "X-Tidemark-Session"
	agentHeader   = "X-Tidemark-Agent"
	keepHeader    = "X-Tidemark-Keep" // results may be kept from the model; the client offers our tools for them
)

// harness is an agent as its requests tell.
type harness struct {
	name  string   // as its hooks name it
	marks []string // what its User-Agent begins with
}

var harnesses = []harness{
	{"claude", []string{"claude-cli/", "claude-code/"}},
	{"codex", []string{"codex"}},
	{"opencode", []string{"opencode/"}},
	{"gemini", []string{"geminicli"}},
	{"openclaw", []string{"openclaw"}},
	{"droid", []string{"factory-cli/"}},
	{"cline", []string{"cline/"}},
}

// sessionHeaders are where harnesses name their conversation, parentHeaders the one they
// work for, and childHeaders say that a sub-agent speaks. A sub-agent of Codex has a thread
// of its own in the session of its parent, one of Claude Code only an id, one of OpenCode a
// session. Gemini CLI, Copilot CLI and OpenClaw name no conversation.
var (
	sessionHeaders = []string{
		"X-Claude-Code-Session-Id", "Thread-Id", "Session_id", "Session-Id", "Conversation_id",
		"X-Opencode-Session", "X-Session-Affinity", "X-Session-Id",
	}
	parentHeaders = []string{"X-Parent-Session-Id", "X-Codex-Parent-Thread-Id"}
	childHeaders  = []string{"X-Claude-Code-Agent-Id", "X-Openai-Subagent", "X-Parent-Session-Id", "X-Codex-Parent-Thread-Id"}
)

// Copilot CLI has no name in its User-Agent. It says with every request who set it off,
// and of what kind it is where that is not the main agent at work.
const (
	copilotHeader = "X-Initiator"
	copilotKind   = "X-Interaction-Type"
	copilotChild  = "conversation-subagent"
)

// caller is who speaks, for the follower. What a header or the body says only tells
// conversations of one credential apart.
func (p *Proxy) caller(r *http.Request, v visitor, hints format.Hints) conversation.Caller {
	h := r.Header
	c := conversation.Caller{Tenant: v.tenant, Owner: p.o.Owner, Agent: agentOf(h)}
	if name := bounded(first(h, agentHeader)); name != "" && v.trusted { // a policy may be laxer for an agent it names
		c.Agent = name
	}
	c.Session = bounded(first(h, sessionHeader))
	c.Trusted = v.trusted && c.Session != ""
	if c.Session == "" {
		c.Session = first(h, sessionHeaders...)
	}
	if c.Session == "" {
		c.Session = codexSession(h, c.Agent, hints)
	}
	if v.machine != "" { // whatever it says of itself, it is one of that machine's
		if c.Agent = cmp.Or(c.Agent, "llm") + "@" + v.machine; c.Session != "" {
			c.Session = v.machine + "/" + c.Session
		}
	}
	c.Parent = bounded(first(h, parentHeaders...))
	c.Child = first(h, childHeaders...) != "" || h.Get(copilotKind) == copilotChild
	c.Session = bounded(c.Session)
	return c
}

func first(h http.Header, names ...string) string {
	for _, n := range names {
		if v := h.Get(n); v != "" {
			return v
		}
	}
	return ""
}

// maxSession is the longest name a client may give a conversation; one that is longer
// counts as none.
const maxSession = 256

func bounded(name string) string {
	if len(name) > maxSession || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return ""
	}
	return name
}

func agentOf(h http.Header) string {
	agent := strings.ToLower(h.Get("User-Agent"))
	origin := strings.ToLower(h.Get("Originator"))
	for _, known := range harnesses {
		for _, mark := range known.marks {
			if strings.HasPrefix(agent, mark) || origin != "" && strings.HasPrefix(origin, mark) {
				return known.name
			}
		}
	}
	if h.Get(copilotHeader) != "" {
		return "copilot"
	}
	return ""
}

// codexSession is the conversation's name in what Codex sends besides headers of its own.
// What other harnesses put into the body the follower reads.
func codexSession(h http.Header, agent string, hints format.Hints) string {
	var m struct {
		Session string `json:"session_id"`
		Thread  string `json:"thread_id"`
	}
	turn := h.Get("X-Codex-Turn-Metadata")
	switch {
	case turn != "" && strictjson.Unmarshal([]byte(turn), &m) == nil && m.Session+m.Thread != "":
		return m.Thread + m.Session
	case agent == "codex":
		return hints.CacheKey
	}
	return ""
}
