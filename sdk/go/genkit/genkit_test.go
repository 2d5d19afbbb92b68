package genkit_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"

	guarded "github.com/tidemark/tidemark/sdk/go/genkit"
	"github.com/tidemark/tidemark/sdk/go/guardtest"
)

func TestWhatAPageAsksForIsStoppedAndTheRunGoesOn(t *testing.T) {
	var ran, heard []string
	g := genkit.Init(t.Context())
	make := func(name, result string) ai.ToolRef {
		about := strings.ReplaceAll(name, "_", " ")
		return genkit.DefineTool(g, name, about, func(*ai.ToolContext, map[string]any) (string, error) {
			ran = append(ran, name)
			return result, nil
		})
	}
	tools := []ai.ToolRef{make("web_fetch", guardtest.Page), make("send_email", "sent")}
	opts := &ai.ModelOptions{Supports: &ai.ModelSupports{Tools: true, Multiturn: true}}
	m := genkit.DefineModel(g, "test/scripted", opts, func(_ context.Context, r *ai.ModelRequest, _ ai.ModelStreamCallback) (*ai.ModelResponse, error) {
		raw, err := json.Marshal(r.Messages[len(r.Messages)-1])
		heard = append(heard, string(raw))
		part := ai.NewTextPart(guardtest.Answer)
		if n := len(heard); n <= len(guardtest.Calls) {
			c := guardtest.Calls[n-1]
			part = ai.NewToolRequestPart(&ai.ToolRequest{Name: c.Name, Input: c.Args, Ref: c.Name})
		}
		return &ai.ModelResponse{Request: r, Message: ai.NewModelMessage(part), FinishReason: ai.FinishReasonStop}, err
	})
	out, err := genkit.Generate(t.Context(), g, ai.WithModel(m), ai.WithPrompt(guardtest.Words), ai.WithTools(tools...),
		ai.WithUse(guarded.Middleware{Turn: guardtest.Turn(t)}))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"web_fetch"}; !slices.Equal(ran, want) {
		t.Errorf("tools that ran: got %v, want %v", ran, want)
	}
	if len(heard) != 3 || !strings.Contains(heard[2], "blocked by security policy") || out.Text() != guardtest.Answer {
		t.Errorf("the model heard: got %q, want a refusal as the third", heard)
	}
}

func TestWithoutATurnNothingRuns(t *testing.T) {
	if _, err := (guarded.Middleware{}).New(t.Context()); err == nil {
		t.Error("New without a turn: got no error")
	}
}
