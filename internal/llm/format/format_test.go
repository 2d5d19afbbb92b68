package format_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tidemark/tidemark/internal/llm/format"
)

const tenant = "acme"

// read reads a body that must be fine with a cache that knows nothing.
func read(t testing.TB, api format.API, body string) *format.Request {
	t.Helper()
	r, err := format.NewCache(100).Read(api, tenant, []byte(body))
	if err != nil {
		t.Fatalf("Read(%.300s): %v", body, err)
	}
	return r
}

// withoutPlaces compares messages by what they say.
var withoutPlaces = cmp.Options{cmpopts.IgnoreFields(format.Message{}, "Start", "End"), cmpopts.IgnoreFields(format.Part{}, "Mark")}

func text(s string) format.Part { return format.Part{Kind: format.Text, Text: s} }

func message(role format.Role, parts ...format.Part) format.Message {
	return format.Message{Role: role, Parts: parts}
}

const chatBody = `{
  "model": "gpt-5.2", "stream": true, "user": "u-1", "prompt_cache_key": "k-9", "metadata": {"Run": "7", "run": "8", "n": 1},
  "messages": [
    {"role": "developer", "content": "Be brief.\n\u00dcber"},
    {"role": "user", "name": "kim", "content": [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "data:x"}}, {"type": "hologram", "h": 1}]},
    {"role": "assistant", "content": null, "reasoning_content": "hm", "tool_calls": [
      {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": "{\"path\": \"a\\\"b\"}"}},
      {"id": "c2", "type": "custom", "custom": {"name": "patch", "input": "*** a\n\"b\""}}]},
    {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
    {"role": "assistant", "content": "", "refusal": "no", "function_call": {"name": "old", "arguments": "{}"}},
    {"role": "function", "name": "old", "content": "done"},
    {"role": "narrator", "content": "?"}
  ],
  "tools": [
    {"type": "function", "function": {"name": "read_file", "description": "Reads.", "parameters": {"type": "object"}}},
    {"type": "custom", "custom": {"name": "patch"}}
  ],
  "functions": [{"name": "old", "parameters": {}}],
  "web_search_options": {},
  "tool_choice": "auto"
}`

func TestChatCompletionsAreRead(t *testing.T) {
	r := read(t, format.Chat, chatBody)
	want := []format.Message{
		message(format.System, text("Be brief.\nÜber")),
		message(format.User, text("look"), format.Part{Kind: format.Media}, format.Part{Text: `{"type": "hologram", "h": 1}`}),
		message(format.Assistant, format.Part{Kind: format.Thinking, Text: "hm"},
			format.Part{Kind: format.Call, CallID: "c1", Name: "read_file", Args: []byte(`{"path": "a\"b"}`)},
			format.Part{Kind: format.Call, CallID: "c2", Name: "patch", Args: []byte(`{"input":"*** a\n\"b\""}`)}),
		message(format.ToolRole, format.Part{Kind: format.Result, CallID: "c1", Text: "one\ntwo"}),
		message(format.Assistant, text("no"), format.Part{Kind: format.Call, Name: "old", Args: []byte(`{}`)}),
		message(format.ToolRole, format.Part{Kind: format.Result, Name: "old", Text: "done"}),
		message(format.Unknown, text("?")),
	}
	if d := cmp.Diff(want, r.New, withoutPlaces); d != "" {
		t.Errorf("messages (-want +got):\n%s", d)
	}
	for i, m := range r.New {
		if raw := chatBody[m.Start:m.End]; raw[0] != '{' || raw[len(raw)-1] != '}' {
			t.Errorf("message %d: its place holds %q", i, raw)
		}
	}
	tools := []format.Tool{
		{Name: "read_file", Description: "Reads.", Schema: []byte(`{"type": "object"}`)}, {Name: "patch"},
		{Name: "old", Schema: []byte(`{}`)}, {Name: "web_search", Hosted: true},
	}
	if d := cmp.Diff(tools, r.Tools); d != "" {
		t.Errorf("tools (-want +got):\n%s", d)
	}
	hints := format.Hints{User: "u-1", CacheKey: "k-9", Metadata: map[string]string{"Run": "7", "run": "8", "n": "1"}}
	if d := cmp.Diff(hints, r.Hints); d != "" || r.Model != "gpt-5.2" || !r.Stream || len(r.Head) != 0 {
		t.Errorf("got model %q, stream %v, head %v, hints (-want +got):\n%s", r.Model, r.Stream, r.Head, d)
	}
}

