package hook_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

type (
	llmEvent  = hook.BeforeLLMCall
	llmResult = hook.BeforeLLMCallResult
	aftEvent  = hook.AfterLLMCall
	aftResult = hook.AfterLLMCallResult
)

func onLLM(name string, fn func(e *llmEvent) (*llmResult, error)) hook.Handler {
	return hook.Handler{FailOpen: true, Name: name, On: hook.Handlers{
		BeforeLLMCall: func(_ context.Context, e *llmEvent, _ *hook.Context) (*llmResult, error) { return fn(e) },
	}}
}

func says(name string, r *llmResult) hook.Handler {
	return onLLM(name, func(*llmEvent) (*llmResult, error) { return r, nil })
}

func closed(h hook.Handler) hook.Handler {
	h.FailOpen = false
	return h
}

// HOOK-01 HOOK-07 HOOK-16
func TestBeforeLLMCallComposes(t *testing.T) {
	prompt := func(s string) *llmResult { return &llmResult{SystemPrompt: &s} }
	blocked := func(by, reason string) llmResult {
		return llmResult{Tools: named(), Block: true, BlockReason: reason, BlockedBy: by}
	}
	notice := onLLM("notice", func(e *llmEvent) (*llmResult, error) {
		s := e.SystemPrompt + " beware"
		return &llmResult{SystemPrompt: &s}, nil
	})
	broken := onLLM("broken", func(*llmEvent) (*llmResult, error) { return &llmResult{Model: "evil"}, errBroken })
	tests := map[string]struct {
		handlers []hook.Handler
		want     llmResult
		faults   []string
	}{
		"no change from anybody is no change": {[]hook.Handler{says("a", nil), says("b", &llmResult{})}, llmResult{}, nil},
		"tool filters intersect": {
			[]hook.Handler{says("a", &llmResult{Tools: named("read", "exec")}), says("b", &llmResult{Tools: named("message", "read")})},
			llmResult{Tools: []hook.Tool{mustTool(t, `{"name":"read","v":1}`)}}, []string{"b: result would widen"},
		},
		"an empty list is no tools": {[]hook.Handler{says("a", &llmResult{Tools: named()})}, llmResult{Tools: named()}, nil},
		"a tool that was not there is not added": {
			[]hook.Handler{says("a", &llmResult{Tools: named("read", "sudo")})},
			llmResult{Tools: []hook.Tool{mustTool(t, `{"name":"read","v":1}`)}}, []string{"a: result would widen"},
		},
		"a definition stays the host's": {
			[]hook.Handler{says("a", &llmResult{Tools: []hook.Tool{mustTool(t, `{"name":"read","v":"mine"}`)}})},
			llmResult{Tools: []hook.Tool{mustTool(t, `{"name":"read","v":1}`)}}, nil,
		},
		"a tool without a name adds nothing": {
			[]hook.Handler{says("a", &llmResult{Tools: []hook.Tool{{}}})}, llmResult{Tools: named()}, []string{"a: result would widen"},
		},
		"text edits apply in order": {[]hook.Handler{says("a", prompt("one")), notice}, *prompt("one beware"), nil},
		"messages are replaced": {
			[]hook.Handler{says("a", &llmResult{Messages: raws(`{"n":1}`)}), says("b", &llmResult{Messages: raws(`{"n":2}`, `{"n":3}`)})},
			llmResult{Messages: raws(`{"n":2}`, `{"n":3}`)}, nil,
		},
		"the model can be swapped": {[]hook.Handler{says("a", &llmResult{Model: "small"})}, llmResult{Model: "small"}, nil},
		"a block wins and drops all edits": {
			[]hook.Handler{says("a", prompt("edited")), says("b", &llmResult{Block: true, BlockReason: "no"}), says("c", &llmResult{Tools: named("read")})},
			blocked("b", "no"), nil,
		},
		"a block needs no reason":          {[]hook.Handler{says("a", &llmResult{Block: true})}, blocked("a", `blocked by plugin "a"`), nil},
		"an observer that errs is skipped": {[]hook.Handler{broken, notice}, *prompt("system beware"), []string{"broken: error"}},
		"a security plugin that errs blocks, without its own words": {
			[]hook.Handler{closed(broken), notice},
			blocked("broken", `plugin "broken" could not answer before_llm_call: it returned an error`), []string{"broken: error"},
		},
		"a block that comes with an error still blocks": {
			[]hook.Handler{onLLM("a", func(*llmEvent) (*llmResult, error) { return &llmResult{Block: true, BlockReason: "no"}, errBroken })},
			blocked("a", "no"), []string{"a: error"},
		},
		"a panic is contained": {
			[]hook.Handler{onLLM("a", func(*llmEvent) (*llmResult, error) { panic("boom") }), notice},
			*prompt("system beware"), []string{"a: handler panicked"},
		},
		"a message that is no object makes the result useless": {
			[]hook.Handler{says("a", &llmResult{Messages: raws(`{}`, `"text"`), Model: "evil"})}, llmResult{}, []string{"a: result cannot be used"},
		},
		"a message that is not there does too":    {[]hook.Handler{says("a", &llmResult{Messages: make([]strictjson.Value, 1)})}, llmResult{}, []string{"a: result cannot be used"}},
		"a message with trailing bytes does too":  {[]hook.Handler{says("a", &llmResult{Messages: raws(`{}],"tools":[{}`)})}, llmResult{}, []string{"a: result cannot be used"}},
		"a message with a duplicate key does too": {[]hook.Handler{says("a", &llmResult{Messages: raws(`{"a":1,"a":2}`)})}, llmResult{}, []string{"a: result cannot be used"}},
		"a prompt that is not UTF-8 does too":     {[]hook.Handler{says("a", prompt("\xff"))}, llmResult{}, []string{"a: result cannot be used"}},
		"a useless result of a security plugin blocks": {
			[]hook.Handler{closed(says("a", prompt("\xff")))},
			blocked("a", `plugin "a" could not answer before_llm_call: result cannot be used`), []string{"a: result cannot be used"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b, f := quietBus()
			register(t, b, tt.handlers...)
			event := &llmEvent{
				Messages: raws(`{"n":0}`), SystemPrompt: "system", Model: "big", SessionKey: "k",
				Tools: []hook.Tool{mustTool(t, `{"name":"read","v":1}`), mustTool(t, `{"function":{"name":"exec"}}`)},
			}
			got := b.BeforeLLMCall(t.Context(), event, &hook.Context{SessionKey: "k"})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.faults, f.kinds()); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
			if event.SystemPrompt != "system" || len(event.Tools) != 2 || event.Model != "big" {
				t.Errorf("the caller's event was changed: %+v", event)
			}
		})
	}
}

