//go:build unix

package growth_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"

	"github.com/tidemark/tidemark/internal/app"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/datafolder"
)

// house is a whole server, as it ships, in this process: with models and MCP servers that are scripted.
type house struct {
	testing.TB
	app     *app.App
	data    string
	url     string
	answers atomic.Pointer[script]
	last    atomic.Int64 // session that was begun
	tried   sync.Map     // paths
}

// script is how an upstream answers.
type script struct{ kind, body string }

type fields = map[string]any

// raw is a value as it is sent.
type raw []byte

const upstreams = `
  upstreams:
    openai: {baseUrl: %[1]q}
    anthropic: {baseUrl: %[1]q}
    gemini: {baseUrl: %[1]q}
    vertex: {baseUrl: %[1]q, api: vertex}
    bedrock: {baseUrl: %[1]q, api: bedrock}
    ollama: {baseUrl: %[1]q, api: ollama}
`

// newHouse starts one. Calls that are held wait so long.
func newHouse(t testing.TB, wait string) *house {
	t.Helper()
	h := &house{TB: t, data: t.TempDir()}
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := h.answers.Load()
		if r.Header.Get("Upgrade") != "" {
			speak(w, r, s.body)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		if s == nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", s.kind)
		_, _ = io.WriteString(w, s.body)
	}))
	t.Cleanup(upstream.Close)
	p := datafolder.Paths{Data: h.data, Config: filepath.Join(h.data, "tidemark.yaml")}
	file := "server: {maxBodyBytes: 33554432}\nmcp: {wait: " + wait + ", pin: off, servers: {mail: {url: " + upstream.URL + "}}}\nllm:\n  wait: " + wait +
		fmt.Sprintf(upstreams, upstream.URL)
	if err := os.WriteFile(p.Config, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	h.app, err = app.New(t.Context(), app.Options{Paths: p, Listen: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if h.url, err = h.app.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		if err := h.app.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return h
}

// speak is a model on a websocket, which answers what is said first.
func speak(w http.ResponseWriter, r *http.Request, answer string) {
	c, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = c.CloseNow() }()
	c.SetReadLimit(-1)
	if _, _, err := c.Read(r.Context()); err == nil {
		_ = c.Write(r.Context(), websocket.MessageText, []byte(answer)) // who is gone is not answered
	}
	_, _, _ = c.Read(r.Context()) // until it is closed
}

// session is the name of one that nobody used yet.
func (h *house) session() string { return fmt.Sprint("growth-", h.last.Add(1)) }

// post sends a body, and is what came back.
func (h *house) post(path, body string, header ...string) string {
	h.Helper()
	req, err := http.NewRequestWithContext(h.Context(), http.MethodPost, h.url+path, bytes.NewReader([]byte(body)))
	if err != nil {
		h.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+h.app.Tokens.Admin)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		h.Fatal(err)
	}
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		h.Fatal(err)
	}
	_ = res.Body.Close()
	_, again := h.tried.LoadOrStore(path, true) // the first is small; what is too large may be refused, and so may an upstream's answer
	if res.StatusCode >= 500 && res.StatusCode != http.StatusBadGateway || !again && res.StatusCode != http.StatusOK {
		h.Fatalf("%s: %d %.500s to %.2000s", path, res.StatusCode, raw, body)
	}
	return string(raw)
}

// hook posts one event of a session of the owner's.
func (h *house) hook(session, name string, event fields) string {
	h.Helper()
	return h.post("/v1/hooks/"+name, h.body(session, event))
}

func (h *house) body(session string, event fields) string {
	h.Helper()
	parts := make([]string, 0, len(event))
	for name, value := range event {
		raw, ok := value.(raw) // which may be what no library writes
		if !ok {
			text, err := strictjson.Marshal(value)
			if err != nil {
				h.Fatal(err)
			}
			raw = text
		}
		parts = append(parts, quote(name)+":"+string(raw))
	}
	return `{"event":{` + strings.Join(parts, ",") + `},"ctx":{"sessionKey":` + quote(session) + `,"messageProvider":"test","senderId":"owner","senderIsOwner":true}}`
}

// argued is a session in which the owner said something, and a page was read.
func (h *house) argued(words string) string {
	h.Helper()
	name := h.session()
	h.hook(name, "message_received", fields{"content": words})
	h.hook(name, "after_tool_call", fields{"toolName": "web_fetch", "params": fields{"url": "https://x.example/"}, "result": "a page: f1 a/x w2"})
	return name
}
