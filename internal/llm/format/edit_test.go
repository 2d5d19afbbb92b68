package format_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/llm/format"
)

func apply(t testing.TB, api format.API, body string, e format.Edit) string {
	t.Helper()
	out, err := read(t, api, body).Apply(e)
	if err != nil {
		t.Fatalf("Apply(%+v) to %s: %v", e, body, err)
	}
	read(t, api, string(out)) // what we send is read again without complaint
	return string(out)
}

func TestHiddenToolsLeaveTheRequest(t *testing.T) {
	fn := func(name string) string { return `{"type":"function","function":{"name":"` + name + `"}}` }
	tests := []struct {
		name string
		api  format.API
		hide []string
		body string
		want string
	}{
		{"one of two", format.Chat, []string{"a"}, `{"messages":[], "tools" : [ ` + fn("a") + ` , ` + fn("b") + ` ] }`, `{"messages":[], "tools" : [ ` + fn("b") + ` ] }`},
		{"the last", format.Chat, []string{"b"}, `{"tools":[` + fn("a") + `,` + fn("b") + `],"messages":[]}`, `{"tools":[` + fn("a") + `],"messages":[]}`},
		{"all, and what refers to them", format.Chat, []string{"a", "b"}, `{"tools":[` + fn("a") + `,` + fn("b") + `],"messages":[],"tool_choice":"required","parallel_tool_calls":true,"n":1}`, `{"messages":[],"n":1}`},
		{"all, at the end", format.Chat, []string{"a"}, `{"messages":[],"tools":[` + fn("a") + `]}`, `{"messages":[]}`},
		{"one that is not there", format.Chat, []string{"x"}, `{"messages":[],"tools":[` + fn("a") + `],"tool_choice":{"type":"function","function":{"name":"x"}}}`, `{"messages":[],"tools":[` + fn("a") + `],"tool_choice":{"type":"function","function":{"name":"x"}}}`},
		{"required with a tool left", format.Chat, []string{"a"}, `{"messages":[],"tools":[` + fn("a") + `,` + fn("b") + `],"tool_choice":"required"}`, `{"messages":[],"tools":[` + fn("b") + `],"tool_choice":"required"}`},
		{"a forced one", format.Chat, []string{"a"}, `{"messages":[],"tools":[` + fn("a") + `,` + fn("b") + `],"tool_choice":` + fn("a") + `}`, `{"messages":[],"tools":[` + fn("b") + `],"tool_choice":"auto"}`},
		{"another than the forced one", format.Chat, []string{"a"}, `{"messages":[],"tools":[` + fn("a") + `,` + fn("b") + `],"tool_choice":` + fn("b") + `}`, `{"messages":[],"tools":[` + fn("b") + `],"tool_choice":` + fn("b") + `}`},
		{"one of the allowed", format.Chat, []string{"a"}, `{"messages":[],"tools":[` + fn("a") + `,` + fn("b") + `],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[` + fn("a") + `,` + fn("b") + `]}}}`,
			`{"messages":[],"tools":[` + fn("b") + `],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[` + fn("b") + `]}}}`},
		{"all of the allowed: not everything, nothing", format.Chat, []string{"a"}, `{"messages":[],"tools":[` + fn("a") + `,` + fn("b") + `],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[` + fn("a") + `]}}}`, `{"messages":[],"tools":[` + fn("b") + `],"tool_choice":"none"}`},
		{"a function of the old kind", format.Chat, []string{"a"}, `{"messages":[],"functions":[{"name":"a"},{"name":"b"}],"function_call":{"name":"a"}}`, `{"messages":[],"functions":[{"name":"b"}],"function_call":"auto"}`},
		{"all functions of the old kind", format.Chat, []string{"a"}, `{"functions":[{"name":"a"}],"function_call":"auto","messages":[]}`, `{"messages":[]}`},
		{"the web search", format.Chat, []string{"web_search"}, `{"messages":[],"web_search_options":{},"x":1}`, `{"messages":[],"x":1}`},
		{"a tool with a type alone", format.Responses, []string{"computer", "f"}, `{"input":"x","tools":[{"type":"computer_use_preview"},{"type":"function","name":"f"},{"type":"shell"}],"tool_choice":{"type":"computer_use_preview"}}`, `{"input":"x","tools":[{"type":"shell"}],"tool_choice":"auto"}`},
		{"allowed ones", format.Responses, []string{"f", "srv"}, `{"input":"x","tools":[{"type":"mcp","server_label":"srv"},{"type":"function","name":"f"},{"type":"function","name":"g"}],"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"g"},{"type":"mcp","server_label":"srv"},{"type":"function","name":"f"}]}}`,
			`{"input":"x","tools":[{"type":"function","name":"g"}],"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"g"}]}}`},
		{"in a namespace", format.Responses, []string{"n__f"}, `{"input":"x","tools":[{"type":"namespace","name":"n","tools":[{"type":"function","name":"f"},{"type":"function","name":"g"}]}]}`, `{"input":"x","tools":[{"type":"namespace","name":"n","tools":[{"type":"function","name":"g"}]}]}`},
		{"a whole namespace", format.Responses, []string{"n__f"}, `{"input":"x","tools":[{"type":"namespace","name":"n","tools":[{"type":"function","name":"f"}]},{"type":"custom","name":"c"}]}`, `{"input":"x","tools":[{"type":"custom","name":"c"}]}`},
		{"of two with one name", format.Responses, []string{"n__f"}, `{"input":"x","tools":[{"type":"function","name":"f"},{"type":"namespace","name":"n","tools":[{"type":"function","name":"f"}]}],"tool_choice":{"type":"function","namespace":"n","name":"f"}}`, `{"input":"x","tools":[{"type":"function","name":"f"}],"tool_choice":"auto"}`},
		{"a forced one of Anthropic's", format.Messages, []string{"a"}, `{"messages":[],"tools":[{"name":"a"},{"name":"b"}],"tool_choice":{"type":"tool","name":"a","disable_parallel_tool_use":true}}`, `{"messages":[],"tools":[{"name":"b"}],"tool_choice":{"type":"auto","disable_parallel_tool_use":true}}`},
		{"all of Anthropic's", format.Messages, []string{"a", "b"}, `{"tool_choice":{"type":"any"},"messages":[],"tools":[{"name":"a"},{"name":"b"}]}`, `{"messages":[],"tools":[]}`},
		{"an MCP server of Anthropic's", format.Messages, []string{"s"}, `{"messages":[],"tools":[{"name":"a"},{"type":"mcp_toolset","mcp_server_name":"s"}],"mcp_servers":[{"name":"s"}]}`, `{"messages":[],"tools":[{"name":"a"}]}`},
		{"one of Gemini's", format.Gemini, []string{"f"}, `{"contents":[],"tools":[{"functionDeclarations":[{"name":"f"},{"name":"g"}],"codeExecution":{}}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f","g"]}}}`, `{"contents":[],"tools":[{"functionDeclarations":[{"name":"g"}],"codeExecution":{}}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["g"]}}}`},
		{"all of Gemini's allowed", format.Gemini, []string{"f"}, `{"contents":[],"tools":[{"function_declarations":[{"name":"f"}]},{"functionDeclarations":[{"name":"g"}]}],"tool_config":{"function_calling_config":{"mode":"ANY","allowed_function_names":["f"]}}}`, `{"contents":[],"tools":[{"functionDeclarations":[{"name":"g"}]}],"tool_config":{"function_calling_config":{"mode":"NONE"}}}`},
		{"all functions of Gemini's", format.Gemini, []string{"f"}, `{"contents":[],"tools":[{"functionDeclarations":[{"name":"f"}],"googleSearch":{}}],"toolConfig":{"functionCallingConfig":{"mode":"ANY"},"retrievalConfig":{}}}`, `{"contents":[],"tools":[{"googleSearch":{}}],"toolConfig":{"retrievalConfig":{}}}`},
		{"a hosted tool of Gemini's beside null", format.Gemini, []string{"googleSearch"}, `{"contents":[],"tools":[{"functionDeclarations":null,"googleSearch":{}},{"codeExecution":{}}]}`, `{"contents":[],"tools":[{"functionDeclarations":null},{"codeExecution":{}}]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := apply(t, tt.api, tt.body, format.Edit{Hide: tt.hide})
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if again := apply(t, tt.api, got, format.Edit{Hide: tt.hide}); again != got {
				t.Errorf("hidden twice: got %s, want %s", again, got)
			}
		})
	}
}

func TestNoToolsRemovesAllOfThem(t *testing.T) {
	for api, body := range map[format.API]string{format.Chat: chatBody, format.Responses: responsesBody, format.Messages: anthropicBody, format.Gemini: geminiBody,
		format.Converse: converseBody, format.Ollama: ollamaBody} {
		if tools := read(t, api, apply(t, api, body, format.Edit{NoTools: true})).Tools; len(tools) > 0 {
			t.Errorf("format %d: got %v, want none", api, tools)
		}
	}
}

const (
	open  = `[tidemark notice]\n`
	close = `\n[end of tidemark notice]`
)

func TestANoticeEndsTheSystemPrompt(t *testing.T) {
	n := open + `Mind the \"web\".` + close
	tests := []struct {
		name string
		api  format.API
		body string
		want string
	}{
		{"of Chat, after the system messages", format.Chat, `{"messages":[{"role":"developer","content":"s"} , {"role":"user","content":"u"}]}`, `{"messages":[{"role":"developer","content":"s"},{"role":"developer","content":"` + n + `"} , {"role":"user","content":"u"}]}`},
		{"of Chat, without system messages", format.Chat, `{"messages":[ {"role":"user","content":"u"}]}`, `{"messages":[ {"role":"system","content":"` + n + `"},{"role":"user","content":"u"}]}`},
		{"of Chat, without any", format.Chat, `{"messages":[]}`, `{"messages":[{"role":"system","content":"` + n + `"}]}`},
		{"of Responses, in the text", format.Responses, `{"instructions":"s","input":"x"}`, `{"instructions":"s\n\n` + n + `","input":"x"}`},
		{"of Responses, where there is none", format.Responses, `{"input":"x"}`, `{"input":"x","instructions":"` + n + `"}`},
		{"of Responses, where it is null", format.Responses, `{"input":"x","instructions":null}`, `{"input":"x","instructions":"` + n + `"}`},
		{"of Anthropic, in a text", format.Messages, `{"system":"s","messages":[]}`, `{"system":"s\n\n` + n + `","messages":[]}`},
		{"of Anthropic, as a block", format.Messages, `{"system":[{"type":"text","text":"s"}],"messages":[]}`, `{"system":[{"type":"text","text":"s"},{"type":"text","text":"` + n + `"}],"messages":[]}`},
		{"of Gemini, as a part", format.Gemini, `{"systemInstruction":{"parts":[{"text":"s"}]},"contents":[]}`, `{"systemInstruction":{"parts":[{"text":"s"},{"text":"` + n + `"}]},"contents":[]}`},
		{"of Gemini, beside a single part", format.Gemini, `{"system_instruction":{"parts":{"text":"s"}},"contents":[]}`, `{"system_instruction":{"parts":[{"text":"s"},{"text":"` + n + `"}]},"contents":[]}`},
		{"of Gemini, where there is none", format.Gemini, `{"contents":[]}`, `{"contents":[],"systemInstruction":{"parts":[{"text":"` + n + `"}]}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := format.Edit{Notice: `Mind the "web".`}
			got := apply(t, tt.api, tt.body, e)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if again := apply(t, tt.api, got, e); again != got {
				t.Errorf("twice: got %s, want %s", again, got)
			}
			other := apply(t, tt.api, got, format.Edit{Notice: "Other."})
			if strings.Contains(other, "Mind") || strings.Count(other, "Other.") != 1 {
				t.Errorf("another notice: got %s, want it in place of the old one", other)
			}
		})
	}
}

func TestTheSystemPromptTheListAndTheModelAreReplaced(t *testing.T) {
	fresh, none := "new", ""
	list := []strictjson.Value{strictjson.Value(`{"role":"system","content":"mine"}`), strictjson.Value(`{"role":"user","content":"y"}`)}
	user := list[1:]
	tests := []struct {
		name string
		api  format.API
		edit format.Edit
		body string
		want string
	}{
		{"Chat's system messages", format.Chat, format.Edit{System: &fresh}, `{"messages":[{"role":"developer","content":"a"},{"role":"system","content":"b"},{"role":"user","content":"u"}]}`, `{"messages":[{"role":"system","content":"new"},{"role":"user","content":"u"}]}`},
		{"Chat's system messages by none", format.Chat, format.Edit{System: &none}, `{"messages":[{"role":"system","content":"b"}, {"role":"user","content":"u"}]}`, `{"messages":[{"role":"user","content":"u"}]}`},
		{"Chat's only message by none", format.Chat, format.Edit{System: &none}, `{"messages":[{"role":"system","content":"b"}]}`, `{"messages":[]}`},
		{"Chat's list, system and notice", format.Chat, format.Edit{System: &fresh, Messages: list, Notice: "N"}, `{"messages":[{"role":"user","content":"x"}],"n":1}`, `{"messages":[{"role":"system","content":"new"},{"role":"system","content":"` + open + `N` + close + `"},{"role":"user","content":"y"}],"n":1}`},
		{"Chat's list and notice", format.Chat, format.Edit{Messages: list, Notice: "N"}, `{"messages":[]}`, `{"messages":[{"role":"system","content":"mine"},{"role":"system","content":"` + open + `N` + close + `"},{"role":"user","content":"y"}]}`},
		{"Chat's list by none", format.Chat, format.Edit{Messages: []strictjson.Value{}}, `{"messages":[{"role":"user"}]}`, `{"messages":[]}`},
		{"Responses' text", format.Responses, format.Edit{Messages: user, System: &none, Model: "m2"}, `{"instructions":"s","input":"x","model":"m1"}`, `{"input":[{"role":"user","content":"y"}],"model":"m2"}`},
		{"Responses' missing input", format.Responses, format.Edit{Messages: user, Model: "m"}, `{}`, `{"model":"m","input":[{"role":"user","content":"y"}]}`},
		{"Anthropic's blocks", format.Messages, format.Edit{System: &fresh, Notice: "N", Messages: user}, `{"system":[{"type":"text","text":"s"}],"messages":[]}`, `{"system":[{"type":"text","text":"new"},{"type":"text","text":"` + open + `N` + close + `"}],"messages":[{"role":"user","content":"y"}]}`},
		{"Gemini's instruction, not its model", format.Gemini, format.Edit{System: &fresh, Model: "m"}, `{"contents":[]}`, `{"contents":[],"systemInstruction":{"parts":[{"text":"new"}]}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, apply(t, tt.api, tt.body, tt.edit)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
	for _, bad := range []string{`1`, `{"role":"user"} x`, `{"role":1}`, `{"role":"user","role":"system"}`, ``} {
		if got, err := read(t, format.Chat, `{"messages":[]}`).Apply(format.Edit{Messages: []strictjson.Value{strictjson.Value(bad)}}); !errors.Is(err, format.ErrEdit) {
			t.Errorf("entry %q: got %s, %v; want ErrEdit", bad, got, err)
		}
	}
}

// Whatever is hidden: the rest stays byte for byte, in order, and is read as before.
func TestHidingKeepsEveryOtherByte(t *testing.T) {
	bodies := map[format.API]string{format.Chat: chatBody, format.Responses: responsesBody, format.Messages: anthropicBody, format.Gemini: geminiBody,
		format.Converse: converseBody, format.Ollama: ollamaBody}
	rapid.Check(t, func(t *rapid.T) {
		api := rapid.SampledFrom(formats).Draw(t, "api")
		body := bodies[api]
		r, err := format.NewCache(1).Read(api, tenant, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		var hide []string
		for _, tool := range r.Tools {
			if rapid.Bool().Draw(t, tool.Name) {
				hide = append(hide, tool.Name)
			}
		}
		out, err := r.Apply(format.Edit{Hide: hide, Notice: rapid.SampledFrom([]string{"", "N"}).Draw(t, "notice")})
		if err != nil {
			t.Fatalf("Apply: %v", err)
		}
		after, err := format.NewCache(1).Read(api, tenant, out)
		if err != nil {
			t.Fatalf("what we wrote is not read: %v\n%s", err, out)
		}
		want := slices.DeleteFunc(slices.Clone(r.Tools), func(x format.Tool) bool { return slices.Contains(hide, x.Name) })
		if len(want) != len(after.Tools) || len(want) > 0 && cmp.Diff(want, after.Tools) != "" {
			t.Fatalf("got %v, want %v", after.Tools, want)
		}
		last := r.New[len(r.New)-1]
		first := r.New[0]
		if api == format.Chat || api == format.Ollama { // the notice goes after the first message
			first = r.New[1]
		}
		if list := body[first.Start:last.End]; !strings.Contains(string(out), list) {
			t.Fatalf("the list changed:\n%s", out)
		}
	})
}
