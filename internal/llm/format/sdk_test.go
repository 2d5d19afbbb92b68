package format_test

import (
	"encoding/json"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"github.com/tidemark/tidemark/internal/llm/format"
)

// sdkBody is what an official client would send.
func sdkBody(t *testing.T, params any) string {
	t.Helper()
	body, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestWhatTheOpenAIClientSendsIsRead(t *testing.T) {
	call := openai.ChatCompletionMessageToolCallUnionParam{OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
		ID: "c1", Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: "f", Arguments: `{"a":"<b>"}`},
	}}
	body := sdkBody(t, openai.ChatCompletionNewParams{
		Model: "gpt-5.2",
		Messages: []openai.ChatCompletionMessageParamUnion{
			openai.SystemMessage("s"), openai.UserMessage("<u>"),
			{OfAssistant: &openai.ChatCompletionAssistantMessageParam{ToolCalls: []openai.ChatCompletionMessageToolCallUnionParam{call}}},
			openai.ToolMessage("r", "c1"), openai.AssistantMessage("done"),
		},
		Tools:      []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{Name: "f"})},
		ToolChoice: openai.ToolChoiceOptionFunctionToolChoice(openai.ChatCompletionNamedToolChoiceFunctionParam{Name: "f"}),
		User:       openai.String("u"),
	})
	r := read(t, format.Chat, body)
	want := []format.Message{
		message(format.System, text("s")), message(format.User, text("<u>")),
		message(format.Assistant, format.Part{Kind: format.Call, CallID: "c1", Name: "f", Args: []byte(`{"a":"<b>"}`)}),
		message(format.ToolRole, format.Part{Kind: format.Result, CallID: "c1", Text: "r"}), message(format.Assistant, text("done")),
	}
	if d := cmp.Diff(want, r.New, withoutPlaces); d != "" || r.Hints.User != "u" || len(r.Tools) != 1 {
		t.Errorf("got %+v, %v (-want +got):\n%s", r.Hints, r.Tools, d)
	}
	var back openai.ChatCompletionNewParams
	if err := json.Unmarshal([]byte(apply(t, format.Chat, body, format.Edit{Hide: []string{"f"}, Notice: "n"})), &back); err != nil || len(back.Tools) != 0 || len(back.Messages) != 6 {
		t.Errorf("the client reads our edit as %d tools and %d messages, %v; want 0 and 6", len(back.Tools), len(back.Messages), err)
	}
}

func TestWhatTheOpenAIClientSendsToResponsesIsRead(t *testing.T) {
	output := responses.ResponseInputItemParamOfFunctionCallOutput("r")
	output.OfFunctionCallOutput.CallID = openai.String("c1")
	body := sdkBody(t, responses.ResponseNewParams{
		Model: "gpt-5.2", Instructions: openai.String("s"), PreviousResponseID: openai.String("resp_1"),
		Input: responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{
			responses.ResponseInputItemParamOfMessage("u", "user"),
			responses.ResponseInputItemParamOfFunctionCall(`{"a":1}`, "c1", "f"), output,
			responses.ResponseInputItemParamOfCustomToolCall("c2", "x\ny", "g"),
			responses.ResponseInputItemParamOfReasoning("rs", []responses.ResponseReasoningItemSummaryParam{{Text: "hm"}}),
		}},
		Tools: []responses.ToolUnionParam{responses.ToolParamOfFunction("f", map[string]any{"type": "object"}, true), responses.ToolParamOfWebSearch("web_search"), responses.ToolParamOfMcp("srv")},
	})
	r := read(t, format.Responses, body)
	want := []format.Message{
		message(format.User, text("u")), message(format.Assistant, format.Part{Kind: format.Call, CallID: "c1", Name: "f", Args: []byte(`{"a":1}`)}),
		message(format.ToolRole, format.Part{Kind: format.Result, CallID: "c1", Text: "r"}),
		message(format.Assistant, format.Part{Kind: format.Call, CallID: "c2", Name: "g", Args: []byte(`{"input":"x\ny"}`)}),
		message(format.Assistant, format.Part{Kind: format.Thinking, Text: "hm"}),
	}
	if d := cmp.Diff(want, r.New, withoutPlaces); d != "" {
		t.Errorf("items (-want +got):\n%s", d)
	}
	tools := []format.Tool{{Name: "f", Schema: []byte(`{"type":"object"}`)}, {Name: "web_search", Hosted: true}, {Name: "srv", Hosted: true}}
	if d := cmp.Diff(tools, r.Tools); d != "" || r.Hints.Previous != "resp_1" || len(r.Head) != 1 {
		t.Errorf("got %+v, %v; tools (-want +got):\n%s", r.Hints, r.Head, d)
	}
}

func TestWhatTheAnthropicClientSendsIsRead(t *testing.T) {
	body := sdkBody(t, anthropic.MessageNewParams{
		Model: "claude-opus-4-6", MaxTokens: 10,
		System: []anthropic.TextBlockParam{{Text: "s", CacheControl: anthropic.NewCacheControlEphemeralParam()}},
		Messages: []anthropic.MessageParam{
			anthropic.NewUserMessage(anthropic.NewTextBlock("u")),
			anthropic.NewAssistantMessage(anthropic.NewThinkingBlock("sig", "hm"), anthropic.NewToolUseBlock("t1", map[string]any{"a": 1}, "f")),
			anthropic.NewUserMessage(anthropic.NewToolResultBlock("t1", "r", true), anthropic.NewTextBlock("and?")),
		},
		Tools:      []anthropic.ToolUnionParam{anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{}, "f"), {OfWebSearchTool20250305: &anthropic.WebSearchTool20250305Param{}}},
		ToolChoice: anthropic.ToolChoiceParamOfTool("f"),
	})
	r := read(t, format.Messages, body)
	want := []format.Message{
		message(format.User, text("u")),
		message(format.Assistant, format.Part{Kind: format.Thinking, Text: "hm"}, format.Part{Kind: format.Call, CallID: "t1", Name: "f", Args: []byte(`{"a":1}`)}),
		message(format.User, format.Part{Kind: format.Result, CallID: "t1", Text: "r", Error: true}, text("and?")),
	}
	if d := cmp.Diff(want, r.New, withoutPlaces); d != "" {
		t.Errorf("messages (-want +got):\n%s", d)
	}
	if len(r.Tools) != 2 || r.Tools[0].Name != "f" || !r.Tools[1].Hosted || len(r.Head) != 1 {
		t.Errorf("got tools %+v, head %+v", r.Tools, r.Head)
	}
	var back anthropic.MessageNewParams
	out := apply(t, format.Messages, body, format.Edit{Hide: []string{"f"}, Notice: "n"})
	if err := json.Unmarshal([]byte(out), &back); err != nil || len(back.Tools) != 1 || len(back.System) != 2 || back.ToolChoice.OfAuto == nil {
		t.Errorf("the client reads our edit as %d tools and %d system blocks, %v; want 1 and 2:\n%s", len(back.Tools), len(back.System), err, out)
	}
}
