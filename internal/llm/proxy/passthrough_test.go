package proxy_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/llm/proxy"
)

func TestPathsThatListCallsAreRefusedOrJudged(t *testing.T) {
	w := open(t)
	for _, c := range []struct{ method, path string }{
		{http.MethodGet, "/v1/conversations/conv_1/items"}, {http.MethodGet, "/v1/conversations/conv_1/items/i"}, {http.MethodPost, "/v1/conversations/conv_1/items"},
		{http.MethodGet, "/v1/responses/resp_1/input_items"}, {http.MethodGet, "/v1/chat/completions/c/messages"},
		{http.MethodPost, "/v1/text/chatcompletion_v2"}, {http.MethodPost, "/v1/chat/deferred-completion/1"},
	} {
		for range 2 {
			if g := w.do(c.method, "/openai"+c.path, "{}", "Authorization", "Bearer "+clientKey); g.status != http.StatusForbidden {
				t.Errorf("%s %s: got %d %s, want 403", c.method, c.path, g.status, g.body)
			}
		}
	}
	w.provider.then(answerJSON(chatCall("call-late", "wipe", "{}")))
	if g := w.do(http.MethodGet, "/openai/v1/chat/deferred-completion/1", "", "Authorization", "Bearer "+clientKey); g.status != http.StatusOK || strings.Contains(g.body, "call-late") {
		t.Errorf("a deferred answer: got %d %s, want its call refused", g.status, g.body)
	}
}

// try is post for an answer that may break off before its first byte.
func (w *world) try(path, body string) got {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.url+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Close = true // a connection that broke off must not be the next one's
	resp, err := w.client.Do(req)
	if err != nil {
		return got{body: "<broken off>"}
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		raw = append(raw, "<broken off>"...)
	}
	return got{resp.StatusCode, resp.Header, string(raw)}
}

func TestACallInAnAnswerThatIsNotJudgedDoesNotPass(t *testing.T) {
	w := open(t)
	pad := strings.Repeat("x", 100<<10)
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		passes bool
	}{
		"a call in Chat's form":       {answerJSON(chatCall("c-never", "wipe", "{}")), false},
		"one in Gemini's":             {answerJSON(`{"x":{"functionCall":{"name":"c-never"}}}`), false},
		"one in Anthropic's":          {answerJSON(`{"content":[{"type":"tool_use","name":"c-never"}]}`), false},
		"one that is spelt otherwise": {answerJSON(`{"\u0074ool_calls":[{"\u0066unction":{"name":"c-never"}}]}`), false},
		"after much else":             {answerJSON(`{"pad":"` + pad + `","tool_calls":[{"name":"c-never"}]}`), false},
		"in an event":                 {answerEvents("data: {\"a\":1}\n\n", "data: {\"tool_calls\":[{\"name\":\"c-never\"}]}\n\n"), false},
		"in an event in two pieces":   {answerEvents("data: {\"a\":1}\n\n", "data: {\"tool_", "calls\":[{\"name\":\"c-never\"}]}\n\n"), false},
		"packed though nobody asked": {func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Encoding", "gzip")
			answerJSON("c-never")(rw, r)
		}, false},
		"a text about calls": {answerJSON(`{"text":"say \"tool_calls\": [c-never]"}`), true},
		"another type":       {func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, `c-never "tool_calls"`) }, false},
		"much of nothing":    {answerJSON(`{"pad":"` + pad + `","name":"c-never"}`), true},
	} {
		for range 2 {
			w.provider.only(c.answer)
			g := w.try("/openai/v1/completions", `{"prompt":"x"}`)
			if strings.Contains(g.body, "c-never") != c.passes {
				t.Errorf("%s: got %d %.200s, want passes %t", name, g.status, g.body, c.passes)
			}
			if !c.passes && g.status != http.StatusBadGateway && !strings.Contains(g.body, "<broken off>") {
				t.Errorf("%s: got %d %.200s, want 502 or an answer broken off", name, g.status, g.body)
			}
		}
	}
	if h := w.provider.last().header.Get("Accept-Encoding"); h != "identity" {
		t.Errorf("asked for encoding %q, want identity", h)
	}
}

func TestAClientThatReadsNothingLosesItsPlace(t *testing.T) {
	for name, path := range map[string]string{"judged": "/openai/v1/chat/completions", "passed": "/openai/v1/audio/speech"} {
		t.Run(name, func(t *testing.T) {
			w := open(t, func(o *proxy.Options) { o.MaxConcurrent, o.Limits.Idle = 1, 200*time.Millisecond })
			gone := make(chan struct{})
			w.provider.then(func(rw http.ResponseWriter, _ *http.Request) {
				defer close(gone)
				rw.Header().Set("Content-Type", "text/event-stream")
				big := chunk(fmt.Sprintf(`{"content":%q}`, strings.Repeat("x", 100000)), "null")
				for {
					if _, err := io.WriteString(rw, big); err != nil {
						return
					}
				}
			})
			conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			body := chatRequest(true, user("hi"))
			if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body); err != nil {
				t.Fatal(err)
			}
			<-gone // the proxy has let the provider go, and with it the client
			for w.post("/openai/v1/models", "").status == http.StatusServiceUnavailable {
				runtime.Gosched() // its place is free a moment later
			}
		})
	}
}
