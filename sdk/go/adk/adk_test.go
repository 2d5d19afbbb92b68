package adk_test

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"testing"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"

	"github.com/tidemark/tidemark/sdk/go/adk"
	"github.com/tidemark/tidemark/sdk/go/guardtest"
	"github.com/tidemark/tidemark/trust"
)

type scripted struct{ heard []string }

func (*scripted) Name() string { return "scripted" }

func (s *scripted) GenerateContent(_ context.Context, r *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		raw, err := json.Marshal(r.Contents[len(r.Contents)-1])
		s.heard = append(s.heard, string(raw))
		part := genai.NewPartFromText(guardtest.Answer)
		if n := len(s.heard); n <= len(guardtest.Calls) {
			c := guardtest.Calls[n-1]
			part = genai.NewPartFromFunctionCall(c.Name, c.Args)
		}
		yield(&model.LLMResponse{Content: genai.NewContentFromParts([]*genai.Part{part}, genai.RoleModel)}, err)
	}
}

func TestWhatAPageAsksForIsStoppedAndTheRunGoesOn(t *testing.T) {
	var ran []string
	make := func(name, result string) tool.Tool {
		about := functiontool.Config{Name: name, Description: strings.ReplaceAll(name, "_", " ")}
		made, err := functiontool.New(about, func(agent.Context, map[string]any) (map[string]any, error) {
			ran = append(ran, name)
			return map[string]any{"result": result}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	m := &scripted{}
	root, err := llmagent.New(llmagent.Config{
		Name: "assistant", Model: m, Tools: []tool.Tool{make("web_fetch", guardtest.Page), make("send_email", "sent")},
	})
	if err != nil {
		t.Fatal(err)
	}
	guarded, err := adk.Plugin(guardtest.Monitor(t), func(string) trust.Sender { return guardtest.Anna })
	if err != nil {
		t.Fatal(err)
	}
	r, err := runner.New(runner.Config{
		AppName: "app", Agent: root, SessionService: session.InMemoryService(), AutoCreateSession: true,
		PluginConfig: runner.PluginConfig{Plugins: []*plugin.Plugin{guarded}},
	})
	if err != nil {
		t.Fatal(err)
	}
	words := genai.NewContentFromText(guardtest.Words, genai.RoleUser)
	for _, err := range r.Run(t.Context(), "anna", "s", words, agent.RunConfig{}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"web_fetch"}; !slices.Equal(ran, want) {
		t.Errorf("tools that ran: got %v, want %v", ran, want)
	}
	if len(m.heard) != 3 || !strings.Contains(m.heard[2], "blocked by security policy") {
		t.Errorf("the model heard: got %q, want a refusal as the third", m.heard)
	}
}
