package relay_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/tidemark/tidemark/internal/test/mcptest"
)

// streaming is an upstream with sessions: GET is a stream that stays open and says its session once, POST a call.
func streaming(t *testing.T) *upstream {
	return newUpstream(t, func(w http.ResponseWriter, r *http.Request, body string) {
		id := r.Header.Get("Mcp-Session-Id")
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\",\"params\":{\"uri\":%q}}\n\n", id)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if strings.Contains(body, `"initialize"`) {
			w.Header().Set("Mcp-Session-Id", strings.Trim(body[strings.LastIndex(body, ":"):], `:"}`))
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}}}}`)
			return
		}
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":%q}]}}`, id)
	})
}

// Many sessions of the older revisions at once, each with an open stream and calls of its own, all in one conversation.
// With MCP_REAL a thousand, and what each costs is bounded, the client's and the upstream's side included.
// MCP-39
func TestManySessionsWithOpenStreams(t *testing.T) {
	sessions, rounds := 100, 2
	if os.Getenv("MCP_REAL") != "" {
		sessions, rounds = 1000, 5
	}
	u := streaming(t)
	g := newGateway(t, "trustRules:\n  - {name: mine, tools: [\"up__*\"], trust: local}\n", map[string]string{"up": u.URL})
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	do := func(method, session, body string) (*http.Response, error) {
		req, err := http.NewRequestWithContext(t.Context(), method, g.url+"/mcp/up", strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		req.Header = http.Header{
			"Authorization": {"Bearer " + mcptest.Token}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		}
		if session != "" {
			req.Header.Set("Mcp-Session-Id", session)
		}
		return client.Do(req)
	}
	said := func(session, body, want string) {
		res, err := do(http.MethodPost, session, body)
		if err != nil {
			t.Error(err)
			return
		}
		raw, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || res.StatusCode != http.StatusOK || !strings.Contains(string(raw), want) {
			t.Errorf("%s: got %d %s, %v; want %s", session, res.StatusCode, raw, err, want)
		}
	}
	before := inUse()
	each(sessions, func(i int) {
		id := fmt.Sprintf("s-%d", i)
		said("", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"x":"`+id+`"}}`, "2025-11-25")
		res, err := do(http.MethodGet, id, "")
		if err != nil {
			t.Error(err)
			return
		}
		t.Cleanup(func() { _ = res.Body.Close() })
		if line, err := bufio.NewReaderSize(res.Body, 512).ReadString('}'); err != nil || !strings.Contains(line, `"`+id+`"`) {
			t.Errorf("the stream of %s: got %q, %v", id, line, err)
		}
	})
	for range rounds {
		each(sessions, func(i int) {
			id := fmt.Sprintf("s-%d", i)
			said(id, look, `"`+id+`"`)
		})
	}
	u.mu.Lock()
	u.seen, u.body = nil, nil // what the test remembers is not what a session costs
	u.mu.Unlock()
	per := (inUse() - before) / int64(sessions)
	if t.Logf("%d sessions, %d bytes each", sessions, per); sessions >= 1000 && per > 150<<10 { // a few share what all need
		t.Errorf("a session costs %d bytes, want at most 150 kB", per)
	}
}

// each does something for many, a few at once.
func each(n int, do func(i int)) {
	var all sync.WaitGroup
	slots := make(chan struct{}, 32)
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			do(i)
		})
	}
	all.Wait()
}

// inUse is what is in use once nothing else is.
func inUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
