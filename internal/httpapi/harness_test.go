package httpapi_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/httpapi"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/internal/store/notify"
	"github.com/tidemark/tidemark/policy"
)

const (
	agentToken    = "agent-token-0123456789"
	readerToken   = "reader-token-0123456789"
	ownerToken    = "owner-token-0123456789"
	approverToken = "approver-token-0123456789"
	adminToken    = "admin-token-0123456789"
)

// faulty is a store that can be made to fail in every way a store can.
type faulty struct {
	memory.Store
	failing   atomic.Int32 // appends that will fail
	moved     atomic.Bool  // somebody else is always faster
	panicking atomic.Bool
	slow      atomic.Pointer[slow] // the next append is so; nil: it is not
	appends   atomic.Int64         // how many were asked for
}

// slow is an append that somebody else lets go on.
type slow struct{ began, goOn chan struct{} }

func (f *faulty) Append(ctx context.Context, session string, at uint64, events []*event.Event) error {
	if f.panicking.Load() {
		panic("a bug in the store: secret inside")
	}
	f.appends.Add(1)
	if s := f.slow.Swap(nil); s != nil {
		close(s.began)
		<-s.goOn
	}
	if f.moved.Load() {
		return engine.ErrConflict
	}
	if f.failing.Add(-1) >= 0 {
		return errors.New("disk full: secret inside")
	}
	f.failing.Store(0)
	return f.Store.Append(ctx, session, at, events)
}

func (f *faulty) Load(ctx context.Context, session string, after uint64) iter.Seq2[audit.Record, error] {
	return f.Store.Load(ctx, session, after)
}

// clock is moved by hand.
type clock struct{ now atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.now.Store(time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC).UnixNano())
	return c
}

func (c *clock) Now() time.Time          { return time.Unix(0, c.now.Load()).UTC() }
func (c *clock) advance(d time.Duration) { c.now.Add(int64(d)) }

// world is a whole server over a real socket.
type world struct {
	t       testing.TB
	store   *faulty
	clock   *clock
	monitor *engine.Monitor
	bus     *hook.Bus
	api     *httpapi.API
	url     string
	log     *syncBuffer
	doc     *document
	options httpapi.Options
	stop    func() error
	alone   bool // the host has the agent's token alone
}

type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// open starts a server with the given policy file.
func open(t testing.TB, file string, change ...func(*httpapi.Options)) *world {
	t.Helper()
	w := &world{t: t, store: &faulty{}, clock: newClock(), log: &syncBuffer{}}
	set, faults := policy.Parse("tidemark.yaml", []byte(file))
	if set == nil {
		t.Fatalf("policy: %v", faults)
	}
	f := notify.New(w.store)
	var err error
	w.monitor, err = engine.New(engine.Options{Policy: set, Store: f, Now: w.clock.Now, Rand: rand.Reader})
	if err != nil {
		t.Fatalf("monitor: %v", err)
	}
	logger := slog.New(slog.NewTextHandler(w.log, nil))
	w.bus = hook.New(hook.Options{Logger: logger})
	w.options = httpapi.Options{
		Monitor: w.monitor, Log: w.store, Feed: f, Bus: w.bus, Logger: logger, Unheld: true,
		Tokens: httpapi.Tokens{
			Agent: agentToken, Reader: readerToken, Owner: httpapi.HashToken(ownerToken), Approver: httpapi.HashToken(approverToken), Admin: adminToken,
		},
	}
	for _, c := range change {
		c(&w.options)
	}
	if w.api, err = httpapi.New(w.options); err != nil {
		t.Fatalf("api: %v", err)
	}
	server := httptest.NewServer(w.api.Handler())
	t.Cleanup(server.Close)
	w.url = server.URL
	w.doc = readDocument(t, w)
	return w
}

// answer is a response as the tests look at it.
type answer struct {
	status int
	header http.Header
	raw    []byte
	body   map[string]any
}

// at walks a path of object members.
func (a answer) at(path string) any {
	var v any = a.body
	for key := range strings.SplitSeq(path, ".") {
		object, _ := v.(map[string]any)
		v = object[key]
	}
	return v
}

func (a answer) text(path string) string {
	s, _ := a.at(path).(string)
	return s
}

func (a answer) list(path string) []any {
	l, _ := a.at(path).([]any)
	return l
}

