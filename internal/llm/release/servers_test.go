package release_test

import (
	"errors"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/llm/format"
)

// cuts are the sizes in which a stream comes in.
var cuts = []int{1 << 20, 1, 3, 7, 64}

const chatEnd = "data: [DONE]\n\n"

// Servers that speak like OpenAI's and write their calls in other ways. Every client reads
// the same calls from what comes out, and those are what was decided.
func TestCallsOfServersThatNumberThemDifferently(t *testing.T) {
	entry := func(delta string) string { return chunk(`{"index":0,"delta":` + delta + `}`) }
	stop := chunk(`{"index":0,"delta":{},"finish_reason":"tool_calls"}`) + chatEnd
	tests := []struct {
		name string
		in   string
		want []string
	}{
		{"finish_reason is empty until there is one", chunk(`{"index":0,"delta":{"content":"hi"},"finish_reason":""}`) +
			chunk(`{"index":0,"delta":{"tool_calls":[{"index":0,"id":"1","type":"function","function":{"name":"a","arguments":"{\"v\":"}}]},"finish_reason":""}`) +
			chunk(`{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]},"finish_reason":""}`) + stop, []string{"text hi", `call 1 a {"v":1}`}},
		{"two calls without an index", entry(`{"tool_calls":[{"id":"1","function":{"name":"a","arguments":"{\"v\":1}"}}]}`) +
			entry(`{"tool_calls":[{"id":"2","function":{"name":"b","arguments":"{\"v\":2}"}}]}`) + stop, []string{`call 1 a {"v":1}`, `call 2 b {"v":2}`}},
		{"two calls without an index in one list", entry(`{"tool_calls":[{"id":"1","function":{"name":"a","arguments":"{\"v\":1}"}},{"id":"2","function":{"name":"a","arguments":"{\"v\":2}"}}]}`) + stop,
			[]string{`call 1 a {"v":1}`, `call 2 a {"v":2}`}},
		{"two calls without an index or an id", entry(`{"tool_calls":[{"function":{"name":"a","arguments":"{\"v\":1}"}},{"function":{"name":"b","arguments":"{\"v\":2}"}},{"function":{"name":"b","arguments":"{\"v\":3}"}}]}`) + stop,
			[]string{`call  a {"v":1}`, `call  b {"v":2}`, `call  b {"v":3}`}},
		{"a null for an index", entry(`{"tool_calls":[{"index":null,"id":"1","function":{"name":"a","arguments":"{}"}},{"index":null,"id":"2","function":{"name":"b","arguments":"{}"}}]}`) + stop,
			[]string{`call 1 a {}`, `call 2 b {}`}},
		{"every call has index 0", entry(`{"tool_calls":[{"index":0,"id":"1","function":{"name":"a","arguments":""}}]}`) + entry(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"v\":1}"}}]}`) +
			entry(`{"tool_calls":[{"index":0,"id":"2","function":{"name":"b","arguments":"{\"v\":2}"}}]}`) + stop, []string{`call 1 a {"v":1}`, `call 2 b {"v":2}`}},
		{"every call has index 0 and no id", entry(`{"tool_calls":[{"index":0,"function":{"name":"a","arguments":"{\"v\":1}"}}]}`) +
			entry(`{"tool_calls":[{"index":0,"function":{"name":"a","arguments":"{\"v\":2}"}}]}`) + stop, []string{`call  a {"v":1}`, `call  a {"v":2}`}},
		{"pieces of two calls with one index take turns", entry(`{"tool_calls":[{"index":0,"id":"1","function":{"name":"a","arguments":"{\"v\""}},{"index":0,"id":"2","function":{"name":"b","arguments":"{\"w\""}}]}`) +
			entry(`{"tool_calls":[{"index":0,"id":"1","function":{"arguments":":1}"}},{"index":0,"id":"2","function":{"arguments":":2}"}}]}`) + stop, []string{`call 1 a {"v":1}`, `call 2 b {"w":2}`}},
		{"the name in every piece", entry(`{"tool_calls":[{"index":0,"id":"1","function":{"name":"a","arguments":"{\"v\":"}}]}`) +
			entry(`{"tool_calls":[{"index":0,"function":{"name":"a","arguments":"1"}}]}`) + entry(`{"tool_calls":[{"index":0,"function":{"name":"a","arguments":"}"}}]}`) + stop, []string{`call 1 a {"v":1}`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range cuts {
				out, _, j, err := through(t, format.Chat, tt.in, size)
				if err != nil {
					t.Fatalf("cut to %d: %v\n%s", size, err, out)
				}
				got, err := readChat(out)
				if d := gocmp.Diff(tt.want, got.Parts); d != "" || err != nil {
					t.Errorf("cut to %d: the client reads %v (-want +got):\n%s\n%s", size, err, d, out)
				}
				var decided []string
				for _, c := range j.calls {
					decided = append(decided, c.Name+" "+string(c.Args))
				}
				for i, c := range decided {
					if want := tt.want[len(tt.want)-len(decided)+i]; !strings.HasSuffix(want, " "+c) {
						t.Errorf("cut to %d: decided %s, the client reads %s", size, c, want)
					}
				}
				refusedB(t, tt.in, size)
			}
		})
	}
}

// refusedB refuses b alone: a is read as before and b by nobody.
func refusedB(t *testing.T, in string, size int) {
	t.Helper()
	if !strings.Contains(in, `"name":"b"`) {
		return
	}
	out, o, _, err := through(t, format.Chat, strings.ReplaceAll(in, `"name":"b"`, `"name":"b`+bad+`"`), size)
	if err != nil || o.Refused == 0 || strings.Contains(out, bad) {
		t.Fatalf("cut to %d: refused %d, %v:\n%s", size, o.Refused, err, out)
	}
	got, err := readChat(out)
	if err != nil || len(got.Parts) != 2 || !strings.Contains(got.Parts[1], " a {") {
		t.Errorf("cut to %d: the client reads %v %q\n%s", size, err, got.Parts, out)
	}
}

func TestWhatServersAddToTheirAnswersPasses(t *testing.T) {
	text := func(delta, more string) string {
		return `data: {"id":"c","choices":[{"index":0,"delta":` + delta + `}]` + more + `}` + "\n\n"
	}
	tests := []struct {
		name string
		api  format.API
		in   string
		saw  string
	}{
		{"any key in usage", format.Chat, text(`{"content":"hi"}`, `,"usage":{"prompt_tokens":1,"num_tool_calls":{"name":2},"server_side_tool_calls":[{"name":"x"}]}`) + chatEnd, ""},
		{"members of compatible servers", format.Chat, text(`{"content":"hi","reasoning_details":[{"type":"reasoning.text","text":"x"}],"provider_specific_fields":{"a":{"b":"c"}}}`,
			`,"x_groq":{"id":"r"},"prompt_filter_results":[{"content_filter_results":{"hate":{"severity":"safe"}}}],"timings":{"predicted_ms":1},"runtime":{"name":"llama.cpp","version":"1"}`) + chatEnd, ""},
		{"tools that Groq ran", format.Chat, text(`{"executed_tools":[{"index":0,"type":"search","arguments":"{\"query\":\"x\"}","output":"y"}]}`, "") + text(`{"content":"hi"}`, "") + chatEnd, "saw search"},
		{"a program that the provider ran", format.Responses, sse(format.Responses, `{"type":"response.output_item.done","output_index":0,"item":{"type":"program","id":"p","call_id":"c","code":"x()","fingerprint":"f"}}`,
			`{"type":"response.output_item.done","output_index":1,"item":{"type":"program_output","id":"q","call_id":"c","result":"y"}}`), "saw program"},
		{"tools that were added", format.Responses, sse(format.Responses, `{"type":"response.output_item.done","output_index":0,"item":{"type":"additional_tools","id":"p","role":"developer","tools":[{"type":"function","name":"x","parameters":{}}]}}`), ""},
		{"members that OpenAI adds to a response", format.Responses, sse(format.Responses, `{"type":"response.completed","response":{"id":"r","output":[],"billing":{"payer":"openai"},"agent":{"type":"agent_id","name":"x","version":"1"},"future":{"kind":"x","list":[{"type":"y"}]}}}`), ""},
		{"an event about limits", format.Responses, sse(format.Responses, `{"type":"codex.rate_limits","plan_type":"plus","rate_limits":{"allowed":true,"primary":{"used_percent":1}}}`), ""},
		{"a text item whose id is another in every event", format.Responses, sse(format.Responses, `{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"m1"}}`,
			`{"type":"response.output_text.delta","output_index":0,"item_id":"m2","delta":"x"}`, `{"type":"response.output_text.delta","output_index":0,"item_id":"m3","delta":"x"}`), ""},
		{"a compaction", format.Messages, sse(format.Messages, `{"type":"content_block_start","index":0,"content_block":{"type":"compaction","content":null}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"compaction_delta","content":"x"}}`, `{"type":"content_block_stop","index":0}`), ""},
		{"metadata of a part", format.Gemini, `data: {"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"a/b","data":"x"},"partMetadata":{"name":"n"}}]}}],"usageMetadata":{"toolUseCalls":[{"name":"x"}]}}` + "\n\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range cuts {
				out, o, j, err := through(t, tt.api, tt.in, size)
				if err != nil || out != tt.in || o.Calls != 0 {
					t.Errorf("cut to %d: %v, %d calls\n%s", size, err, o.Calls, out)
				}
				if tt.saw != "" && (len(j.order) == 0 || j.order[0] != tt.saw) {
					t.Errorf("cut to %d: got %v, want %s", size, j.order, tt.saw)
				}
			}
		})
	}
}