// HOOK-07
func TestLaterHandlersSeeWhatEarlierOnesLeft(t *testing.T) {
	b, _ := quietBus()
	text := "new"
	var seen *llmEvent
	register(t, b,
		says("a", &llmResult{Messages: raws(`{"n":9}`), SystemPrompt: &text, Model: "small", Tools: named("exec")}),
		onLLM("b", func(e *llmEvent) (*llmResult, error) { seen = e; return nil, nil }))
	b.BeforeLLMCall(t.Context(), &llmEvent{Tools: named("read", "exec"), SessionKey: "k", Iteration: 3}, nil)
	want := &llmEvent{Messages: raws(`{"n":9}`), SystemPrompt: "new", Model: "small", Tools: named("exec"), SessionKey: "k", Iteration: 3}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("event of the later handler (-want +got):\n%s", diff)
	}
}

// A handler that writes to its event, or keeps what it returned, reaches nobody else.
//
// HOOK-07
func TestWritingToTheEventChangesNothing(t *testing.T) {
	b, _ := quietBus()
	returned := raws(`{"n":1}`)
	vandal := hook.Handler{FailOpen: true, Name: "vandal", Priority: 1, On: hook.Handlers{
		BeforeLLMCall: func(_ context.Context, e *llmEvent, c *hook.Context) (*llmResult, error) {
			e.Tools[0] = hook.ToolNamed("sudo")
			e.SystemPrompt, c.SessionKey, *c.SenderMetadata, c.InputProvenance.Kind = "x", "x", true, "x"
			return &llmResult{Messages: returned}, nil
		},
		AfterLLMCall: func(_ context.Context, e *aftEvent, _ *hook.Context) (*aftResult, error) {
			e.ToolCalls[0].Name = "sudo"
			return nil, nil
		},
	}}
	known := false
	ctx := &hook.Context{SessionKey: "k", SenderMetadata: &known, InputProvenance: &hook.InputProvenance{Kind: "external_user"}}
	check := hook.Handler{FailOpen: true, Name: "check", On: hook.Handlers{
		BeforeLLMCall: func(_ context.Context, e *llmEvent, c *hook.Context) (*llmResult, error) {
			if e.Tools[0].Name() != "read" || e.SystemPrompt != "s" {
				t.Errorf("event = %+v, want what the host sent", e)
			}
			if diff := cmp.Diff(ctx, c); diff != "" || *c.SenderMetadata {
				t.Errorf("context (-want +got):\n%s", diff)
			}
			copy(returned[0], `{"n":2}`)
			return nil, nil
		},
		AfterLLMCall: func(_ context.Context, e *aftEvent, _ *hook.Context) (*aftResult, error) {
			if e.ToolCalls[0].Name != "read" {
				t.Errorf("tool call = %+v, want what the model asked for", e.ToolCalls[0])
			}
			return nil, nil
		},
	}}
	register(t, b, vandal, check)
	got := b.BeforeLLMCall(t.Context(), &llmEvent{Tools: named("read"), SystemPrompt: "s"}, ctx)
	if diff := cmp.Diff(llmResult{Messages: raws(`{"n":1}`)}, got); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	b.AfterLLMCall(t.Context(), &aftEvent{ToolCalls: []hook.ToolCall{{ID: "1", Name: "read"}}}, ctx)
}

