package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/httpapi"
	"github.com/tidemark/tidemark/internal/pins"
)

// MCP-25
func TestHiddenDefinitionsAreInTheQueue(t *testing.T) {
	var keeper *pins.Keeper
	proof := ""
	w := open(t, "", func(o *httpapi.Options) {
		var err error
		if keeper, err = pins.Open(t.Context(), pins.Options{Store: o.Feed, Now: time.Now}); err != nil {
			t.Fatal(err)
		}
		o.Pins, o.Proof = keeper, func() string { return proof }
	})
	mail := pins.Server{Name: "mail", Command: []string{"mail"}}
	lists := func(text string) string {
		t.Helper()
		out, err := keeper.List(t.Context(), mail, "", []byte(`{"tools":[{"name":"send","description":"`+text+`"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	lists("Sends.")
	stream := w.watch(t)
	if name, _ := stream.next(); name != "snapshot" {
		t.Fatalf("got %s first", name)
	}
	lists("Sends it all.")
	name, data := stream.next()
	if name != "definitions" {
		t.Fatalf("got %s, want the definition that is hidden now", name)
	}
	one, _ := data.list("definitions")[0].(map[string]any)
	if diff, _ := one["diff"].(string); !strings.Contains(diff, "+description: Sends it all.") || one["server"] != "mail" {
		t.Errorf("got %v", one)
	}
	path := fmt.Sprint("/v1/approvals/", one["id"])
	if got := w.get("/v1/approvals"); len(got.list("definitions")) != 1 {
		t.Errorf("the queue: got %v", got)
	}
	post := func(token, body string) int {
		t.Helper()
		return w.call(token, http.MethodPost, path, body).status
	}
	proof = "passkey"
	for what, tt := range map[string]struct {
		token string
		body  string
		want  int
	}{
		"an agent":                    {agentToken, `{"decision":"approve"}`, http.StatusForbidden},
		"for some minutes":            {approverToken, `{"decision":"approve","minutes":5}`, http.StatusBadRequest},
		"where a proof is wanted":     {approverToken, `{"decision":"approve"}`, http.StatusForbidden},
		"with neither a yes nor a no": {approverToken, `{}`, http.StatusBadRequest},
	} {
		if got := post(tt.token, tt.body); got != tt.want {
			t.Errorf("%s: got %d, want %d", what, got, tt.want)
		}
	}
	if strings.Contains(lists("Sends it all."), "send") {
		t.Fatal("a refused answer accepted it")
	}
	proof = ""
	if got := post(approverToken, `{"decision":"approve"}`); got != http.StatusOK {
		t.Fatalf("got %d", got)
	}
	if name, data := stream.next(); name != "definitions" || len(data.list("definitions")) != 0 {
		t.Errorf("after the answer: got %s %v", name, data)
	}
	if !strings.Contains(lists("Sends it all."), "send") {
		t.Error("what was accepted is hidden")
	}
	if got := post(approverToken, `{"decision":"deny"}`); got != http.StatusNotFound {
		t.Errorf("a second answer: got %d", got)
	}
}
