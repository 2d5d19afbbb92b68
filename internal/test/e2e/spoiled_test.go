//go:build e2e

package e2e_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/test/prooftest"
)

// spoiler is a way for the answer about a call to go wrong.
type spoiler struct {
	name   string
	answer func(w http.ResponseWriter, r *http.Request)
}

var spoilers = []spoiler{
	{"cut short", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"tidemark":{"verdict":"allow"`)
	}},
	{"an empty object", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{}`) }},
	{"status 500", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"tidemark":{"verdict":"allow"}}`, http.StatusInternalServerError)
	}},
	{"no answer at all", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }},
}

// agentToken is the secret of the data folder.
func (w *world) agentToken() string {
	w.t.Helper()
	raw, err := os.ReadFile(filepath.Join(w.data, "tokens.json"))
	if err != nil {
		w.t.Fatal(err)
	}
	var tokens struct {
		Agent string `json:"agent"`
	}
	if err := strictjson.Unmarshal(raw, &tokens); err != nil {
		w.t.Fatal(err)
	}
	return tokens.Agent
}

// between puts a proxy before the server that answers questions about calls as the
// spoiler of the moment does.
func (w *world) between() {
	w.t.Helper()
	file := filepath.Join(w.data, "server.json")
	raw, err := os.ReadFile(file)
	if err != nil {
		w.t.Fatal(err)
	}
	var running struct {
		URL string `json:"url"`
		PID int    `json:"pid"`
	}
	if err := strictjson.Unmarshal(raw, &running); err != nil {
		w.t.Fatal(err)
	}
	to, err := url.Parse(running.URL)
	if err != nil {
		w.t.Fatal(err)
	}
	pass := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	// It stands between with the folder's secret, as nobody else could.
	srv := httptest.NewServer(prooftest.Handler(w.agentToken(), http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if s := w.spoiler.Load(); s != nil && strings.HasSuffix(r.URL.Path, "/before_tool_call") {
			_, _ = io.Copy(io.Discard, r.Body) // so that the caller's leaving is noticed
			s.answer(rw, r)
			return
		}
		pass.ServeHTTP(rw, r)
	})))
	w.t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	running.URL = srv.URL
	out, err := strictjson.Marshal(running)
	if err != nil {
		w.t.Fatal(err)
	}
	w.write(w.data, "server.json", string(out))
}
