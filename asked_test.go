package tidemark_test

import (
	"fmt"
	"testing"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/tool"
)

func TestACallThatWasLeftToItsHostCountsAsAskedOnceTheHostAsks(t *testing.T) {
	w := newWorld(t, "")
	w.ownerSays("s", "look")
	decide := func(gated bool, id string) {
		t.Helper()
		ref := tidemark.Ref{Session: "s", Gated: gated}
		if _, err := w.Decide(t.Context(), ref, tool.Call{ID: id, Name: "read", Args: []byte(`{"path":"a"}`)}); err != nil {
			t.Fatal(err)
		}
	}
	want := func(m *tidemark.Monitor, id string, want bool) {
		t.Helper()
		for range 2 {
			got, err := m.Asked(t.Context(), main("s"), tool.Call{ID: id, Name: "exec"})
			if err != nil || got != want {
				t.Errorf("%q: got %t %v, want %t", id, got, err, want)
			}
		}
	}
	decide(true, "call.1")
	want(w.Monitor, "call.1", false)
	decide(false, "call.1|item_9")
	decide(false, "")
	want(w.Monitor, "call.1", true)
	want(w.Monitor, "call_1", true) // as some hosts write it for the model
	want(w.Monitor, "call_2", false)
	want(w.Monitor, "", false)
	want(w.again().Monitor, "call.1", true)
	if got, err := w.Asked(t.Context(), main("s"), tool.Call{Name: "Read"}); err != nil || !got {
		t.Errorf("a tool without an id: got %t %v, want true", got, err)
	}
	decide(false, "tool_search_code:outer-77:read:1") // a call inside another
	want(w.Monitor, "outer-77", true)
	want(w.Monitor, "outer-7", false)
	for i := range 200 {
		decide(false, fmt.Sprint("later-", i))
	}
	want(w.Monitor, "call.1", false)
	want(w.Monitor, "later-199", true)
}