const responsesBody = `{"model":"gpt-5.2","instructions":"Help.","prompt":{"id":"pmpt_1"},"previous_response_id":"resp_0","safety_identifier":"s1","input":[
 {"role":"user","content":"hello"},
 {"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi","annotations":[]}]},
 {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}]},
 {"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"gAAA"},
 {"type":"function_call","call_id":"c1","name":"f","arguments":"{\"x\":1}"},
 {"type":"function_call_output","call_id":"c1","output":"ok"},
 {"type":"custom_tool_call","call_id":"c2","name":"g","input":"free \"text\""},
 {"type":"custom_tool_call_output","call_id":"c2","output":[{"type":"input_text","text":"1"},{"type":"input_text","text":"2"}]},
 {"type":"local_shell_call","call_id":"c3","action":{"type":"exec","command":["ls"]}},
 {"type":"shell_call_output","call_id":"c4","output":[{"stdout":"so","stderr":"se","outcome":{"type":"exit","exit_code":0}}]},
 {"type":"apply_patch_call_output","call_id":"c5","status":"failed","output":"bad"},
 {"type":"computer_call","call_id":"c6","actions":[{"type":"wait"}]},
 {"type":"web_search_call","id":"ws_1","status":"completed"},
 {"type":"mcp_call","id":"m1","name":"look","output":"x"},
 {"type":"function_call","call_id":"c7","namespace":"crm","name":"find","arguments":"{}"},
 {"type":"mcp_approval_response","approval_request_id":"mcpr_1","approve":true,"reason":"why not"},
 {"type":"item_reference","id":"i1"}],
 "tools":[{"type":"function","name":"f","parameters":null,"strict":true},{"type":"custom","name":"g"},{"type":"local_shell"},{"type":"computer_use_preview"},
  {"type":"shell","environment":{"type":"container_auto"}},{"type":"web_search"},{"type":"mcp","server_label":"srv"},
  {"type":"namespace","name":"crm","description":"","tools":[{"type":"function","name":"find"}]}]}`

func TestResponsesAreRead(t *testing.T) {
	r := read(t, format.Responses, responsesBody)
	call := func(id, name, args string) format.Part {
		return format.Part{Kind: format.Call, CallID: id, Name: name, Args: []byte(args)}
	}
	want := []format.Message{
		message(format.User, text("hello")), message(format.Assistant, text("hi")),
		message(format.Assistant, format.Part{Kind: format.Thinking, Text: "a"}, format.Part{Kind: format.Thinking, Text: "b"}), message(format.Assistant, format.Part{Kind: format.Thinking, Text: "gAAA"}),
		message(format.Assistant, call("c1", "f", `{"x":1}`)), message(format.ToolRole, format.Part{Kind: format.Result, CallID: "c1", Text: "ok"}),
		message(format.Assistant, call("c2", "g", `{"input":"free \"text\""}`)), message(format.ToolRole, format.Part{Kind: format.Result, CallID: "c2", Text: "1\n2"}),
		message(format.Assistant, call("c3", "local_shell", `{"type":"exec","command":["ls"]}`)),
		message(format.ToolRole, format.Part{Kind: format.Result, CallID: "c4", Name: "shell", Text: "stdout: so\nstderr: se\ntype: exit\nexit_code: 0"}),
		message(format.ToolRole, format.Part{Kind: format.Result, CallID: "c5", Name: "apply_patch", Text: "bad", Error: true}),
		message(format.Assistant, call("c6", "computer", `{"actions":[{"type":"wait"}]}`)),
		message(format.Assistant, format.Part{Kind: format.Hosted, CallID: "ws_1", Name: "web_search", Text: `{"type":"web_search_call","id":"ws_1","status":"completed"}`}),
		message(format.Assistant, format.Part{Kind: format.Hosted, CallID: "m1", Name: "look", Text: `{"type":"mcp_call","id":"m1","name":"look","output":"x"}`}),
		message(format.Assistant, call("c7", "crm__find", "{}")),
		message(format.ToolRole, format.Part{Kind: format.Approval, CallID: "mcpr_1", Text: "why not", Args: []byte("true")}),
		message(format.Assistant, format.Part{Kind: format.Stored, CallID: "i1"}),
	}
	if d := cmp.Diff(want, r.New, withoutPlaces); d != "" {
		t.Errorf("items (-want +got):\n%s", d)
	}
	head := []format.Message{message(format.System, text("Help.")), message(format.Unknown, format.Part{Text: `{"id":"pmpt_1"}`})}
	if d := cmp.Diff(head, r.Head, withoutPlaces); d != "" {
		t.Errorf("head (-want +got):\n%s", d)
	}
	tools := []format.Tool{{Name: "f"}, {Name: "g"}, {Name: "local_shell"}, {Name: "computer"}, {Name: "shell", Hosted: true}, {Name: "web_search", Hosted: true}, {Name: "srv", Hosted: true}, {Name: "crm__find"}}
	if d := cmp.Diff(tools, r.Tools); d != "" {
		t.Errorf("tools (-want +got):\n%s", d)
	}
	if r.Hints.Previous != "resp_0" || r.Hints.User != "s1" {
		t.Errorf("got hints %+v", r.Hints)
	}
}

