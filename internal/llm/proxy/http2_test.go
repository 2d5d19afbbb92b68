package proxy_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/internal/llm/proxy"
)

// multiplexer is a provider that speaks HTTP/2 over TLS, on one address through restarts.
// What it answers stands in the user's message.
type multiplexer struct {
	t       *testing.T
	addr    string
	server  *httptest.Server
	slow    chan struct{} // closed when slow answers may go on
	begun   chan struct{} // told of every slow or endless answer
	running sync.WaitGroup
	older   atomic.Int64 // requests that came by another protocol
}

func newMultiplexer(t *testing.T) *multiplexer {
	m := &multiplexer{t: t, slow: make(chan struct{}), begun: make(chan struct{}, 1024)}
	m.start("127.0.0.1:0")
	m.addr = m.server.Listener.Addr().String()
	t.Cleanup(func() {
		m.server.CloseClientConnections()
		m.server.Close()
		m.running.Wait()
	})
	return m
}

func (m *multiplexer) start(addr string) {
	m.t.Helper()
	l, err := net.Listen("tcp", addr) //nolint:noctx // on this machine
	if err != nil {
		m.t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(m.serve))
	_ = s.Listener.Close() // its own
	s.Listener, s.EnableHTTP2 = l, true
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	s.StartTLS()
	m.server = s
}

// goAway tells clients to come no more, lets what is under way end, and begins anew.
func (m *multiplexer) goAway(ended func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- m.server.Config.Shutdown(ctx) }()
	ended()
	cancel() // connections made in the same moment are not told; they end with the server
	<-done
	m.crash(func() {})
}

// crash cuts every connection and begins anew.
func (m *multiplexer) crash(ended func()) {
	_ = m.server.Config.Close() // what is lost is the point
	m.server.Close()
	m.start(m.addr)
	ended()
}

func (m *multiplexer) serve(w http.ResponseWriter, r *http.Request) {
	m.running.Add(1)
	defer m.running.Done()
	if r.ProtoMajor != 2 {
		m.older.Add(1)
	}
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(events ...string) {
		for _, e := range events {
			_, _ = io.WriteString(w, e)
			_ = http.NewResponseController(w).Flush()
		}
	}
	asked := string(body)
	switch {
	case strings.Contains(asked, "ask: good"):
		send(chatCallEvents("call-good", "add", `{"a":1}`)...)
	case strings.Contains(asked, "ask: bad"):
		send(chatCallEvents("call-bad", "wipe", `{}`)...)
	case strings.Contains(asked, "ask: endless"):
		send(chunk(`{"content":"one"}`, "null"))
		m.begun <- struct{}{}
		<-r.Context().Done()
	case strings.Contains(asked, "ask: slow"):
		send(chunk(`{"content":"one"}`, "null"))
		m.begun <- struct{}{}
		select {
		case <-m.slow:
		case <-r.Context().Done():
		}
		send(chatEvents("two")...)
	default:
		send(chatEvents("text of many words, one after the other")...)
	}
}

// openMultiplexed is a proxy with places for so many requests before a multiplexer.
func openMultiplexed(t *testing.T, places int) (*world, *multiplexer) {
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
	m := newMultiplexer(t)
	w := open(t, func(o *proxy.Options) {
		o.Upstreams = []proxy.Upstream{{Name: "openai", API: "openai", BaseURL: "https://" + m.addr}}
		o.MaxConcurrent = places
	})
	return w, m
}

// manual is a long instruction that many conversations begin with.
var manual = fmt.Sprintf(`{"role":"system","content":%q}`, strings.Repeat("Be kind to everybody who asks. ", 6*format.BlockSize/31))

