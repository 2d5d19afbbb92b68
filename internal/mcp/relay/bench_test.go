package relay_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/mcp/judge"
	"github.com/tidemark/tidemark/internal/mcp/relay"
	"github.com/tidemark/tidemark/internal/pins"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/internal/test/mcptest"
)

// answering is an upstream without a network.
type answering struct{}

func (answering) Transport(judge.Server) (http.RoundTripper, error) { return answering{}, nil }

func (answering) RoundTrip(*http.Request) (*http.Response, error) {
	const body = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"saved"}]}}`
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)),
	}, nil
}

// What the gateway itself costs for one call of about 200 bytes, without any network.
func BenchmarkCall(b *testing.B) {
	w := mcptest.New(b, "trustRules:\n  - {name: own, tools: ['up__*'], trust: local}\n")
	k, err := pins.Open(b.Context(), pins.Options{Store: memory.New(), Now: time.Now, Mode: pins.Off})
	if err != nil {
		b.Fatal(err)
	}
	r, err := relay.New(relay.Options{
		Upstreams: []relay.Upstream{{Server: judge.Server{Name: "up", URL: "http://127.0.0.1:1"}}}, Port: w.Engine, Pins: pins.For[judge.Server]{Port: k},
		Transports: answering{}, Admission: w.Admission(), Owner: true, MaxMessage: 1 << 20, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	h := r.Handler(http.NotFoundHandler())
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"set_note","arguments":{"title":"a","text":"` + strings.Repeat("x", 100) + `"}}}`
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		req := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:8417/mcp/up", strings.NewReader(body))
		req.Header = http.Header{
			"Authorization": {"Bearer " + mcptest.Token}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
			"X-Tidemark-Session": {[]string{"s0", "s1", "s2", "s3"}[n/300%4]},
		}
		rec := httptest.NewRecorder()
		if h.ServeHTTP(rec, req); rec.Code != http.StatusOK {
			b.Fatal(rec.Body)
		}
	}
}