func TestResponsesInputMayBeATextOrBeMissing(t *testing.T) {
	r := read(t, format.Responses, `{"input":"hi \u00e9","conversation":{"id":"conv_1"}}`)
	if d := cmp.Diff([]format.Message{message(format.User, text("hi é"))}, r.New, withoutPlaces); d != "" || r.Hints.Previous != "conv_1" {
		t.Errorf("got %+v (-want +got):\n%s", r.Hints, d)
	}
	r.Keep(0, 1) // there is no list to keep: nothing happens
	if r := read(t, format.Responses, `{"previous_response_id":"r"}`); len(r.New) != 0 {
		t.Errorf("got %v, want no entries", r.New)
	}
}

const anthropicBody = `{"model":"claude-opus-4-6","max_tokens":100,"metadata":{"user_id":"user_1_session_2"},
"system":[{"type":"text","text":"You help."},{"type":"text","text":"Rules.","cache_control":{"type":"ephemeral"}}],
"tools":[{"name":"Bash","description":"Runs.","input_schema":{"type":"object"}},{"type":"bash_20250124","name":"bash"},{"type":"web_search_20250305","name":"web_search"},{"type":"mcp_toolset","mcp_server_name":"srv"}],
"mcp_servers":[{"type":"url","name":"srv","url":"https://mcp.example"}],
"messages":[{"role":"user","content":"go"},
{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"redacted_thinking","data":"xx"},{"type":"text","text":"ok"},
 {"type":"tool_use","id":"t1","name":"Bash","input":{"command": "ls"}},{"type":"server_tool_use","id":"s1","name":"web_search","input":{"query":"q"}},
 {"type":"web_search_tool_result","tool_use_id":"s1","content":[{"type":"web_search_result","url":"u"}]}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":[{"type":"text","text":"a"},{"type":"image","source":{"type":"base64","data":"AA"}},{"type":"document","source":{"type":"text","data":"doc"}}]},
 {"type":"text","text":"and now?"},{"type":"image","source":{}},{"type":"search_result","source":"x"}]}],"stream":true}`

