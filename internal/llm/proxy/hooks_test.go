package proxy_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/llm/proxy"
	"github.com/tidemark/tidemark/policy"
)

func (w *world) plug(h hook.Handler) {
	w.t.Helper()
	if err := w.bus.Register(h); err != nil {
		w.t.Fatal(err)
	}
}

// HOOK-01 HOOK-03 HOOK-04
func TestPluginsSeeTheRequestAndMayChangeIt(t *testing.T) {
	w := open(t)
	var before hook.BeforeLLMCall
	var told []string
	prompt := "Be kind."
	w.plug(hook.Handler{Name: "p", On: hook.Handlers{
		ContextAssembled: func(_ context.Context, e *hook.ContextAssembled, _ *hook.Context) error {
			told = append(told, "assembled")
			return nil
		},
		LoopIterationStart: func(_ context.Context, e *hook.LoopIterationStart, _ *hook.Context) error {
			told = append(told, "start")
			return nil
		},
		LoopIterationEnd: func(_ context.Context, e *hook.LoopIterationEnd, _ *hook.Context) error {
			told = append(told, "end")
			return nil
		},
		BeforeLLMCall: func(_ context.Context, e *hook.BeforeLLMCall, _ *hook.Context) (*hook.BeforeLLMCallResult, error) {
			before = *e
			return &hook.BeforeLLMCallResult{SystemPrompt: &prompt, Model: "other", Tools: []hook.Tool{hook.ToolNamed("read_page"), hook.ToolNamed("wipe")}}, nil
		},
	}})
	w.provider.then(answerJSON(chatText("ok")))
	if g := w.post("/openai/v1/chat/completions", chatRequest(false, user("Hi"))); g.status != http.StatusOK {
		t.Fatalf("got %d %s", g.status, g.body)
	}
	if len(before.Messages) != 1 || before.Model != "m" || len(before.Tools) != 3 {
		t.Errorf("seen: got %+v, want the whole request", before)
	}
	if got := strings.Join(told, " "); got != "assembled start end" {
		t.Errorf("told: got %q", got)
	}
	sent := w.provider.last().body
	for _, want := range []string{`"other"`, "Be kind.", "read_page"} {
		if !strings.Contains(sent, want) {
			t.Errorf("sent %s, want %s in it", sent, want)
		}
	}
	// HOOK-07: what the monitor hides stays hidden, whatever a plugin keeps.
	if strings.Contains(sent, "wipe") || strings.Contains(sent, "send_note") {
		t.Errorf("sent %s, want neither wipe nor send_note", sent)
	}
}

// HOOK-02
func TestAPluginMayFilterTheCallsOfAnAnswer(t *testing.T) {
	for _, stream := range []bool{false, true} {
		w := open(t)
		var after hook.AfterLLMCall
		w.plug(hook.Handler{Name: "p", On: hook.Handlers{AfterLLMCall: func(_ context.Context, e *hook.AfterLLMCall, _ *hook.Context) (*hook.AfterLLMCallResult, error) {
			after = *e
			return &hook.AfterLLMCallResult{ToolCalls: []hook.ToolCall{}}, nil
		}}})
		if stream {
			w.provider.then(answerEvents(chatCallEvents("call-1", "add", `{"a":1}`)...))
		} else {
			w.provider.then(answerJSON(chatCall("call-1", "add", `{"a":1}`)))
		}
		g := w.post("/openai/v1/chat/completions", chatRequest(stream, user("Hi")))
		if strings.Contains(g.body, "call-1") || !strings.Contains(g.body, "plugin") {
			t.Errorf("stream %v: got %s, want the call gone", stream, g.body)
		}
		if len(after.ToolCalls) != 1 || after.ToolCalls[0].Name != "add" || string(after.ToolCalls[0].Arguments) != `{"a":1}` {
			t.Errorf("stream %v: seen %+v, want the call", stream, after.ToolCalls)
		}
	}
}

// HOOK-02
func TestACallThatAPluginDroppedOrChangedIsBlocked(t *testing.T) {
	gemini := func(calls string) string {
		return `{"candidates":[{"content":{"role":"model","parts":[` + calls + `]},"finishReason":"STOP"}]}`
	}
	eve, petra, add := `{"to":"eve"}`, `{"to":"petra"}`, `{"a":1}`
	call := func(name, args string) string { return `{"functionCall":{"name":"` + name + `","args":` + args + `}}` }
	for name, c := range map[string]struct {
		path, request, answer string
		left                  func(hook.ToolCall) *hook.ToolCall
		out, gone             []string
	}{
		"other arguments under the same id": {
			"/openai/v1/chat/completions", chatRequest(false, user("Hi")), chatCall("c1", "send_note", eve),
			func(c hook.ToolCall) *hook.ToolCall { c.Arguments = strictjson.Value(petra); return &c }, nil, []string{"eve", `"c1"`},
		},
		"one of two without ids is dropped": {
			"/gemini/v1beta/models/m:generateContent", `{"contents":[{"role":"user","parts":[{"text":"go"}]}]}`, gemini(call("send_note", eve) + "," + call("add", add)),
			func(c hook.ToolCall) *hook.ToolCall {
				if c.Name == "send_note" {
					return nil
				}
				return &c
			}, []string{`"add"`}, []string{"eve"},
		},
		"one of two of one name is dropped": {
			"/gemini/v1beta/models/m:generateContent", `{"contents":[{"role":"user","parts":[{"text":"go"}]}]}`, gemini(call("send_note", eve) + "," + call("send_note", petra)),
			func(c hook.ToolCall) *hook.ToolCall {
				if string(c.Arguments) == eve {
					return nil
				}
				return &c
			}, []string{"petra"}, []string{"eve"},
		},
		"all stay": {
			"/openai/v1/chat/completions", chatRequest(false, user("Hi")), chatCall("c1", "send_note", eve),
			func(c hook.ToolCall) *hook.ToolCall { return &c }, []string{"eve", `"c1"`}, nil,
		},
	} {
		for range 2 {
			w := open(t)
			w.plug(hook.Handler{Name: "p", On: hook.Handlers{AfterLLMCall: func(_ context.Context, e *hook.AfterLLMCall, _ *hook.Context) (*hook.AfterLLMCallResult, error) {
				out := []hook.ToolCall{}
				for _, call := range e.ToolCalls {
					if left := c.left(call); left != nil {
						out = append(out, *left)
					}
				}
				return &hook.AfterLLMCallResult{ToolCalls: out}, nil
			}}})
			w.provider.then(answerJSON(c.answer))
			g := w.post(c.path, c.request)
			for _, want := range c.out {
				if !strings.Contains(g.body, want) {
					t.Errorf("%s: got %s, want %s in it", name, g.body, want)
				}
			}
			for _, never := range c.gone {
				if strings.Contains(g.body, never) {
					t.Errorf("%s: got %s, want no %s", name, g.body, never)
				}
			}
		}
	}
}

