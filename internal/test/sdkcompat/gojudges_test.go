package sdkcompat_test

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
)

// apiError is what the clients' own errors have in common.
type apiError struct {
	kind   string
	status int
	header http.Header
}

func asAPIError(err error) (apiError, bool) {
	if e, ok := errors.AsType[*openai.Error](err); ok {
		return apiError{"openai.Error", e.StatusCode, headerOf(e.Response)}, true
	}
	if e, ok := errors.AsType[*anthropic.Error](err); ok {
		return apiError{"anthropic.Error", e.StatusCode, headerOf(e.Response)}, true
	}
	return apiError{}, false
}

func headerOf(r *http.Response) http.Header {
	if r == nil {
		return nil
	}
	return r.Header
}

// schema is what every tool takes.
func schema() map[string]any {
	return map[string]any{"type": "object", "properties": map[string]any{"v": map[string]any{"type": "string"}}}
}

func newOpenAI(j job, c *http.Client) openai.Client {
	return openai.NewClient(option.WithAPIKey(j.Key), option.WithBaseURL(j.Base+"/v1"), option.WithHTTPClient(c), option.WithMaxRetries(0))
}

// chatTalk talks OpenAI Chat Completions.
type chatTalk struct {
	client openai.Client
	params openai.ChatCompletionNewParams
	stream bool
}

func newChat(j job, c *http.Client) talk {
	t := &chatTalk{client: newOpenAI(j, c), stream: j.Stream, params: openai.ChatCompletionNewParams{Model: "gpt-judge"}}
	for _, name := range j.Tools {
		t.params.Tools = append(t.params.Tools, openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: name, Description: openai.String("does " + name), Parameters: schema(),
		}))
	}
	return t
}

func (t *chatTalk) say(text string) {
	t.params.Messages = append(t.params.Messages, openai.UserMessage(text))
}

func (t *chatTalk) results(calls []call) {
	for _, c := range calls {
		t.params.Messages = append(t.params.Messages, openai.ToolMessage("done", c.ID))
	}
}

func (t *chatTalk) ask(ctx context.Context, r *round) error {
	if t.stream {
		return t.askStream(ctx, r)
	}
	answer, err := t.client.Chat.Completions.New(ctx, t.params)
	if err != nil {
		return err
	}
	err = t.take(r, answer)
	r.Text = r.Final
	return err
}

func (t *chatTalk) askStream(ctx context.Context, r *round) error {
	params := t.params
	params.StreamOptions.IncludeUsage = openai.Bool(true)
	stream := t.client.Chat.Completions.NewStreaming(ctx, params)
	defer stream.Close()
	var all openai.ChatCompletionAccumulator
	for stream.Next() {
		chunk := stream.Current()
		if !all.AddChunk(chunk) {
			return errors.New("a chunk does not fit those before it")
		}
		if len(chunk.Choices) > 0 {
			r.Text += chunk.Choices[0].Delta.Content
		}
	}
	if err := stream.Err(); err != nil {
		_ = t.take(r, &all.ChatCompletion) // what a program may have acted on already
		return err
	}
	return t.take(r, &all.ChatCompletion)
}

func (t *chatTalk) take(r *round, answer *openai.ChatCompletion) error {
	if len(answer.Choices) == 0 {
		return errors.New("no choice")
	}
	choice := answer.Choices[0]
	r.Final, r.Stop = choice.Message.Content, choice.FinishReason
	for _, c := range choice.Message.ToolCalls {
		r.Calls = append(r.Calls, call{c.ID, c.Function.Name, c.Function.Arguments})
	}
	if r.Stop == "" {
		return errors.New("the answer ended without a finish reason")
	}
	t.params.Messages = append(t.params.Messages, choice.Message.ToParam())
	return nil
}

// responsesTalk talks OpenAI Responses, with the whole conversation in every request.
type responsesTalk struct {
	client openai.Client
	params responses.ResponseNewParams
	list   responses.ResponseInputParam
	stream bool
}

func newResponses(j job, c *http.Client) talk {
	t := &responsesTalk{client: newOpenAI(j, c), stream: j.Stream}
	t.params = responses.ResponseNewParams{Model: "gpt-judge", Store: openai.Bool(false)}
	for _, name := range j.Tools {
		t.params.Tools = append(t.params.Tools, responses.ToolParamOfFunction(name, schema(), false))
	}
	return t
}

func (t *responsesTalk) say(text string) {
	t.list = append(t.list, responses.ResponseInputItemParamOfMessage(text, responses.EasyInputMessageRoleUser))
}

func (t *responsesTalk) results(calls []call) {
	for _, c := range calls {
		item := responses.ResponseInputItemParamOfFunctionCallOutput("done")
		item.OfFunctionCallOutput.CallID = openai.String(c.ID)
		t.list = append(t.list, item)
	}
}

