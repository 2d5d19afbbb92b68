//go:build e2e

package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// heldLong is longer than clients wait that hear nothing.
const heldLong = 75 * time.Second

// heldByGateway: a call is held for longer than clients wait by themselves; a person approves, and the client that waited
// gets its result.
func heldByGateway(t *testing.T, r *rig) { heldFor(t, r, heldLong) }

// heldByHTTP is the same with a server that is reached over HTTP.
func heldByHTTP(t *testing.T, r *rig) { heldOverHTTP(t, r, heldLong) }

// TestHeld: as long as the specification of the gateway says, every agent at once, in front of servers that it starts
// and of one that is reached over HTTP.
// MCP-20
func TestHeld(t *testing.T) {
	long, err := time.ParseDuration(os.Getenv("E2E_HELD"))
	if err != nil {
		t.Skip("make mcp says how long (E2E_HELD=5m)")
	}
	for _, r := range rigs() {
		if _, has := servings[r.name]; !has {
			continue
		}
		for how, run := range map[string]func(t *testing.T, r *rig, long time.Duration){"started": heldFor, "over HTTP": heldOverHTTP} {
			t.Run(r.name+" "+how, func(t *testing.T) {
				t.Parallel()
				if why := missing(r.name); why != "" {
					t.Skip(why)
				}
				if run(t, r, long); !t.Failed() {
					fmt.Fprintf(os.Stderr, "%s %s: held for %v\n", r.name, how, long)
				}
			})
		}
	}
}

func heldFor(t *testing.T, r *rig, long time.Duration) {
	s := servings[r.name]
	w := open(t, r, with{bare: true, file: own("10m"), last: s.serve})
	w.model.script(s.reads(w), s.remembers("after"), step{say: done})
	w.heldTurn(long, "Read notes.txt with the server and remember after.")
	if memory := w.file("memory.jsonl"); strings.Count(memory, `"after"`) != 1 {
		t.Errorf("the server was asked to remember %q, want after once", memory)
	}
}

// heldTurn runs a turn with one call that is held for so long, and then approved.
func (w *world) heldTurn(long time.Duration, prompt string) {
	w.t.Helper()
	w.held = long
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	answered := make(chan error, 1)
	go func() {
		_, err := w.asked(ctx)
		if err == nil {
			select {
			case <-time.After(long):
			case <-ctx.Done():
			}
			err = w.approveNext(ctx)
		}
		answered <- err
	}()
	out := w.turn(prompt)
	cancel()
	if err := <-answered; err != nil {
		w.t.Errorf("approve: %v", err)
	}
	if saw := w.model.latest(); strings.Contains(saw, "is blocked by security policy") || !w.model.done() {
		w.t.Errorf("the model was told no, or nothing; it saw\n%s\nand the agent printed\n%s", tail([]byte(saw)), tail([]byte(out)))
	}
}

// hub is a server over HTTP that knows the notes and remembers.
type hub struct {
	mu         sync.Mutex
	remembered []string // guarded by mu
}

type remembering struct {
	Name string `json:"name"`
}

func (h *hub) handler() http.Handler {
	s := mcp.NewServer(&mcp.Implementation{Name: "hub", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "read_notes", Description: "Reads the notes"},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: notes}}}, nil, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "remember", Description: "Remembers a name for later"},
		func(_ context.Context, _ *mcp.CallToolRequest, in remembering) (*mcp.CallToolResult, any, error) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.remembered = append(h.remembered, in.Name)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "remembered"}}}, nil, nil
		})
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
}

func (h *hub) got() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.remembered...)
}

func heldOverHTTP(t *testing.T, r *rig, long time.Duration) {
	h := &hub{}
	srv := httptest.NewServer(h.handler())
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	s := servings[r.name]
	w := open(t, r, with{bare: true, file: fmt.Sprintf("mcp: {wait: 10m, servers: {hub: {url: %q}}}\n", srv.URL), last: s.connect})
	remember := s.tool("hub", "remember")
	remember.args = obj{"name": "after"}
	w.model.script(s.tool("hub", "read_notes"), remember, step{say: done})
	w.heldTurn(long, "Read the notes of the hub and remember after.")
	if got := h.got(); len(got) != 1 || got[0] != "after" {
		t.Errorf("the server was asked to remember %q, want after once", got)
	}
}

// connect gives the agent the gateway's address of a server over HTTP.
func (s serving) connect(w *world) {
	w.t.Helper()
	var tokens struct {
		Agent string `json:"agent"`
	}
	raw, err := os.ReadFile(filepath.Join(w.data, "tokens.json"))
	if err == nil {
		err = strictjson.Unmarshal(raw, &tokens)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	s.write(w, s.remote(w.address()+"/mcp/hub", "Bearer "+tokens.Agent))
}