func TestAnthropicMessagesAreRead(t *testing.T) {
	r := read(t, format.Messages, anthropicBody)
	want := []format.Message{
		message(format.User, text("go")),
		message(format.Assistant, format.Part{Kind: format.Thinking, Text: "hm"}, format.Part{Kind: format.Thinking, Text: "xx"}, text("ok"),
			format.Part{Kind: format.Call, CallID: "t1", Name: "Bash", Args: []byte(`{"command": "ls"}`)},
			format.Part{Kind: format.Hosted, CallID: "s1", Name: "web_search", Text: `{"query":"q"}`},
			format.Part{Kind: format.Hosted, CallID: "s1", Name: "web_search", Text: `[{"type":"web_search_result","url":"u"}]`}),
		message(format.User, format.Part{Kind: format.Result, CallID: "t1", Error: true, Text: "a\ndoc"}, text("and now?"),
			format.Part{Kind: format.Media}, format.Part{Text: `{"type":"search_result","source":"x"}`}),
	}
	if d := cmp.Diff(want, r.New, withoutPlaces); d != "" {
		t.Errorf("messages (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]format.Message{message(format.System, text("You help."), text("Rules."))}, r.Head, withoutPlaces); d != "" {
		t.Errorf("head (-want +got):\n%s", d)
	}
	tools := []format.Tool{{Name: "Bash", Description: "Runs.", Schema: []byte(`{"type":"object"}`)}, {Name: "bash"}, {Name: "web_search", Hosted: true}, {Name: "srv", Hosted: true}, {Name: "srv", Hosted: true}}
	if d := cmp.Diff(tools, r.Tools); d != "" {
		t.Errorf("tools (-want +got):\n%s", d)
	}
	if r.Hints.Metadata["user_id"] != "user_1_session_2" || !r.Stream {
		t.Errorf("got %+v, stream %v", r.Hints, r.Stream)
	}
}

const geminiBody = `{"system_instruction":{"parts":{"text":"Help."}},"cachedContent":"cachedContents/1","labels":{"team":"x"},
"contents":[{"parts":[{"text":"hi"}]},
{"role":"model","parts":[{"text":"hm","thought":true},{"functionCall":{"name":"f","args":{"a": [1]}},"thoughtSignature":"s"},{"function_call":{"id":"7","name":"g"}},{"executableCode":{"language":"PYTHON","code":"1"}}]},
{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"plain \"text\""}}},{"functionResponse":{"id":"7","name":"g","response":{"error":"no","code":4}}},{"inlineData":{"mimeType":"image/png","data":"AA"}},{"videoMetadata":{}}]}],
"tools":[{"functionDeclarations":[{"name":"f","description":"F.","parameters":{"type":"OBJECT"}},{"name":"g","parametersJsonSchema":{}}],"codeExecution":{}},{"google_search":{}}],
"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f","g"]}}}`

func TestGeminiIsRead(t *testing.T) {
	r := read(t, format.Gemini, geminiBody)
	want := []format.Message{
		message(format.User, text("hi")),
		message(format.Assistant, format.Part{Kind: format.Thinking, Text: "hm"},
			format.Part{Kind: format.Call, Name: "f", Args: []byte(`{"a": [1]}`)}, format.Part{Kind: format.Call, CallID: "7", Name: "g"},
			format.Part{Kind: format.Hosted, Name: "codeExecution", Text: `{"language":"PYTHON","code":"1"}`}),
		message(format.User, format.Part{Kind: format.Result, Name: "f", Text: `plain "text"`},
			format.Part{Kind: format.Result, CallID: "7", Name: "g", Error: true, Text: "error: no\ncode: 4"},
			format.Part{Kind: format.Media}, format.Part{Text: `{"videoMetadata":{}}`}),
	}
	if d := cmp.Diff(want, r.New, withoutPlaces); d != "" {
		t.Errorf("contents (-want +got):\n%s", d)
	}
	head := []format.Message{message(format.System, text("Help.")), message(format.Unknown, format.Part{Text: `"cachedContents/1"`})}
	if d := cmp.Diff(head, r.Head, withoutPlaces); d != "" {
		t.Errorf("head (-want +got):\n%s", d)
	}
	tools := []format.Tool{{Name: "f", Description: "F.", Schema: []byte(`{"type":"OBJECT"}`)}, {Name: "g", Schema: []byte(`{}`)}, {Name: "codeExecution", Hosted: true, Sealed: true}, {Name: "googleSearch", Hosted: true}}
	if d := cmp.Diff(tools, r.Tools); d != "" {
		t.Errorf("tools (-want +got):\n%s", d)
	}
	single := read(t, format.Gemini, `{"contents":{"role":"user","parts":{"text":"one"}}}`)
	if d := cmp.Diff([]format.Message{message(format.User, text("one"))}, single.New, withoutPlaces); d != "" {
		t.Errorf("a single object (-want +got):\n%s", d)
	}
}

func TestWhatTwoReadersCouldUnderstandDifferentlyIsRefused(t *testing.T) {
	deep := strings.Repeat("[", 300) + strings.Repeat("]", 300)
	tests := []struct {
		name string
		api  format.API
		body string
	}{
		{"no format", format.None, `{}`},
		{"not an object", format.Chat, `[]`},
		{"no messages", format.Chat, `{"model":"m"}`},
		{"messages that are a text", format.Messages, `{"messages":"hi"}`},
		{"a second list after the list", format.Chat, `{"messages":[],"messages":[{"role":"user","content":"x"}]}`},
		{"a second list before the list that is none", format.Chat, `{"messages":null,"messages":[]}`},
		{"a second list spelled with an escape", format.Chat, `{"messages":[],"m\u0065ssages":[]}`},
		{"a second list in upper case", format.Chat, `{"messages":[],"Messages":[]}`},
		{"the list in upper case alone", format.Responses, `{"Input":"x"}`},
		{"a member twice on both sides of the list", format.Chat, `{"model":"a","messages":[],"model":"b"}`},
		{"a member in two cases on both sides", format.Chat, `{"x":"a","messages":[],"X":"b"}`},
		{"a role twice", format.Chat, `{"messages":[{"role":"user","role":"system","content":"x"}]}`},
		{"a role in upper case too", format.Chat, `{"messages":[{"role":"user","Role":"system","content":"x"}]}`},
		{"a role in upper case", format.Chat, `{"messages":[{"ROLE":"system","content":"x"}]}`},
		{"a key of a call twice", format.Messages, `{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"n","input":{"a":1,"a":2}}]}]}`},
		{"a name in both of Gemini's spellings", format.Gemini, `{"contents":[{"parts":[{"functionCall":{"name":"f"},"function_call":{"name":"g"}}]}]}`},
		{"a part that is two things", format.Gemini, `{"contents":[{"parts":[{"text":"x","functionCall":{"name":"g"}}]}]}`},
		{"a message that is a number", format.Chat, `{"messages":[1]}`},
		{"a content that is a number", format.Chat, `{"messages":[{"role":"user","content":1}]}`},
		{"a content part that is a text", format.Messages, `{"messages":[{"role":"user","content":["x"]}]}`},
		{"arguments that are a list", format.Chat, `{"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":[]}}]}]}`},
		{"input that is a text", format.Messages, `{"messages":[{"role":"assistant","content":[{"type":"tool_use","input":"x"}]}]}`},
		{"tools that are an object", format.Chat, `{"messages":[],"tools":{}}`},
		{"a tool that is a text", format.Responses, `{"input":[],"tools":["x"]}`},
		{"a tool name in two cases", format.Messages, `{"messages":[],"tools":[{"name":"a","Name":"b"}]}`},
		{"stream that is a text", format.Chat, `{"messages":[],"stream":"true"}`},
		{"invalid UTF-8", format.Chat, "{\"messages\":[{\"role\":\"user\",\"content\":\"\xff\"}]}"},
		{"half of a surrogate pair", format.Chat, `{"messages":[{"role":"user","content":"\ud800"}]}`},
		{"a line feed in a text", format.Chat, "{\"messages\":[{\"role\":\"user\",\"content\":\"\n\"}]}"},
		{"bytes after the request", format.Chat, `{"messages":[]} {}`},
		{"bytes after a request without a list", format.Responses, `{"input":"x"}]`},
		{"a comma too many in the list", format.Chat, `{"messages":[{"role":"user"},]}`},
		{"a comma too many at the end", format.Chat, `{"messages":[],}`},
		{"a comma missing", format.Chat, `{"messages":[{"role":"user"} {"role":"user"}]}`},
		{"a list that does not end", format.Chat, `{"messages":[`},
		{"nesting without end", format.Chat, `{"messages":[{"role":"user","x":` + deep + `}]}`},
		{"nesting without end after the list", format.Chat, `{"messages":[],"x":` + deep + `}`},
		{"nothing", format.Chat, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := format.NewCache(10)
			for range 2 { // and again: a complaint is not remembered as fine
				if r, err := c.Read(tt.api, tenant, []byte(tt.body)); err == nil {
					t.Errorf("got %+v, want an error", r)
				}
			}
		})
	}
}

