package format_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/llm/format"
)

const converseBody = `{"system":[{"text":"You help."},{"cachePoint":{"type":"default"}}],
"messages":[{"role":"user","content":[{"text":"hi"},{"image":{"format":"png","source":{"bytes":"AA"}}}]},
{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"hm","signature":"s"}}},{"text":"I will."},{"toolUse":{"toolUseId":"t1","name":"f","input":{"a": [1]}}}]},
{"role":"user","content":[{"toolResult":{"toolUseId":"t1","status":"error","content":[{"text":"no"},{"json":{"code":4}}]}},{"cachePoint":{"type":"default"}},{"searchResult":{"source":"x"}}]}],
"toolConfig":{"tools":[{"toolSpec":{"name":"f","description":"F.","inputSchema":{"json":{"type":"object"}}}},{"toolSpec":{"name":"g","inputSchema":{"json":{}}}},{"systemTool":{"name":"nova_grounding"}},{"cachePoint":{"type":"default"}}],"toolChoice":{"tool":{"name":"f"}}},
"inferenceConfig":{"maxTokens":9}}`

func TestConverseIsRead(t *testing.T) {
	r := read(t, format.Converse, converseBody)
	want := []format.Message{
		message(format.User, text("hi"), format.Part{Kind: format.Media}),
		message(format.Assistant, format.Part{Kind: format.Thinking, Text: "hm"}, text("I will."), format.Part{Kind: format.Call, CallID: "t1", Name: "f", Args: []byte(`{"a": [1]}`)}),
		message(format.User, format.Part{Kind: format.Result, CallID: "t1", Error: true, Text: "no\ncode: 4"}, format.Part{Text: `{"searchResult":{"source":"x"}}`}),
	}
	if d := cmp.Diff(want, r.New, withoutPlaces); d != "" {
		t.Errorf("messages (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]format.Message{message(format.System, text("You help."))}, r.Head, withoutPlaces); d != "" {
		t.Errorf("head (-want +got):\n%s", d)
	}
	tools := []format.Tool{{Name: "f", Description: "F.", Schema: []byte(`{"type":"object"}`)}, {Name: "g", Schema: []byte(`{}`)}, {Name: "nova_grounding", Hosted: true}}
	if d := cmp.Diff(tools, r.Tools); d != "" {
		t.Errorf("tools (-want +got):\n%s", d)
	}
}

const ollamaBody = `{"model":"qwen3","messages":[{"role":"system","content":"You help."},{"role":"user","content":"hi","images":["AA","https://a.example/x.png"]},
{"role":"assistant","content":"","thinking":"hm","tool_calls":[{"function":{"name":"f","arguments":{"a": [1]}}},{"id":"c2","function":{"name":"g","arguments":{}}}]},
{"role":"tool","tool_name":"f","content":"done"},{"role":"tool","tool_call_id":"c2","name":"g","content":"too"}],
"tools":[{"type":"function","function":{"name":"f","description":"F.","parameters":{"type":"object"}}}],"think":true,"options":{"num_ctx":4096}}`

func TestOllamaIsRead(t *testing.T) {
	r := read(t, format.Ollama, ollamaBody)
	want := []format.Message{
		message(format.System, text("You help.")),
		message(format.User, text("hi"), format.Part{Kind: format.Media}, format.Part{Kind: format.Media, URL: "https://a.example/x.png"}),
		message(format.Assistant, format.Part{Kind: format.Thinking, Text: "hm"}, format.Part{Kind: format.Call, Name: "f", Args: []byte(`{"a": [1]}`)}, format.Part{Kind: format.Call, CallID: "c2", Name: "g", Args: []byte(`{}`)}),
		message(format.ToolRole, format.Part{Kind: format.Result, Name: "f", Text: "done"}),
		message(format.ToolRole, format.Part{Kind: format.Result, CallID: "c2", Name: "g", Text: "too"}),
	}
	if d := cmp.Diff(want, r.New, withoutPlaces); d != "" {
		t.Errorf("messages (-want +got):\n%s", d)
	}
	if r.Model != "qwen3" || !r.Stream {
		t.Errorf("got %s, stream %v, want a stream where nothing is said", r.Model, r.Stream)
	}
	if r := read(t, format.Ollama, `{"messages":[],"stream":false}`); r.Stream {
		t.Error("a stream that nobody wants")
	}
}

func TestToolsOfOtherFormatsAreHidden(t *testing.T) {
	for _, c := range []struct {
		name string
		api  format.API
		edit format.Edit
		body string
		want string
	}{
		{"one of Converse's", format.Converse, format.Edit{Hide: []string{"f"}},
			`{"messages":[],"toolConfig":{"tools":[{"toolSpec":{"name":"f"}},{"toolSpec":{"name":"g"}}],"toolChoice":{"tool":{"name":"f"}}}}`,
			`{"messages":[],"toolConfig":{"tools":[{"toolSpec":{"name":"g"}}],"toolChoice":{"auto":{}}}}`},
		{"all of Converse's", format.Converse, format.Edit{Hide: []string{"f"}},
			`{"messages":[],"toolConfig":{"tools":[{"toolSpec":{"name":"f"}},{"cachePoint":{"type":"default"}}]},"x":1}`, `{"messages":[],"x":1}`},
		{"a notice", format.Converse, format.Edit{Notice: "n"}, `{"messages":[],"system":[{"text":"s"}]}`,
			`{"messages":[],"system":[{"text":"s"},{"text":"[tidemark notice]\nn\n[end of tidemark notice]"}]}`},
		{"one of Ollama's", format.Ollama, format.Edit{Hide: []string{"f"}},
			`{"messages":[],"tools":[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"g"}}]}`,
			`{"messages":[],"tools":[{"type":"function","function":{"name":"g"}}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, apply(t, c.api, c.body, c.edit)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestRequestsOfOtherFormatsThatCannotBeReadAreErrors(t *testing.T) {
	for name, c := range map[string]struct {
		api  format.API
		body string
	}{
		"a block of two things": {format.Converse, `{"messages":[{"role":"user","content":[{"text":"a","toolUse":{}}]}]}`},
		"a block of nothing":    {format.Converse, `{"messages":[{"role":"user","content":[{}]}]}`},
		"an input of no object": {format.Converse, `{"messages":[{"role":"assistant","content":[{"toolUse":{"name":"f","input":"x"}}]}]}`},
		"no messages":           {format.Converse, `{"system":[]}`},
		"a list of tools":       {format.Converse, `{"messages":[],"toolConfig":{"tools":{}}}`},
		"images of no list":     {format.Ollama, `{"messages":[{"role":"user","images":"AA"}]}`},
		"a stream of no kind":   {format.Ollama, `{"messages":[],"stream":"yes"}`},
	} {
		if _, err := format.NewCache(0).Read(c.api, tenant, []byte(c.body)); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
	for _, body := range []string{`[]`, `{"model":"m"}`, `{"request":[]}`, `{"request":{},"Request":{}}`, `{"request":{},"other":{"contents":[]}}`, `{"request":{},"more":[{"contents":[]}]}`, `{"Request":{}}`} {
		if _, err := format.Wrapped([]byte(body)); err == nil {
			t.Errorf("%s: got no error", body)
		}
	}
}
