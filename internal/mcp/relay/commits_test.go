package relay_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tidemark/tidemark/internal/base/debounce"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/mcp/judge"
	"github.com/tidemark/tidemark/internal/mcp/relay"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/internal/test/mcptest"
)

// counted is a log that counts how often it is waited for.
type counted struct {
	engine.Store
	appends atomic.Int64
}

func (c *counted) Append(ctx context.Context, session string, at uint64, events []*event.Event) error {
	c.appends.Add(1)
	return c.Store.Append(ctx, session, at, events)
}

// A call of a real server, decided and answered, waits for the log once.
// MCP-38
func TestAnExchangeWaitsForOneRecord(t *testing.T) {
	type note struct {
		Text string `json:"text"`
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "notes", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "set_note", Description: "Saves a note"},
		func(context.Context, *mcp.CallToolRequest, note) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "saved"}}}, nil, nil
		})
	up := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}))
	t.Cleanup(up.Close)
	for name, policy := range map[string]string{"of the owner's": ownUp, "of a stranger's": "preset: permissive\ntaintPolicy: {untrusted: allow}\n"} {
		t.Run(name, func(t *testing.T) {
			log := &counted{Store: memory.New()}
			w := mcptest.On(t, policy, log)
			w.Engine.Soon = debounce.New(time.Hour, func(string) {}) // nobody but the next decision writes what waits
			r, err := relay.New(relay.Options{
				Upstreams: []relay.Upstream{{Server: judge.Server{Name: "up", URL: up.URL}}}, Port: w.Engine, Pins: mcptest.AcceptAll{},
				Transports: relay.Direct{}, Admission: w.Admission(), Owner: true, MaxMessage: 1 << 20, Logger: slog.New(slog.DiscardHandler),
			})
			if err != nil {
				t.Fatal(err)
			}
			srv := httptest.NewServer(r.Handler(http.NotFoundHandler()))
			t.Cleanup(srv.Close)
			g := &gateway{t, w, srv.URL}
			call := func(i int) {
				t.Helper()
				status, got := g.post("up", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"set_note","arguments":{"text":"a"}}}`, i))
				if status != http.StatusOK {
					t.Fatalf("got %d %s", status, got)
				}
			}
			call(0)
			const calls = 20
			before := log.appends.Load()
			for i := range calls {
				call(i + 1)
			}
			if n := log.appends.Load() - before; n != calls {
				t.Errorf("%d calls waited for the log %d times, want once each", calls, n)
			}
			if err := w.Monitor.Flush(t.Context(), "mcp:http"); err != nil {
				t.Fatal(err)
			}
			results := 0
			for e, err := range w.Monitor.Events(t.Context(), "mcp:http") {
				if err != nil {
					t.Fatal(err)
				}
				if e.Kind == event.ResultSeen {
					results++
				}
			}
			if results != calls+1 {
				t.Errorf("the log has %d results, want %d", results, calls+1)
			}
		})
	}
}
