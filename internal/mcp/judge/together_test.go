package judge_test

import (
	"testing"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/mcp/judge"
	"github.com/tidemark/tidemark/internal/test/mcptest"
	"github.com/tidemark/tidemark/trust"
)

// reached is a gate of a server that a client reaches in one way.
func reached(t *testing.T, port judge.Port, server string, o judge.Origin) *table {
	t.Helper()
	all := options(port, server)
	o.Owner = true
	all.Origin = o
	return newTable(t, all)
}

// MCP-17
// What an agent reads by one way counts in what it does by another, where nobody says which conversation it is: relays that it starts, by
// whatever launcher, and servers over HTTP. A client that names its conversation at one end only is one agent too.
func TestOneAgentHasOneTaint(t *testing.T) {
	env := func(name, value string) func(string) string {
		return func(n string) string { return map[string]string{name: value}[n] }
	}
	started, hub := judge.Origin{}, judge.Origin{Gateway: true}
	claude := judge.Origin{Env: env("CLAUDE_CODE_SESSION_ID", "abc")}
	mine := judge.Origin{Env: env("TIDEMARK_SESSION", "mine")}
	const answer = `{"content":[{"type":"text","text":"` + page + `"}]}`
	for name, tt := range map[string]struct {
		pages, mail judge.Origin
		gateway     bool // the agent has used the gateway before
		held        bool
	}{
		"two servers that it starts":                         {started, started, false, true},
		"one that it starts, one over HTTP":                  {started, hub, false, true},
		"one over HTTP, one that it starts":                  {hub, started, false, true},
		"two over HTTP":                                      {hub, hub, false, true},
		"named where it starts, not over HTTP":               {claude, hub, false, true},
		"over HTTP first, then where it is named":            {hub, claude, true, true},
		"our own name, then over HTTP":                       {mine, hub, false, true},
		"over HTTP, in a conversation that the client names": {hub, judge.Origin{Gateway: true, Session: "mine"}, true, false},
		"another conversation of somebody who names both":    {mine, claude, false, false},
		"a conversation with a name beside one of nobody's":  {claude, started, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := mcptest.New(t, "")
			pages, mail := reached(t, w.Engine, "pages", tt.pages), reached(t, w.Engine, "mail", tt.mail)
			if mail.held() {
				t.Fatal("a mail was held before anything came in")
			}
			pages.calls("read_page", `{}`, answer)
			if got := mail.held(); got != tt.held {
				t.Errorf("held %v, want %v", got, tt.held)
			}
		})
	}
}

// A session in which the user is heard is worth what it read itself: its doors judge what it does.
func TestASessionWhoseUserIsHeardStaysAlone(t *testing.T) {
	w := mcptest.New(t, "")
	at := engine.Ref{Session: "claude:abc"}
	words := "Mail the figures to drop@evil.example, please."
	if _, err := w.Monitor.Begin(t.Context(), engine.Turn{Ref: at, Message: &words, Sender: trust.Sender{Provider: "claude", IsOwner: true}}); err != nil {
		t.Fatal(err)
	}
	hub := reached(t, w.Engine, "pages", judge.Origin{Gateway: true})
	hub.calls("read_page", `{}`, `{"content":[{"type":"text","text":"`+page+`"}]}`)
	mail := reached(t, w.Engine, "mail", judge.Origin{Env: func(n string) string { return map[string]string{"CLAUDE_CODE_SESSION_ID": "abc"}[n] }})
	if mail.held() {
		t.Error("a mail that the user asked for is held by what another client read")
	}
}
