package judge_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark/tidemark/internal/mcp/judge"
	"github.com/tidemark/tidemark/internal/test/mcptest"
	"github.com/tidemark/tidemark/tool"
)

// enters sends a message of the client's, whose answer comes later.
func (t *table) enters(text string) chan judge.Passage {
	t.Helper()
	finish := t.Enter(t.Context(), t.message(text), judge.Ends{Client: t.say})
	done := make(chan judge.Passage, 1)
	go func() { done <- finish() }()
	return done
}

func cancelOf(id, reason string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%q,"reason":%q}}`, id, reason)
}

const timedOut = "McpError: MCP error -32001: Request timed out"

// MCP-21, MCP-22
// A client whose clock runs out has not been told no: the question stands, and the same call finds the answer. One that a person
// gave up is withdrawn.
func TestAQuestionOutlivesTheClockOfItsClient(t *testing.T) {
	w := mcptest.New(t, "rules:\n  - {name: ask, tools: [mail__send_mail], effect: ask}\n")
	for name, port := range map[string]judge.Port{"in this process": w.Engine, "in another": w.Remote()} {
		t.Run(name, func(t *testing.T) {
			o := options(port, "mail")
			o.Patience, o.Elicit = 0, false
			tb := newTable(t, o)
			call := func(id string) string {
				return fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"tools/call","params":{"name":"send_mail","arguments":{"to":%q},"_meta":{"progressToken":1}}}`, id, name)
			}
			done := tb.enters(call("1"))
			id := w.Asked()
			tb.up(cancelOf("1", timedOut))
			if p := <-done; p.Forward != nil || p.Reply != nil {
				t.Errorf("somebody who is gone was answered: %+v", p)
			}
			if q, err := w.Monitor.Question(t.Context(), session, id); err != nil || !q.Pending() {
				t.Fatalf("the question: %s, %v; want it open", q.State, err)
			}
			w.Approve(true)
			if forward, reply := tb.up(call("2")); forward == "" {
				t.Errorf("the same call does not find the answer: %s", reply)
			}
			tb.down(`{"jsonrpc":"2.0","id":"2","result":{"content":[]}}`)
			done = tb.enters(call("3")) // the answer was good once
			id = w.Asked()
			tb.up(cancelOf("3", "the user pressed escape"))
			<-done
			w.Eventually("the question is withdrawn", func() bool {
				q, err := w.Monitor.Question(t.Context(), session, id)
				return err == nil && q.State == "moot"
			})
		})
	}
}

// MCP-22
// However soon a call is given up, its question is not left to nobody.
func TestACallGivenUpAtOnceLeavesNoQuestion(t *testing.T) {
	w := mcptest.New(t, "rules:\n  - {name: ask, tools: [mail__send_mail], effect: ask}\n")
	for i := range 40 {
		ctx, cancel := context.WithCancel(t.Context())
		ask := judge.Ask{
			Place: judge.Place{Session: session, Owner: true}, Patience: time.Hour,
			Call: tool.Call{ID: fmt.Sprint(i), Name: "mail__send_mail", Args: fmt.Appendf(nil, `{"n":%d}`, i)},
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			if r, err := w.Engine.Decide(ctx, ask); err == nil && r.Allowed() {
				t.Error("a call ran")
			}
		}()
		for range i * 50 { // sooner and later
			_ = ctx.Err()
		}
		cancel()
		<-done
	}
	if list, err := w.Monitor.Questions(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%d questions stand on with nobody waiting, %v", len(list), err)
	}
}

// MCP-20
// A client that gave up once is answered sooner the next time, so that its model reads what to do.
func TestTheLimitOfAClientIsLearned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, tb := patient(t, 10*time.Minute)
		go func() {
			for range tb.said { // a client that reads
			}
		}()
		tb.up(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"clientInfo":{"name":"impatient","version":"1"},"capabilities":{}}}`)
		done := tb.enters(heldCall("1", "p"))
		time.Sleep(60 * time.Second)
		synctest.Wait()
		tb.up(cancelOf("1", timedOut))
		<-done
		began := time.Now()
		forward, reply := tb.up(heldCall("2", "q"))
		if took := time.Since(began); took > 55*time.Second || took < 30*time.Second {
			t.Errorf("it was answered after %v, and the client waits for a minute", took)
		}
		if forward != "" || !strings.Contains(reply, "repeat exactly the same call") {
			t.Errorf("got %q, %q, want how it goes on", forward, reply)
		}
		close(tb.said)
	})
}

// MCP-21
// A call that is made again while it waits is the one that waits: the other is answered, and the approval is not spent on it.
func TestTheLastOfTwoWaitsForTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, tb := patient(t, 10*time.Minute)
		first := tb.enters(heldCall("1", ""))
		synctest.Wait()
		second := tb.enters(heldCall("2", ""))
		synctest.Wait()
		if p := <-first; p.Forward != nil || !strings.Contains(string(p.Reply), "repeat exactly the same call") {
			t.Errorf("the first: %s, %s", p.Forward, p.Reply)
		}
		w.Approve(true)
		if p := <-second; string(p.Forward) != heldCall("2", "") {
			t.Errorf("the second: %s, %s", p.Forward, p.Reply)
		}
		tb.down(`{"jsonrpc":"2.0","id":"2","result":{"content":[]}}`)
	})
}
