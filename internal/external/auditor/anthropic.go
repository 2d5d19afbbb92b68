package auditor

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// anthropicVersion is the version of the messages API that is spoken here.
const anthropicVersion = "2023-06-01"

// anthropicAPI speaks the messages API.
type anthropicAPI struct {
	speaker
	endpoint

	name string
}

func newAnthropic(o *Options, u *url.URL, client *http.Client) *anthropicAPI {
	m := &anthropicAPI{name: o.Model, endpoint: newEndpoint(o, u, client)}
	m.header.Set("Anthropic-Version", anthropicVersion)
	if o.Key != "" {
		m.header.Set("X-Api-Key", o.Key)
	}
	m.last.Store(&dialect{completionTokens: true}) // it has one name for the limit
	return m
}

// messagesRequest is the body of a request for a message.
type messagesRequest struct {
	Model       string         `json:"model"`
	MaxTokens   int            `json:"max_tokens"`
	System      []textBlock    `json:"system"`
	Messages    []messageParam `json:"messages"`
	Temperature *float64       `json:"temperature,omitzero"`
	Output      *outputConfig  `json:"output_config,omitzero"`
}

// outputConfig holds a model to a form of its answer.
type outputConfig struct {
	Format outputFormat `json:"format"`
}

type outputFormat struct {
	Type   string           `json:"type"`
	Schema strictjson.Value `json:"schema"`
}

type messageParam struct {
	Role    string      `json:"role"`
	Content []textBlock `json:"content"`
}

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// blocks is a text as the one block of a content.
func blocks(text string) []textBlock { return []textBlock{{Type: "text", Text: plain(text)}} }

// messagesAnswer is what is read of an answer.
type messagesAnswer struct {
	Content    []textBlock `json:"content"`
	StopReason string      `json:"stop_reason"`
	Usage      struct {
		In     int `json:"input_tokens"`
		Cached int `json:"cache_read_input_tokens"`
		Out    int `json:"output_tokens"`
	} `json:"usage"`
}

func (m *anthropicAPI) ask(ctx context.Context, r *request) (string, error) {
	at, err := m.endpoint.of(r.session)
	if err != nil {
		return "", err
	}
	return m.speak(func(d dialect) (string, error) {
		body := messagesRequest{
			Model:       m.name,
			MaxTokens:   r.maxTokens,
			System:      blocks(r.system),
			Messages:    []messageParam{{Role: "user", Content: blocks(r.user)}},
			Temperature: d.temperature(),
		}
		if r.schema != "" && !d.noSchema {
			body.Output = &outputConfig{outputFormat{"json_schema", strictjson.Value(r.schema)}}
		}
		var res *messagesAnswer
		if err := at.exchange(ctx, "v1/messages", &body, &res); err != nil {
			return "", err
		}
		if res != nil {
			r.cost(res.Usage.In+res.Usage.Cached, res.Usage.Out)
		}
		return message(res)
	})
}

// message is the text of an answer that is complete and nothing but text and thoughts.
func message(res *messagesAnswer) (string, error) {
	if res == nil {
		return "", errMalformed
	}
	switch res.StopReason {
	case "end_turn":
	case "refusal":
		return "", fmt.Errorf("%w: the model refused", errNoAnswer)
	case "max_tokens":
		return "", fmt.Errorf("%w: it was cut off at the token limit", errNoAnswer)
	default:
		return "", fmt.Errorf("%w: it did not end by itself", errNoAnswer)
	}
	var b strings.Builder
	for _, block := range res.Content {
		switch block.Type {
		case "text":
			b.WriteString(block.Text)
		case "thinking", "redacted_thinking":
		default:
			return "", fmt.Errorf("%w: it has more than text", errNoAnswer)
		}
	}
	return b.String(), nil
}

func (m *anthropicAPI) list(ctx context.Context) error { return m.endpoint.list(ctx, "v1/models") }
