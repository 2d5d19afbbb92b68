package release_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	gocmp "github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"

	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/internal/llm/release"
)

// wholeBody is what a provider answers in one piece.
func wholeBody(api format.API, says []saying) string {
	var text string
	var calls, blocks, items, parts []string
	for i, s := range says {
		if s.text != "" {
			text += s.text
			blocks = append(blocks, `{"type": "text", "text": `+q(s.text)+`}`)
			items = append(items, fmt.Sprintf(`{"id": "i%d", "type": "message", "status": "completed", "role": "assistant", "content": [{"type": "output_text", "text": %s, "annotations": []}]}`, i, q(s.text)))
			parts = append(parts, `{"text": `+q(s.text)+`}`)
		}
		if s.hosted {
			blocks = append(blocks, `{"type":"server_tool_use","id":"s1","name":"web_search","input":{"query":"x"}}`, `{"type":"web_search_tool_result","tool_use_id":"s1","content":[]}`)
			items = append(items, `{"id":"ws1","type":"web_search_call","status":"completed","action":{"type":"search","query":"x"}}`)
			parts = append(parts, `{"executableCode":{"language":"PYTHON","code":"1"}}`)
		}
		if s.tool != "" {
			calls = append(calls, fmt.Sprintf(`{"id": %s, "type": "function", "function": {"name": %s, "arguments": %s}}`, q(s.id), q(s.tool), q(s.args)))
			blocks = append(blocks, fmt.Sprintf(`{"type": "tool_use", "id": %s, "name": %s, "input": %s}`, q(s.id), q(s.tool), s.args))
			items = append(items, fmt.Sprintf(`{"id": "i%d", "type": "function_call", "status": "completed", "call_id": %s, "name": %s, "arguments": %s}`, i, q(s.id), q(s.tool), q(s.args)))
			parts = append(parts, fmt.Sprintf(`{"functionCall": {"name": %s, "args": %s}}`, q(s.tool), s.args))
		}
	}
	switch api {
	case format.Chat:
		content, tail, stop := "null", "", "stop"
		if text != "" {
			content = q(text)
		}
		if len(calls) > 0 {
			tail, stop = `, "tool_calls": [`+strings.Join(calls, ", ")+`]`, "tool_calls"
		}
		return fmt.Sprintf(`{"id": "c1", "object": "chat.completion", "model": "m", "choices": [{"index": 0, "message": {"role": "assistant", "content": %s%s}, "finish_reason": %q}], "usage": {"prompt_tokens": 11, "completion_tokens": 7}}`, content, tail, stop)
	case format.Messages:
		stop := "end_turn"
		if len(calls) > 0 {
			stop = "tool_use"
		}
		return fmt.Sprintf(`{"id": "m1", "type": "message", "role": "assistant", "model": "m", "content": [%s], "stop_reason": %q, "usage": {"input_tokens": 11, "output_tokens": 7}}`, strings.Join(blocks, ", "), stop)
	case format.Converse, format.Ollama, format.CodeAssist:
		return otherBody(api, says, parts)
	case format.Responses:
		return fmt.Sprintf(`{"id": "r1", "object": "response", "status": "completed", "model": "m", "output": [%s], "usage": {"input_tokens": 11, "output_tokens": 7}}`, strings.Join(items, ", "))
	}
	return fmt.Sprintf(`{"candidates": [{"content": {"parts": [%s], "role": "model"}, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": 7}}`, strings.Join(parts, ", "))
}

// wholeView is what an official client reads in a body.
func wholeView(t *testing.T, api format.API, body []byte) (out []string, stop string) {
	t.Helper()
	var err error
	switch api {
	case format.Chat:
		var c openai.ChatCompletion
		err = json.Unmarshal(body, &c)
		m := c.Choices[0].Message
		if m.Content != "" {
			out = append(out, "text "+m.Content)
		}
		for _, tc := range m.ToolCalls {
			out = append(out, "call "+tc.ID+" "+tc.Function.Name+" "+tc.Function.Arguments)
		}
		stop = c.Choices[0].FinishReason
	case format.Messages:
		var m anthropic.Message
		err = json.Unmarshal(body, &m)
		for _, b := range m.Content {
			switch b.Type {
			case "text":
				out = append(out, "text "+b.Text)
			case "tool_use":
				out = append(out, "call "+b.ID+" "+b.Name+" "+string(b.Input))
			}
		}
		stop = string(m.StopReason)
	case format.Responses:
		var r responses.Response
		err = json.Unmarshal(body, &r)
		for _, i := range r.Output {
			out = append(out, itemView(i)...)
		}
		stop = string(r.Status)
	}
	if err != nil {
		t.Fatalf("the client: %v\n%s", err, body)
	}
	return out, stop
}

func TestWholeBodiesAreGatedToo(t *testing.T) {
	says := []saying{{text: "Look."}, {hosted: true}, {tool: "send", id: "c3", args: `{"to":"` + bad + `"}`}, {tool: "read", id: "c1", args: `{"p":"é"}`}}
	allowed := `call c1 read {"p":"é"}`
	stops := map[format.API]string{format.Chat: "tool_calls", format.Messages: "tool_use", format.Responses: "completed"}
	for _, api := range formats {
		t.Run(fmt.Sprint("format ", api), func(t *testing.T) {
			j := newJudge(t)
			body := []byte(wholeBody(api, says))
			out, o, err := release.Whole(t.Context(), release.Options{API: api}, body, j)
			if err != nil || leaks(string(out)) || o.Refused != 1 || o.Calls != 2 || o.TokensIn != 11 {
				t.Fatalf("got %v, %+v\n%s", err, o, out)
			}
			if api != format.Chat && api != format.Ollama && !o.Hosted {
				t.Errorf("the provider's own tool was not seen: %+v", o)
			}
			if readers[api] == nil {
				return
			}
			got, stop := wholeView(t, api, out)
			if d := gocmp.Diff(joined(api, []string{"text Look.", "text " + refusal, allowed}), got); d != "" || stop != stops[api] {
				t.Errorf("stop %q (-want +got):\n%s", stop, d)
			}
			if d := gocmp.Diff(got, outcomeView(o.Parts)); d != "" {
				t.Errorf("the outcome is not what the client got (-client +outcome):\n%s", d)
			}
		})
	}
}

