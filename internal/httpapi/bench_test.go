package httpapi_test

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/httpapi"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/internal/store/notify"
	"github.com/tidemark/tidemark/internal/store/sqlite"
	"github.com/tidemark/tidemark/policy"
)

// clients is how many agents call at once per processor.
const clients = 16

// hammer sends before_tool_call from many keep-alive clients, each in a session of its own.
func hammer(b *testing.B, url string) {
	transport := &http.Transport{MaxIdleConnsPerHost: 1024}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	var sessions atomic.Int64
	b.ReportAllocs()
	b.SetParallelism(clients)
	b.RunParallel(func(pb *testing.PB) {
		body := fmt.Appendf(nil, `{"event":{"toolName":"read","toolCallId":"call-1","params":{"path":"/home/me/project/main.go","offset":10,"limit":200}},"ctx":%s}`,
			owner(fmt.Sprintf("agent:main:bench:%d", sessions.Add(1))))
		for pb.Next() {
			r, err := http.NewRequest(http.MethodPost, url+"/v1/hooks/before_tool_call", bytes.NewReader(body))
			if err != nil {
				b.Error(err)
				return
			}
			r.Header.Set("Authorization", "Bearer "+agentToken)
			r.Header.Set("Content-Type", "application/json")
			res, err := client.Do(r)
			if err != nil {
				b.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
			if res.StatusCode != http.StatusOK {
				b.Errorf("got status %d", res.StatusCode)
				return
			}
		}
	})
}

// BenchmarkBareHandler is what HTTP and JSON cost on their own: the same request decoded,
// an answer of the same shape encoded, nothing decided and nothing kept.
func BenchmarkBareHandler(b *testing.B) {
	type answer struct {
		Tidemark struct {
			Taint, Verdict, Rule, Tool string
			Step                       uint64
			Reasons                    []policy.Reason
		} `json:"tidemark"`
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if _, err := hook.Decode(hook.NameBeforeToolCall, raw); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		var a answer
		a.Tidemark.Taint, a.Tidemark.Verdict, a.Tidemark.Rule, a.Tidemark.Tool = "owner", "allow", "toolOverrides.read.*", "read"
		a.Tidemark.Reasons = []policy.Reason{{Rule: "toolOverrides.read.*", Effect: policy.Allow, Text: "the tool is safe to call whatever the context holds"}}
		w.Header().Set("Content-Type", "application/json")
		_ = strictjson.Write(w, a)
	}))
	defer server.Close()
	hammer(b, server.URL)
}

func BenchmarkBeforeToolCall(b *testing.B) {
	b.Run("memory", func(b *testing.B) { benchmarkStore(b, &memory.Store{}) })
	b.Run("sqlite", func(b *testing.B) {
		log, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "log.db"), sqlite.Options{})
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = log.Close() }()
		benchmarkStore(b, log)
	})
}

// logStore is a store with everything the API reads.
type logStore interface {
	engine.Store
	httpapi.Log
}

func benchmarkStore(b *testing.B, log logStore) {
	f := notify.New(log)
	monitor, err := engine.New(engine.Options{Policy: policy.Default(), Store: f, Now: time.Now, Rand: rand.Reader})
	if err != nil {
		b.Fatal(err)
	}
	logger := slog.New(slog.DiscardHandler)
	api, err := httpapi.New(httpapi.Options{
		Monitor: monitor, Log: log, Feed: f, Bus: hook.New(hook.Options{Logger: logger}), Logger: logger,
		Tokens: httpapi.Tokens{Agent: agentToken},
	})
	if err != nil {
		b.Fatal(err)
	}
	server := httptest.NewServer(api.Handler())
	defer server.Close()
	hammer(b, server.URL)
}
