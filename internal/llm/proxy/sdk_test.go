//go:build !race

// The official clients take a minute to compile; they are tried where the race detector does not look.

package proxy_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/tidemark/tidemark/internal/llm/proxy"
	"github.com/tidemark/tidemark/policy"
)

// The official clients go a whole story through the proxy: a page is read, then a note is
// sent that the policy holds.

func openAI(w *world) openai.Client {
	return openai.NewClient(option.WithBaseURL(w.url+"/openai/v1"), option.WithAPIKey(clientKey), option.WithHTTPClient(w.client), option.WithMaxRetries(0))
}

func claude(w *world) anthropic.Client {
	return anthropic.NewClient(anthropicoption.WithBaseURL(w.url+"/anthropic"), anthropicoption.WithAPIKey(clientKey), anthropicoption.WithHTTPClient(w.client), anthropicoption.WithMaxRetries(0))
}

func TestOpenAIChatGoesAWholeStory(t *testing.T) {
	for _, stream := range []bool{false, true} {
		w := open(t)
		if stream {
			w.provider.then(answerEvents(chatCallEvents("call-1", "read_page", pageArgs)...), answerEvents(chatCallEvents("call-2", "send_note", noteArgs)...), answerEvents(chatEvents("It was held.")...))
		} else {
			w.provider.then(answerJSON(chatCall("call-1", "read_page", pageArgs)), answerJSON(chatCall("call-2", "send_note", noteArgs)), answerJSON(chatText("It was held.")))
		}
		params := openai.ChatCompletionNewParams{Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Read https://a.example")}}
		for _, name := range []string{"read_page", "send_note"} {
			params.Tools = append(params.Tools, openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{Name: name}))
		}
		first := chatOnce(t, w, params, stream)
		if len(first.ToolCalls) != 1 || first.ToolCalls[0].ID != "call-1" {
			t.Fatalf("stream %v: got %+v, want the page read", stream, first)
		}
		params.Messages = append(params.Messages, first.ToParam(), openai.ToolMessage(poison, "call-1"))
		second := chatOnce(t, w, params, stream)
		if len(second.ToolCalls) != 0 || !strings.Contains(second.Content, "Approval code") {
			t.Fatalf("stream %v: got %+v, want the note held", stream, second)
		}
		params.Messages = append(params.Messages, second.ToParam(), openai.UserMessage("Never mind"))
		if third := chatOnce(t, w, params, stream); third.Content != "It was held." {
			t.Errorf("stream %v: got %+v, want the text", stream, third)
		}
	}
}

