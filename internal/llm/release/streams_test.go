package release_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tidemark/tidemark/internal/llm/format"
)

// saying is what a made-up model does: it talks and calls tools.
type saying struct {
	text, thinking string
	tool, id, args string
	hosted         bool
}

func q(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// pieces cuts a text the way models stream it.
func pieces(s string) []string {
	var out []string
	for r := []rune(s); len(r) > 0; {
		n := min(5, len(r))
		out, r = append(out, string(r[:n])), r[n:]
	}
	return out
}

// stream is what a provider sends for it.
func stream(api format.API, says []saying) string {
	switch api {
	case format.Chat:
		return chatStream(says)
	case format.Messages:
		return messagesStream(says)
	case format.Responses:
		return responsesStream(says)
	case format.Converse:
		return converseStream(says)
	case format.Ollama:
		return ollamaStream(says)
	case format.CodeAssist:
		return wrappedStream(geminiStream(says))
	}
	return geminiStream(says)
}

func chatStream(says []saying) string {
	chunk := func(delta, finish string) string {
		return fmt.Sprintf(`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1767225600,"model":"gpt-5","choices":[{"index":0,"delta":%s,"logprobs":null,"finish_reason":%s}]}`, delta, finish)
	}
	data := []string{chunk(`{"role":"assistant","content":"","refusal":null}`, "null")}
	n := 0
	for _, s := range says {
		for _, p := range pieces(s.thinking) {
			data = append(data, chunk(`{"reasoning_content":`+q(p)+`}`, "null"))
		}
		for _, p := range pieces(s.text) {
			data = append(data, chunk(`{"content":`+q(p)+`}`, "null"))
		}
		if s.tool == "" {
			continue
		}
		data = append(data, chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":%s,"type":"function","function":{"name":%s,"arguments":""}}]}`, n, q(s.id), q(s.tool)), "null"))
		for _, p := range pieces(s.args) {
			data = append(data, chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}`, n, q(p)), "null"))
		}
		n++
	}
	finish := `"stop"`
	if n > 0 {
		finish = `"tool_calls"`
	}
	data = append(data, chunk(`{}`, finish),
		`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1767225600,"model":"gpt-5","choices":[],"usage":{"prompt_tokens":11,"completion_tokens":7,"total_tokens":18}}`, `[DONE]`)
	return sse(format.Chat, data...)
}

func messagesStream(says []saying) string {
	data := []string{
		`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-x","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":11,"output_tokens":1}}}`,
		`{"type":"ping"}`,
	}
	i, calls := 0, 0
	add := func(start string, deltas ...string) {
		data = append(data, fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, i, start))
		for _, d := range deltas {
			data = append(data, fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, i, d))
		}
		data = append(data, fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, i))
		i++
	}
	each := func(s, format string) (out []string) {
		for _, p := range pieces(s) {
			out = append(out, fmt.Sprintf(format, q(p)))
		}
		return out
	}
	for _, s := range says {
		if s.thinking != "" {
			add(`{"type":"thinking","thinking":"","signature":""}`, append(each(s.thinking, `{"type":"thinking_delta","thinking":%s}`), `{"type":"signature_delta","signature":"c2ln"}`)...)
		}
		if s.text != "" {
			add(`{"type":"text","text":""}`, each(s.text, `{"type":"text_delta","text":%s}`)...)
		}
		switch {
		case s.hosted:
			add(`{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}`, each(`{"query":"x"}`, `{"type":"input_json_delta","partial_json":%s}`)...)
			add(`{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","url":"https://pages.example/","title":"t","encrypted_content":"e"}]}`)
		case s.tool != "":
			calls++
			add(fmt.Sprintf(`{"type":"tool_use","id":%s,"name":%s,"input":{}}`, q(s.id), q(s.tool)), each(s.args, `{"type":"input_json_delta","partial_json":%s}`)...)
		}
	}
	stop := "end_turn"
	if calls > 0 {
		stop = "tool_use"
	}
	data = append(data, fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":7}}`, stop), `{"type":"message_stop"}`)
	return sse(format.Messages, data...)
}

