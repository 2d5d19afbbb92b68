package proxy_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/tidemark/tidemark/internal/llm/proxy"
)

// Java's client offers HTTP/2 with every request in the clear.
func TestAClientThatOffersHTTP2IsServed(t *testing.T) {
	w := open(t)
	for _, path := range []string{"/openai/v1/chat/completions", "/openai/v1/embeddings"} {
		w.provider.only(answerJSON(chatText("Hello.")))
		g := w.do("POST", path, chatRequest(false, user("Hi")), "Connection", "Upgrade, HTTP2-Settings", "Upgrade", "h2c", "Http2-Settings", "AAEAAEAAAAIAAAAB")
		if g.status != http.StatusOK || !strings.Contains(g.body, "Hello.") {
			t.Errorf("%s: got %d %s", path, g.status, g.body)
		}
		if h := w.provider.last().header; h.Get("Upgrade") != "" || h.Get("Http2-Settings") != "" {
			t.Errorf("%s: the provider got %v", path, h)
		}
	}
	for _, to := range []string{"websocket", "h2c, websocket", "foo"} {
		if g := w.do("POST", "/openai/v1/chat/completions", chatRequest(false, user("Hi")), "Connection", "Upgrade", "Upgrade", to); g.status != http.StatusForbidden {
			t.Errorf("%s: got %d, want 403", to, g.status)
		}
	}
}

var packers = map[string]func(io.Writer) io.WriteCloser{
	"gzip": func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
	"br":   func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) },
	"zstd": func(w io.Writer) io.WriteCloser {
		z, _ := zstd.NewWriter(w) // fails for options alone
		return z
	},
}

func packed(t *testing.T, kind, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := packers[kind](&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPackedRequestsAndAnswersAreRead(t *testing.T) {
	for kind := range packers {
		t.Run(kind, func(t *testing.T) {
			w := open(t)
			pack := func(body, as string) http.HandlerFunc {
				return func(rw http.ResponseWriter, _ *http.Request) {
					rw.Header().Set("Content-Type", as)
					rw.Header().Set("Content-Encoding", kind)
					_, _ = io.WriteString(rw, packed(t, kind, body))
				}
			}
			const at = "/openai/v1/chat/completions"
			body := packed(t, kind, chatRequest(false, user("Hi")))
			w.provider.then(pack(chatText("Hello."), "application/json"), pack(chatCall("c-never", "wipe", "{}"), "application/json"), pack(strings.Join(chatCallEvents("c-never", "wipe", "{}"), ""), "text/event-stream"))
			if g := w.do("POST", at, body, "Content-Encoding", kind); g.body != chatText("Hello.") || g.header.Get("Content-Encoding") != "" {
				t.Errorf("got %d %s %v", g.status, g.body, g.header)
			}
			if s := w.provider.last(); !strings.Contains(s.body, user("Hi")) || s.header.Get("Content-Encoding") != "" {
				t.Errorf("sent %+v", s)
			}
			for _, stream := range []bool{false, true} {
				if g := w.do("POST", at, packed(t, kind, chatRequest(stream, user("Hi"))), "Content-Encoding", kind); g.status != http.StatusOK || strings.Contains(g.body, "c-never") || !strings.Contains(g.body, "blocked") {
					t.Errorf("a call, stream %v: got %d %s", stream, g.status, g.body)
				}
			}
			if g := w.do("POST", at, "not packed", "Content-Encoding", kind); g.status != http.StatusBadRequest {
				t.Errorf("not packed: got %d %s, want 400", g.status, g.body)
			}
			w.provider.only(answerJSON(`{}`))
			if g := w.do("POST", "/openai/v1/embeddings", packed(t, kind, `{"input":"x"}`), "Content-Encoding", kind); g.status != http.StatusOK || w.provider.last().body != `{"input":"x"}` {
				t.Errorf("passed on: got %d %s, sent %q", g.status, g.body, w.provider.last().body)
			}
		})
	}
}

// The end of a stream goes out when it is decided, whenever the upstream closes.
func TestTheEndOfAStreamDoesNotWaitForTheUpstreamToClose(t *testing.T) {
	for name, c := range map[string]struct{ path, body, end string }{
		"chat":      {"/openai/v1/chat/completions", chatRequest(true, user("Hi")), strings.Join(chatCallEvents("call-1", "read_page", `{"url":"https://a.example"}`), "")},
		"messages":  {"/anthropic/v1/messages", `{"model":"m","stream":true,"max_tokens":9,"messages":[{"role":"user","content":"Hi"}]}`, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"content\":[]}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"},
		"responses": {"/openai/v1/responses", `{"model":"m","stream":true,"input":"Hi"}`, "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"output\":[]}}\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			free := make(chan struct{})
			w.provider.only(func(rw http.ResponseWriter, _ *http.Request) {
				rw.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(rw, c.end)
				_ = http.NewResponseController(rw).Flush()
				<-free
			})
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+c.path, strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := w.client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			late := time.AfterFunc(20*time.Second, func() { close(free) })
			seen, piece := "", make([]byte, 64<<10)
			for len(seen) < len(c.end) {
				n, err := resp.Body.Read(piece)
				if seen += string(piece[:n]); err != nil {
					t.Fatalf("got %q, %v", seen, err)
				}
			}
			if !late.Stop() {
				t.Error("the end came when the upstream closed")
			} else {
				close(free)
			}
			if seen != c.end {
				t.Errorf("got %q, want %q", seen, c.end)
			}
		})
	}
}

func TestAnUpstreamThatBreaksOffIsSaidToHaveDoneSo(t *testing.T) {
	w := open(t)
	w.provider.only(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(rw, chatEvents("Hello there")[0])
		_ = http.NewResponseController(rw).Flush()
		panic(http.ErrAbortHandler)
	})
	g := w.post("/openai/v1/chat/completions", chatRequest(true, user("Hi")))
	if !strings.Contains(g.body, "the upstream broke off in the middle of its answer") {
		t.Errorf("got %s", g.body)
	}
}

