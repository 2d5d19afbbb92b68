package proxy

import (
	"net/http"
	"strconv"

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

// unavailable is a problem that may be gone soon.
func unavailable(text string) *problem {
	return &problem{status: http.StatusServiceUnavailable, text: text, retry: true}
}

func (p *problem) Error() string { return p.text }

// write answers with the problem. SDKs try some statuses again by themselves; ours that
// would only fail again say so.
func (p *problem) write(w http.ResponseWriter, api format.API) {
	body := api.Problem(p.status, "Tidemark: "+p.text)
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("X-Content-Type-Options", "nosniff")
	if kind := api.ErrorKind(p.status); kind != "" {
		h.Set("X-Amzn-Errortype", kind)
	}
	if p.retry {
		h.Set("Retry-After", "1")
	} else {
		h.Set("X-Should-Retry", "false")
	}
	w.WriteHeader(p.status)
	_, _ = w.Write(body) //nolint:gosec // JSON, typed as such and not sniffed; a client that is gone cannot be told
}
