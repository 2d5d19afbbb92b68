package verifier_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/external/verifier"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// proxied counts the requests that went to the proxy of the environment. It is set
// for all tests: net/http reads that part of the environment only once.
var proxied atomic.Int32

func TestMain(m *testing.M) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { proxied.Add(1) }))
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY"} {
		if err := os.Setenv(name, proxy.URL); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent())
}

const secret = "0123456789abcdef of the test"

var errBroken = errors.New("broken")

// says answers every request with that status and body.
func says(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

var (
	allows = says(200, `{"decision":"allow"}`)
	denies = says(200, `{"decision":"deny","reason":"not today"}`)
)

// hangs answers nothing until the client gives up.
func hangs(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // else the server does not notice that the client has gone
	<-r.Context().Done()
}

// person is an Asker.
type person struct {
	ask   func(ctx context.Context, fields []verifier.Field) (bool, string, error)
	check func() error
}

func (p *person) Ask(ctx context.Context, _ string, fields []verifier.Field, _ time.Duration) (allow bool, by string, err error) {
	return p.ask(ctx, fields)
}

func (p *person) Check(context.Context) error { return p.check() }

func answers(allow bool, err error) *person {
	return &person{
		ask:   func(context.Context, []verifier.Field) (bool, string, error) { return allow, "@owner", err },
		check: func() error { return err },
	}
}

// waits never answers; withdrawn gets the reason why it was given up.
func waits(withdrawn chan<- error) *person {
	return &person{ask: func(ctx context.Context, _ []verifier.Field) (bool, string, error) {
		<-ctx.Done()
		withdrawn <- ctx.Err()
		return true, "@late", nil // whoever says so now is not heard
	}}
}

// serve runs an endpoint.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL + "/verify?token=t0p"
}

func hookAt(url string) *verifier.WebhookConfig { return &verifier.WebhookConfig{URL: url} }

var chat = verifier.Chat{Enabled: true}

// start makes a verifier that may speak plain http.
func start(t *testing.T, o verifier.Options) *verifier.Verifier {
	t.Helper()
	o.PlainHTTP = true
	v, err := verifier.New(o)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	t.Cleanup(func() {
		if err := v.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return v
}

func call() engine.Check {
	return engine.Check{
		Session: "agent:main:main", Branch: "b1", Agent: "main", Provider: "telegram", Tool: "exec",
		Params: []byte(`{"command":"ls"}`), Digest: tool.DigestOf([]byte("ls")), Taint: trust.Local,
	}
}
