package grounds_test

import (
	"encoding/json"
	"testing"

	"github.com/tidemark/tidemark/internal/warrant/grounds"
	"github.com/tidemark/tidemark/tool"
)

// tools of an office that exists nowhere.
var tools = []tool.Definition{
	{Name: "send_letter", Description: "Sends a letter to somebody."},
	{Name: "pay_invoice", Description: "Pays an invoice."},
	{Name: "delete_entry", Description: "Deletes an entry."},
	{Name: "update_entry", Description: "Changes an entry."},
	{Name: "create_entry", Description: "Makes an entry."},
	{Name: "set_password", Description: "Changes the password."},
	{Name: "fetch_page", Description: "Reads a page of the web."},
	{Name: "fetch_ledger", Description: "Reads the ledger."},
	{Name: "read_letters", Description: "Reads letters that came."},
}

// read is a result from outside.
func read(name, args, content string) grounds.Result {
	a := tool.NewArgs([]byte(args))
	return grounds.Result{Tool: name, Step: 3, Args: &a, Content: content}
}

// world is a conversation in which the user spoke first and then results came.
func world(said string, results ...grounds.Result) *grounds.Context {
	c := grounds.New()
	c.Tools(tools)
	c.User(said)
	for _, r := range results {
		c.Result(r)
	}
	return c
}

// of asks about a call.
func of(c *grounds.Context, name, args string) *grounds.Grounds {
	a := tool.NewArgs([]byte(args))
	return c.Of(name, &a)
}

// letter is free text that came from outside.
func letter(text string) grounds.Result {
	return read("read_letters", `{}`, "Dear reader,\n"+text+"\nThat is all for now, see you soon.")
}

// rows is a listing that came from outside.
func rows(content string) grounds.Result { return read("fetch_ledger", `{}`, content) }

func check(t *testing.T, g *grounds.Grounds, what, want string) {
	t.Helper()
	if got := g.Origin(what); got != want {
		t.Errorf("origin of %s: got %s, want %s; findings %+v", what, got, want, g.Findings)
	}
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}