func (t *responsesTalk) ask(ctx context.Context, r *round) error {
	t.params.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: t.list}
	if t.stream {
		return t.askStream(ctx, r)
	}
	answer, err := t.client.Responses.New(ctx, t.params)
	if err != nil {
		return err
	}
	t.take(r, answer)
	r.Text = r.Final
	return nil
}

func (t *responsesTalk) askStream(ctx context.Context, r *round) error {
	stream := t.client.Responses.NewStreaming(ctx, t.params)
	defer stream.Close()
	var end *responses.Response
	var handed []call
	for stream.Next() {
		switch e := stream.Current(); e.Type {
		case "response.output_text.delta":
			r.Text += e.Delta
		case "response.output_item.done":
			if e.Item.Type == "function_call" {
				handed = append(handed, callOf(e.Item))
			}
		case "response.completed", "response.incomplete":
			end = &e.Response
		case "response.failed", "error":
			r.Calls = handed
			return errors.New(e.Type)
		}
	}
	r.Calls = handed
	if err := stream.Err(); err != nil {
		return err
	}
	if end == nil {
		return errors.New("the stream ended without response.completed")
	}
	r.Calls = nil
	t.take(r, end)
	if len(handed) != len(r.Calls) {
		return errors.New("the calls of the events are not those of the end")
	}
	return nil
}

func callOf(i responses.ResponseOutputItemUnion) call {
	f := i.AsFunctionCall()
	return call{f.CallID, f.Name, f.Arguments}
}

func (t *responsesTalk) take(r *round, answer *responses.Response) {
	r.Stop = string(answer.Status)
	for _, item := range answer.Output {
		switch item.Type {
		case "message":
			m := item.AsMessage()
			for _, part := range m.Content {
				r.Final += part.Text
			}
			param := m.ToParam()
			t.list = append(t.list, responses.ResponseInputItemUnionParam{OfOutputMessage: &param})
		case "function_call":
			c := callOf(item)
			r.Calls = append(r.Calls, c)
			t.list = append(t.list, responses.ResponseInputItemParamOfFunctionCall(c.Args, c.ID, c.Name))
		}
	}
}

// messagesTalk talks Anthropic Messages.
type messagesTalk struct {
	client anthropic.Client
	params anthropic.MessageNewParams
	stream bool
}

func newMessages(j job, c *http.Client) talk {
	t := &messagesTalk{stream: j.Stream, params: anthropic.MessageNewParams{Model: "claude-judge", MaxTokens: 1024}}
	t.client = anthropic.NewClient(anthropicoption.WithAPIKey(j.Key), anthropicoption.WithBaseURL(j.Base),
		anthropicoption.WithHTTPClient(c), anthropicoption.WithMaxRetries(0))
	for _, name := range j.Tools {
		t.params.Tools = append(t.params.Tools, anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{Properties: schema()["properties"]}, name))
	}
	return t
}

func (t *messagesTalk) say(text string) {
	t.params.Messages = append(t.params.Messages, anthropic.NewUserMessage(anthropic.NewTextBlock(text)))
}

func (t *messagesTalk) results(calls []call) {
	blocks := make([]anthropic.ContentBlockParamUnion, 0, len(calls))
	for _, c := range calls {
		blocks = append(blocks, anthropic.NewToolResultBlock(c.ID, "done", false))
	}
	t.params.Messages = append(t.params.Messages, anthropic.NewUserMessage(blocks...))
}

func (t *messagesTalk) ask(ctx context.Context, r *round) error {
	if t.stream {
		return t.askStream(ctx, r)
	}
	answer, err := t.client.Messages.New(ctx, t.params)
	if err != nil {
		return err
	}
	err = t.take(r, answer)
	r.Text = r.Final
	return err
}

func (t *messagesTalk) askStream(ctx context.Context, r *round) error {
	stream := t.client.Messages.NewStreaming(ctx, t.params)
	defer stream.Close()
	var all anthropic.Message
	for stream.Next() {
		e := stream.Current()
		if err := all.Accumulate(e); err != nil {
			_ = t.take(r, &all)
			return err
		}
		if e.Type == "content_block_delta" && e.Delta.Type == "text_delta" {
			r.Text += e.Delta.Text
		}
	}
	if err := stream.Err(); err != nil {
		_ = t.take(r, &all)
		return err
	}
	return t.take(r, &all)
}

func (t *messagesTalk) take(r *round, answer *anthropic.Message) error {
	var text strings.Builder
	for _, b := range answer.Content {
		switch b.Type {
		case "text":
			text.WriteString(b.Text)
		case "tool_use":
			r.Calls = append(r.Calls, call{b.ID, b.Name, string(b.Input)})
		}
	}
	r.Final, r.Stop = text.String(), string(answer.StopReason)
	if r.Stop == "" {
		return errors.New("the answer ended without a stop reason")
	}
	t.params.Messages = append(t.params.Messages, answer.ToParam())
	return nil
}
