package judge_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/test/mcptest"
)

// MCP-13
func TestWhatATaskIsToldIsJudgedUnderBothNames(t *testing.T) {
	for name, c := range map[string]struct {
		params string
		want   []string
	}{
		"answers alone":          {`{"taskId":"t","inputResponses":{"k":{"action":"accept","content":{"x":"y"}}}}`, []string{"pages__tasks_update", "pages__input_answers"}},
		"answers and more":       {`{"taskId":"t","note":"z","inputResponses":{"k":{"action":"accept"}}}`, []string{"pages__tasks_update", "pages__input_answers"}},
		"no answers":             {`{"taskId":"t"}`, []string{"pages__tasks_update"}},
		"no answers and a state": {`{"taskId":"t","requestState":"s"}`, []string{"pages__tasks_update"}},
	} {
		t.Run(name, func(t *testing.T) {
			update := `{"jsonrpc":"2.0","id":1,"method":"tasks/update","params":` + c.params + `}`
			w := mcptest.New(t, "")
			tb := newTable(t, options(w.Engine, "pages"))
			if forward, reply := tb.up(update); forward != update {
				t.Fatalf("got %q, %q", forward, reply)
			}
			var got []string
			for _, d := range w.Decisions(session) {
				got = append(got, d.Tool)
			}
			if strings.Join(got, " ") != strings.Join(c.want, " ") {
				t.Errorf("judged as %v, want %v", got, c.want)
			}
			for _, name := range c.want { // a rule on either is enough
				w := mcptest.New(t, "rules:\n  - {name: never, tools: ["+name+"], effect: deny}\n")
				if forward, reply := newTable(t, options(w.Engine, "pages")).up(update); forward != "" || !strings.Contains(reply, "never") {
					t.Errorf("with a rule on %s: got %q, %q", name, forward, reply)
				}
			}
		})
	}
}

// A person who is asked about an update of a task sees all that it says, and is asked once.
// MCP-13
func TestAPersonIsAskedOnceAboutWhatATaskIsTold(t *testing.T) {
	for _, asks := range []string{"", "rules:\n  - {name: mine, tools: [pages__tasks_update], effect: ask}\n"} {
		w := mcptest.New(t, asks)
		o := options(w.Engine, "pages")
		o.Patience, o.Elicit = time.Minute, false
		tb := newTable(t, o)
		if asks == "" {
			tb.calls("look", `{}`, `{"content":[{"type":"text","text":"`+page+`"}]}`)
		}
		update := `{"jsonrpc":"2.0","id":"u","method":"tasks/update","params":{"taskId":"t","inputResponses":{"k":{"action":"accept","content":{"x":"yes"}}}}}`
		passed := make(chan string, 1)
		go func() {
			forward, _ := tb.up(update)
			passed <- forward
		}()
		w.Asked()
		list, err := w.Monitor.Questions(t.Context())
		if err != nil || !strings.Contains(list[0].Args, "yes") || list[0].Tool != "pages__tasks_update" {
			t.Errorf("asked about %+v, %v, want all that is said", list, err)
		}
		w.Approve(true)
		if got := <-passed; got != update {
			t.Errorf("with %q: got %q", asks, got)
		}
		asked := 0
		for _, d := range w.Decisions(session) {
			if d.Ask != nil {
				asked++
			}
		}
		if asked != 1 {
			t.Errorf("with %q: asked %d times, want once", asks, asked)
		}
	}
}

// A server that answers every call with a task must not fill the memory with what they were called with: what is
// forgotten counts under the name of the request.
func TestCallsWhoseResultComesLaterAreBounded(t *testing.T) {
	w := mcptest.New(t, "preset: permissive\n")
	tb := newTable(t, options(w.Engine, "pages"))
	const calls, bound = 24, 16
	large := `{"text":"` + strings.Repeat("x", 4<<20) + `"}`
	for i := range calls {
		tb.up(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"look","arguments":%s}}`, i, large))
		tb.down(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"task":{"taskId":"t%d"}}}`, i, i))
	}

	for i := range calls {
		tb.up(fmt.Sprintf(`{"jsonrpc":"2.0","id":"r%d","method":"tasks/result","params":{"taskId":"t%d"}}`, i, i))
		tb.down(fmt.Sprintf(`{"jsonrpc":"2.0","id":"r%d","result":{"content":[{"type":"text","text":"late %d"}]}}`, i, i))
	}
	results := map[string]int{}
	for e, err := range w.Monitor.Events(t.Context(), session) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Seen != nil {
			results[e.Seen.Tool]++
		}
	}
	known := results["pages__look"] - calls // each was answered with its task first
	if known == 0 || known > bound || results["pages__tasks_result"] < calls-bound {
		t.Errorf("%d of %d calls are remembered, want at most %d and some: %v", known, calls, bound, results)
	}
}
