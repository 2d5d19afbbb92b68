package proxy

import (
	"net/http"
	"strconv"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/llm/format"
)

// problem is an error as the client sees it, in the form of the API it speaks. Nothing but
// what is in it leaves the process.
type problem struct {
	status int
	text   string
	retry  bool // the client should try again soon
}

func newProblem(status int, text string) *problem { return &problem{status: status, text: text} }

func (p *problem) Error() string { return p.text }

// kind is the status in the words of OpenAI and Anthropic, which agree on most.
func (p *problem) kind() string {
	switch p.status {
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusNotFound:
		return "not_found_error"
	case http.StatusRequestEntityTooLarge:
		return "request_too_large"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case http.StatusServiceUnavailable:
		return "overloaded_error"
	}
	if p.status >= http.StatusInternalServerError {
		return "api_error"
	}
	return "invalid_request_error"
}

// google is the status in Google's words.
func (p *problem) google() string {
	switch p.status {
	case http.StatusUnauthorized:
		return "UNAUTHENTICATED"
	case http.StatusForbidden:
		return "PERMISSION_DENIED"
	case http.StatusNotFound:
		return "NOT_FOUND"
	case http.StatusTooManyRequests:
		return "RESOURCE_EXHAUSTED"
	case http.StatusServiceUnavailable:
		return "UNAVAILABLE"
	}
	if p.status >= http.StatusInternalServerError {
		return "INTERNAL"
	}
	return "INVALID_ARGUMENT"
}

// body is the error in the API's own form. Its fields are text and numbers: it cannot fail
// but for text that is no UTF-8.
func (p *problem) body(api format.API) []byte {
	text := "Tidemark: " + p.text
	var v any
	switch api {
	case format.Messages:
		v = map[string]any{"type": "error", "error": map[string]any{"type": p.kind(), "message": text}}
	case format.Gemini:
		v = map[string]any{"error": map[string]any{"code": p.status, "message": text, "status": p.google()}}
	default:
		v = map[string]any{"error": map[string]any{"message": text, "type": p.kind(), "param": nil, "code": "tidemark"}}
	}
	raw, err := strictjson.Marshal(v)
	if err != nil {
		return []byte(`{"error":{"message":"Tidemark: the request was not served"}}`)
	}
	return raw
}

// write answers with the problem. SDKs try some statuses again by themselves; ours that
// would only fail again say so.
func (p *problem) write(w http.ResponseWriter, api format.API) {
	body := p.body(api)
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("X-Content-Type-Options", "nosniff")
	if p.retry {
		h.Set("Retry-After", "1")
	} else {
		h.Set("X-Should-Retry", "false")
	}
	w.WriteHeader(p.status)
	_, _ = w.Write(body) //nolint:gosec // JSON, typed as such and not sniffed; a client that is gone cannot be told
}
