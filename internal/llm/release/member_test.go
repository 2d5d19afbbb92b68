package release_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/internal/llm/release"
)

// messagesOf is an answer of Messages with this block, whole and as a stream, and more beside it.
func messagesOf(block, beside string) (whole, events string) {
	whole = fmt.Sprintf(`{"id":"m","type":"message","role":"assistant","model":"m","content":[%s],"stop_reason":"end_turn","usage":{"output_tokens":1}%s}`, block, beside)
	return whole, sse(format.Messages,
		fmt.Sprintf(`{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1}%s}}`, beside),
		fmt.Sprintf(`{"type":"content_block_start","index":0,"content_block":%s}`, block),
		`{"type":"content_block_stop","index":0}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, `{"type":"message_stop"}`)
}

// responsesOf is the same for an item of Responses.
func responsesOf(item string) (whole, events string) {
	whole = fmt.Sprintf(`{"id":"r","object":"response","status":"completed","model":"m","output":[%s]}`, item)
	return whole, sse(format.Responses,
		fmt.Sprintf(`{"type":"response.output_item.added","sequence_number":0,"output_index":0,"item":%s}`, item),
		fmt.Sprintf(`{"type":"response.output_item.done","sequence_number":1,"output_index":0,"item":%s}`, item),
		fmt.Sprintf(`{"type":"response.completed","sequence_number":2,"response":%s}`, whole))
}

// passes tries an answer both ways.
func passes(t *testing.T, api format.API, whole, events string, refused bool) {
	t.Helper()
	j := newJudge(t)
	_, _, err := release.Whole(context.Background(), release.Options{API: api}, []byte(whole), j)
	if errors.Is(err, format.ErrRefused) != refused {
		t.Errorf("whole: got %v, want refused: %v\n%s", err, refused, whole)
	}
	for _, size := range []int{1, 7, 1 << 20} {
		out, err := run(api, []byte(events), size, j)
		if errors.Is(err, format.ErrRefused) != refused {
			t.Errorf("stream: got %v, want refused: %v\n%s", err, refused, events)
		}
		if refused && strings.Contains(out, bad) {
			t.Errorf("stream: the call is out before it was judged:\n%s", out)
		}
	}
	if len(j.calls) > 0 {
		t.Errorf("got calls %v, want none: what is refused is no call", j.calls)
	}
}

// A block that is known has its members; what could be a call in any other is refused, and
// so is what stands beside the blocks.
func TestMembersOfMessagesThatCouldBeACallAreRefused(t *testing.T) {
	const call = `{"name":"exec","input":{"command":"` + bad + `"}}`
	for _, member := range []string{"tool_use", "acme", "tool", "tool_calls", "Input"} {
		for _, value := range []string{call, "[" + call + "]"} {
			stray := fmt.Sprintf(`,%q:%s`, member, value)
			for _, block := range []string{`{"type":"text","text":"x"`, `{"type":"thinking","thinking":"x","signature":"s"`,
				`{"type":"redacted_thinking","data":"x"`, `{"type":"compaction","content":"x"`, `{"type":"fallback","from":{"model":"a"}`} {
				whole, events := messagesOf(block+stray+"}", "")
				passes(t, format.Messages, whole, events, true)
			}
			whole, events := messagesOf(`{"type":"text","text":"x"}`, stray)
			passes(t, format.Messages, whole, events, true)
		}
	}
	whole, events := messagesOf(`{"type":"text","text":"x","name":"exec","input":{"command":"`+bad+`"}}`, "")
	passes(t, format.Messages, whole, events, true)
}

// A call that is let through takes nothing along that was not judged.
func TestMembersOfACallThatAreNotItsOwnAreRefused(t *testing.T) {
	whole, events := messagesOf(`{"type":"tool_use","id":"a","name":"add","input":{},"more":[{"name":"exec","input":{"command":"`+bad+`"}}]}`, "")
	passes(t, format.Messages, whole, events, true)
	whole, events = responsesOf(`{"type":"function_call","id":"f","call_id":"a","name":"add","arguments":"{}","more":[{"name":"exec","arguments":"` + bad + `"}]}`)
	passes(t, format.Responses, whole, events, true)
}

// The same for items of Responses, and for the parts of what they say.
func TestMembersOfItemsThatCouldBeACallAreRefused(t *testing.T) {
	const call = `{"name":"exec","arguments":"` + bad + `"}`
	items := []string{
		`{"type":"message","id":"m","role":"assistant","status":"completed","content":[{"type":"output_text","text":"x","annotations":[]}]`,
		`{"type":"reasoning","id":"m","summary":[]`,
		`{"type":"compaction","id":"m","encrypted_content":"x"`,
		`{"type":"web_search_call","id":"m","status":"completed","action":{"type":"search","query":"x"}`,
	}
	for _, member := range []string{"tool_calls", "acme", "function_call", "calls"} {
		for _, value := range []string{call, "[" + call + "]", `[{"type":"function","function":` + call + `}]`, `{"type":"shell_call","action":"` + bad + `"}`} {
			for _, item := range items {
				whole, events := responsesOf(item + fmt.Sprintf(`,%q:%s}`, member, value))
				passes(t, format.Responses, whole, events, true)
			}
		}
	}
	for _, part := range []string{call, `{"type":"tool_call","do":"` + bad + `"}`} {
		for _, item := range []string{`{"type":"message","id":"m","role":"assistant","content":[` + part + `]}`, `{"type":"reasoning","id":"m","summary":[],"content":[` + part + `]}`} {
			whole, events := responsesOf(item)
			passes(t, format.Responses, whole, events, true)
		}
	}
}

// What providers really send beside their words passes.
func TestMembersThatAreKnownPass(t *testing.T) {
	for _, block := range []string{
		`{"type":"text","text":"x","citations":[{"type":"web_search_result_location","url":"https://a.example","title":"t","encrypted_index":"e","cited_text":"c"}]}`,
		`{"type":"compaction","content":"they said hello"}`, `{"type":"thinking","thinking":"x","signature":"s"}`,
		`{"type":"server_tool_use","id":"s","name":"web_search","input":{"query":"x"},"caller":{"type":"direct"}}`,
		`{"type":"bash_code_execution_tool_result","tool_use_id":"s","content":{"type":"bash_code_execution_result","stdout":"{\"name\":1}","content":[{"name":"f","input":1}]}}`,
	} {
		whole, events := messagesOf(block, `,"container":{"id":"c","skills":null},"context_management":{"applied_edits":[{"type":"clear_tool_uses","cleared_input_tokens":1}]},"stop_details":null`)
		passes(t, format.Messages, whole, events, false)
		whole, events = messagesOf(block, `,"amazon-bedrock-trace":{"guardrail":{"input":{"g1":{"name":"x"}}}}`)
		passes(t, format.Messages, whole, strings.Replace(events, `"message_stop"`, `"message_stop","amazon-bedrock-trace":{"guardrail":{"input":{}}}`, 1), false)
	}
	for _, item := range []string{
		`{"type":"message","id":"m","role":"assistant","status":"completed","phase":"final_answer","content":[{"type":"output_text","text":"x","annotations":[{"type":"file_citation","file_id":"f","filename":"a","index":1}],"logprobs":[]},{"type":"refusal","refusal":"no"}]}`,
		`{"type":"reasoning","id":"m","summary":[{"type":"summary_text","text":"x"}],"encrypted_content":"e"}`,
		`{"type":"mcp_call","id":"m","name":"f","arguments":"{}","server_label":"s","output":"o","error":null}`,
		`{"type":"mcp_list_tools","id":"m","server_label":"s","tools":[{"name":"f","input_schema":{"arguments":1}}]}`,
		`{"type":"code_interpreter_call","id":"m","status":"completed","code":"x","container_id":"c","outputs":[{"type":"logs","logs":"1"}]}`,
	} {
		whole, events := responsesOf(item)
		passes(t, format.Responses, whole, events, false)
	}
}
