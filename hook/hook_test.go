package hook_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/trust"
)

func TestNamesAreTheThirteenHooks(t *testing.T) {
	want := []hook.Name{
		"message_received", "before_agent_start", "context_assembled", "loop_iteration_start",
		"before_llm_call", "after_llm_call", "before_tool_call", "after_tool_call", "tool_result_persist",
		"loop_iteration_end", "before_response_emit", "message_sending", "agent_end",
	}
	if diff := cmp.Diff(want, hook.Names()); diff != "" {
		t.Errorf("Names() (-want +got):\n%s", diff)
	}
	for _, n := range want {
		if got, err := hook.ParseName(string(n)); err != nil || got != n {
			t.Errorf("ParseName(%q) = %q, %v, want itself", n, got, err)
		}
	}
	for _, bad := range []string{"", "before_llm_cal", "BEFORE_LLM_CALL", " agent_end"} {
		if got, err := hook.ParseName(bad); err == nil {
			t.Errorf("ParseName(%q) = %q, want an error", bad, got)
		}
	}
}

func mustTool(t testing.TB, raw string) hook.Tool {
	t.Helper()
	tool, err := hook.NewTool([]byte(raw))
	if err != nil {
		t.Fatalf("NewTool(%s): %v", raw, err)
	}
	return tool
}

// Every event has exactly the JSON names of the RFC and of the host's coarse hooks.
//
// HOOK-01 HOOK-02 HOOK-03 HOOK-04 HOOK-05 HOOK-06
func TestEventsHaveTheNamesOfTheRFC(t *testing.T) {
	tests := map[string]struct {
		event hook.Event
		want  string
	}{
		"before_llm_call": {
			&hook.BeforeLLMCall{
				Messages: raws(`{"role":"user"}`), SystemPrompt: "s", Model: "m", Iteration: 1,
				Tools: []hook.Tool{mustTool(t, `{"name":"read","x":1}`)}, TokenEstimate: 9, SessionKey: "k", AgentID: "a",
			},
			`{"messages":[{"role":"user"}],"systemPrompt":"s","model":"m","iteration":1,"tools":[{"name":"read","x":1}],"tokenEstimate":9,"sessionKey":"k","agentId":"a"}`,
		},
		"after_llm_call": {
			&hook.AfterLLMCall{
				Messages: raws(), Response: strictjson.Value(`{"role":"assistant"}`), Model: "m", LatencyMs: 12.5,
				ToolCalls:  []hook.ToolCall{{ID: "1", Name: "read", Arguments: strictjson.Value(`{"path":"a"}`)}},
				TokenUsage: &hook.TokenUsage{Input: 3, Output: 4},
			},
			`{"messages":[],"response":{"role":"assistant"},"toolCalls":[{"id":"1","name":"read","arguments":{"path":"a"}}],"iteration":0,"model":"m","latencyMs":12.5,"tokenUsage":{"input":3,"output":4}}`,
		},
		"context_assembled": {
			&hook.ContextAssembled{
				SystemPrompt: "s", Messages: raws(`{}`), SessionKey: "k", AgentID: "a",
				Sources: []hook.Source{{Kind: "tool_result", Tool: "web_fetch", Trust: trust.Untrusted, MessageIndex: 2}},
			},
			`{"systemPrompt":"s","messages":[{}],"sources":[{"kind":"tool_result","tool":"web_fetch","trust":"untrusted","messageIndex":2}],"sessionKey":"k","agentId":"a"}`,
		},
		"loop_iteration_start": {
			&hook.LoopIterationStart{Iteration: 1, PendingToolResults: 2, MessageCount: 3, SessionKey: "k"},
			`{"iteration":1,"pendingToolResults":2,"messageCount":3,"sessionKey":"k"}`,
		},
		"loop_iteration_end": {
			&hook.LoopIterationEnd{Iteration: 1, ToolCallsMade: 2, NewMessagesAdded: 3, WillContinue: true, SessionKey: "k"},
			`{"iteration":1,"toolCallsMade":2,"newMessagesAdded":3,"willContinue":true,"sessionKey":"k"}`,
		},
		"before_response_emit": {
			&hook.BeforeResponseEmit{Content: "c", TaintedBy: []string{"gmail"}, Channel: "slack", SessionKey: "k"},
			`{"content":"c","taintedBy":["gmail"],"channel":"slack","sessionKey":"k"}`,
		},
		"message_received": {
			&hook.MessageReceived{From: "f", Content: "c", Timestamp: 5, ThreadID: "t", MessageID: "m", SenderID: "s", SessionKey: "k", RunID: "r", Metadata: strictjson.Value(`{}`)},
			`{"from":"f","content":"c","timestamp":5,"threadId":"t","messageId":"m","senderId":"s","sessionKey":"k","runId":"r","metadata":{}}`,
		},
		"before_agent_start": {
			&hook.BeforeAgentStart{Prompt: "p", SystemPrompt: "s"},
			`{"prompt":"p","messages":[],"systemPrompt":"s"}`,
		},
		"before_tool_call": {
			&hook.BeforeToolCall{ToolName: "exec", Params: strictjson.Value(`{"command":"ls"}`), ToolCallID: "c", RunID: "r"},
			`{"toolName":"exec","params":{"command":"ls"},"toolCallId":"c","runId":"r"}`,
		},
		"after_tool_call": {
			&hook.AfterToolCall{ToolName: "exec", Params: strictjson.Value(`{}`), ToolCallID: "c", RunID: "r", Result: strictjson.Value(`[1]`), Error: "e", DurationMs: 7},
			`{"toolName":"exec","params":{},"toolCallId":"c","runId":"r","result":[1],"error":"e","durationMs":7}`,
		},
		"tool_result_persist": {
			&hook.ToolResultPersist{ToolName: "exec", ToolCallID: "c", Message: strictjson.Value(`{}`), IsSynthetic: true},
			`{"toolName":"exec","toolCallId":"c","message":{},"isSynthetic":true}`,
		},
		"message_sending": {
			&hook.MessageSending{To: "t", Content: "c", ReplyToID: "r", ThreadID: "h", Metadata: strictjson.Value(`{}`)},
			`{"to":"t","content":"c","replyToId":"r","threadId":"h","metadata":{}}`,
		},
		"agent_end": {
			&hook.AgentEnd{Messages: raws(`{}`), Success: true, Error: "e", DurationMs: 3, RunID: "r"},
			`{"messages":[{}],"success":true,"error":"e","durationMs":3,"runId":"r"}`,
		},
	}
	if len(tests) != len(hook.Names()) {
		t.Errorf("%d events tested, want %d", len(tests), len(hook.Names()))
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := string(tt.event.Hook()); got != name {
				t.Errorf("Hook() = %q, want %q", got, name)
			}
			got, err := strictjson.Marshal(tt.event)
			if err != nil {
				t.Fatalf("Marshal: %v", err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("JSON (-want +got):\n%s", diff)
			}
		})
	}
}

