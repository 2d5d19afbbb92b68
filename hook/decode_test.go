package hook_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

func TestDecodeReadsWhatHostsSend(t *testing.T) {
	unknown := false
	tests := map[string]struct {
		name hook.Name
		body string
		want hook.Envelope
	}{
		"an event and its context": {
			hook.NameBeforeToolCall,
			`{"event":{"toolName":"exec","params":{"command":"ls"},"toolCallId":"c1","derivedPaths":[]},"ctx":{"sessionKey":"k","sessionId":"i","runId":"r","agentId":"a","branch":"b","messageProvider":"slack","channelId":"ch","senderId":"s","senderIsOwner":true,"groupId":"g","spawnedBy":"p","senderMetadata":false,"inputProvenance":{"kind":"inter_session","sourceSessionKey":"child"},"workspaceDir":"/w","trigger":"user","trace":{}}}`,
			hook.Envelope{
				Event: &hook.BeforeToolCall{ToolName: "exec", Params: strictjson.Value(`{"command":"ls"}`), ToolCallID: "c1", RunID: "r"},
				Ctx: hook.Context{
					SessionKey: "k", SessionID: "i", RunID: "r", AgentID: "a", Branch: "b", MessageProvider: "slack", ChannelID: "ch",
					SenderID: "s", SenderIsOwner: true, GroupID: "g", SpawnedBy: "p", SenderMetadata: &unknown,
					InputProvenance: &hook.InputProvenance{Kind: "inter_session", SourceSessionKey: "child"}, WorkspaceDir: "/w", Trigger: "user",
				},
			},
		},
		"the context is completed from the event": {
			hook.NameBeforeLLMCall, `{"event":{"sessionKey":"k","agentId":"a","tools":["read",{"name":"exec"}]}}`,
			hook.Envelope{
				Event: &hook.BeforeLLMCall{SessionKey: "k", AgentID: "a", Tools: []hook.Tool{mustTool(t, `"read"`), mustTool(t, `{"name":"exec"}`)}},
				Ctx:   hook.Context{SessionKey: "k", AgentID: "a"},
			},
		},
		"the event is completed from the context": {
			hook.NameMessageReceived, `{"event":{"from":"f","content":"c","timestamp":1.5},"ctx":{"sessionKey":"k","runId":"r","senderId":"s"}}`,
			hook.Envelope{
				Event: &hook.MessageReceived{From: "f", Content: "c", Timestamp: 1.5, SessionKey: "k", RunID: "r", SenderID: "s"},
				Ctx:   hook.Context{SessionKey: "k", RunID: "r", SenderID: "s"},
			},
		},
		"absent params are empty": {
			hook.NameAfterToolCall, `{"event":{"toolName":"exec"},"ctx":{"sessionKey":"k"}}`,
			hook.Envelope{Event: &hook.AfterToolCall{ToolName: "exec", Params: strictjson.Value(`{}`)}, Ctx: hook.Context{SessionKey: "k"}},
		},
		"absent arguments are empty": {
			hook.NameAfterLLMCall, `{"event":{"toolCalls":[{"id":"1","name":"n"}]},"ctx":{"sessionKey":"k"}}`,
			hook.Envelope{
				Event: &hook.AfterLLMCall{ToolCalls: []hook.ToolCall{{ID: "1", Name: "n", Arguments: strictjson.Value(`{}`)}}},
				Ctx:   hook.Context{SessionKey: "k"},
			},
		},
		"trust that is not named is untrusted": {
			hook.NameContextAssembled, `{"event":{"sources":[{"kind":"tool_result","messageIndex":1}]},"ctx":{"sessionKey":"k"}}`,
			hook.Envelope{
				Event: &hook.ContextAssembled{Sources: []hook.Source{{Kind: "tool_result", MessageIndex: 1}}, SessionKey: "k"},
				Ctx:   hook.Context{SessionKey: "k"},
			},
		},
		"the body may name the hook": {
			"", `{"hook":"agent_end","event":{"success":true},"ctx":{"sessionKey":"k"}}`,
			hook.Envelope{Event: &hook.AgentEnd{Success: true}, Ctx: hook.Context{SessionKey: "k"}},
		},
		"the body may agree on the hook": {
			hook.NameAgentEnd, `{"hook":"agent_end","event":{},"ctx":{"sessionKey":"k"}}`,
			hook.Envelope{Event: &hook.AgentEnd{}, Ctx: hook.Context{SessionKey: "k"}},
		},
		"a result that is persisted may have no tool": {
			hook.NameToolResultPersist, `{"event":{"message":{"role":"tool"}},"ctx":{"sessionKey":"k"}}`,
			hook.Envelope{Event: &hook.ToolResultPersist{Message: strictjson.Value(`{"role":"tool"}`)}, Ctx: hook.Context{SessionKey: "k"}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := hook.Decode(tt.name, []byte(tt.body))
			if err != nil {
				t.Fatalf("Decode: %v", err)
			}
			if diff := cmp.Diff(&tt.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("Decode (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeNamesTheFieldThatIsWrong(t *testing.T) {
	const ctx = `,"ctx":{"sessionKey":"k"}}`
	tests := map[string]struct {
		name hook.Name
		body string
		want string
	}{
		"no session":                     {"agent_end", `{"event":{},"ctx":{}}`, "decode agent_end: ctx.sessionKey: missing"},
		"no context":                     {"agent_end", `{"event":{}}`, "decode agent_end: ctx.sessionKey: missing"},
		"no event":                       {"agent_end", `{"ctx":{"sessionKey":"k"}}`, "decode agent_end: event: missing"},
		"a null event":                   {"agent_end", `{"event":null` + ctx, "decode agent_end: event: missing"},
		"no tool":                        {"before_tool_call", `{"event":{"params":{}}` + ctx, "decode before_tool_call: event.toolName: missing"},
		"no tool afterwards":             {"after_tool_call", `{"event":{}` + ctx, "decode after_tool_call: event.toolName: missing"},
		"no message":                     {"tool_result_persist", `{"event":{"toolName":"exec"}` + ctx, "decode tool_result_persist: event.message: missing"},
		"params that are a list":         {"before_tool_call", `{"event":{"toolName":"x","params":[]}` + ctx, "decode before_tool_call: event.params: want an object, got an array"},
		"params that are null":           {"before_tool_call", `{"event":{"toolName":"x","params":null}` + ctx, "decode before_tool_call: event.params: want an object, got null"},
		"a tool name that is a number":   {"before_tool_call", `{"event":{"toolName":5}` + ctx, "decode before_tool_call: event.toolName: want a string, got a number"},
		"messages that are a string":     {"before_llm_call", `{"event":{"messages":"hi"}` + ctx, "decode before_llm_call: event.messages: want an array, got a string"},
		"an iteration that is a half":    {"before_llm_call", `{"event":{"iteration":0.5}` + ctx, "decode before_llm_call: event.iteration: want a whole number, got a number"},
		"a negative iteration":           {"before_llm_call", `{"event":{"iteration":-1}` + ctx, "decode before_llm_call: event.iteration: -1 is negative"},
		"a negative token estimate":      {"before_llm_call", `{"event":{"tokenEstimate":-5}` + ctx, "decode before_llm_call: event.tokenEstimate: -5 is negative"},
		"a tool without a name":          {"before_llm_call", `{"event":{"tools":["a",{}]}` + ctx, "decode before_llm_call: event.tools[1]: tool has no name"},
		"a tool with two names":          {"before_llm_call", `{"event":{"tools":[{"name":"a","function":{"name":"b"}}]}` + ctx, "decode before_llm_call: event.tools[0]: tool has two different names"},
		"latency that is a string":       {"after_llm_call", `{"event":{"latencyMs":"1"}` + ctx, "decode after_llm_call: event.latencyMs: want a number, got a string"},
		"usage that is a list":           {"after_llm_call", `{"event":{"tokenUsage":[]}` + ctx, "decode after_llm_call: event.tokenUsage: want an object, got an array"},
		"negative usage":                 {"after_llm_call", `{"event":{"tokenUsage":{"input":-1,"output":0}}` + ctx, "decode after_llm_call: event.tokenUsage.input: -1 is negative"},
		"a call without an id":           {"after_llm_call", `{"event":{"toolCalls":[{"name":"n"}]}` + ctx, "decode after_llm_call: event.toolCalls[0].id: missing"},
		"a call without a name":          {"after_llm_call", `{"event":{"toolCalls":[{"id":"1"}]}` + ctx, "decode after_llm_call: event.toolCalls[0].name: missing"},
		"an id that repeats":             {"after_llm_call", `{"event":{"toolCalls":[{"id":"1","name":"a"},{"id":"1","name":"b"}]}` + ctx, "decode after_llm_call: event.toolCalls[1].id: repeats an earlier one"},
		"arguments that are a string":    {"after_llm_call", `{"event":{"toolCalls":[{"id":"1","name":"a","arguments":"{}"}]}` + ctx, "decode after_llm_call: event.toolCalls[0].arguments: want an object, got a string"},
		"a negative start":               {"loop_iteration_start", `{"event":{"iteration":-1}` + ctx, "decode loop_iteration_start: event.iteration: -1 is negative"},
		"a flag that is a string":        {"loop_iteration_end", `{"event":{"willContinue":"yes"}` + ctx, "decode loop_iteration_end: event.willContinue: want a boolean, got a string"},
		"an owner flag that is a string": {"agent_end", `{"event":{},"ctx":{"sessionKey":"k","senderIsOwner":"true"}}`, "decode agent_end: ctx.senderIsOwner: want a boolean, got a string"},
		"a context that is a list":       {"agent_end", `{"event":{},"ctx":[]}`, "decode agent_end: ctx: want an object, got an array"},
		"an event that is a string":      {"agent_end", `{"event":"x"` + ctx, "decode agent_end: event: want an object, got a string"},
		"a hook that is a number":        {"agent_end", `{"hook":1,"event":{}` + ctx, "decode agent_end: hook: want a string, got a number"},
		"another hook":                   {"agent_end", `{"hook":"before_llm_call","event":{}` + ctx, `decode agent_end: hook: body is for "before_llm_call"`},
		"two sessions":                   {"before_response_emit", `{"event":{"sessionKey":"other"}` + ctx, "decode before_response_emit: event.sessionKey and ctx.sessionKey differ"},
		"two runs":                       {"before_tool_call", `{"event":{"toolName":"x","runId":"1"},"ctx":{"sessionKey":"k","runId":"2"}}`, "decode before_tool_call: event.runId and ctx.runId differ"},
		"two senders":                    {"message_received", `{"event":{"senderId":"1"},"ctx":{"sessionKey":"k","senderId":"2"}}`, "decode message_received: event.senderId and ctx.senderId differ"},
		"two agents":                     {"context_assembled", `{"event":{"agentId":"1"},"ctx":{"sessionKey":"k","agentId":"2"}}`, "decode context_assembled: event.agentId and ctx.agentId differ"},
		"an unknown level":               {"context_assembled", `{"event":{"sources":[{"trust":"root"}]}` + ctx, "decode context_assembled: event.sources: JSON value at /0/trust does not fit: want trust.Level"},
		"an unknown hook":                {"before_lunch", `{}`, `decode event: unknown hook "before_lunch"`},
		"no hook at all":                 {"", `{"event":{}` + ctx, `decode event: unknown hook ""`},
		"a hook nobody can read":         {"", `{`, "decode event: invalid JSON"},
		"a key that comes twice":         {"agent_end", `{"event":{},"event":{}` + ctx, "decode agent_end: invalid JSON"},
		"a nested key that comes twice":  {"before_tool_call", `{"event":{"toolName":"x","params":{"a":1,"a":2}}` + ctx, "decode before_tool_call: invalid JSON"},
		"a body that is a list":          {"agent_end", `[]`, "decode agent_end: JSON value does not fit"},
		"trailing bytes":                 {"agent_end", `{"event":{},"ctx":{"sessionKey":"k"}} {}`, "decode agent_end: invalid JSON"},
		"nesting without end":            {"agent_end", `{"event":{"messages":[` + strings.Repeat("[", 300), "decode agent_end: nested too deeply"},
		"an empty body":                  {"agent_end", ``, "decode agent_end: "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := hook.Decode(tt.name, []byte(tt.body))
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("Decode = %+v, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestEncodeNeedsAnEvent(t *testing.T) {
	if b, err := (&hook.Envelope{}).Encode(); err == nil {
		t.Errorf("Encode = %s, want an error", b)
	}
	bad := &hook.Envelope{Event: &hook.BeforeToolCall{ToolName: "x", Params: strictjson.Value(`{`)}}
	if b, err := bad.Encode(); err == nil {
		t.Errorf("Encode = %s, want an error for params that are no JSON", b)
	}
}

func TestDecodeResultTakesOnlyWhatItKnows(t *testing.T) {
	text := "s"
	tests := map[string]struct {
		body string
		want *llmResult // nil: refused
	}{
		"an empty object is no change":     {`{}`, &llmResult{}},
		"a result":                         {`{"tools":[],"systemPrompt":"s","block":false}`, &llmResult{Tools: named(), SystemPrompt: &text}},
		"null fields are no change":        {`{"tools":null,"systemPrompt":null}`, &llmResult{}},
		"a misspelt field":                 {`{"blok":true}`, nil},
		"a field in another case":          {`{"Block":true}`, nil},
		"who blocked is not theirs to say": {`{"BlockedBy":"x"}`, nil},
		"null":                             {`null`, nil},
		"a list":                           {`[]`, nil},
		"nothing":                          {``, nil},
		"a flag that is a string":          {`{"block":"yes"}`, nil},
		"a key that comes twice":           {`{"block":true,"block":false}`, nil},
		"two objects":                      {`{}{}`, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := hook.DecodeResult[llmResult]([]byte(tt.body))
			if (err == nil) != (tt.want != nil) {
				t.Fatalf("DecodeResult(%s) = %+v, %v", tt.body, got, err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("DecodeResult (-want +got):\n%s", diff)
			}
		})
	}
}

// sameJSON compares raw values as JSON: encoding may drop blanks and escapes.
var sameJSON = cmp.FilterValues(
	func(a, b strictjson.Value) bool { return len(a)+len(b) > 0 },
	cmp.Comparer(func(a, b strictjson.Value) bool {
		x, errX := strictjson.Marshal(a)
		y, errY := strictjson.Marshal(b)
		return len(a) > 0 && len(b) > 0 && errX == nil && errY == nil && string(x) == string(y)
	}))

var sameTool = cmp.Comparer(func(a, b hook.Tool) bool { return a.Name() == b.Name() })

// FuzzDecode: nothing panics, and what decodes encodes to an equal event.
func FuzzDecode(f *testing.F) {
	for i, n := range hook.Names() {
		f.Add(i, []byte(`{"hook":"`+string(n)+`","event":{"toolName":"x","message":{},"toolCalls":[{"id":"1","name":"n"}],"tools":["a",{"function":{"name":"b"}}],"messages":[{"a" : "\u0041"}],"iteration":3,"latencyMs":1e3},"ctx":{"sessionKey":"k","senderMetadata":false,"inputProvenance":{"kind":"x"}}}`))
		f.Add(i, []byte(`{"event":{"sessionKey":"k","taintedBy":["a"],"sources":[{"trust":"owner"}],"tokenUsage":{}}}`))
		f.Add(i, []byte(`{"event":{"messages":"x"},"ctx":5}`))
	}
	f.Fuzz(func(t *testing.T, which int, body []byte) {
		names := append(hook.Names(), "", "other")
		name := names[uint(which)%uint(len(names))]
		got, err := hook.Decode(name, body)
		if err != nil {
			return
		}
		if got.Ctx.SessionKey == "" {
			t.Fatalf("Decode(%s, %q) has no session", name, body)
		}
		encoded, err := got.Encode()
		if err != nil {
			t.Fatalf("Encode of %q: %v", body, err)
		}
		again, err := hook.Decode(got.Event.Hook(), encoded)
		if err != nil {
			t.Fatalf("Decode of what was encoded, %q: %v", encoded, err)
		}
		if diff := cmp.Diff(got, again, sameJSON, sameTool, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q is another event after encoding (-before +after):\n%s", body, diff)
		}
	})
}

// FuzzDecodeResult: nothing panics, and what decodes encodes to an equal result.
func FuzzDecodeResult(f *testing.F) {
	for _, s := range []string{`{}`, `{"block":true,"blockReason":"x"}`, `{"tools":[{"name":"a"},"b"],"messages":[{}],"model":"m"}`, `{"systemPrompt":""}`, `null`, `{"tools":[null]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := hook.DecodeResult[llmResult](body)
		if err != nil {
			return
		}
		encoded, err := strictjson.Marshal(got)
		if err != nil {
			t.Fatalf("Marshal of %q: %v", body, err)
		}
		again, err := hook.DecodeResult[llmResult](encoded)
		if err != nil {
			t.Fatalf("DecodeResult of what was encoded, %q: %v", encoded, err)
		}
		if diff := cmp.Diff(got, again, sameJSON, sameTool); diff != "" {
			t.Errorf("%q is another result after encoding (-before +after):\n%s", body, diff)
		}
	})
}
