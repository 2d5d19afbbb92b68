package eino_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/tidemark/tidemark/sdk/go/eino"
	"github.com/tidemark/tidemark/sdk/go/guardtest"
)

type scripted struct{ heard []string }

func (s *scripted) Generate(_ context.Context, in []*schema.Message, _ ...model.Option) (*schema.Message, error) {
	s.heard = append(s.heard, in[len(in)-1].Content)
	if n := len(s.heard); n <= len(guardtest.Calls) {
		c := guardtest.Calls[n-1]
		args, err := json.Marshal(c.Args)
		return schema.AssistantMessage("", []schema.ToolCall{{ID: c.Name, Function: schema.FunctionCall{Name: c.Name, Arguments: string(args)}}}), err
	}
	return schema.AssistantMessage(guardtest.Answer, nil), nil
}

func (s *scripted) Stream(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	m, err := s.Generate(ctx, in, opts...)
	return schema.StreamReaderFromArray([]*schema.Message{m}), err
}

func (s *scripted) WithTools([]*schema.ToolInfo) (model.ToolCallingChatModel, error) { return s, nil }

func TestWhatAPageAsksForIsStoppedAndTheRunGoesOn(t *testing.T) {
	var ran []string
	make := func(name, result string) tool.BaseTool {
		made, err := utils.InferTool(name, strings.ReplaceAll(name, "_", " "), func(context.Context, map[string]any) (string, error) {
			ran = append(ran, name)
			return result, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	m := &scripted{}
	tools := compose.ToolsNodeConfig{Tools: []tool.BaseTool{make("web_fetch", guardtest.Page), make("send_email", "sent")}}
	agent, err := adk.NewChatModelAgent(t.Context(), &adk.ChatModelAgentConfig{
		Name: "assistant", Description: "assistant", Model: m, ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: tools},
		Handlers: []adk.ChatModelAgentMiddleware{eino.New(guardtest.Turn(t))},
	})
	if err != nil {
		t.Fatal(err)
	}
	events := adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: agent}).Query(t.Context(), guardtest.Words)
	for e, ok := events.Next(); ok; e, ok = events.Next() {
		if e.Err != nil {
			t.Fatal(e.Err)
		}
	}
	if want := []string{"web_fetch"}; !slices.Equal(ran, want) {
		t.Errorf("tools that ran: got %v, want %v", ran, want)
	}
	if len(m.heard) != 3 || !strings.Contains(m.heard[2], "blocked by security policy") {
		t.Errorf("the model heard: got %q, want a refusal as the third", m.heard)
	}
}