func TestWholeBodiesWithoutRefusalAreTheSameSlice(t *testing.T) {
	for _, api := range formats {
		body := []byte(wholeBody(api, []saying{{text: "Look."}, {tool: "read", id: "c1", args: `{}`}}))
		out, o, err := release.Whole(t.Context(), release.Options{API: api}, body, newJudge(t))
		if err != nil || &out[0] != &body[0] || o.Calls != 1 || !o.Complete {
			t.Errorf("format %d: got %v, %+v, same slice %v", api, err, o, err == nil && &out[0] == &body[0])
		}
	}
}

func TestAfterTheOnlyCallIsRefusedAWholeAnswerHasEnded(t *testing.T) {
	want := map[format.API]string{format.Chat: "stop", format.Messages: "end_turn", format.Responses: "completed"}
	for api, stop := range want {
		out, o, err := release.Whole(t.Context(), release.Options{API: api}, []byte(wholeBody(api, []saying{{tool: bad, id: "c1", args: `{}`}})), newJudge(t))
		if err != nil {
			t.Fatalf("format %d: %v", api, err)
		}
		got, said := wholeView(t, api, out)
		if said != stop || o.Stop != stop || len(got) != 1 || got[0] != "text "+refusal {
			t.Errorf("format %d: got %q and %q, want %q", api, got, said, stop)
		}
	}
}

func TestWholeBodiesThatCanBeReadInTwoWaysAreErrors(t *testing.T) {
	tests := []struct {
		name string
		api  format.API
		body string
	}{
		{"no JSON", format.Chat, `<html>`},
		{"a key twice", format.Chat, `{"choices":[],"choices":[{"message":{"tool_calls":[{"function":{"name":"x"}}]}}]}`},
		{"a key in two spellings", format.Chat, `{"choices":[],"Choices":[{"message":{"tool_calls":[{"function":{"name":"x"}}]}}]}`},
		{"bytes after the end", format.Messages, `{"content":[]}{"content":[]}`},
		{"invalid UTF-8", format.Messages, "{\"content\":[{\"type\":\"text\",\"text\":\"\xff\"}]}"},
		{"a list where an object belongs", format.Responses, `[]`},
		{"a call whose namespace is no text", format.Responses, `{"output":[{"type":"function_call","namespace":7,"name":"a","arguments":"{}"}]}`},
		{"a call whose name is no text", format.Responses, `{"output":[{"type":"function_call","name":7,"arguments":"{}"}]}`},
		{"calls that are no list", format.Chat, `{"choices":[{"message":{"tool_calls":{"function":{"name":"x"}}}}]}`},
		{"two calls in one part", format.Gemini, `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"a"},"otherCall":{"name":"b"}}]}}]}`},
		{"a call by another name beside the choices", format.Chat, `{"tool_calls":[{"function":{"name":"x"}}],"choices":[]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for range 2 {
				j := newJudge(t)
				out, _, err := release.Whole(context.Background(), release.Options{API: tt.api}, []byte(tt.body), j)
				if !errors.Is(err, format.ErrRefused) || out != nil {
					t.Errorf("got %s, %v, want a refusal", out, err)
				}
			}
		})
	}
}

// Mistral's answers have their content in a list of parts, and so has the message that says why
// a call is gone.
func TestARefusalStandsInContentOfAnyShape(t *testing.T) {
	part := `{"type":"text","text":"Look."}`
	ours := `{"type":"text","text":` + q("\n\n"+refusal) + `}`
	for name, c := range map[string]struct{ content, want string }{
		"a list":             {`[` + part + `]`, `[` + part + `,` + ours + `]`},
		"a list with blanks": {`[ ` + part + ` ]`, `[ ` + part + ` ,` + ours + `]`},
		"an empty list":      {`[]`, `[{"type":"text","text":` + q(refusal) + `}]`},
		"an object":          {part, `[` + part + `,{"type":"text","text":` + q(refusal) + `}]`},
		"a number":           {`7`, q(refusal)},
		"a text":             {`"Look."`, q("Look.\n\n" + refusal)},
		"null":               {`null`, q(refusal)},
	} {
		t.Run(name, func(t *testing.T) {
			call := `{"id":"c1","type":"function","function":{"name":"` + bad + `","arguments":"{}"}}`
			body := `{"choices":[{"message":{"role":"assistant","content":%s%s},"finish_reason":"%s"}]}`
			out, o, err := release.Whole(t.Context(), release.Options{API: format.Chat},
				fmt.Appendf(nil, body, c.content, `,"tool_calls":[`+call+`]`, "tool_calls"), newJudge(t))
			if err != nil || o.Refused != 1 {
				t.Fatalf("got %v, %+v", err, o)
			}
			if d := gocmp.Diff(fmt.Sprintf(body, c.want, "", "stop"), string(out)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
