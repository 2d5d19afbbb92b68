//go:build e2e

package e2e_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/base/peer"
	"github.com/tidemark/tidemark/internal/base/serverproof"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// spoiler is a way for the answer about a call to go wrong, and what is said of it: by the hook program, and by OpenClaw's plugin.
type spoiler struct {
	name   string
	words  []string
	answer func(w http.ResponseWriter, r *http.Request)
}

// yes is an answer that lets a call run, if it is one to that call.
const yes = `{"tidemark":{"taint":"owner","verdict":"allow"}}`

var spoilers = []spoiler{
	{"garbage", []string{"read answer", "not a JSON object"}, says("\x00\x01 yes")},
	{"half an answer", []string{"read answer", "not a JSON object"}, says(yes[:len(yes)-2])},
	{"cut off", []string{"unexpected EOF", "aborted"}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "4000")
		_, _ = io.WriteString(w, yes)
		_ = http.NewResponseController(w).Flush() // it is on its way when the line breaks
		panic(http.ErrAbortHandler)
	}},
	{"an empty object", []string{"not Tidemark's", "malformed"}, says(`{}`)},
	{"the answer to a prompt", []string{"neither yes nor no", "allows nothing"}, says(`{"tidemark":{"taint":"owner"}}`)},
	{"the answer to another call", []string{"not one to this question"}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set(serverproof.AskHeader, strings.Repeat("0", 64))
		_, _ = io.WriteString(w, yes)
	}},
	{"an answer to nothing", []string{"not one to this question"}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Del(serverproof.AskHeader)
		_, _ = io.WriteString(w, yes)
	}},
	{"status 500", []string{"500"}, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, yes, http.StatusInternalServerError) }},
	{"too late", []string{"no answer within"}, func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-time.After(time.Minute):
			_, _ = io.WriteString(w, yes)
		}
	}},
}

func says(body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }
}

// badAnswers: what is no answer to this call, or none in time, refuses it, and it is said why. The prompt before it was heard by the
// real server, so a good answer would have let it run, as it does in the end.
func badAnswers(t *testing.T, r *rig) {
	w := open(t, r, with{})
	for _, s := range spoilers {
		mark, last, heard := r.run(w, "echo ran > ran.txt"), step{say: done}, len(w.model.saw())
		var between *middle
		mark.before = func() { between = w.between(s) }
		last.before = func() { between.leave() }
		w.model.script(mark, last)
		out := w.turn("Run the command that makes ran.txt.")
		if between == nil {
			t.Fatalf("%s: the call was never tried", s.name)
		}
		between.leave()
		if got := w.file("ran.txt"); got != "" {
			t.Errorf("%s: ran.txt is %q, want none", s.name, got)
		}
		if n := between.asked.Load(); n == 0 || !w.model.tried() || !r.ends && !w.model.done() {
			t.Errorf("%s: asked about %d times, left %v: the story proves nothing", s.name, n, !w.model.done())
		}
		text := out + w.model.saw()[heard:]
		if !r.ends && !slices.ContainsFunc(s.words, func(said string) bool { return strings.Contains(text, said) }) {
			t.Errorf("%s: nobody was told (none of %q); it printed:\n%s", s.name, s.words, tail([]byte(out)))
		}
	}
	w.model.script(r.run(w, "echo ran > ran.txt"), step{say: done})
	w.turn("Run the command that makes ran.txt.")
	if got := w.file("ran.txt"); got != "ran" {
		t.Errorf("after the server recovered: ran.txt is %q, want it written", got)
	}
}

// middle stands in the place of the server's socket, with the secrets of the folder, as nobody else could.
type middle struct {
	asked atomic.Int32 // about calls
	srv   *http.Server
	leave func() // puts the server's own back; a second time it does nothing
}

// between answers questions about calls as the spoiler does, and hands everything else on. It takes the name of the socket from the
// server, which keeps listening on it: whoever asks next, when it has left, is seen by the server as before.
func (w *world) between(s spoiler) *middle {
	w.t.Helper()
	path := peer.Socket(w.data)
	aside := path + ".real"
	if err := os.Rename(path, aside); err != nil {
		w.t.Errorf("the server has no socket: %v", err)
		return nil
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		w.t.Error(err)
		return nil
	}
	l.SetUnlinkOnClose(false)
	if err := os.Chmod(path, 0o600); err != nil {
		w.t.Error(err)
	}
	m := &middle{}
	m.srv = &http.Server{Handler: w.spoiled(s, m, aside), ReadHeaderTimeout: patience}
	var left atomic.Bool
	m.leave = func() {
		if left.CompareAndSwap(false, true) {
			if err := os.Rename(aside, path); err != nil {
				w.t.Error(err)
			}
			_ = l.Close()
		}
	}
	go func() { _ = m.srv.Serve(l) }()
	w.t.Cleanup(func() { _ = m.srv.Close() })
	return m
}

func (w *world) spoiled(s spoiler, m *middle, aside string) http.Handler {
	at, keys := w.address(), w.agentKeys()
	to, err := url.Parse(at)
	if err != nil {
		w.t.Error(err)
	}
	pass := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) },
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			if c, err := (&net.Dialer{}).DialContext(ctx, "unix", aside); err == nil {
				return c, nil
			}
			return (&net.Dialer{}).DialContext(ctx, "unix", peer.Socket(w.data)) // after it has left
		}},
	}
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == serverproof.Path:
			answer, err := keys[r.Header.Get(serverproof.KeyHeader)].Show(r.Header.Get(serverproof.Header), at)
			if err != nil {
				http.Error(rw, err.Error(), http.StatusBadRequest)
				return
			}
			rw.Header().Set("Content-Type", "application/json")
			_ = strictjson.Write(rw, answer) // a client that is gone cannot be told
		case strings.HasSuffix(r.URL.Path, "/before_tool_call"):
			m.asked.Add(1)
			_, _ = io.Copy(io.Discard, r.Body) // so that the caller's leaving is noticed
			rw.Header().Set(serverproof.AskHeader, r.Header.Get(serverproof.AskHeader))
			s.answer(rw, r)
		default:
			pass.ServeHTTP(rw, r)
		}
	})
}

// agentKeys are what the server proves itself with, by their names: of the common token, and of each agent's own.
func (w *world) agentKeys() map[string]serverproof.Key {
	var tokens struct {
		Agent string `json:"agent"`
	}
	raw, err := os.ReadFile(filepath.Join(w.data, "tokens.json"))
	if err == nil {
		err = strictjson.Unmarshal(raw, &tokens)
	}
	if err != nil {
		w.t.Error(err)
	}
	secrets := []string{tokens.Agent}
	files, _ := filepath.Glob(filepath.Join(w.data, "agents", "*.token"))
	for _, f := range files {
		own, err := os.ReadFile(f)
		if err != nil {
			w.t.Error(err)
		}
		secrets = append(secrets, strings.TrimSpace(string(own)))
	}
	keys := map[string]serverproof.Key{}
	for _, s := range secrets {
		keys[serverproof.KeyOf(s).Name()] = serverproof.KeyOf(s)
	}
	return keys
}