// Members in which things have names are known; what has more of a call in it than a name is one of nobody's.
func TestWhatIsMoreThanANameInAKnownMemberIsRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		api format.API
		in  string
	}{
		"details of reasoning": {format.Chat, `data: {"id":"c","choices":[{"index":0,"delta":{"content":"hi","reasoning_details":[{"type":"x","function":{"name":"exec","arguments":"{\"command\":\"stolen\"}"}}]}}]}` + "\n\n" + chatEnd},
		"pictures":             {format.Chat, `data: {"id":"c","choices":[{"index":0,"delta":{"content":"hi","images":[{"name":"exec","arguments":"stolen"}]}}]}` + "\n\n" + chatEnd},
		"metadata of a part":   {format.Gemini, `data: {"candidates":[{"content":{"parts":[{"text":"x","partMetadata":{"name":"exec","args":{"command":"stolen"}}}]}}]}` + "\n\n"},
	} {
		for _, size := range cuts {
			out, _, _, err := through(t, tt.api, tt.in, size)
			if !errors.Is(err, format.ErrRefused) || strings.Contains(out, "stolen") {
				t.Errorf("%s, cut to %d: got %v and\n%s", name, size, err, out)
			}
		}
	}
}

// Some clients go by the number of an item and some by its id: both must say the same.
func TestPiecesOfACallThatAreNotItsOwn(t *testing.T) {
	search := `{"type":"response.output_item.added","output_index":0,"item":{"type":"web_search_call","id":"ws","status":"in_progress"}}`
	call := func(index, id string) string {
		return `{"type":"response.output_item.added","output_index":` + index + `,"item":{"type":"function_call","id":"` + id + `","call_id":"c` + id + `","name":"a","arguments":""}}`
	}
	delta := func(index, id, more string) string {
		return `{"type":"response.function_call_arguments.delta","output_index":` + index + `,"item_id":"` + id + `","delta":"` + more + `"}`
	}
	done := func(index, id string) string {
		return `{"type":"response.output_item.done","output_index":` + index + `,"item":{"type":"function_call","id":"` + id + `","call_id":"c` + id + `","name":"a","arguments":"{}"}}`
	}
	for name, events := range map[string][]string{
		"arguments with the number of a hosted item and the id of the call":  {search, call("1", "x"), delta("0", "x", bad), delta("1", "x", "{}"), done("1", "x")},
		"arguments with the number of a hosted item and no id that is known": {search, delta("0", "x", bad), call("1", "x"), delta("1", "x", "{}"), done("1", "x")},
		"arguments with the number of one call and the id of a later one":    {call("0", "x"), delta("0", "y", "{}"), done("0", "x"), call("1", "y"), delta("1", "y", "{}"), done("1", "y")},
		"two items with one id":                      {search, strings.Replace(call("1", "ws"), "cws", "c1", 1)},
		"an item in an event of a search":            {search, `{"type":"response.web_search_call.searching","output_index":0,"item_id":"ws","item":{"type":"function_call","call_id":"c","name":"` + bad + `","arguments":"{}"}}`},
		"arguments by id alone":                      {search, `{"type":"response.function_call_arguments.delta","item_id":"ws","delta":"` + bad + `"}`},
		"an unknown event with a name and arguments": {`{"type":"function.call.delta","id":"f","name":"` + bad + `","arguments":"{}"}`},
		"a call among the parts of a message":        {`{"type":"response.completed","response":{"output":[{"type":"message","content":[{"type":"tool_use","name":"` + bad + `","arguments":"{}"}]}]}}`},
		"a shell call in a member that nobody knows": {`{"type":"response.completed","response":{"output":[],"more":[{"type":"shell_call","action":{"commands":["` + bad + `"]}}]}}`},
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range cuts {
				out, _, _, err := through(t, format.Responses, sse(format.Responses, events...), size)
				if !errors.Is(err, format.ErrRefused) || strings.Contains(out, bad) {
					t.Errorf("cut to %d: got %v, want a refusal\n%s", size, err, out)
				}
			}
		})
	}
}