// request sends anything anywhere.
func (w *world) request(r *http.Request) answer {
	w.t.Helper()
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatalf("%s %s: %v", r.Method, r.URL, err)
	}
	raw, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		w.t.Fatalf("%s %s: read body: %v", r.Method, r.URL, err)
	}
	a := answer{status: res.StatusCode, header: res.Header, raw: raw}
	if strings.Contains(res.Header.Get("Content-Type"), "json") {
		if err := strictjson.Unmarshal(raw, &a.body); err != nil {
			w.t.Fatalf("%s %s: body is no JSON object: %v\n%s", r.Method, r.URL, err, raw)
		}
	}
	if w.doc != nil {
		w.doc.check(w.t, r, a)
	}
	return a
}

// call sends a request with a token and a JSON body; "" is none.
func (w *world) call(token, method, path, body string) answer {
	w.t.Helper()
	r, err := http.NewRequest(method, w.url+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if token == agentToken && !w.alone {
		r.Header.Set("X-Tidemark-Owner", ownerToken) // a host with a channel of the owner's
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return w.request(r)
}

func (w *world) get(path string) answer {
	w.t.Helper()
	return w.call(adminToken, http.MethodGet, path, "")
}

// hook posts a hook as the agent's host.
func (w *world) hook(name hook.Name, event, ctx string) answer {
	w.t.Helper()
	return w.call(agentToken, http.MethodPost, "/v1/hooks/"+string(name), fmt.Sprintf(`{"event":%s,"ctx":%s}`, event, ctx))
}

// must posts a hook that has to be served.
func (w *world) must(name hook.Name, event, ctx string) answer {
	w.t.Helper()
	a := w.hook(name, event, ctx)
	if a.status != http.StatusOK {
		w.t.Fatalf("%s: got status %d, want 200: %s", name, a.status, a.raw)
	}
	return a
}

// owner is the context of the owner's direct messages in a session.
func owner(session string) string {
	return fmt.Sprintf(`{"sessionKey":%q,"agentId":"main","messageProvider":"discord","senderId":"u1","senderIsOwner":true}`, session)
}

// say is the owner speaking.
func (w *world) say(session, text string) answer {
	w.t.Helper()
	return w.must(hook.NameMessageReceived, fmt.Sprintf(`{"from":"u1","content":%q}`, text), owner(session))
}

// before asks whether a call may run.
func (w *world) before(session, toolName, params string) answer {
	w.t.Helper()
	return w.must(hook.NameBeforeToolCall, fmt.Sprintf(`{"toolName":%q,"params":%s}`, toolName, params), owner(session))
}

// after reports a result.
func (w *world) after(session, toolName, result string) answer {
	w.t.Helper()
	return w.must(hook.NameAfterToolCall, fmt.Sprintf(`{"toolName":%q,"params":{},"result":%s}`, toolName, result), owner(session))
}

// fetch lets a web page into the context.
func (w *world) fetch(session string) {
	w.t.Helper()
	if a := w.before(session, "web_fetch", `{"url":"https://example.com"}`); a.at("block") != nil {
		w.t.Fatalf("web_fetch is blocked: %s", a.raw)
	}
	w.after(session, "web_fetch", `"a page"`)
}

// want compares one member of an answer.
func want(t testing.TB, a answer, path string, value any) {
	t.Helper()
	if got := a.at(path); got != value {
		t.Errorf("%s: got %v, want %v\n%s", path, got, value, a.raw)
	}
}

// wantProblem checks a refusal: its status, its media type and what it says.
func wantProblem(t testing.TB, a answer, status int, says string) {
	t.Helper()
	if a.status != status {
		t.Errorf("got status %d, want %d: %s", a.status, status, a.raw)
		return
	}
	if got := a.header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("got content type %q, want a problem", got)
	}
	if got := a.at("status"); got != float64(status) {
		t.Errorf("got status %v in the body, want %d", got, status)
	}
	if a.text("type") == "" || a.text("title") == "" {
		t.Errorf("problem without type or title: %s", a.raw)
	}
	if !strings.Contains(a.text("detail"), says) {
		t.Errorf("got detail %q, want it to say %q", a.text("detail"), says)
	}
}

// byLevels begins the policy of a test that is about levels, or whose calls are to be asked
// about whatever they say. All others run under the shipped preset.
const byLevels = "preset: classic\n"
