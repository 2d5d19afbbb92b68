package webpush_test

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/people/channels"
	"github.com/tidemark/tidemark/internal/people/quorum"
	"github.com/tidemark/tidemark/internal/people/webpush"
	"github.com/tidemark/tidemark/internal/test/pushtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a server's sender and a service that carries its messages.
type world struct {
	*testing.T
	*webpush.Sender
	service *pushtest.Service
	path    string
	later   chan chan time.Time // each time somebody is to be told later

	mu       sync.Mutex
	now      time.Time      // guarded by mu
	recorded []event.Person // guarded by mu
}

// noon is when the tests begin.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newWorld(t *testing.T, change ...func(*webpush.Options)) *world {
	t.Helper()
	w := &world{
		T: t, service: pushtest.New(t), path: filepath.Join(t.TempDir(), "push.json"), now: noon, later: make(chan chan time.Time, 100),
	}
	w.service.Now = w.clock
	w.open(change...)
	return w
}

// open reads the file, as a start does.
func (w *world) open(change ...func(*webpush.Options)) {
	w.Helper()
	o := webpush.Options{
		Contact: "mailto:ops@example.com", Services: []string{w.service.Host()}, Path: w.path, Now: w.clock, Record: w.record,
		Roots: w.service.Roots(),
		After: func(time.Duration) <-chan time.Time {
			c := make(chan time.Time, 1)
			w.later <- c
			return c
		},
	}
	for _, c := range change {
		c(&o)
	}
	var err error
	if w.Sender, err = webpush.New(o); err != nil {
		w.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	sender := w.Sender
	running.Go(func() { sender.Run(ctx) })
	w.Cleanup(func() {
		stop()
		running.Wait()
	})
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) at(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = now
}

func (w *world) record(_ context.Context, p event.Person) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.recorded = append(w.recorded, p)
	return nil
}

// acts are what was recorded, in order.
func (w *world) acts() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for _, p := range w.recorded {
		out = append(out, p.Act+" "+p.By)
	}
	return out
}

// browser is one of somebody that is told.
func (w *world) browser(by string) *pushtest.Browser {
	w.Helper()
	b := w.service.Subscribe(w.Key())
	if err := w.Add(w.Context(), by, sub(b)); err != nil {
		w.Fatal(err)
	}
	if hello := b.Next(); hello.ID != "" || hello.Title != "Tidemark" {
		w.Errorf("it is greeted with %+v", hello)
	}
	return b
}

func sub(b *pushtest.Browser) webpush.Subscription {
	return webpush.Subscription{Endpoint: b.Endpoint, P256dh: b.P256dh, Auth: b.Auth}
}

// question is one that is being told.
type question struct {
	shown chan struct{}
	end   context.CancelFunc
	done  chan error
}

// ask has a question told until it is ended.
func (w *world) ask(id string) *question {
	w.Helper()
	ctx, end := context.WithCancel(context.Background())
	q := &question{shown: make(chan struct{}, 1), end: end, done: make(chan error, 1)}
	asked := w.clock()
	p := channels.Post{
		ID: id, Title: "Approval needed: send_email", Expires: asked.Add(time.Hour),
		Fields: []channels.Field{{Name: "Call", Value: "send_email to promo@spam.example with the secret hunter2"}},
		Info: func(now time.Time) engine.QuestionInfo {
			return engine.QuestionInfo{Tool: "send_email", Asked: asked, Now: now}
		},
		Shown: func() { q.shown <- struct{}{} },
		Settle: func(choice, _, _ string) string {
			if choice != "" {
				w.Errorf("somebody chose %q", choice)
			}
			return "Answered elsewhere: denied by ada."
		},
	}
	go func() { q.done <- w.Ask(ctx, p) }()
	w.Cleanup(end)
	return q
}

func (q *question) over(t *testing.T) {
	t.Helper()
	q.end()
	if err := <-q.done; err != nil {
		t.Errorf("it ended with %v", err)
	}
}

func team(people ...quorum.Person) *quorum.Rules { return &quorum.Rules{People: people} }

func (w *world) names() []string {
	var out []string
	for _, b := range w.List() {
		out = append(out, b.By)
	}
	slices.Sort(out)
	return out
}