// HOOK-01 HOOK-02 HOOK-05 HOOK-06
func TestResultsHaveTheNamesOfTheRFC(t *testing.T) {
	text := "x"
	tests := map[string]struct {
		result any
		want   string
	}{
		"before_llm_call": {
			hook.BeforeLLMCallResult{Messages: raws(`{}`), SystemPrompt: &text, Model: "m", Tools: named(), Block: true, BlockReason: "r", BlockedBy: "p"},
			`{"messages":[{}],"systemPrompt":"x","model":"m","tools":[],"block":true,"blockReason":"r"}`,
		},
		"after_llm_call": {
			hook.AfterLLMCallResult{ToolCalls: []hook.ToolCall{{ID: "1", Name: "n"}}, Block: true, BlockReason: "r", BlockedBy: "p"},
			`{"toolCalls":[{"id":"1","name":"n"}],"block":true,"blockReason":"r"}`,
		},
		"before_response_emit": {
			hook.BeforeResponseEmitResult{Content: &text, AppendFooter: "f", Block: true, BlockReason: "r", BlockedBy: "p"},
			`{"content":"x","appendFooter":"f","block":true,"blockReason":"r"}`,
		},
		"before_agent_start": {
			hook.BeforeAgentStartResult{SystemPrompt: &text, PrependContext: "c"},
			`{"systemPrompt":"x","prependContext":"c"}`,
		},
		"before_tool_call": {
			hook.BeforeToolCallResult{Params: strictjson.Value(`{}`), Block: true, BlockReason: "r", BlockedBy: "p"},
			`{"params":{},"block":true,"blockReason":"r"}`,
		},
		"tool_result_persist": {
			hook.ToolResultPersistResult{Message: strictjson.Value(`{}`)}, `{"message":{}}`,
		},
		"message_sending": {
			hook.MessageSendingResult{Content: &text, Cancel: true, CancelReason: "r", CanceledBy: "p"},
			`{"content":"x","cancel":true,"cancelReason":"r"}`,
		},
		"no change is an empty object":           {hook.BeforeLLMCallResult{}, `{}`},
		"no calls are not the same as no change": {hook.AfterLLMCallResult{ToolCalls: []hook.ToolCall{}}, `{"toolCalls":[]}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := strictjson.Marshal(tt.result)
			if err != nil {
				t.Fatalf("Marshal: %v", err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("JSON (-want +got):\n%s", diff)
			}
		})
	}
}