func chatOnce(t *testing.T, w *world, params openai.ChatCompletionNewParams, stream bool) openai.ChatCompletionMessage {
	t.Helper()
	client := openAI(w)
	if !stream {
		c, err := client.Chat.Completions.New(context.Background(), params)
		if err != nil {
			t.Fatal(err)
		}
		return c.Choices[0].Message
	}
	s := client.Chat.Completions.NewStreaming(context.Background(), params)
	var acc openai.ChatCompletionAccumulator
	for s.Next() {
		if !acc.AddChunk(s.Current()) {
			t.Fatal("a chunk does not fit those before it")
		}
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return acc.Choices[0].Message
}

func messageJSON(content, stop string) string {
	return fmt.Sprintf(`{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[%s],"stop_reason":%q,"stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":2}}`, content, stop)
}

func toolUse(id, name, input string) string {
	return fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":%s}`, id, name, input)
}

func messageEvents(id, name, input string) []string {
	event := func(kind, data string) string { return "event: " + kind + "\ndata: " + data + "\n\n" }
	return []string{
		event("message_start", `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":1}}}`),
		event("content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`),
		event("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Let me see."}}`),
		event("content_block_stop", `{"type":"content_block_stop","index":0}`),
		event("content_block_start", fmt.Sprintf(`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":%q,"name":%q,"input":{}}}`, id, name)),
		event("content_block_delta", fmt.Sprintf(`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":%q}}`, input)),
		event("content_block_stop", `{"type":"content_block_stop","index":1}`),
		event("message_delta", `{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":9}}`),
		event("message_stop", `{"type":"message_stop"}`),
	}
}

func TestAnthropicMessagesGoAWholeStory(t *testing.T) {
	for _, stream := range []bool{false, true} {
		w := open(t)
		if stream {
			w.provider.then(answerEvents(messageEvents("toolu_1", "read_page", pageArgs)...), answerEvents(messageEvents("toolu_2", "send_note", noteArgs)...))
		} else {
			w.provider.then(answerJSON(messageJSON(toolUse("toolu_1", "read_page", pageArgs), "tool_use")), answerJSON(messageJSON(toolUse("toolu_2", "send_note", noteArgs), "tool_use")))
		}
		params := anthropic.MessageNewParams{
			Model: "m", MaxTokens: 100, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Read https://a.example"))},
			Tools: []anthropic.ToolUnionParam{
				anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{}, "read_page"),
				anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{}, "wipe"),
			},
		}
		first := messageOnce(t, w, params, stream)
		if first.StopReason != "tool_use" {
			t.Fatalf("stream %v: got %+v, want the page read", stream, first)
		}
		if sent := w.provider.last(); strings.Contains(sent.body, "wipe") || sent.header.Get("X-Api-Key") != clientKey {
			t.Errorf("stream %v: sent %+v, want no wipe and the client's key", stream, sent)
		}
		params.Messages = append(params.Messages, first.ToParam(), anthropic.NewUserMessage(anthropic.NewToolResultBlock("toolu_1", poison, false)))
		second := messageOnce(t, w, params, stream)
		last := second.Content[len(second.Content)-1]
		if second.StopReason != "end_turn" || last.Type != "text" || !strings.Contains(last.Text, "Approval code") {
			t.Errorf("stream %v: got %+v, want the note held", stream, second)
		}
	}
}

func messageOnce(t *testing.T, w *world, params anthropic.MessageNewParams, stream bool) anthropic.Message {
	t.Helper()
	client := claude(w)
	if !stream {
		m, err := client.Messages.New(context.Background(), params)
		if err != nil {
			t.Fatal(err)
		}
		return *m
	}
	s := client.Messages.NewStreaming(context.Background(), params)
	var m anthropic.Message
	for s.Next() {
		if err := m.Accumulate(s.Current()); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return m
}

func responseJSON(output string) string {
	return fmt.Sprintf(`{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"m","output":[%s],"usage":{"input_tokens":3,"output_tokens":2,"total_tokens":5}}`, output)
}

func functionCall(id, name, args string) string {
	return fmt.Sprintf(`{"id":"fc_1","type":"function_call","status":"completed","call_id":%q,"name":%q,"arguments":%q}`, id, name, args)
}

func TestOpenAIResponsesGoAWholeStory(t *testing.T) {
	w := open(t)
	w.provider.then(answerJSON(responseJSON(functionCall("call-1", "read_page", pageArgs))), answerJSON(responseJSON(functionCall("call-2", "send_note", noteArgs))))
	client := openAI(w)
	params := responses.ResponseNewParams{Model: "m", Input: responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{
		responses.ResponseInputItemParamOfMessage("Read https://a.example", "user"),
	}}}
	first, err := client.Responses.New(context.Background(), params)
	if err != nil || len(first.Output) != 1 || first.Output[0].Type != "function_call" {
		t.Fatalf("got %+v %v, want the page read", first, err)
	}
	list := params.Input.OfInputItemList
	output := responses.ResponseInputItemParamOfFunctionCallOutput(poison)
	output.OfFunctionCallOutput.CallID = openai.String("call-1")
	list = append(list, responses.ResponseInputItemParamOfFunctionCall(pageArgs, "call-1", "read_page"), output)
	params.Input.OfInputItemList = list
	second, err := client.Responses.New(context.Background(), params)
	if err != nil || !strings.Contains(second.OutputText(), "Approval code") {
		t.Errorf("got %+v %v, want the note held", second, err)
	}
}

func TestAnAnswerFetchedLaterIsJudgedAsIfItHadReadTheWorst(t *testing.T) {
	w := open(t)
	answer := responseJSON(functionCall("call-2", "send_note", noteArgs))
	w.provider.then(answerJSON(answer), answerJSON(answer))
	client := openAI(w)
	for range 2 {
		got, err := client.Responses.Get(context.Background(), "resp_1", responses.ResponseGetParams{})
		if err != nil || !strings.Contains(got.OutputText(), "blocked by security policy") || strings.Contains(got.RawJSON(), "function_call") {
			t.Errorf("got %+v %v, want no call", got, err)
		}
	}
}