// HOOK-09
func TestMessagesArePassedByReference(t *testing.T) {
	b, _ := quietBus()
	messages := raws(`{"n":1}`)
	register(t, b, onLLM("a", func(e *llmEvent) (*llmResult, error) {
		if &e.Messages[0] != &messages[0] {
			t.Error("the messages were copied")
		}
		return nil, nil
	}))
	b.BeforeLLMCall(t.Context(), &llmEvent{Messages: messages}, nil)
}

// HOOK-02 HOOK-07
func TestAfterLLMCallKeepsOrDropsCalls(t *testing.T) {
	call := func(id, name, args string) hook.ToolCall {
		return hook.ToolCall{ID: id, Name: name, Arguments: strictjson.Value(args)}
	}
	calls := func(list ...hook.ToolCall) *aftResult {
		return &aftResult{ToolCalls: append([]hook.ToolCall{}, list...)}
	}
	read, exec := call("1", "read", `{"path":"a"}`), call("2", "exec", `{"command":"ls"}`)
	tests := map[string]struct {
		event   []hook.ToolCall
		results []*aftResult
		want    aftResult
		faults  []string
	}{
		"nothing said, nothing changed": {[]hook.ToolCall{read, exec}, []*aftResult{nil, {}}, aftResult{}, nil},
		"a call is dropped":             {[]hook.ToolCall{read, exec}, []*aftResult{calls(read)}, *calls(read), nil},
		"drops add up":                  {[]hook.ToolCall{read, exec}, []*aftResult{calls(read), calls()}, *calls(), nil},
		"a dropped call does not return": {
			[]hook.ToolCall{read, exec}, []*aftResult{calls(read), calls(read, exec)}, *calls(read), []string{"p1: result would widen"},
		},
		"arguments are changed": {[]hook.ToolCall{read}, []*aftResult{calls(call("1", "read", `{"path":"b"}`))}, *calls(call("1", "read", `{"path":"b"}`)), nil},
		"without arguments they stay": {
			[]hook.ToolCall{read}, []*aftResult{calls(hook.ToolCall{ID: "1", Name: "read"})}, *calls(read), nil,
		},
		"the order stays the model's": {[]hook.ToolCall{read, exec}, []*aftResult{calls(exec, read)}, *calls(read, exec), nil},
		"a new id is not added": {
			[]hook.ToolCall{read}, []*aftResult{calls(read, call("3", "read", `{}`))}, *calls(read), []string{"p0: result would widen"},
		},
		"another tool under an old id is not added": {
			[]hook.ToolCall{read}, []*aftResult{calls(call("1", "exec", `{}`))}, *calls(), []string{"p0: result would widen"},
		},
		"an id answered twice runs once": {
			[]hook.ToolCall{read}, []*aftResult{calls(read, call("1", "read", `{"path":"z"}`))}, *calls(read), []string{"p0: result would widen"},
		},
		"repeated ids keep one call per answer": {
			[]hook.ToolCall{call("", "read", `{"path":"a"}`), call("", "read", `{"path":"b"}`)},
			[]*aftResult{calls(call("", "read", `{"path":"b"}`))}, *calls(call("", "read", `{"path":"b"}`)), nil,
		},
		"repeated ids need arguments": {
			[]hook.ToolCall{call("", "read", `{"path":"a"}`), call("", "read", `{"path":"b"}`)},
			[]*aftResult{calls(hook.ToolCall{Name: "read"})}, aftResult{}, []string{"p0: result cannot be used"},
		},
		"arguments that are no object make the result useless": {
			[]hook.ToolCall{read}, []*aftResult{calls(call("1", "read", `"x"`))}, aftResult{}, []string{"p0: result cannot be used"},
		},
		"a block leaves no calls": {
			[]hook.ToolCall{read}, []*aftResult{{Block: true, BlockReason: "no"}},
			aftResult{ToolCalls: []hook.ToolCall{}, Block: true, BlockReason: "no", BlockedBy: "p0"}, nil,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b, f := quietBus()
			for i, r := range tt.results {
				register(t, b, hook.Handler{FailOpen: true, Name: fmt.Sprintf("p%d", i), On: hook.Handlers{
					AfterLLMCall: func(context.Context, *aftEvent, *hook.Context) (*aftResult, error) { return r, nil },
				}})
			}
			got := b.AfterLLMCall(t.Context(), &aftEvent{ToolCalls: tt.event}, nil)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.faults, f.kinds()); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReasonsAreCutAndMadeValid(t *testing.T) {
	tests := map[string]struct{ reason, want string }{
		"a short one stays":           {"no", "no"},
		"500 characters stay":         {strings.Repeat("é", 500), strings.Repeat("é", 500)},
		"a longer one is cut":         {strings.Repeat("é", 501), strings.Repeat("é", 499) + "…"},
		"what is not UTF-8 is mended": {"a\xffb", "a\uFFFDb"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b, _ := quietBus()
			register(t, b, says("a", &llmResult{Block: true, BlockReason: tt.reason}))
			got := b.BeforeLLMCall(t.Context(), &llmEvent{}, nil).BlockReason
			if got != tt.want || !utf8.ValidString(got) {
				t.Errorf("reason = %q, want %q", got, tt.want)
			}
		})
	}
}
