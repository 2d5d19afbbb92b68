package release_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/llm/format"
)

// typedEvents are events as they come out of Amazon's frames: names and data in turn.
func typedEvents(parts ...string) string {
	var b strings.Builder
	for i := 0; i+1 < len(parts); i += 2 {
		b.WriteString("event: " + parts[i] + "\ndata: " + parts[i+1] + "\n\n")
	}
	return b.String()
}

func converseStream(says []saying) string {
	out := []string{"messageStart", `{"role":"assistant","p":"ab"}`}
	i, calls := 0, 0
	add := func(deltas ...string) {
		for _, d := range deltas {
			out = append(out, "contentBlockDelta", fmt.Sprintf(`{"contentBlockIndex":%d,"delta":%s,"p":"abc"}`, i, d))
		}
		out = append(out, "contentBlockStop", fmt.Sprintf(`{"contentBlockIndex":%d}`, i))
		i++
	}
	each := func(s, form string) (all []string) {
		for _, p := range pieces(s) {
			all = append(all, fmt.Sprintf(form, q(p)))
		}
		return all
	}
	for _, s := range says {
		if s.thinking != "" {
			add(append(each(s.thinking, `{"reasoningContent":{"text":%s}}`), `{"reasoningContent":{"signature":"c2ln"}}`)...)
		}
		if s.text != "" {
			add(each(s.text, `{"text":%s}`)...)
		}
		switch {
		case s.hosted:
			add(`{"citation":{"title":"t","source":"https://pages.example/"}}`)
		case s.tool != "":
			calls++
			out = append(out, "contentBlockStart", fmt.Sprintf(`{"contentBlockIndex":%d,"start":{"toolUse":{"toolUseId":%s,"name":%s}}}`, i, q(s.id), q(s.tool)))
			add(each(s.args, `{"toolUse":{"input":%s}}`)...)
		}
	}
	stop := "end_turn"
	if calls > 0 {
		stop = "tool_use"
	}
	return typedEvents(append(out, "messageStop", fmt.Sprintf(`{"stopReason":%q}`, stop), "metadata", `{"usage":{"inputTokens":11,"outputTokens":7},"metrics":{"latencyMs":5}}`)...)
}

func ollamaStream(says []saying) string {
	var b strings.Builder
	line := func(message, rest string) {
		fmt.Fprintf(&b, "{\"model\":\"m\",\"created_at\":\"2026-01-01T00:00:00Z\",\"message\":{\"role\":\"assistant\",%s},%s}\n\n", message, rest)
	}
	for _, s := range says {
		for _, p := range pieces(s.thinking) {
			line(`"content":"","thinking":`+q(p), `"done":false`)
		}
		for _, p := range pieces(s.text) {
			line(`"content":`+q(p), `"done":false`)
		}
		if s.tool != "" {
			args := s.args
			if args == "" {
				args = "{}"
			}
			line(fmt.Sprintf(`"content":"","tool_calls":[{"id":%s,"function":{"index":0,"name":%s,"arguments":%s}}]`, q(s.id), q(s.tool), args), `"done":false`)
		}
	}
	line(`"content":""`, `"done":true,"done_reason":"stop","prompt_eval_count":11,"eval_count":7`)
	return b.String()
}

// wrappedStream puts every answer of a stream into an envelope.
func wrappedStream(in string) string {
	events := strings.SplitAfter(in, "\n\n")
	for i, e := range events {
		if data, ok := strings.CutPrefix(e, "data: "); ok && strings.HasPrefix(data, "{") {
			events[i] = `data: {"response": ` + strings.TrimSuffix(data, "\n\n") + `,"traceId":"t"}` + "\n\n"
		}
	}
	return strings.Join(events, "")
}

// otherBody is a whole answer. Parts are Gemini's.
func otherBody(api format.API, says []saying, parts []string) string {
	var text string
	var calls, blocks []string
	for _, s := range says {
		if s.text != "" {
			text += s.text
			blocks = append(blocks, `{"text": `+q(s.text)+`}`)
		}
		if s.hosted {
			blocks = append(blocks, `{"citationsContent": {"content": [{"text": "x"}], "citations": [{"title": "t"}]}}`)
		}
		if s.tool != "" {
			calls = append(calls, fmt.Sprintf(`{"id": %s, "function": {"name": %s, "arguments": %s}}`, q(s.id), q(s.tool), s.args))
			blocks = append(blocks, fmt.Sprintf(`{"toolUse": {"toolUseId": %s, "name": %s, "input": %s}}`, q(s.id), q(s.tool), s.args))
		}
	}
	switch api {
	case format.Converse:
		return fmt.Sprintf(`{"output": {"message": {"role": "assistant", "content": [%s]}}, "stopReason": "tool_use", "usage": {"inputTokens": 11, "outputTokens": 7}, "metrics": {"latencyMs": 5}}`, strings.Join(blocks, ", "))
	case format.Ollama:
		return fmt.Sprintf(`{"model": "m", "message": {"role": "assistant", "content": %s, "tool_calls": [%s]}, "done": true, "done_reason": "stop", "prompt_eval_count": 11, "eval_count": 7}`, q(text), strings.Join(calls, ", "))
	}
	return fmt.Sprintf(`{"response": {"candidates": [{"content": {"parts": [%s], "role": "model"}, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 11}}, "traceId": "t"}`, strings.Join(parts, ", "))
}

