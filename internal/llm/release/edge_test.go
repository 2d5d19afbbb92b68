package release_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/llm/format"
)

func chunk(choices string) string { return `data: {"id":"c","choices":[` + choices + `]}` + "\n\n" }

const (
	chatCallOf  = `{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"x` + bad + `","arguments":"{}"}}]}}`
	messageCall = `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"x` + bad + `","input":{}}}`
	itemOf      = `{"type":"function_call","id":"i","call_id":"a","name":"x` + bad + `","arguments":"{}"}`
	geminiOf    = `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"x` + bad + `","args":{}}}]}}]}`
)

// What can be read in two ways, or is not finished, ends the stream with the format's own
// error, and nothing that was held goes out. Each is tried twice, in two cuts.
func TestStreamsThatAreRefused(t *testing.T) {
	tests := []struct {
		name string
		api  format.API
		in   string
	}{
		{"half a JSON text", format.Chat, "data: {\"choices\":[{\n\n"},
		{"a key twice", format.Chat, `data: {"choices":[],"choices":[` + chatCallOf + `]}` + "\n\n"},
		{"a key twice, once with an escape", format.Chat, `data: {"choices":[],"ch\u006fices":[` + chatCallOf + `]}` + "\n\n"},
		{"a key in two spellings", format.Chat, `data: {"choices":[],"Choices":[` + chatCallOf + `]}` + "\n\n"},
		{"invalid UTF-8", format.Chat, "data: {\"choices\":[{\"delta\":{\"content\":\"\xff\"}}]}\n\n"},
		{"a call that never ends", format.Chat, chunk(chatCallOf)},
		{"a call and the end of all", format.Chat, chunk(chatCallOf) + "data: [DONE]\n\n"},
		{"a call after its choice has stopped", format.Chat, chunk(`{"index":0,"delta":{},"finish_reason":"stop"}`) + chunk(chatCallOf)},
		{"a call after the end of all", format.Chat, "data: [DONE]\n\n" + chunk(chatCallOf) + chunk(`{"index":0,"delta":{},"finish_reason":"tool_calls"}`)},
		{"a name in two pieces", format.Chat, chunk(`{"delta":{"tool_calls":[{"index":0,"function":{"name":"re"}}]}}`) + chunk(`{"delta":{"tool_calls":[{"index":0,"function":{"name":"ad"}}]}}`)},
		{"two ids for one call", format.Chat, chunk(`{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"re"}}]}}`) + chunk(`{"delta":{"tool_calls":[{"index":0,"id":"b"}]}}`)},
		{"two calls without an index", format.Chat, chunk(`{"delta":{"tool_calls":[{"function":{"name":"a"}},{"function":{"name":"b"}}]}}`)},
		{"a call without a name", format.Chat, chunk(`{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]},"finish_reason":"tool_calls"}`)},
		{"calls in a message inside a chunk", format.Chat, chunk(`{"message":{"tool_calls":[{"function":{"name":"` + bad + `"}}]}}`)},
		{"calls by another name", format.Chat, chunk(`{"delta":{"native_tool_calls":[{"function":{"name":"` + bad + `"}}]}}`)},
		{"an old function call that never ends", format.Chat, chunk(`{"delta":{"function_call":{"name":"` + bad + `","arguments":""}}}`)},
		{"half a surrogate pair in a call", format.Chat, chunk(`{"delta":{"tool_calls":[{"index":0,"function":{"name":"re","arguments":"\ud800"}}]}}`)},
		{"data in other letters", format.Chat, "Data: {}\n\n"},
		{"data after a blank", format.Chat, " data: {}\n\n"},
		{"data after a mark in the middle", format.Chat, "data: {}\n\n\ufeffdata: {}\n\n"},
		{"a message in a comment", format.Gemini, ": " + geminiOf + "\n\n"},
		{"a message without a field", format.Gemini, "data: {}\n\n" + geminiOf + "\n\n"},
		{"a message behind a separator in a text", format.Gemini, "data: {\"x\":\"\u2028data: {}\"}\n\n"},
		{"NUL", format.Gemini, "data: {}\x00\n\n"},
		{"a message on a line of its own inside another", format.Gemini, "data: {\"x\":\ndata: " + geminiOf + "\ndata: }\n\n"},
		{"arguments that never end", format.Gemini, `data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"` + bad + `","willContinue":true}}]}}]}` + "\n\n"},
		{"an array that ends in the middle", format.Gemini, `[` + geminiOf[:60]},
		{"an array after the array", format.Gemini, `[{}][` + geminiOf + `]`},
		{"an event whose name says another thing", format.Messages, "event: ping\ndata: " + messageCall + "\n\n"},
		{"an event without a type", format.Messages, "data: {\"index\":0}\n\n"},
		{"a call that never ends (blocks)", format.Messages, sse(format.Messages, messageCall)},
		{"a call and the end of the message", format.Messages, sse(format.Messages, messageCall, `{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`)},
		{"input for a block that never began", format.Messages, sse(format.Messages, `{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{}"}}`)},
		{"input for a block of text", format.Messages, sse(format.Messages, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}`)},
		{"a second start of a block", format.Messages, sse(format.Messages, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`, messageCall)},
		{"a call at an index that is not next", format.Messages, sse(format.Messages, strings.Replace(messageCall, `"index":0`, `"index":4`, 1))},
		{"input twice", format.Messages, sse(format.Messages, strings.Replace(messageCall, `{}`, `{"a":1}`, 1), `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}`, `{"type":"content_block_stop","index":0}`)},
		{"a call in the first event", format.Messages, sse(format.Messages, `{"type":"message_start","message":{"content":[{"type":"tool_use","id":"a","name":"`+bad+`","input":{}}]}}`)},
		{"an unknown event with a call", format.Messages, sse(format.Messages, `{"type":"content_block_whole","content_block":{"type":"tool_use","name":"`+bad+`"}}`)},
		{"a block after the end", format.Messages, sse(format.Messages, `{"type":"message_stop"}`, messageCall, `{"type":"content_block_stop","index":0}`)},
		{"an item that never ends", format.Responses, sse(format.Responses, `{"type":"response.output_item.added","output_index":0,"item":`+itemOf+`}`)},
		{"an item that never ends before the end", format.Responses, sse(format.Responses, `{"type":"response.output_item.added","output_index":0,"item":`+itemOf+`}`, `{"type":"response.incomplete","response":{"output":[]}}`)},
		{"arguments of an item that never began", format.Responses, sse(format.Responses, `{"type":"response.function_call_arguments.delta","output_index":0,"delta":"`+bad+`"}`)},
		{"an item that changes its name", format.Responses, sse(format.Responses, `{"type":"response.output_item.added","output_index":0,"item":`+itemOf+`}`, `{"type":"response.output_item.done","output_index":0,"item":`+strings.Replace(itemOf, `"x`, `"y`, 1)+`}`)},
		{"arguments that are others in the end", format.Responses, sse(format.Responses, `{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"a","name":"x","arguments":""}}`,
			`{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\"v\":\"`+bad+`\"}"}`, `{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"a","name":"x","arguments":"{}"}}`)},
		{"a text that ends as a call", format.Responses, sse(format.Responses, `{"type":"response.output_item.added","output_index":0,"item":{"type":"message"}}`, `{"type":"response.output_item.done","output_index":0,"item":`+itemOf+`}`)},
		{"a call in the first snapshot", format.Responses, sse(format.Responses, `{"type":"response.created","response":{"output":[`+itemOf+`]}}`)},
		{"an unknown event with an item", format.Responses, sse(format.Responses, `{"type":"response.item.whole","item":`+itemOf+`}`)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range []int{1 << 20, 1} {
				out, _, j, err := through(t, tt.api, tt.in, size)
				if !errors.Is(err, format.ErrRefused) {
					t.Errorf("got %v, want a refusal\n%s", err, out)
				}
				if strings.Contains(out, bad) {
					t.Errorf("what was held went out:\n%s", out)
				}
				if !strings.Contains(out, `"error"`) {
					t.Errorf("the client is told nothing:\n%s", out)
				}
				if read := readers[tt.api]; read != nil && !strings.Contains(tt.in, "[DONE]\n\ndata") {
					if v, err := read(out); err == nil {
						t.Errorf("an official client sees no error but %+v:\n%s", v, out)
					}
				}
				for _, c := range j.calls {
					if !strings.Contains(c.Name+string(c.Args), bad) {
						t.Errorf("decided %s", c.Name)
					}
				}
			}
		})
	}
}

