package auditor

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

// anthropicAPI speaks the messages API.
type anthropicAPI struct {
	speaker

	name     string
	messages anthropic.MessageService
	models   anthropic.ModelService
}

// newAnthropic builds the services one by one, like newOpenAI and for the same reason.
// Traces stay off: they could carry prompts away, and headers to the endpoint.
func newAnthropic(o *Options, u *url.URL, client *http.Client) *anthropicAPI {
	opts := []option.RequestOption{
		option.WithBaseURL(u.String()), option.WithHTTPClient(client), option.WithMaxRetries(0),
		option.WithoutOpenTelemetry(), option.WithOpenTelemetryPropagation(false),
	}
	if o.Key != "" {
		opts = append(opts, option.WithAPIKey(o.Key))
	}
	m := &anthropicAPI{name: o.Model, messages: anthropic.NewMessageService(opts...), models: anthropic.NewModelService(opts...)}
	m.last.Store(&dialect{completionTokens: true}) // it has one name for the limit
	return m
}

func (m *anthropicAPI) ask(ctx context.Context, r *request) (string, error) {
	return m.speak(func(d dialect) (string, error) {
		params := anthropic.MessageNewParams{
			Model:     m.name,
			MaxTokens: int64(r.maxTokens),
			System:    []anthropic.TextBlockParam{{Text: r.system}},
			Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(r.user))},
		}
		if !d.noTemperature {
			params.Temperature = anthropic.Float(0)
		}
		res, err := m.messages.New(ctx, params)
		if err != nil {
			return "", explain(err)
		}
		return message(res)
	})
}

// message is the text of an answer that is complete and nothing but text and thoughts.
func message(res *anthropic.Message) (string, error) {
	if res == nil {
		return "", errMalformed
	}
	switch res.StopReason {
	case anthropic.StopReasonEndTurn:
	case anthropic.StopReasonRefusal:
		return "", fmt.Errorf("%w: the model refused", errNoAnswer)
	case anthropic.StopReasonMaxTokens:
		return "", fmt.Errorf("%w: it was cut off at the token limit", errNoAnswer)
	default:
		return "", fmt.Errorf("%w: it did not end by itself", errNoAnswer)
	}
	var b strings.Builder
	for i := range res.Content {
		switch block := &res.Content[i]; block.Type {
		case "text":
			b.WriteString(block.Text)
		case "thinking", "redacted_thinking":
		default:
			return "", fmt.Errorf("%w: it has more than text", errNoAnswer)
		}
	}
	return b.String(), nil
}

func (m *anthropicAPI) list(ctx context.Context) error {
	if _, err := m.models.List(ctx, anthropic.ModelListParams{}); err != nil {
		return explain(err)
	}
	return nil
}
