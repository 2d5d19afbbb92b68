package sdkcompat_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/app"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/installation"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/tool"
)

// policy lets every tool run but one. What the tools answer is trusted by nobody, so the
// levels say nothing here: whether they do their work is tested elsewhere.
const policy = `
preset: classic
taintPolicy: {shared: allow, external: allow, untrusted: allow}
lethalTrifecta: 'off'
rules:
  - {name: no-wire, tools: [wire], effect: deny, reason: money stays where it is}
llm:
  upstreams:
    openai: {baseUrl: %[1]q}
    anthropic: {baseUrl: %[1]q}
    gemini: {baseUrl: %[1]q}
`

// keys is how every client's key begins. No log may have it, nor what a prompt says.
const keys = "key-of-"

// world is a whole server, in this process, before one upstream.
type world struct {
	app   *app.App
	paths datafolder.Paths
	url   string
	log   bytes.Buffer // of the server, everything it has to say; read when it has stopped
}

// newWorld starts the server, and stops it when the test ends. By then nothing of the
// proxy may run any more.
func newWorld(t *testing.T, upstream string) *world {
	t.Helper()
	w := &world{paths: datafolder.Paths{Data: t.TempDir()}}
	w.paths.Config = filepath.Join(w.paths.Data, "tidemark.yaml")
	if err := os.WriteFile(w.paths.Config, fmt.Appendf(nil, policy, upstream), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	logger := slog.New(slog.NewTextHandler(&w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if w.app, err = app.New(t.Context(), app.Options{Paths: w.paths, Listen: "127.0.0.1:0", Logger: logger}); err != nil {
		t.Fatal(err)
	}
	if w.url, err = w.app.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		proxyRests(t)
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := w.app.Stop(ctx); err != nil {
			t.Errorf("stop the server: %v", err)
		}
		for _, secret := range []string{keys, "hostile:", "go-on"} {
			if strings.Contains(w.log.String(), secret) {
				t.Errorf("%q stands in the log, a key or a prompt", secret)
			}
		}
	})
	return w
}

// base is where a client of one protocol is pointed at.
func (w *world) base(kind string) string {
	switch kind {
	case "messages":
		return w.url + "/anthropic"
	case "gemini":
		return w.url + "/gemini"
	default:
		return w.url + "/openai"
	}
}

// allowed counts the calls that the log says were allowed, by what exactly they were.
func (w *world) allowed(t *testing.T) map[tool.Digest]int {
	t.Helper()
	log, err := installation.OpenLog(t.Context(), w.paths)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	out, query := map[tool.Digest]int{}, store.EntryQuery{Kind: string(event.CallDecided), Limit: store.MaxLimit}
	for {
		page, err := log.Since(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page {
			query.After = e.ID
			event, err := event.FromRecord(e.Record)
			if err != nil {
				t.Fatal(err)
			}
			if event.Decided.Effect == "allow" {
				out[event.Decided.Digest]++
			}
		}
		if len(page) < store.MaxLimit {
			return out
		}
	}
}

// decidedFirst fails the test where a client was given a call that was not allowed before.
func (w *world) decidedFirst(t *testing.T, results []result) {
	t.Helper()
	allowed := w.allowed(t)
	for _, r := range results {
		for _, c := range r.handed() {
			d := tool.Call{Name: c.Name, Args: []byte(c.Args)}.Digest()
			if allowed[d]--; allowed[d] < 0 {
				t.Errorf("%s: the client was given %s(%s), which the log does not allow", r.ID, c.Name, c.Args)
			}
		}
	}
}

// proxyRests fails the test where a goroutine still works for a request.
func proxyRests(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for ; ; time.Sleep(5 * time.Millisecond) {
		busy := working()
		if len(busy) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("%d goroutines of the proxy are left, such as\n%s", len(busy), busy[0])
			return
		}
	}
}

// working are the goroutines that stand in the proxy's own code.
func working() []string {
	stacks := make([]byte, 4<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	var out []string
	for s := range strings.SplitSeq(string(stacks), "\n\n") {
		if strings.Contains(s, "internal/llm/proxy") {
			out = append(out, s)
		}
	}
	return out
}
