package auditor

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// openAI speaks chat completions, the one protocol that local servers speak too.
type openAI struct {
	speaker
	endpoint

	name string
}

func newOpenAI(o *Options, u *url.URL, client *http.Client) *openAI {
	m := &openAI{name: o.Model, endpoint: newEndpoint(o, u, client)}
	if o.Key != "" {
		m.header.Set("Authorization", "Bearer "+o.Key)
	}
	// What the provider's own endpoint wants.
	m.last.Store(&dialect{completionTokens: o.BaseURL == "" && o.Provider == OpenAI || o.Provider == Upstream})
	return m
}

// chatRequest is the body of a request for a chat completion.
type chatRequest struct {
	Model               string        `json:"model"`
	Messages            []chatMessage `json:"messages"`
	Temperature         *float64      `json:"temperature,omitzero"`
	MaxTokens           int           `json:"max_tokens,omitzero"`
	MaxCompletionTokens int           `json:"max_completion_tokens,omitzero"`

	ResponseFormat *responseFormat `json:"response_format,omitzero"`
}

// responseFormat holds a model to a form of its answer.
type responseFormat struct {
	Type   string     `json:"type"`
	Schema jsonSchema `json:"json_schema"`
}

type jsonSchema struct {
	Name   string           `json:"name"`
	Strict bool             `json:"strict"`
	Schema strictjson.Value `json:"schema"`
}

type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// chatCompletion is what is read of an answer.
type chatCompletion struct {
	Choices []struct {
		FinishReason string `json:"finish_reason"`
		Message      struct {
			Content   string     `json:"content"`
			Refusal   string     `json:"refusal"`
			ToolCalls []struct{} `json:"tool_calls"`
		} `json:"message"`
	} `json:"choices"`
	Usage struct {
		In  int `json:"prompt_tokens"`
		Out int `json:"completion_tokens"`
	} `json:"usage"`
}

func (m *openAI) ask(ctx context.Context, r *request) (string, error) {
	at, err := m.endpoint.of(r.session)
	if err != nil {
		return "", err
	}
	return m.speak(func(d dialect) (string, error) {
		body := chatRequest{
			Model:       m.name,
			Messages:    []chatMessage{{"system", plain(r.system)}, {"user", plain(r.user)}},
			Temperature: d.temperature(),
		}
		if r.schema != "" && !d.noSchema {
			body.ResponseFormat = &responseFormat{"json_schema", jsonSchema{r.kind, true, strictjson.Value(r.schema)}}
		}
		if d.completionTokens {
			body.MaxCompletionTokens = r.maxTokens
		} else {
			body.MaxTokens = r.maxTokens
		}
		var res *chatCompletion
		if err := at.exchange(ctx, "chat/completions", &body, &res); err != nil {
			return "", err
		}
		if res != nil {
			r.cost(res.Usage.In, res.Usage.Out)
		}
		return completion(res)
	})
}

// completion is the text of an answer that is complete and nothing but text.
func completion(res *chatCompletion) (string, error) {
	if res == nil {
		return "", errMalformed
	}
	if len(res.Choices) != 1 {
		return "", fmt.Errorf("%w: %d choices", errNoAnswer, len(res.Choices))
	}
	choice := &res.Choices[0]
	switch {
	case choice.Message.Refusal != "" || choice.FinishReason == "content_filter":
		return "", fmt.Errorf("%w: the model refused", errNoAnswer)
	case choice.FinishReason == "length":
		return "", fmt.Errorf("%w: it was cut off at the token limit", errNoAnswer)
	case choice.FinishReason != "stop" || len(choice.Message.ToolCalls) > 0:
		return "", fmt.Errorf("%w: it did not end by itself", errNoAnswer)
	}
	return choice.Message.Content, nil
}

func (m *openAI) list(ctx context.Context) error { return m.endpoint.list(ctx, "models") }
