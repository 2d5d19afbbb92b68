package judge_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/test/mcptest"
)

// heldCall is a call that is asked about, with or without a token of progress.
func heldCall(id, token string) string {
	meta := ""
	if token != "" {
		meta = `,"_meta":{"progressToken":"` + token + `"}`
	}
	return `{"jsonrpc":"2.0","id":"` + id + `","method":"tools/call","params":{"name":"send_mail","arguments":` + mailArgs + meta + `}}`
}

// patient is a gate whose owner lets calls wait, after something was read that names the address.
func patient(t *testing.T, wait time.Duration) (*mcptest.World, *table) {
	t.Helper()
	w := mcptest.New(t, "")
	o := options(w.Engine, "mail")
	o.Patience, o.Elicit = wait, false
	tb := newTable(t, o)
	tb.calls("look", `{}`, `{"content":[{"type":"text","text":"`+page+`"}]}`)
	return w, tb
}

// A client that cannot be kept waiting is answered before it gives up, and told what to do; after the approval the same
// call runs without another question.
// MCP-21
func TestWithoutProgressACallIsAnsweredBeforeItsClientGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, tb := patient(t, 10*time.Minute)
		began := time.Now()
		forward, reply := tb.up(heldCall("1", ""))
		if took := time.Since(began); took < 45*time.Second || took > 55*time.Second {
			t.Errorf("it was answered after %v, want some 50 s", took)
		}
		if forward != "" || !strings.Contains(reply, `"isError":true`) || !strings.Contains(reply, "approv") {
			t.Errorf("got %q, %q, want how it goes on", forward, reply)
		}
		if len(tb.said) != 0 {
			t.Errorf("it was told %q, which it did not ask for", <-tb.said)
		}
		w.Approve(true)
		again := heldCall("2", "")
		if forward, reply := tb.up(again); forward != again {
			t.Errorf("after the approval: got %q, %q", forward, reply)
		}
		asked := 0
		for _, d := range w.Decisions(session) {
			if d.Ask != nil {
				asked++
			}
		}
		if asked != 1 {
			t.Errorf("asked %d times, want once", asked)
		}
	})
}

// Nobody answers: a timeout is told as one, and not as a no.
// MCP-21
func TestNobodyAnsweringIsToldAsThat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, tb := patient(t, time.Hour) // longer than a question stands
		go func() {
			for range tb.said { // a client that reads
			}
		}()
		forward, reply := tb.up(heldCall("1", "p"))
		if forward != "" || !strings.Contains(reply, "nobody answered in time") {
			t.Errorf("got %q, %q", forward, reply)
		}
		close(tb.said)
	})
}

// Five minutes of waiting are kept alive by progress that rises, and lies below whatever the server says itself.
// MCP-20
func TestProgressRisesWhileACallIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, tb := patient(t, 10*time.Minute)
		call := heldCall("1", "p")
		passed := make(chan string, 1)
		go func() {
			forward, _ := tb.up(call)
			passed <- forward
		}()
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		w.Approve(true)
		if got := <-passed; got != call {
			t.Fatalf("got %q", got)
		}
		last, n := -1e9, 0
		for ; len(tb.said) > 0; n++ {
			var m struct {
				Method string `json:"method"`
				Params struct {
					Token string  `json:"progressToken"`
					At    float64 `json:"progress"`
				} `json:"params"`
			}
			if err := strictjson.Unmarshal([]byte(<-tb.said), &m); err != nil {
				t.Fatal(err)
			}
			if m.Method != "notifications/progress" || m.Params.Token != "p" || m.Params.At <= last || m.Params.At >= 0 {
				t.Fatalf("after %v came %+v, want it to rise, below 0", last, m)
			}
			last = m.Params.At
		}
		if n < 25 || n > 35 {
			t.Errorf("told %d times in five minutes, want every ten seconds", n)
		}
		tb.down(`{"jsonrpc":"2.0","id":"1","result":{"content":[]}}`)
	})
}