func responsesStream(says []saying) string {
	var data, output []string
	seq := 0
	add := func(format string, a ...any) {
		data = append(data, strings.TrimSuffix(fmt.Sprintf(format, a...), "}")+fmt.Sprintf(`,"sequence_number":%d}`, seq))
		seq++
	}
	add(`{"type":"response.created","response":{"id":"resp_1","object":"response","status":"in_progress","model":"gpt-5","output":[],"tools":[{"type":"function","name":"x"}]}}`)
	item := func(began, done string, middle func(i int, id string)) {
		i := len(output)
		add(`{"type":"response.output_item.added","output_index":%d,"item":%s}`, i, began)
		middle(i, fmt.Sprintf("item_%d", i))
		add(`{"type":"response.output_item.done","output_index":%d,"item":%s}`, i, done)
		output = append(output, done)
	}
	for _, s := range says {
		n := len(output)
		if s.thinking != "" {
			item(fmt.Sprintf(`{"id":"item_%d","type":"reasoning","summary":[]}`, n), fmt.Sprintf(`{"id":"item_%d","type":"reasoning","summary":[{"type":"summary_text","text":%s}]}`, n, q(s.thinking)), func(i int, id string) {
				for _, p := range pieces(s.thinking) {
					add(`{"type":"response.reasoning_summary_text.delta","item_id":%q,"output_index":%d,"summary_index":0,"delta":%s}`, id, i, q(p))
				}
			})
		}
		if s.text != "" {
			n := len(output)
			item(fmt.Sprintf(`{"id":"item_%d","type":"message","status":"in_progress","role":"assistant","content":[]}`, n),
				fmt.Sprintf(`{"id":"item_%d","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":%s,"annotations":[]}]}`, n, q(s.text)), func(i int, id string) {
					for _, p := range pieces(s.text) {
						add(`{"type":"response.output_text.delta","item_id":%q,"output_index":%d,"content_index":0,"delta":%s,"logprobs":[]}`, id, i, q(p))
					}
				})
		}
		n = len(output)
		switch {
		case s.hosted:
			done := fmt.Sprintf(`{"id":"item_%d","type":"web_search_call","status":"completed","action":{"type":"search","query":"x"}}`, n)
			item(done, done, func(i int, id string) {
				add(`{"type":"response.web_search_call.searching","item_id":%q,"output_index":%d}`, id, i)
			})
		case s.tool != "":
			call := func(status, args string) string {
				return fmt.Sprintf(`{"id":"item_%d","type":"function_call","status":%q,"call_id":%s,"name":%s,"arguments":%s}`, n, status, q(s.id), q(s.tool), q(args))
			}
			item(call("in_progress", ""), call("completed", s.args), func(i int, id string) {
				for _, p := range pieces(s.args) {
					add(`{"type":"response.function_call_arguments.delta","item_id":%q,"output_index":%d,"delta":%s}`, id, i, q(p))
				}
				add(`{"type":"response.function_call_arguments.done","item_id":%q,"output_index":%d,"arguments":%s}`, id, i, q(s.args))
			})
		}
	}
	add(`{"type":"response.completed","response":{"id":"resp_1","object":"response","status":"completed","model":"gpt-5","output":[%s],"usage":{"input_tokens":11,"output_tokens":7,"total_tokens":18}}}`, strings.Join(output, ","))
	return sse(format.Responses, data...)
}

func geminiStream(says []saying) string {
	var data []string
	add := func(part, rest string) {
		data = append(data, fmt.Sprintf(`{"candidates": [{"content": {"parts": [%s],"role": "model"},"index": 0%s}],"usageMetadata": {"promptTokenCount": 11,"candidatesTokenCount": 7},"modelVersion": "gemini-x","responseId": "r1"}`, part, rest))
	}
	for _, s := range says {
		for _, p := range pieces(s.thinking) {
			add(`{"text": `+q(p)+`,"thought": true}`, "")
		}
		for _, p := range pieces(s.text) {
			add(`{"text": `+q(p)+`}`, "")
		}
		switch {
		case s.hosted:
			add(`{"text": ""}`, `,"groundingMetadata": {"webSearchQueries": ["x"],"groundingChunks": [{"web": {"uri": "https://pages.example/","title": "t"}}]}`)
		case s.tool != "":
			args := s.args
			if args == "" {
				args = "{}"
			}
			add(fmt.Sprintf(`{"functionCall": {"name": %s,"args": %s,"id": %s},"thoughtSignature": "c2ln"}`, q(s.tool), args, q(s.id)), "")
		}
	}
	add(`{"text": ""}`, `,"finishReason": "STOP"`)
	return sse(format.Gemini, data...)
}
