package relay_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/test/mcptest"
	"github.com/tidemark/tidemark/trust"
)

// Behind the gateway, with a real server and a real client: an address that somebody signed is asked about once for the name that
// the owner's words have, and then runs; another address under the same name, which a page brings later, does not.
//
// MCP-12 MAN-02
func TestAPairThatWasConfirmedPassesTheGateway(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sent")
	address := "tor@quay.example"
	pages := newUpstream(t, func(w http.ResponseWriter, r *http.Request, body string) {
		text := fmt.Sprintf(`{\"from\":\"Tor Berg\",\"email\":\"%s\",\"body\":\"Write to me here.\"}`, address)
		asStream("event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\""+text+"\"}]}}\n\n")(w, r, body)
	})
	mail := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return mcptest.MailServer(file) }, nil))
	t.Cleanup(mail.Close)
	g := newGateway(t, "preset: balanced", map[string]string{"pages": pages.URL, "mail": mail.URL})
	said := "Read the page and write Tor Berg that we come on Monday"
	begin := func() {
		t.Helper()
		_, err := g.world.Monitor.Begin(t.Context(), engine.Turn{
			Ref: engine.Ref{Session: "mcp:http"}, Sender: trust.Sender{Provider: "cli", ID: "nora", IsOwner: true}, Message: &said,
			Contract: &intent.Contract{V: intent.ItemsVersion, Items: []intent.Item{{
				Tool: "mail__send_mail", Quote: "write Tor Berg that we come on Monday", Need: "asked", Times: 1, Args: []intent.Arg{
					{Arg: "to", How: "person", What: []string{"Tor Berg"}, Of: "the page"}, {Arg: "body", How: "said", What: []string{"we come on Monday"}},
				},
			}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, body := g.post("pages", look); !strings.Contains(body, address) {
			t.Fatalf("got %s", body)
		}
	}
	session := g.connect("mail", nil)
	send := func(to string) bool {
		t.Helper()
		res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "send_mail", Arguments: map[string]any{"to": to, "body": "We come on Monday"}})
		if err != nil {
			t.Fatal(err)
		}
		return !res.IsError
	}
	begin()
	if send(address) {
		t.Fatal("an address that somebody signed was not asked about")
	}
	id := g.world.Asked()
	vote := engine.Vote{Session: "mcp:http", IDs: []string{id}, Approve: true, By: "nora", Via: "http"}
	if _, err := g.world.Monitor.Answer(t.Context(), vote); err != nil {
		t.Fatal(err)
	}
	if !send(address) {
		t.Fatal("what was approved did not run")
	}
	begin()
	if !send(address) {
		t.Error("what was confirmed was asked about again")
	}
	address = "tor@molehill.example"
	begin()
	if send(address) {
		t.Error("another address ran under the name")
	}
	raw, err := os.ReadFile(file)
	if err != nil || string(raw) != "tor@quay.example\ntor@quay.example\n" {
		t.Errorf("sent to %q, %v", raw, err)
	}
}