func TestOurErrorsAreErrorsToTheOfficialClients(t *testing.T) {
	w := open(t, smallContext)
	client := openAI(w)
	big := strings.Repeat("x", 4096)
	_, err := client.Chat.Completions.New(context.Background(), openai.ChatCompletionNewParams{Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(big)}})
	if e := (*openai.Error)(nil); !asError(err, &e) || e.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(e.Message, "maxContextBytes") {
		t.Errorf("openai: got %v, want a 413 with a message", err)
	}
	ours := claude(w)
	_, err = ours.Messages.New(context.Background(), anthropic.MessageNewParams{Model: "m", MaxTokens: 1, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(big))}})
	if e := (*anthropic.Error)(nil); !asError(err, &e) || e.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(e.RawJSON(), "request_too_large") {
		t.Errorf("anthropic: got %v, want a 413 of its own kind", err)
	}
}

// everyForm asks in every format and both ways; the official clients must read our text.
func everyForm(t *testing.T, w *world, want string) {
	t.Helper()
	for _, stream := range []bool{false, true} {
		if m := chatOnce(t, w, openai.ChatCompletionNewParams{Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Hi")}}, stream); !strings.Contains(m.Content, want) {
			t.Errorf("chat, stream %v: got %+v, want %q", stream, m, want)
		}
		m := messageOnce(t, w, anthropic.MessageNewParams{Model: "m", MaxTokens: 9, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Hi"))}}, stream)
		if len(m.Content) != 1 || !strings.Contains(m.Content[0].Text, want) || m.StopReason != "end_turn" {
			t.Errorf("messages, stream %v: got %+v, want %q", stream, m, want)
		}
		if got := responseOnce(t, w, stream); !strings.Contains(got, want) {
			t.Errorf("responses, stream %v: got %q, want %q", stream, got, want)
		}
	}
	body := `{"contents":[{"role":"user","parts":[{"text":"Hi"}]}]}`
	for path, begin := range map[string]string{
		"/gemini/v1beta/models/g:generateContent":               `{"candidates"`,
		"/gemini/v1beta/models/g:streamGenerateContent?alt=sse": `data: {"candidates"`,
		"/gemini/v1beta/models/g:streamGenerateContent":         `[{"candidates"`,
	} {
		if g := w.post(path, body); !strings.HasPrefix(g.body, begin) || !strings.Contains(g.body, want) {
			t.Errorf("%s: got %s, want %q", path, g.body, want)
		}
	}
}

func responseOnce(t *testing.T, w *world, stream bool) string {
	t.Helper()
	client := openAI(w)
	params := responses.ResponseNewParams{Model: "m", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("Hi")}}
	if !stream {
		r, err := client.Responses.New(context.Background(), params)
		if err != nil {
			t.Fatal(err)
		}
		return r.OutputText()
	}
	s := client.Responses.NewStreaming(context.Background(), params)
	var deltas, whole string
	for s.Next() {
		switch e := s.Current().AsAny().(type) {
		case responses.ResponseTextDeltaEvent:
			deltas += e.Delta
		case responses.ResponseCompletedEvent:
			whole = e.Response.OutputText()
		}
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	if deltas != whole {
		t.Errorf("deltas %q, whole %q: want the same", deltas, whole)
	}
	return whole
}

func TestATurnThatIsBlockedIsAnsweredByUsAndNeverSent(t *testing.T) {
	w := open(t, func(o *proxy.Options) {
		set, faults := policy.Parse("tidemark.yaml", []byte(rules+"policies:\n  - {name: stop-here, when: {expression: 'steps >= 0'}, action: {block_turn: true, reason: not today}}\n"))
		if set == nil {
			t.Fatalf("policy: %v", faults)
		}
		o.Monitor.SetPolicy(set)
	})
	everyForm(t, w, "not today")
	if n := len(w.provider.requests()); n != 0 {
		t.Errorf("the provider got %d requests, want none", n)
	}
}
