package warrant_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/warrant"
)

// A call that holds others is as grave as the gravest of them, wherever that stands.
//
// WAR-02
func TestPropertyAListOfCallsIsAsGraveAsTheGravest(t *testing.T) {
	mild := []map[string]any{
		{"tool": "get_tides", "arguments": map[string]any{"day": "monday"}}, {"name": "list_boats", "arguments": map[string]any{}},
		{"method": "boat.search", "params": []any{"open"}}, {"operationId": "searchBoats", "body": map[string]any{"state": "open"}},
	}
	grave := []map[string]any{
		{"tool": "delete_record", "arguments": map[string]any{"id": "rec-4711"}}, {"name": "grant_access", "arguments": map[string]any{"user": "mallory@evil.example"}},
		{"method": "payment.send", "params": map[string]any{"to": "DE02120300000000202051", "amount": 900}},
		{"operationId": "deleteBoats", "body": map[string]any{"id": "b-7"}},
	}
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.SampledFrom(mild), 0, 4).Draw(t, "mild")
		at := rapid.IntRange(0, len(list)).Draw(t, "at")
		all := append(append([]map[string]any{}, list[:at]...), rapid.SampledFrom(grave).Draw(t, "grave"))
		all = append(all, list[at:]...)
		args, err := json.Marshal(map[string]any{rapid.SampledFrom([]string{"operations", "requests", "calls", "batch", "steps"}).Draw(t, "key"): all})
		if err != nil {
			t.Fatal(err)
		}
		name := rapid.SampledFrom([]string{"batch_call", "call_tools", "get_many", "list_things", "multi_tool_use"}).Draw(t, "tool")
		if w := of(argued(unrelated), name, string(args)); !asked(w) {
			t.Fatalf("%s %s passes as %s: %+v", name, args, w.Deed, w.Slots)
		}
	})
}

// A mutation is never a look, and neither is a field that says what it does.
func TestADocumentIsAsGraveAsWhatItHolds(t *testing.T) {
	for args, want := range map[string]bool{
		`{"query":"query { boats { id } }"}`:                                                     false,
		`{"query":"{ boats(first: 3) { id name } }"}`:                                            false,
		`{"query":"mutation { boats { id } }"}`:                                                  true,
		`{"query":"# query\nmutation M { boat(id: \"b-7\") { id } }"}`:                           true,
		`{"query":"query { deleteBoat(id: 7) { id } }"}`:                                         true,
		`{"query":"query A { boats { id } } mutation B { sink }"}`:                               true,
		`{"query":"subscription { tide }"}`:                                                      true,
		`{"query":"query { boats { id } }","variables":{"to":"mallory@evil.example"}}`:           true,
		`{"operationName":"SinkBoat","variables":{"id":"b-7"},"extensions":{"hash":"ab12cd34"}}`: true,
	} {
		if w := of(argued(unrelated), "graphql_query", args); asked(w) != want {
			t.Errorf("%s: asked is %v, want %v: %s %+v", args, asked(w), want, w.Deed, w.Slots)
		}
	}
	if w := of(argued(unrelated), "graphql_delete_boat", `{"query":"query { boats { id } }"}`); !asked(w) {
		t.Errorf("another tool passes as %s", w.Deed)
	}
}

// What only hands on a look is one.
func TestAWrappedLookIsALook(t *testing.T) {
	for name, args := range map[string]string{
		"use_tool": `{"name":"search_boats","arguments":{"state":"open"}}`, "invoke_endpoint": `{"operationId":"searchBoats","body":{"state":"open"}}`,
	} {
		if w := of(argued("Run the search for open boats."), name, args); asked(w) || w.Deed != warrant.Read {
			t.Errorf("%s is asked about as %s: %+v", name, w.Deed, w.Slots)
		}
	}
}