// What is unusual and harmless passes byte for byte.
func TestStreamsThatPassUntouched(t *testing.T) {
	text := `{"choices":[{"index":0,"delta":{"content":"hi"}}]}`
	tests := []struct {
		name string
		api  format.API
		in   string
	}{
		{"CR for line ends", format.Chat, "data: " + text + "\r\rdata: [DONE]\r\r"},
		{"CR LF and LF mixed", format.Chat, "data: " + text + "\r\n\n\rdata:" + text + "\n\r\ndata: [DONE]\r\n\r\n"},
		{"a mark at the start", format.Chat, "\ufeffdata: " + text + "\n\n"},
		{"comments, ids and fields of others", format.Chat, ": PROCESSING\n\n:\n\nid: 7\nretry: 10\nfoo: bar\nfoo\ndata: " + text + "\n\n"},
		{"data over several lines", format.Chat, "data: {\"choices\":\ndata: [{\"index\":0,\ndata:\"delta\":{\"content\":\"hi\"}}]\ndata\ndata: }\n\n"},
		{"no blank line at the end", format.Chat, "data: " + text},
		{"empty data", format.Chat, "data:\n\ndata: \n\n"},
		{"half a surrogate pair in a text", format.Chat, `data: {"choices":[{"delta":{"content":"\ud83d"}}]}` + "\n\n"},
		{"a separator in a text", format.Chat, "data: {\"choices\":[{\"delta\":{\"content\":\"a\u2028b\u0085\"}}]}\n\n"},
		{"empty calls", format.Chat, chunk(`{"delta":{"tool_calls":[],"function_call":null,"content":"x"},"finish_reason":"tool_calls"}`)},
		{"an error of the provider's", format.Chat, `data: {"error":{"message":"overloaded","type":"server_error"}}` + "\n\n"},
		{"unknown events", format.Messages, sse(format.Messages, `{"type":"future_thing","note":{"a":[1,2]}}`)},
		{"an error of the provider's (blocks)", format.Messages, sse(format.Messages, `{"type":"error","error":{"type":"overloaded_error","message":"x"}}`)},
		{"blocks counted from one", format.Messages, sse(format.Messages, `{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"x"}}`, `{"type":"content_block_stop","index":1}`)},
		{"what follows a compaction", format.Responses, sse(format.Responses, `{"type":"response.output_item.added","output_index":0,"item":{"type":"compaction","encrypted_content":"x"}}`, `{"type":"response.note.delta","output_index":0,"delta":"x"}`)},
		{"numbers that do not rise", format.Responses, sse(format.Responses, `{"type":"response.output_text.delta","output_index":0,"delta":"x","sequence_number":0}`, `{"type":"response.output_text.delta","output_index":0,"delta":"y","sequence_number":0}`)},
		{"an array", format.Gemini, "[{\"candidates\": [{\"content\": {\"parts\": [{\"text\": \"a ] } \\\" {\"}]}}]}\n,\n{\"usageMetadata\":{}}\n]\n"},
		{"one object", format.Gemini, `{"error":{"code":400,"message":"no"}}`},
		{"nothing", format.Gemini, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range []int{1 << 20, 3, 1} {
				out, o, j, err := through(t, tt.api, tt.in, size)
				if err != nil || out != tt.in || o.Calls != 0 || len(j.calls) != 0 {
					t.Errorf("got %q, %v, want %q", out, err, tt.in)
				}
			}
		})
	}
}

