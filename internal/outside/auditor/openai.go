package auditor

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// openAI speaks chat completions, the one protocol that local servers speak too.
type openAI struct {
	speaker

	name   string
	chat   openai.ChatCompletionService
	models openai.ModelService
}

// newOpenAI builds the services one by one: the SDK's whole client would take keys,
// addresses and headers from the environment.
func newOpenAI(o *Options, u *url.URL, client *http.Client) *openAI {
	opts := []option.RequestOption{option.WithBaseURL(u.String()), option.WithHTTPClient(client), option.WithMaxRetries(0)}
	if o.Key != "" {
		opts = append(opts, option.WithAPIKey(o.Key))
	}
	m := &openAI{name: o.Model, chat: openai.NewChatCompletionService(opts...), models: openai.NewModelService(opts...)}
	m.last.Store(&dialect{completionTokens: o.BaseURL == ""}) // what the provider's own endpoint wants
	return m
}

func (m *openAI) ask(ctx context.Context, r *request) (string, error) {
	return m.speak(func(d dialect) (string, error) {
		params := openai.ChatCompletionNewParams{
			Model:    m.name,
			Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(r.system), openai.UserMessage(r.user)},
		}
		if !d.noTemperature {
			params.Temperature = openai.Float(0)
		}
		if d.completionTokens {
			params.MaxCompletionTokens = openai.Int(int64(r.maxTokens))
		} else {
			params.MaxTokens = openai.Int(int64(r.maxTokens))
		}
		res, err := m.chat.New(ctx, params)
		if err != nil {
			return "", explain(err)
		}
		return completion(res)
	})
}

// completion is the text of an answer that is complete and nothing but text.
func completion(res *openai.ChatCompletion) (string, error) {
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

func (m *openAI) list(ctx context.Context) error {
	if _, err := m.models.List(ctx); err != nil {
		return explain(err)
	}
	return nil
}
