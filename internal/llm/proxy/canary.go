package proxy

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/tidemark/tidemark/tool"
)

// CanaryUpstream is the upstream that is always there and never leaves the process: its
// model answers every Chat request with a call that must be blocked. Whoever asks it and
// gets the call knows that nothing is judged here.
const CanaryUpstream = "canary"

// canary is its provider.
type canary struct{}

// RoundTrip implements http.RoundTripper.
func (canary) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_, err := io.Copy(io.Discard, r.Body)
		_ = r.Body.Close() // nothing was written
		if err != nil {
			return nil, err
		}
	}
	body := fmt.Sprintf(`{"id":"canary","object":"chat.completion","created":1,"model":"canary","choices":[{"index":0,`+
		`"message":{"role":"assistant","content":null,"tool_calls":[{"id":"canary","type":"function",`+
		`"function":{"name":"exec","arguments":"{\"command\":\"echo %s\"}"}}]},"finish_reason":"tool_calls"}]}`, tool.Canary)
	return &http.Response{
		StatusCode: http.StatusOK, Status: "200 OK", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)),
		ContentLength: int64(len(body)),
	}, nil
}