func TestAllIsEveryEntryAsItStands(t *testing.T) {
	r := read(t, format.Chat, `{"messages":[ {"role":"user"} , {"role":"user","content":"[,]\""}]}`)
	all, err := r.All()
	if err != nil || len(all) != 2 || string(all[0]) != `{"role":"user"}` || string(all[1]) != `{"role":"user","content":"[,]\""}` {
		t.Errorf("got %s, %v", all, err)
	}
	if all, err := read(t, format.Responses, `{"input":"x"}`).All(); err != nil || len(all) != 1 || string(all[0]) != `"x"` {
		t.Errorf("a text: got %s, %v", all, err)
	}
	if all, err := read(t, format.Responses, `{}`).All(); err != nil || len(all) != 0 {
		t.Errorf("no list: got %s, %v", all, err)
	}
}

// What a request holds must not depend on the body's memory, which callers use again.
func TestNothingReadPointsIntoTheBody(t *testing.T) {
	body := []byte(anthropicBody)
	c := format.NewCache(10)
	r, err := c.Read(format.Messages, tenant, body)
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Clone(r.New)
	args := bytes.Clone(r.New[1].Parts[3].Args)
	schema := bytes.Clone(r.Tools[0].Schema)
	for i := range body {
		body[i] = '!'
	}
	if d := cmp.Diff(want, r.New); d != "" || !bytes.Equal(args, r.New[1].Parts[3].Args) || !bytes.Equal(schema, r.Tools[0].Schema) {
		t.Errorf("changed with the body: %s %s", r.New[1].Parts[3].Args, r.Tools[0].Schema)
	}
}
