package telegram_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tidemark/tidemark/internal/people/telegram"
	"github.com/tidemark/tidemark/internal/test/telegramtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The people of the tests.
var (
	alice   = telegramtest.User{ID: 11, Name: "Alice"}
	bob     = telegramtest.User{ID: 22, Name: "Bob"}
	mallory = telegramtest.User{ID: 66, Name: "Mallory"}
)

// world is a bot and the Telegram it talks to.
type world struct {
	*telegramtest.Server
	bot   *telegram.Bot
	polls *pollCount
	log   *lockedBuffer

	mu    sync.Mutex
	waits []time.Duration // guarded by mu; what the bot would have slept
}

// start makes both. The bot does not sleep; change adapts its options.
func start(t *testing.T, change func(*telegram.Options)) *world {
	t.Helper()
	w := &world{Server: telegramtest.New(t), polls: &pollCount{}, log: &lockedBuffer{}}
	client := &http.Client{Transport: w.polls}
	o := telegram.Options{
		Token: telegramtest.Token, ChatID: "-1001234567", AllowedUserIDs: []int64{alice.ID, bob.ID}, BaseURL: w.URL(),
		HTTP: client, Logger: slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Sleep: func(ctx context.Context, d time.Duration) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.waits = append(w.waits, d)
			return ctx.Err()
		},
	}
	if change != nil {
		change(&o)
	}
	bot, err := telegram.New(o)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	w.bot = bot
	t.Cleanup(func() {
		bot.Close()
		w.polls.base.CloseIdleConnections()
		if log := w.log.String(); strings.Contains(log, secret) {
			t.Errorf("the log holds the token: %s", log)
		}
		if got := w.polls.most.Load(); got > 1 {
			t.Errorf("%d calls of getUpdates were under way at once, want 1", got)
		}
	})
	return w
}

// secret is the part of the token that must not leak.
const secret = "token_that-must-not-leak"

func (w *world) slept() []time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]time.Duration(nil), w.waits...)
}

// result is what Ask returned.
type result struct {
	answer telegram.Answer
	err    error
}

// ask asks in the background.
func (w *world) ask(ctx context.Context, m telegram.Message) <-chan result {
	out := make(chan result, 1)
	go func() {
		a, err := w.bot.Ask(ctx, m)
		out <- result{a, err}
	}()
	return out
}

func receive(t *testing.T, c <-chan result) result {
	t.Helper()
	select {
	case r := <-c:
		return r
	case <-time.After(telegramtest.Patience):
		t.Fatal("Ask did not return")
		return result{}
	}
}

// want waits for Ask and compares what was chosen, and by whom.
func (w *world) want(t *testing.T, c <-chan result, data string, by telegramtest.User) {
	t.Helper()
	r := receive(t, c)
	if r.err != nil || r.answer.Data != data || r.answer.UserID != by.ID || r.answer.User != "@"+strings.ToLower(by.Name) {
		t.Errorf("Ask = %+v, %v; want %s by %v", r.answer, r.err, data, by)
	}
}

func question() telegram.Message {
	return telegram.Message{
		Title: "Tool verification request", Fields: []telegram.Field{{"Tool", "exec"}, {"Command", "curl https://example.com"}},
		Buttons: []telegram.Button{{"Allow", "yes"}, {"Deny", "no"}}, Expires: time.Now().Add(time.Hour),
	}
}

// pollCount is a transport that counts calls of getUpdates under way.
type pollCount struct {
	base      http.Transport
	now, most atomic.Int32
}

// RoundTrip counts and passes on.
func (p *pollCount) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(r.URL.Path, "/getUpdates") {
		return p.base.RoundTrip(r)
	}
	n := p.now.Add(1)
	defer p.now.Add(-1)
	for most := p.most.Load(); n > most && !p.most.CompareAndSwap(most, n); most = p.most.Load() {
	}
	return p.base.RoundTrip(r)
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer // guarded by mu
}

// Write appends.
func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// String is all that was written.
func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// idle waits until nothing is pending and nobody polls. The last call of getUpdates
// has ended then; the next request starts with a new one.
func (w *world) idle(t *testing.T) {
	t.Helper()
	late := time.Now().Add(telegramtest.Patience)
	for s := w.bot.Status(); s.Polling || s.Pending > 0; s = w.bot.Status() {
		if time.Now().After(late) {
			t.Fatalf("still busy: %+v", s)
		}
		runtime.Gosched()
	}
}

// firstData is the data of the first button of the first message that was sent.
func (w *world) firstData() string {
	_, rest, _ := strings.Cut(w.Requests("sendMessage")[0].Fields["reply_markup"], `"callback_data":"`)
	data, _, _ := strings.Cut(rest, `"`)
	return data
}

func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	t.Cleanup(cancel)
	return ctx
}