// Calls in every shape there is are put to the judge with the name and the arguments that
// the client would act on.
func TestEveryShapeOfCallIsDecided(t *testing.T) {
	added := func(item string) string {
		return sse(format.Responses, `{"type":"response.output_item.done","output_index":0,"item":`+item+`}`, `{"type":"response.completed","response":{"output":[`+item+`]}}`)
	}
	block := func(b string) string {
		return sse(format.Messages, `{"type":"content_block_start","index":0,"content_block":`+b+`}`, `{"type":"content_block_stop","index":0}`)
	}
	tests := []struct {
		name string
		api  format.API
		in   string
		want []string
	}{
		{"an old function call", format.Chat, chunk(`{"delta":{"function_call":{"name":"a","arguments":"{\"v\":"}}}`) + chunk(`{"delta":{"function_call":{"arguments":"1}"}}}`) + chunk(`{"delta":{},"finish_reason":"function_call"}`), []string{`a {"v":1}`}},
		{"a tool that takes any text", format.Chat, chunk(`{"delta":{"tool_calls":[{"index":0,"id":"c","type":"custom","custom":{"name":"a","input":"x\ty\""}}]},"finish_reason":"tool_calls"}`), []string{`a {"input":"x\ty\""}`}},
		{"two choices", format.Chat, chunk(`{"index":1,"delta":{"tool_calls":[{"index":0,"function":{"name":"b","arguments":"{}"}}]}},{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"name":"a"}}]}}`) + chunk(`{"index":0,"delta":{},"finish_reason":"tool_calls"}`) + chunk(`{"index":1,"delta":{},"finish_reason":"tool_calls"}`), []string{"a {}", "b {}"}},
		{"arguments that are no object", format.Chat, chunk(`{"delta":{"tool_calls":[{"index":0,"function":{"name":"a","arguments":"[1"}}]},"finish_reason":"stop"}`), []string{"a [1"}},
		{"calls in another spelling", format.Chat, chunk(`{"Delta":{"toolCalls":[{"index":0,"function":{"name":"a","arguments":"{}"}}]},"finish_reason":"stop"}`), []string{"a {}"}},
		{"input from the start", format.Messages, block(`{"type":"tool_use","id":"1","name":"a","input":{"v": 1}}`), []string{`a {"v": 1}`}},
		{"an unknown kind of tool use", format.Messages, block(`{"type":"remote_tool_use","id":"1","name":"a"}`), []string{`remote_tool_use {"type":"remote_tool_use","id":"1","name":"a"}`}},
		{"an unknown block with input", format.Messages, block(`{"type":"act","input":{}}`), []string{`act {"type":"act","input":{}}`}},
		{"a shell", format.Responses, added(`{"type":"local_shell_call","call_id":"1","action":{"type":"exec","command":["ls"]}}`), []string{`local_shell {"type":"exec","command":["ls"]}`}},
		{"a patch", format.Responses, added(`{"type":"apply_patch_call","call_id":"1","operation":{"type":"delete_file","path":"x"}}`), []string{`apply_patch {"type":"delete_file","path":"x"}`}},
		{"a computer", format.Responses, added(`{"type":"computer_call","call_id":"1","actions":[{"type":"click"}]}`), []string{`computer {"actions":[{"type":"click"}]}`}},
		{"a tool that takes any text (items)", format.Responses, added(`{"type":"custom_tool_call","call_id":"1","name":"a","input":"x\ny"}`), []string{`a {"input":"x\ny"}`}},
		{"an unknown kind of call", format.Responses, added(`{"type":"robot_call","id":"1"}`), []string{`robot_call {"type":"robot_call","id":"1"}`}},
		{"an unknown item with an action", format.Responses, added(`{"type":"robot","action":{}}`), []string{`robot {"type":"robot","action":{}}`}},
		{"a question for the client's consent", format.Responses, added(`{"type":"mcp_approval_request","id":"1","name":"n","arguments":"{}"}`), []string{"n {}"}},
		{"a question for consent to a tool of a server", format.Responses, added(`{"type":"mcp_approval_request","id":"1","server_label":"s","name":"n","arguments":"{\"v\":1}"}`), []string{`s__n {"v":1}`}},
		{"an item that nobody knows", format.Responses, added(`{"type":"robot","id":"1","text":"x"}`), []string{`robot {"type":"robot","id":"1","text":"x"}`}},
		{"a click of a computer", format.Messages, block(`{"type":"tool_use","id":"1","name":"a","toolset_name":"computer","input":{"coordinate": [1,2]}}`), []string{`computer {"action":"a","coordinate": [1,2]}`}},
		{"an act of a browser without input", format.Messages, block(`{"type":"tool_use","id":"1","name":"a","toolset_name":"browser","input":{}}`), []string{`browser {"action":"a"}`}},
		{"a call in the end alone", format.Responses, sse(format.Responses, `{"type":"response.completed","response":{"output":[{"type":"function_call","call_id":"1","name":"a","arguments":""}]}}`), []string{"a {}"}},
		{"two parts", format.Gemini, `data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"a","args":{"v": 1}}},{"functionCall":{"name":"b"}}]}}]}` + "\n\n", []string{`a {"v": 1}`, "b {}"}},
		{"a call in a namespace", format.Responses, sse(format.Responses, `{"type":"response.completed","response":{"output":[{"type":"function_call","call_id":"1","namespace":"n","name":"a","arguments":""},{"type":"custom_tool_call","call_id":"2","namespace":"n","name":"b","input":""}]}}`), []string{"n__a {}", `n__b {"input":""}`}},
		{"another spelling", format.Gemini, `data: {"candidates":[{"content":{"parts":[{"function_call":{"name":"a"}}]}}]}` + "\n\n", []string{"a {}"}},
		{"an unknown kind of call in a part", format.Gemini, `data: {"candidates":[{"content":{"parts":[{"computerCall":{"x":1}}]}}]}` + "\n\n", []string{`computerCall {"x":1}`}},
		{"two candidates in an array", format.Gemini, `[{"candidates":[{"content":{"parts":[{"functionCall":{"name":"a"}}]}},{"content":{"parts":[{"functionCall":{"name":"b"}}]}}]}]`, []string{"a {}", "b {}"}},
		{"arguments in pieces count as unreadable", format.Gemini, `data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"a","willContinue":true}}]}}]}` + "\n\n" +
			`data: {"candidates":[{"content":{"parts":[{"functionCall":{"partialArgs":[{"jsonPath":"$.v","stringValue":"x"}],"willContinue":true}}]}}]}` + "\n\n" +
			`data: {"candidates":[{"content":{"parts":[{"functionCall":{}}]}}]}` + "\n\n", []string{`a [[{"jsonPath":"$.v","stringValue":"x"}]]`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, _, j, err := through(t, tt.api, tt.in, 11)
			if err != nil {
				t.Fatalf("stream: %v\n%s", err, out)
			}
			var got []string
			for _, c := range j.calls {
				got = append(got, c.Name+" "+string(c.Args))
			}
			if d := gocmp.Diff(tt.want, got); d != "" {
				t.Errorf("calls (-want +got):\n%s", d)
			}
			marked := tt.in
			for _, name := range []string{"a", "b"} {
				marked = strings.ReplaceAll(marked, `"name":"`+name+`"`, `"name":"`+name+bad+`"`)
			}
			marked = strings.NewReplacer(`"robot`, `"`+bad+`robot`, `computerCall":{`, `computerCall":{"`+bad+`":0,`, `"name":"n"`, `"name":"`+bad+`"`, `"path":"x"`, `"path":"`+bad+`"`, `"ls"`, `"`+bad+`"`, `"click"`, `"`+bad+`"`, `"act","input":{`, `"act","input":{"`+bad+`":0`).Replace(marked)
			out, o, _, err := through(t, tt.api, marked, 11)
			if err != nil || o.Refused != len(tt.want) || leaks(out) {
				t.Errorf("refused %d of %d, %v:\n%s", o.Refused, len(tt.want), err, out)
			}
		})
	}
}

// What the provider's own tools brought is known before any later call is decided.
func TestHostedToolsAreObservedBeforeLaterCalls(t *testing.T) {
	for _, api := range []format.API{format.Messages, format.Responses, format.Gemini} {
		t.Run(fmt.Sprint("format ", api), func(t *testing.T) {
			out, o, j, err := through(t, api, stream(api, []saying{{tool: "first", id: "1", args: "{}"}, {hosted: true}, {tool: "second", id: "2", args: "{}"}}), 5)
			if err != nil || !o.Hosted || len(j.order) < 3 {
				t.Fatalf("got %v, %v, %v\n%s", err, o.Hosted, j.order, out)
			}
			if j.order[0] != "first" || !strings.HasPrefix(j.order[1], "saw ") || j.order[len(j.order)-1] != "second" {
				t.Errorf("got %v, want the observation between the calls", j.order)
			}
		})
	}
}