// What could be a call and cannot be read in one way ends the answer, and nothing of it goes out.
func TestOtherFormatsRefuseWhatCouldBeACall(t *testing.T) {
	const use = `{"toolUseId":"1","name":"` + bad + `","input":{}}`
	start := []string{"messageStart", `{"role":"assistant"}`}
	for _, c := range []struct {
		name string
		api  format.API
		in   string
	}{
		{"a call beside the blocks", format.Converse, typedEvents("messageStart", `{"role":"assistant","toolUse":`+use+`}`)},
		{"a call in a delta", format.Converse, typedEvents(append(start, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"toolUse":{"input":"`+bad+`"}}}`)...)},
		{"two things in a delta", format.Converse, typedEvents(append(start, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"a","toolUse":`+use+`}}`)...)},
		{"a call in reasoning", format.Converse, typedEvents(append(start, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"x":`+use+`}}}`)...)},
		{"an unknown event", format.Converse, typedEvents(append(start, "toolCall", use)...)},
		{"a call that does not end", format.Converse, typedEvents(append(start, "contentBlockStart", `{"contentBlockIndex":0,"start":{"toolUse":`+use+`}}`)...)},
		{"a call that ends with the message", format.Converse, typedEvents(append(start, "contentBlockStart", `{"contentBlockIndex":0,"start":{"toolUse":`+use+`}}`, "messageStop", `{"stopReason":"tool_use"}`)...)},
		{"another spelling", format.Converse, typedEvents(append(start, "contentBlockStart", `{"contentBlockIndex":0,"start":{"toolUse":`+use+`,"tool_use":`+use+`}}`)...)},
		{"arguments of another shape", format.Ollama, `{"message":{"tool_calls":[{"function":{"name":"` + bad + `","arguments":"{}"}}]},"done":true}` + "\n"},
		{"a call beside the message", format.Ollama, `{"message":{"content":"a"},"tool_calls":[{"function":{"name":"` + bad + `"}}],"done":true}` + "\n"},
		{"a call in a member of the message", format.Ollama, `{"message":{"content":"a","acme":[{"name":"` + bad + `"}]},"done":true}` + "\n"},
		{"two documents on a line", format.Ollama, `{"message":{"content":"a"}}{"message":{"tool_calls":[{"function":{"name":"` + bad + `"}}]}}` + "\n"},
		{"a line inside a line", format.Ollama, `{"message":{"content":"a` + "\u2028" + `{\"x\":\"` + bad + `\"}"}}` + "\n"},
		{"a line after the last", format.Ollama, `{"message":{"content":"a"},"done":true}` + "\n" + `{"message":{"content":"` + bad + `"}}` + "\n"},
		{"an event stream", format.Ollama, `data: {"message":{"content":"` + bad + `"}}` + "\n\n"},
		{"a call beside the response", format.CodeAssist, `data: {"response":{},"functionCall":{"name":"` + bad + `","args":{}}}` + "\n\n"},
		{"an answer without its envelope", format.CodeAssist, `data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"` + bad + `"}}]}}]}` + "\n\n"},
		{"two envelopes", format.CodeAssist, `data: {"response":{},"Response":{"candidates":[{"content":{"parts":[{"functionCall":{"name":"` + bad + `"}}]}}]}}` + "\n\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, size := range []int{1, 1 << 20} {
				out, o, _, err := through(t, c.api, c.in, size)
				if err == nil || strings.Contains(out, bad) || o.Calls > 0 || !strings.Contains(out, "error") {
					t.Errorf("got %v, %d calls and %s, want a refusal in the format's own words", err, o.Calls, out)
				}
			}
		})
	}
}

// Every shape of a call is decided.
func TestCallsOfOtherFormatsAreDecided(t *testing.T) {
	for _, c := range []struct {
		name string
		api  format.API
		in   string
		want string
	}{
		{"a call without pieces", format.Converse, typedEvents("contentBlockStart", `{"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"1","name":"a"}}}`, "contentBlockStop", `{"contentBlockIndex":0}`, "messageStop", `{"stopReason":"tool_use"}`), "a {}"},
		{"an unknown kind of block", format.Converse, typedEvents("contentBlockStart", `{"contentBlockIndex":0,"start":{"robot":{"move":1}}}`, "contentBlockStop", `{"contentBlockIndex":0}`, "messageStop", `{"stopReason":"tool_use"}`), `robot {"robot":{"move":1}}`},
		{"a call without arguments", format.Ollama, `{"message":{"tool_calls":[{"function":{"name":"a"}}]},"done":true}`, "a {}"},
		{"pieces of arguments in an envelope", format.CodeAssist, wrappedStream("data: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"a\",\"willContinue\":true}}]}}]}\n\ndata: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"partialArgs\":[1]}}]}}]}\n\n"), "a [[1]]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, o, j, err := through(t, c.api, c.in, 3)
			if err != nil || o.Calls != 1 || len(j.calls) != 1 || j.calls[0].Name+" "+string(j.calls[0].Args) != c.want {
				t.Errorf("got %v and %v, want %s", err, j.calls, c.want)
			}
		})
	}
}