const ownerToken = "tm-owner-000102030405060708090a0b0c0d0e0f1011121314151617"

func TestOurTokensDoNotLeaveInABody(t *testing.T) {
	sum := sha256.Sum256([]byte(ownerToken))
	w := open(t, func(o *proxy.Options) {
		o.Tokens.Others = append(o.Tokens.Others, "sha256:"+hex.EncodeToString(sum[:]))
	})
	pad := strings.Repeat("x", 40<<10)
	for _, token := range []string{agentToken, adminToken, ownerToken} {
		for path, body := range map[string]string{
			"/openai/v1/chat/completions":   chatRequest(false, user("Hi"), calls("c", "read", "{}"), returned("c", `{"agent":"`+token+`"}`)),
			"/openai/v1/embeddings":         `{"input":"` + token + `"}`,
			"/openai/v1/files":              pad + token + pad,
			"/openai/v1/responses/r/cancel": `{"x":"` + token + `"}`,
		} {
			for range 2 {
				g := w.post(path, body)
				if g.status != http.StatusForbidden || !strings.Contains(g.body, "token of Tidemark's own") {
					t.Errorf("%s %.12s: got %d %s, want 403", path, token, g.status, g.body)
				}
			}
		}
	}
	for _, s := range w.provider.requests() {
		for _, token := range []string{agentToken, adminToken, ownerToken} {
			if strings.Contains(s.body, token) {
				t.Errorf("%s: the provider got %.12s", s.path, token)
			}
		}
	}
	w = open(t) // requests that broke off may still come in at the provider of the other
	w.provider.only(answerJSON(chatText("Hello.")))
	other := strings.Replace(ownerToken, "0001", "ffff", 1)
	if g := w.post("/openai/v1/chat/completions", chatRequest(false, user("What is tm-owner- for, and "+other))); g.status != http.StatusOK {
		t.Errorf("the form of a token, and one of others: got %d %s", g.status, g.body)
	}
	w.provider.only(answerJSON(`{}`))
	if g := w.post("/openai/v1/files", pad); g.status != http.StatusOK || w.provider.last().body != pad {
		t.Errorf("a file: got %d, sent %d bytes", g.status, len(w.provider.last().body))
	}
}

