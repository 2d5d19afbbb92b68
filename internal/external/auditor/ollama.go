package auditor

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// ollama speaks Ollama's own API. Its endpoint for chat completions takes no length of the context, and a server that has
// less than a prompt needs cuts the prompt and says nothing.
type ollama struct {
	endpoint

	name string
}

func newOllama(o *Options, u *url.URL, client *http.Client) *ollama {
	m := &ollama{name: o.Model, endpoint: endpoint{base: u, client: client, header: http.Header{}}}
	if o.Key != "" {
		m.header.Set("Authorization", "Bearer "+o.Key)
	}
	return m
}

// The length of the context that is asked for, in tokens: a token has two bytes at least, on the average of a prompt, and
// twelve at most.
const (
	leastContext = 4 << 10
	mostContext  = 64 << 10
	leastBytes   = 2
	mostBytes    = 12
)

type ollamaRequest struct {
	Model    string           `json:"model"`
	Messages []chatMessage    `json:"messages"`
	Stream   bool             `json:"stream"`
	Think    bool             `json:"think"`
	Format   strictjson.Value `json:"format,omitzero"`
	Options  ollamaOptions    `json:"options"`
}

type ollamaOptions struct {
	Temperature float64 `json:"temperature"`
	Context     int     `json:"num_ctx"`
	Predict     int     `json:"num_predict"`
}

// ollamaAnswer is what is read of an answer.
type ollamaAnswer struct {
	Message struct {
		Content   string     `json:"content"`
		ToolCalls []struct{} `json:"tool_calls"`
	} `json:"message"`
	Done   bool   `json:"done"`
	Reason string `json:"done_reason"`
	In     int    `json:"prompt_eval_count"`
	Out    int    `json:"eval_count"`
}

func (m *ollama) ask(ctx context.Context, r *request) (string, error) {
	size := len(r.system) + len(r.user)
	room := max(size/leastBytes+r.maxTokens, leastContext)
	if room > mostContext {
		return "", fmt.Errorf("%w: the prompt has %d bytes", errNoAnswer, size)
	}
	body := ollamaRequest{
		Model: m.name, Messages: []chatMessage{{"system", plain(r.system)}, {"user", plain(r.user)}},
		Options: ollamaOptions{Context: room, Predict: r.maxTokens},
	}
	if r.schema != "" {
		body.Format = strictjson.Value(r.schema)
	}
	var res *ollamaAnswer
	if err := m.exchange(ctx, "api/chat", &body, &res); err != nil {
		return "", err
	}
	switch {
	case res == nil:
		return "", errMalformed
	case !res.Done || res.Reason != "stop" || len(res.Message.ToolCalls) > 0:
		return "", fmt.Errorf("%w: it did not end by itself", errNoAnswer)
	case res.In > 0 && res.In < size/mostBytes:
		return "", fmt.Errorf("%w: the model read %d tokens of a prompt of %d bytes", errNoAnswer, res.In, size)
	}
	r.cost(res.In, res.Out)
	return res.Message.Content, nil
}

func (m *ollama) list(ctx context.Context) error { return m.endpoint.list(ctx, "api/tags") }
