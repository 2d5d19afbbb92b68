package proxy_test

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/llm/conversation"
	"github.com/tidemark/tidemark/internal/llm/proxy"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/internal/store/notify"
	"github.com/tidemark/tidemark/policy"
)

// disk is a log that may be full, and that counts.
type disk struct {
	*memory.Store
	mu      sync.Mutex
	full    bool   // guarded by mu
	written []int  // guarded by mu; records of each write
	session string // guarded by mu; of the last one
	wrote   chan struct{}
}

func newDisk() *disk { return &disk{Store: memory.New(), wrote: make(chan struct{}, 64)} }

func (d *disk) Append(ctx context.Context, session string, at uint64, events []*event.Event) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.full {
		return errors.New("disk full")
	}
	d.written, d.session = append(d.written, len(events)), session
	defer func() { d.wrote <- struct{}{} }()
	return d.Store.Append(ctx, session, at, events)
}

func (d *disk) fill(full bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.full = full
}

func (d *disk) writes() (sizes []int, total int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, n := range d.written {
		total += n
	}
	return append(sizes, d.written...), total
}

func (d *disk) last() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.session
}

// on puts the proxy before a monitor with that log.
func on(t *testing.T, d *disk) func(*proxy.Options) {
	t.Helper()
	set, faults := policy.Parse("tidemark.yaml", []byte(rules))
	if set == nil {
		t.Fatalf("policy: %v", faults)
	}
	f := notify.New(d)
	m, err := engine.New(engine.Options{Policy: set, Store: f, Now: time.Now, Rand: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	return func(o *proxy.Options) {
		o.Monitor, o.Feed, o.Follower = m, f, conversation.New(m, conversation.Options{})
	}
}

func TestAnExchangeIsWrittenInOnePieceSoonAfterIt(t *testing.T) {
	d := newDisk()
	w := open(t, on(t, d))
	w.provider.then(answerJSON(chatText("Hello.")))
	if g := w.post("/openai/v1/chat/completions", chatRequest(false, user("Hi"))); g.status != http.StatusOK {
		t.Fatalf("got %d %s", g.status, g.body)
	}
	sizes, total := d.writes()
	const want = 5 // the definitions of the tools, once for all who are offered them, and four of the exchange
	for late := time.After(10 * time.Second); total < want; sizes, total = d.writes() {
		select {
		case <-d.wrote: // by itself
		case <-late:
			t.Fatalf("got writes of %v records, want five", sizes)
		}
	}
	if total != want || sizes[0] != 1 || len(sizes) > 3 {
		t.Errorf("got writes of %v records, want one and four, the four in one piece or in two where the machine is slow", sizes)
	}
}

// A call that reached the client is in the log, with all that it stands on.
func TestTheEndOfAnAnswerWithCallsIsWrittenBeforeItIsSent(t *testing.T) {
	d := newDisk()
	w := open(t, on(t, d))
	w.afterPage()
	n := 0
	for rec, err := range d.Load(t.Context(), d.last(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		n = int(rec.Seq)
	}
	if n != 4 { // began, asked, decided, answered
		t.Errorf("got %d records when the client has the call, want 4", n)
	}
}

func TestWhileTheLogCannotBeWrittenNoCallGetsThrough(t *testing.T) {
	d := newDisk()
	w := open(t, on(t, d))
	d.fill(true)
	w.provider.then(answerJSON(chatCall("call-page", "read_page", `{"url":"https://a.example"}`)))
	ask := chatRequest(false, user("Read https://a.example"))
	if g := w.post("/openai/v1/chat/completions", ask); strings.Contains(g.body, "call-page") {
		t.Fatalf("got %d %s, want no call", g.status, g.body)
	}
	before := len(w.provider.requests())
	if g := w.post("/openai/v1/chat/completions", ask); g.status != http.StatusServiceUnavailable {
		t.Errorf("got %d %s, want it refused: what came before is not written yet", g.status, g.body)
	}
	if len(w.provider.requests()) != before {
		t.Error("the model was asked though nothing can be recorded")
	}
	d.fill(false)
	w.provider.then(answerJSON(chatCall("call-page", "read_page", `{"url":"https://a.example"}`)))
	if g := w.post("/openai/v1/chat/completions", ask); !strings.Contains(g.body, "call-page") {
		t.Errorf("when the log works again: got %d %s, want the call", g.status, g.body)
	}
}