func TestAnUpstreamThatIsNotThereIsAnsweredWithThoseThatAre(t *testing.T) {
	w := open(t)
	for _, path := range []string{"/llm/mien/v1/chat/completions", "/opnai/v1/chat/completions", "/v1/messages", "/v1beta/models/g:generateContent", "/llm/x"} {
		g := w.post(path, "{}")
		if g.status != http.StatusNotFound || !strings.Contains(g.body, "/llm/mine") || !strings.Contains(g.body, "/openai") {
			t.Errorf("%s: got %d %s", path, g.status, g.body)
		}
	}
	if g := w.do("POST", "/llm/mien/v1/chat/completions", "{}", "Origin", "https://evil.example"); strings.Contains(g.body, "/llm/mine") {
		t.Errorf("a page: got %s", g.body)
	}
	w = open(t, func(o *proxy.Options) { o.RequireToken = true })
	if g := w.post("/llm/mien/v1/chat/completions", "{}"); g.status != http.StatusUnauthorized || strings.Contains(g.body, "/llm/mine") {
		t.Errorf("a stranger: got %d %s", g.status, g.body)
	}
}

func TestAVersionStandsOnceInAnAddress(t *testing.T) {
	for name, c := range map[string]struct{ api, base, path, want string }{
		"a client that puts no version":      {"anthropic", "", "/messages", "/v1/messages"},
		"one that puts it":                   {"anthropic", "", "/v1/messages", "/v1/messages"},
		"one that puts it twice":             {"anthropic", "", "/v1/v1/messages", "/v1/messages"},
		"a file that has it":                 {"openai", "/v1", "/v1/chat/completions", "/v1/chat/completions"},
		"a file that has it, and the client": {"openai", "/api/v1", "/chat/completions", "/api/v1/chat/completions"},
		"a file that has it below a path":    {"anthropic", "/api/v1", "/messages", "/api/v1/messages"},
		"a server that has none":             {"openai", "", "/chat/completions", "/chat/completions"},
		"versions that differ":               {"openai", "/v4", "/v1/chat/completions", "/v4/v1/chat/completions"},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, func(o *proxy.Options) {
				o.Upstreams = []proxy.Upstream{{Name: "x", API: c.api, BaseURL: o.Upstreams[0].BaseURL + c.base}}
			})
			w.provider.only(answerJSON(`{}`))
			w.post("/llm/x"+c.path, `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"Hi"}]}`)
			if got := w.provider.last().path; got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestAKeyGoesWhereTheProviderWantsIt(t *testing.T) {
	for header, want := range map[string]string{"": "Authorization: Bearer " + injected, "api-key": "Api-Key: " + injected, "authorization": "Authorization: Bearer " + injected} {
		w := open(t, func(o *proxy.Options) { o.Upstreams[3].KeyHeader = header })
		w.provider.only(answerJSON(chatText("Hello.")))
		w.post("/llm/mine/v1/chat/completions", chatRequest(false, user("Hi")))
		got := ""
		for _, name := range []string{"Authorization", "Api-Key", "X-Api-Key"} {
			if v := w.provider.last().header.Get(name); v != "" {
				got += fmt.Sprintf("%s: %s", name, v)
			}
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", header, got, want)
		}
	}
}

// A provider says that it answers before it does; the client hears so too.
func TestTheHeaderOfAStreamDoesNotWaitForItsFirstText(t *testing.T) {
	w := open(t)
	for _, status := range []int{http.StatusOK, http.StatusTooManyRequests} {
		heard := make(chan struct{})
		w.provider.only(func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "text/event-stream")
			rw.WriteHeader(status)
			_ = http.NewResponseController(rw).Flush()
			<-heard
			answerEvents(chatEvents("Hello there.")...)(rw, nil)
		})
		body := strings.NewReader(chatRequest(true, user(fmt.Sprint("Hi ", status))))
		resp, err := w.client.Post(w.url+"/openai/v1/chat/completions", "application/json", body)
		close(heard)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		if err = errors.Join(err, resp.Body.Close()); err != nil || resp.StatusCode != status || !strings.Contains(string(got), "there.") {
			t.Errorf("got %d %s, %v, want the whole answer", resp.StatusCode, got, err)
		}
	}
}