// stream asks for an answer of a kind and reads its lines until enough is true. Whole
// reports that it looks complete: the body came to its end and holds no error event.
func (w *world) stream(kind string, n int, enough func(line string) bool) (text string, whole bool, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	said := user(fmt.Sprintf("ask: %s %d", kind, n))
	body := chatRequest(true, said)
	if n%2 == 1 { // what the provider has had before of a long one is sent on before it is judged
		body = fmt.Sprintf(`{"model":"m","stream":true,"messages":[%s,%s]}`, manual, said)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+"/openai/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		return "", false, err
	}
	req.Header.Set("Authorization", "Bearer "+clientKey)
	resp, err := w.client.Do(req)
	if err != nil {
		return "", false, err
	}
	defer resp.Body.Close()
	var all strings.Builder
	lines := bufio.NewReader(resp.Body)
	for {
		line, err := lines.ReadString('\n')
		all.WriteString(line)
		switch {
		case errors.Is(err, io.EOF):
			return all.String(), resp.StatusCode == http.StatusOK && !strings.Contains(all.String(), `"server_error"`), nil
		case err != nil:
			return all.String(), false, nil // broken off
		case enough(line):
			return all.String(), false, nil
		}
	}
}

func toTheEnd(string) bool { return false }

// sound complains about an answer that no client may ever see.
func sound(t *testing.T, kind, text string, whole bool) {
	t.Helper()
	if strings.Contains(text, "call-bad") {
		t.Errorf("%s: a call without a permit reached the client: %s", kind, text)
	}
	if whole && !strings.Contains(text, "[DONE]") {
		t.Errorf("%s: an answer that broke off looks whole: %s", kind, text)
	}
	if whole && kind == "good" && !strings.Contains(text, "call-good") {
		t.Errorf("good: got %s, want the call", text)
	}
	if whole && kind == "bad" && !strings.Contains(text, "is blocked by security policy") {
		t.Errorf("bad: got %s, want the refusal", text)
	}
}

// later reports whether an answer says to come again: somebody who left, or a connection
// that died with the server before, has yet to be noticed.
func later(text string) bool {
	return strings.Contains(text, "too many requests at once") || strings.Contains(text, "upstream openai: the connection broke")
}

// crowd asks for n answers at once, of every kind; those who ask for an endless one leave
// after its first line.
func (w *world) crowd(t *testing.T, n int, must bool) {
	t.Helper()
	kinds := []string{"text", "good", "bad", "endless"}
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			kind := kinds[i/2%len(kinds)]
			enough := toTheEnd
			if kind == "endless" {
				enough = func(line string) bool { return strings.Contains(line, "one") }
			}
			text, whole, err := w.stream(kind, i, enough)
			for must && later(text) {
				text, whole, err = w.stream(kind, i, enough)
			}
			if err != nil {
				t.Errorf("%s: %v", kind, err)
			}
			sound(t, kind, text, whole)
			if must && kind != "endless" && !whole {
				t.Errorf("%s: got %s, want a whole answer", kind, text)
			}
		})
	}
	wg.Wait()
}

func TestOverHTTP2AStreamThatStandsHoldsNobodyUp(t *testing.T) {
	const places = 96
	w, m := openMultiplexed(t, places)
	var slow sync.WaitGroup
	for i := range 8 {
		slow.Go(func() {
			text, whole, err := w.stream("slow", i, toTheEnd)
			if err != nil || !whole || !strings.Contains(text, "two") {
				t.Errorf("slow: got %s, %v, want a whole answer", text, err)
			}
		})
	}
	for range 8 {
		<-m.begun
	}
	for range 2 { // they begin and end while the slow ones stand
		w.crowd(t, places-8, true)
	}
	close(m.slow)
	slow.Wait()
	if n := m.older.Load(); n > 0 {
		t.Errorf("%d requests came by another protocol than HTTP/2", n)
	}
	w.crowd(t, places, true) // every place gets free again
}

func TestOverHTTP2AProviderThatGoesAwayOrCrashesLosesNoPlace(t *testing.T) {
	const places = 64
	w, m := openMultiplexed(t, places)
	for name, restart := range map[string]func(func()){"goes away": m.goAway, "crashes": m.crash} {
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { w.crowd(t, places/4, false) })
			<-m.begun // they are in the middle of it
			restart(wg.Wait)
		}
		w.crowd(t, places, true)
		if t.Failed() {
			t.Fatalf("after a provider that %s", name)
		}
	}
}
