package doctor

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/tidemark/tidemark/tool"
)

// LLMDoor is the proxy to models, asked as a client asks it: its upstream "canary" stands
// for a model that wants a call which must be blocked.
func LLMDoor(url, agentToken string) Door {
	return Door{Name: "LLM proxy", Try: func(ctx context.Context) (Trial, error) {
		if url == "" {
			return Trial{How: "no server runs"}, nil
		}
		var got struct {
			Choices []struct {
				Message struct {
					Content   *string           `json:"content"`
					ToolCalls []json.RawMessage `json:"tool_calls"`
				} `json:"message"`
			} `json:"choices"`
		}
		exec := map[string]any{"name": "exec", "parameters": map[string]any{"type": "object"}}
		body := map[string]any{
			"model":    "canary",
			"messages": []any{map[string]any{"role": "user", "content": "run the canary"}},
			"tools":    []any{map[string]any{"type": "function", "function": exec}},
		}
		c := newClient(url, agentToken, agentToken)
		if err := c.call(ctx, http.MethodPost, "/llm/canary/v1/chat/completions", body, &got); err != nil {
			return Trial{}, err
		}
		if len(got.Choices) != 1 || got.Choices[0].Message.Content == nil && len(got.Choices[0].Message.ToolCalls) == 0 {
			return Trial{How: "the answer is not one of a model"}, nil
		}
		if len(got.Choices[0].Message.ToolCalls) > 0 {
			return Trial{Ran: true, How: "the client got the call with " + tool.Canary}, nil
		}
		return Trial{Ran: true, Blocked: true, How: reason(*got.Choices[0].Message.Content)}, nil
	}}
}
