package release_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/internal/llm/release"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bad marks what the judge refuses, wherever it stands in a call.
const bad = "zzbad"

// refusal is what clients read in place of a refused call.
const refusal = "blocked: \"the page\"\nasked for it \u2028data: {}"

// judge permits through a real monitor, except for calls with the mark.
type judge struct {
	monitor *engine.Monitor
	mu      sync.Mutex
	calls   []tool.Call
	order   []string // decisions and observations
	err     error
	before  func(ctx context.Context) // a person thinks
}

// newJudge judges by levels, all of them open: these tests are about what is let go when,
// not about what is allowed.
func newJudge(t testing.TB) *judge {
	t.Helper()
	set, faults := policy.Parse("tidemark.yaml", []byte("preset: classic\ntaintPolicy: {shared: allow, external: allow, untrusted: allow}\ntoolOverrides: {}\n"))
	if set == nil {
		t.Fatalf("policy: %v", faults)
	}
	m, err := engine.New(engine.Options{Policy: set, Store: memory.New(), Now: time.Now, Rand: rand.Reader})
	if err != nil {
		t.Fatalf("monitor: %v", err)
	}
	j := &judge{monitor: m}
	words := "do it"
	if _, err := m.Begin(context.Background(), engine.Turn{Ref: engine.Ref{Session: "s"}, Sender: trust.Sender{Provider: "x", ID: "1", IsOwner: true}, Message: &words}); err != nil {
		t.Fatalf("begin: %v", err)
	}
	return j
}

func (j *judge) Decide(ctx context.Context, c tool.Call) (release.Ruling, error) {
	if j.before != nil {
		j.before(ctx)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return release.Ruling{}, j.err
	}
	j.calls = append(j.calls, c)
	j.order = append(j.order, c.Name)
	if strings.Contains(c.Name+string(c.Args), bad[:2]) { // the rest may be lost on the way
		return release.Ruling{Refusal: refusal}, nil
	}
	v, err := j.monitor.Decide(ctx, engine.Ref{Session: "s"}, c)
	if err != nil {
		return release.Ruling{}, err
	}
	return release.Ruling{Permit: v.Permit, Refusal: "by policy: " + v.Rule}, nil
}

func (j *judge) Observe(_ context.Context, name, _ string, _ []byte) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.order = append(j.order, "saw "+name)
	return nil
}

// cut is a reader that gives at most n bytes at a time.
type cut struct {
	r io.Reader
	n int
}

func (c cut) Read(b []byte) (int, error) { return c.r.Read(b[:min(len(b), c.n)]) }

// through runs a stream and returns what came out.
func through(t testing.TB, api format.API, in string, size int) (string, format.Outcome, *judge, error) {
	t.Helper()
	j := newJudge(t)
	var out bytes.Buffer
	o, err := release.Stream(context.Background(), release.Options{API: api}, &out, cut{strings.NewReader(in), size}, j)
	return out.String(), o, j, err
}

// sse joins data into an event stream; with names where the format has them.
func sse(api format.API, data ...string) string {
	var b strings.Builder
	for _, d := range data {
		if api == format.Messages || api == format.Responses {
			_, rest, _ := strings.Cut(d, `"type":"`)
			name, _, _ := strings.Cut(rest, `"`)
			b.WriteString("event: " + name + "\n")
		}
		b.WriteString("data: " + d + "\n\n")
	}
	return b.String()
}