// HOOK-05
func TestAPluginMayChangeOrHoldBackTheAnswer(t *testing.T) {
	for _, stream := range []bool{false, true} {
		w := open(t)
		other, block := "other words", false
		w.plug(hook.Handler{Name: "p", On: hook.Handlers{BeforeResponseEmit: func(_ context.Context, e *hook.BeforeResponseEmit, _ *hook.Context) (*hook.BeforeResponseEmitResult, error) {
			if e.Content != "secret words" {
				t.Errorf("seen: got %q", e.Content)
			}
			return &hook.BeforeResponseEmitResult{Content: &other, AppendFooter: "a footer", Block: block}, nil
		}}})
		answer := func() http.HandlerFunc {
			if stream {
				return answerEvents(chatEvents("secret words")...)
			}
			return answerJSON(chatText("secret words"))
		}
		w.provider.then(answer(), answer())
		if g := w.post("/openai/v1/chat/completions", chatRequest(stream, user("Hi"))); strings.Contains(g.body, "secret") || !strings.Contains(g.body, `other words\n\na footer`) {
			t.Errorf("stream %v: got %s, want the other words", stream, g.body)
		}
		block = true
		if g := w.post("/openai/v1/chat/completions", chatRequest(stream, user("Hi again"))); strings.Contains(g.body, "secret") || !strings.Contains(g.body, "held back") {
			t.Errorf("stream %v: got %s, want it held back", stream, g.body)
		}
	}
}

// HOOK-08
func TestAPluginThatFailsClosedLetsNothingThrough(t *testing.T) {
	broken := errors.New("it broke")
	for name, on := range map[string]hook.Handlers{
		"before_llm_call": {BeforeLLMCall: func(context.Context, *hook.BeforeLLMCall, *hook.Context) (*hook.BeforeLLMCallResult, error) {
			return nil, broken
		}},
		"after_llm_call": {AfterLLMCall: func(context.Context, *hook.AfterLLMCall, *hook.Context) (*hook.AfterLLMCallResult, error) {
			return nil, broken
		}},
		"before_tool_call": {BeforeToolCall: func(context.Context, *hook.BeforeToolCall, *hook.Context) (*hook.BeforeToolCallResult, error) {
			return nil, broken
		}},
		"loop_iteration_start": {LoopIterationStart: func(context.Context, *hook.LoopIterationStart, *hook.Context) error { return broken }},
		"loop_iteration_end":   {LoopIterationEnd: func(context.Context, *hook.LoopIterationEnd, *hook.Context) error { return broken }},
		"context_assembled":    {ContextAssembled: func(context.Context, *hook.ContextAssembled, *hook.Context) error { return broken }},
	} {
		for range 2 {
			w := open(t)
			w.plug(hook.Handler{Name: "p", On: on})
			w.provider.then(answerJSON(chatCall("call-1", "add", `{}`)))
			if g := w.post("/openai/v1/chat/completions", chatRequest(false, user("Hi"))); strings.Contains(g.body, "call-1") {
				t.Errorf("%s: got %d %s, want no call", name, g.status, g.body)
			}
		}
	}
}

func TestATurnEndsAtTheIterationCap(t *testing.T) {
	w := open(t, func(o *proxy.Options) { o.MaxIterations = 1 })
	talk := w.afterPage()
	if g := w.post("/openai/v1/chat/completions", chatRequest(false, talk...)); g.status != http.StatusOK || !strings.Contains(g.body, "maxIterations") || !strings.Contains(g.body, `"stop"`) {
		t.Errorf("got %d %s, want the turn ended", g.status, g.body)
	}
	if n := len(w.provider.requests()); n != 1 {
		t.Errorf("the provider got %d requests, want the first only", n)
	}
}

// HOOK-16
func TestTheModelIsToldWhatIsTaintedAndTheAnswerSaysSo(t *testing.T) {
	w := open(t, func(o *proxy.Options) {
		set, faults := policy.Parse("tidemark.yaml", []byte(rules+"taintNotice: true\nprovenanceFooter: true\n"))
		if set == nil {
			t.Fatalf("policy: %v", faults)
		}
		o.Monitor.SetPolicy(set)
	})
	talk := w.afterPage()
	w.provider.then(answerJSON(chatText("It says nothing good.")))
	g := w.post("/openai/v1/chat/completions", chatRequest(false, talk...))
	if sent := w.provider.last().body; !strings.Contains(sent, "tidemark-notice") {
		t.Errorf("sent %s, want the notice", sent)
	}
	if !strings.Contains(g.body, "Provenance: ") {
		t.Errorf("got %s, want the footer", g.body)
	}
}
