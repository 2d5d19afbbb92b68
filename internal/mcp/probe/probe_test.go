package probe_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/mcp/probe"
)

// server answers as an MCP server of either era does, and notes what it was asked.
type server struct {
	modern bool
	stream bool
	asked  []string
	heads  []http.Header
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	var m struct {
		ID     any    `json:"id"`
		Method string `json:"method"`
		Params struct {
			Cursor string         `json:"cursor"`
			Meta   map[string]any `json:"_meta"`
		} `json:"params"`
	}
	_ = json.Unmarshal(raw, &m)
	s.asked, s.heads = append(s.asked, m.Method), append(s.heads, r.Header.Clone())
	var result any
	switch {
	case m.Method == "notifications/initialized":
		w.WriteHeader(http.StatusAccepted)
		return
	case m.Method == "server/discover" && s.modern:
		result = map[string]any{"supportedVersions": []string{"2026-07-28"}, "_meta": map[string]any{"io.modelcontextprotocol/serverInfo": map[string]any{"name": "new"}}}
	case m.Method == "initialize" && !s.modern:
		w.Header().Set("Mcp-Session-Id", "s1")
		result = map[string]any{"protocolVersion": "2025-06-18", "serverInfo": map[string]any{"name": "old"}}
	case m.Method == "tools/list" && m.Params.Cursor == "":
		result = map[string]any{"tools": []any{map[string]any{"name": "a"}}, "nextCursor": "2"}
	case m.Method == "tools/list":
		result = map[string]any{"tools": []any{map[string]any{"name": "b"}}}
	case m.Method == "tools/call":
		result = map[string]any{"content": []any{}, "isError": true}
	default:
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%v,"error":{"code":-32601,"message":"unknown"}}`, m.ID)
		return
	}
	out, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result})
	if !s.stream {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(out)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	fmt.Fprintf(w, ": hi\n\nid: 1\ndata:\n\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\nevent: message\ndata: %s\n\n", out)
}

func TestServersOfBothErasAreAsked(t *testing.T) {
	for name, c := range map[string]struct {
		s       *server
		version string
		asked   []string
	}{
		"modern":            {&server{modern: true}, "2026-07-28", []string{"server/discover", "tools/list", "tools/list"}},
		"modern, streaming": {&server{modern: true, stream: true}, "2026-07-28", []string{"server/discover", "tools/list", "tools/list"}},
		"with a handshake": {&server{}, "2025-06-18", []string{
			"server/discover", "initialize", "notifications/initialized", "tools/list", "tools/list",
		}},
		"with a handshake, streaming": {&server{stream: true}, "2025-06-18", []string{
			"server/discover", "initialize", "notifications/initialized", "tools/list", "tools/list",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			h := httptest.NewServer(c.s)
			defer h.Close()
			f, err := probe.Server(t.Context(), h.Client(), h.URL, "")
			if err != nil || f.Version != c.version || !slices.Equal(f.Tools, []string{"a", "b"}) || !slices.Equal(c.s.asked, c.asked) {
				t.Errorf("got %+v, %v; asked %v", f, err, c.s.asked)
			}
			last := c.s.heads[len(c.s.heads)-1]
			if last.Get("MCP-Protocol-Version") != c.version || (last.Get("Mcp-Session-Id") == "s1") == c.s.modern || (last.Get("Mcp-Method") == "tools/list") != c.s.modern {
				t.Errorf("got headers %v", last)
			}
			if _, err := probe.Server(t.Context(), h.Client(), h.URL, "a"); err == nil || !strings.Contains(err.Error(), "failed") {
				t.Errorf("a tool that fails: got %v", err)
			}
		})
	}
}

func TestWhatIsNoServerIsSaid(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"a page":             func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
		"nothing":            func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) },
		"a stream that ends": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/event-stream") },
		"no result":          func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1}`) },
		"pages without end": func(w http.ResponseWriter, r *http.Request) {
			var m struct {
				ID any `json:"id"`
			}
			_ = json.NewDecoder(r.Body).Decode(&m)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%v,"result":{"nextCursor":"x"}}`, m.ID)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(h)
			defer s.Close()
			f, err := probe.Server(t.Context(), s.Client(), s.URL, "")
			if err == nil {
				t.Errorf("got %+v, want an error", f)
			}
			var no *probe.Refused
			if name == "nothing" && (!errors.As(err, &no) || no.Status != http.StatusNotFound) {
				t.Errorf("got %v, want its status", err)
			}
		})
	}
}
