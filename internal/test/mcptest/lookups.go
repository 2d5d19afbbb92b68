package mcptest

import (
	"os"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/trust"
)

// Door is a way to servers: it calls a tool and says whether that ran.
type Door func(server, tool string, args map[string]any) (text string, ran bool)

const (
	petra = `{"name":"Petra Holm","email":"petra@quay.example"}`
	oak   = `{"name":"Petra Oak","email":"p@molehill.example"}`
)

// LookUps tells the stories of a name that the monitor looks up itself, at any door to PeopleServer ("people") and to pages ("pages",
// whose read_page brings a stranger's text) in a session.
func (w *World) LookUps(t *testing.T, session, book, sent string, call Door) {
	t.Helper()
	begin := func(contacts string) {
		t.Helper()
		if err := os.WriteFile(book, []byte(contacts), 0o600); err != nil {
			t.Fatal(err)
		}
		w.writeToPetra(t, session)
		if _, ran := call("pages", "read_page", map[string]any{}); !ran {
			t.Fatal("the page was not read")
		}
	}
	send := func(to string) bool {
		t.Helper()
		_, ran := call("people", "send_mail", map[string]any{"to": to, "body": "We come on Monday"})
		return ran
	}
	search := func(query string) {
		t.Helper()
		if text, ran := call("people", "search_contacts", map[string]any{"query": query}); !ran {
			t.Fatalf("search: %s", text)
		}
	}

	begin(`{"contacts":[` + petra + `]}`)
	if !send("petra@quay.example") {
		t.Error("whom we looked up was asked about, though nobody else is called so")
	}
	begin(`{"contacts":[` + petra + "," + oak + `]}`)
	search("Petra Oak") // whoever steers the agent has it find one of them
	if send("p@molehill.example") {
		t.Error("the only one that the agent looked for was taken for the only one there is")
	}
	begin(`{"contacts":[` + petra + `]}`)
	search("Petra")
	changed := `{"contacts":[` + strings.ReplaceAll(petra, "petra@quay", "changed@molehill") + `]}`
	if err := os.WriteFile(book, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	search("Petra")
	if send("changed@molehill.example") {
		t.Error("an address that was changed after the message was taken for the one that was meant")
	}
	begin(`{"contacts":[` + strings.ReplaceAll(oak, "p@", "first@") + `],"next":"2"}`)
	if send("first@molehill.example") {
		t.Error("the only one on a page of a list was taken for the only one there is")
	}
	if raw, err := os.ReadFile(sent); err != nil || string(raw) != "petra@quay.example\n" {
		t.Errorf("sent to %q, %v", raw, err)
	}
	names := 0
	for _, d := range w.Decisions(session) {
		if d.LookUp == "Petra" && d.Tool == "people__search_contacts" && d.Effect == "allow" {
			names++
		}
	}
	if names != 4 {
		t.Errorf("looked up %d times, want once for each message", names)
	}
}

// writeToPetra begins a turn in which a model has read whom the owner wants written to.
func (w *World) writeToPetra(t *testing.T, session string) {
	t.Helper()
	said := "Write Petra that we come on Monday"
	_, err := w.Monitor.Begin(t.Context(), engine.Turn{
		Ref: engine.Ref{Session: session}, Sender: trust.Sender{Provider: "cli", ID: "nora", IsOwner: true}, Message: &said,
		Contract: &intent.Contract{V: intent.ItemsVersion, Items: []intent.Item{{
			Tool: "people__send_mail", Quote: said, Need: "asked", Times: 1, Args: []intent.Arg{
				{Arg: "to", How: "person", What: []string{"Petra"}, Of: "contacts"},
				{Arg: "body", How: "said", What: []string{"we come on Monday"}},
			},
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
}
