package shim_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/agents/shim"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/httpapi"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/internal/store/notify"
	"github.com/tidemark/tidemark/internal/test/prooftest"
	"github.com/tidemark/tidemark/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const agentToken = "agent-token-0123456789"

// world is a data folder, and what its server.json points at.
type world struct {
	t       *testing.T
	data    string
	monitor *engine.Monitor
	api     http.Handler
	proofs  *atomic.Bool // approving takes a proof
}

// open starts the real API on a socket. It judges by levels: a command after a page is to be
// asked about in these tests, whatever it says.
func open(t *testing.T) *world { return openWith(t, "preset: classic\n") }

func openWith(t *testing.T, text string) *world {
	t.Helper()
	set, faults := policy.Parse("tidemark.yaml", []byte(text))
	if set == nil {
		t.Fatalf("policy: %v", faults)
	}
	store := &memory.Store{}
	f := notify.New(store)
	monitor, err := engine.New(engine.Options{Policy: set, Store: f, Now: time.Now, Rand: rand.Reader})
	if err != nil {
		t.Fatalf("monitor: %v", err)
	}
	quiet, proofs := slog.New(slog.DiscardHandler), &atomic.Bool{}
	api, err := httpapi.New(httpapi.Options{
		Unheld:  true,
		Monitor: monitor, Log: store, Feed: f, Bus: hook.New(hook.Options{Logger: quiet}), Logger: quiet, Now: time.Now,
		Tokens: httpapi.Tokens{Agent: agentToken, Approver: "approver-token-0123456789", Admin: "admin-token-0123456789"},
		Proof: func() string {
			if proofs.Load() {
				return "passkey"
			}
			return ""
		},
	})
	if err != nil {
		t.Fatalf("door: %v", err)
	}
	w := behind(t, api.Handler())
	w.monitor, w.api, w.proofs = monitor, api.Handler(), proofs
	return w
}

// behind is a data folder whose server is h, which knows the secret of the folder.
func behind(t *testing.T, h http.Handler) *world {
	t.Helper()
	return at(t, prooftest.Handler(agentToken, h))
}

// at is a data folder that says that h is its server.
func at(t *testing.T, h http.Handler) *world {
	t.Helper()
	w := folder(t)
	srv := httptest.NewServer(h)
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	w.announce(srv.URL)
	return w
}

// folder is a data folder no server has announced itself in.
func folder(t *testing.T) *world {
	w := &world{t: t, data: t.TempDir()}
	w.write("tokens.json", `{"agent":"`+agentToken+`","approver":"approver-token-0123456789","admin":"admin-token-0123456789"}`)
	return w
}

func (w *world) announce(url string) { w.write("server.json", `{"url":"`+url+`","pid":1}`) }

func (w *world) write(name, content string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.data, name), []byte(content), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// printed is what the program left behind.
type printed struct {
	code     int
	out, err string
}

// run starts the program on one payload.
func (w *world) run(name, event string, body []byte, args ...string) printed {
	w.t.Helper()
	return w.runFrom(name, event, bytes.NewReader(body), args...)
}

func (w *world) runFrom(name, event string, in io.Reader, args ...string) printed {
	w.t.Helper()
	all := append([]string{"--agent", name, "--event", event, "--data", w.data, "--sender", "owner", "--timeout", "20s"}, args...)
	var out, errOut bytes.Buffer
	code := shim.Main(context.Background(), all, in, &out, &errOut)
	return printed{code, out.String(), errOut.String()}
}

// line is one payload of testdata.
type line struct {
	Event string           `json:"event"`
	Body  strictjson.Value `json:"body"`
}

func lines(t testing.TB, file string) []line {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	var out []line
	for text := range strings.Lines(string(raw)) {
		var l line
		if err := strictjson.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		out = append(out, l)
	}
	return out
}

// refuses says in the agent's own terms whether it would hold the call back. It is
// written from the agents' contracts, not from the adapters.
func refuses(name string, p printed) bool {
	switch name {
	case "cursor":
		return p.code == 2 && p.err != "" || strings.Contains(p.out, `"permission":"deny"`) || strings.Contains(p.out, `"continue":false`)
	case "cline":
		return strings.HasPrefix(p.out, `{"cancel":true`)
	case "claude":
		return p.code == 2 && p.err != "" || p.code == 0 && strings.Contains(p.out, `"permissionDecision":"deny"`)
	case "opencode":
		return p.code != 0 || !strings.HasPrefix(p.out, `{"allow":true`)
	}
	return p.code == 2 && p.err != ""
}
