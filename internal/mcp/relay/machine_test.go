package relay_test

import (
	"net/http"
	"testing"

	"github.com/tidemark/tidemark/internal/mcp/relay"
	"github.com/tidemark/tidemark/internal/test/mcptest"
)

// A laptop that has joined reaches the servers of the file with its token. However it spells that and whatever it says of itself, its calls are
// its own: in none of this machine's conversations, nor in another laptop's.
func TestALaptopSpeaksInItsOwnConversations(t *testing.T) {
	u := newUpstream(t, func(w http.ResponseWriter, r *http.Request, body string) {
		w.Header().Set("Mcp-Session-Id", "one")
		asJSON(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"Written by somebody"}]}}`)(w, r, body)
	})
	machines := map[string]string{"token-of-ana": "ana", "token-of-ben": "ben"}
	g := newGateway(t, "", map[string]string{"up": u.URL}, func(o *relay.Options) {
		o.Admission.Machine = func(token string) (string, bool) { m, ok := machines[token]; return m, ok }
	})
	send := func(header ...string) {
		t.Helper()
		header = append([]string{"Content-Type", "application/json", "Accept", "application/json"}, header...)
		if status, body := g.send(http.MethodPost, "/mcp/up", look, header...); status != http.StatusOK {
			t.Fatalf("%v: %d %s", header, status, body)
		}
	}
	send("Authorization", "Bearer "+mcptest.Token, "X-Tidemark-Session", "work") // this machine's
	mine := len(g.world.Decisions("mcp:work"))
	for _, tt := range []struct {
		session string
		header  []string
	}{
		{"ana/mcp:http", []string{"Authorization", "Bearer token-of-ana"}},
		{"ana/mcp:http", []string{"Authorization", "bearer token-of-ana"}},
		{"ana/mcp:http", []string{"X-Tidemark-Token", "token-of-ana"}},
		{"ana/mcp:work", []string{"Authorization", "Bearer token-of-ana", "X-Tidemark-Session", "work"}},
		{"ana/mcp:work", []string{"Authorization", "Bearer token-of-ana", "X-Tidemark-Session", "work", "Mcp-Session-Id", "one"}},
		{"ben/mcp:work", []string{"Authorization", "BEARER token-of-ben", "X-Tidemark-Session", "work", "Mcp-Session-Id", "one"}},
		{"ben/mcp:ana/mcp:work", []string{"X-Tidemark-Token", "token-of-ben", "X-Tidemark-Session", "ana/mcp:work"}},
	} {
		before := len(g.world.Decisions(tt.session))
		send(tt.header...)
		if len(g.world.Decisions(tt.session)) != before+1 {
			t.Errorf("%v: it is in no session %s", tt.header, tt.session)
		}
	}
	if got := len(g.world.Decisions("mcp:work")) + len(g.world.Decisions("mcp:http")); mine != 1 || got != 1 {
		t.Errorf("%d calls of laptops stand in this machine's conversations", got-mine)
	}
	if status, _ := g.send(http.MethodPost, "/mcp/up", look, "Content-Type", "application/json", "Authorization", "Bearer token-of-eve"); status != http.StatusUnauthorized {
		t.Errorf("a token that nobody has: %d", status)
	}
}
