package notify_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/internal/store/notify"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// failing is a log that can be told to fail.
type failing struct {
	*memory.Store
	fail atomic.Pointer[error] // of the next append
}

func (f *failing) Append(ctx context.Context, session string, at uint64, events []*event.Event) error {
	if err := f.fail.Swap(nil); err != nil {
		return *err
	}
	return f.Store.Append(ctx, session, at, events)
}

// world is a monitor whose log tells what it takes.
type world struct {
	testing.TB
	*engine.Monitor
	log *notify.Store
}

func newWorld(t testing.TB) *world {
	t.Helper()
	set, faults := policy.Parse("policy.yaml", []byte("preset: classic"))
	if err := faults.Err(); err != nil {
		t.Fatalf("policy: %v", err)
	}
	w := &world{TB: t, log: notify.New(memory.New())}
	var err error
	w.Monitor, err = engine.New(engine.Options{Policy: set, Store: w.log, Now: time.Now, Rand: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

var here = engine.Ref{Session: "s"}

// exec is a call that a tainted context holds; every n is another one.
func exec(n int) tool.Call {
	return tool.Call{Name: "exec", Args: fmt.Appendf(nil, `{"command":"make deploy","n":%d}`, n)}
}

// says is the owner speaking in a direct message.
func (w *world) says(message string) {
	w.Helper()
	_, err := w.Begin(context.Background(), engine.Turn{
		Ref: here, Sender: trust.Sender{Provider: "discord", ID: "1", IsOwner: true}, Message: &message,
	})
	if err != nil {
		w.Fatalf("begin: %v", err)
	}
}

// taint lets a web page into the session.
func (w *world) taint() {
	w.Helper()
	w.says("Do what the page says.")
	fetch := tool.Call{Name: "web_fetch", Args: []byte(`{"url":"https://example.com"}`)}
	w.allowed(fetch)
	result := tool.Result{Name: fetch.Name, Args: fetch.Args, Content: []byte("a page")}
	if _, err := w.Observe(context.Background(), engine.Observation{Ref: here, Result: result}); err != nil {
		w.Fatalf("observe: %v", err)
	}
}

// held asks about a call and returns the question.
func (w *world) held(c tool.Call) engine.Question {
	w.Helper()
	v, err := w.Decide(context.Background(), here, c)
	if err != nil || v.Held == nil {
		w.Fatalf("%s: got %s by %s, %v; want it held", c.Name, v.Effect, v.Rule, err)
	}
	return *v.Held
}

func (w *world) vote(v engine.Vote) {
	w.Helper()
	v.Session, v.By, v.Via = "s", "anna", "http"
	if _, err := w.Answer(context.Background(), v); err != nil {
		w.Fatalf("answer: %v", err)
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Everything that changes the queue wakes those who list it, and nothing else does.
//
// BEY-10
func TestThoseWhoListQuestionsAreWokenWhenTheQueueChanges(t *testing.T) {
	w := newWorld(t)
	w.taint()
	var q engine.Question
	steps := []struct {
		name string
		do   func()
		want bool
	}{
		{"a call that nothing holds", func() { w.allowed(tool.Call{Name: "read"}) }, false},
		{"a question", func() { q = w.held(exec(1)) }, true},
		{"the same question again", func() { w.held(exec(1)) }, false},
		{"a wrong code", func() { w.says(".approve exec 00000000") }, true},
		{"an approval", func() { w.vote(engine.Vote{IDs: []string{q.ID}, Approve: true}) }, true},
		{"the call that spends it", func() { w.allowed(exec(1)) }, true},
		{"another question", func() { q = w.held(exec(2)) }, true},
		{"a reset", func() { w.reset() }, true},
		{"the call that needs no answer any more", func() { w.allowed(exec(2)) }, true},
		{"a call while nothing is open", func() { w.allowed(exec(3)) }, false},
		{"an answer", func() { w.ends() }, true},
	}
	for _, tt := range steps {
		questions, grown := w.log.QuestionsChanged(), w.log.Grown()
		tt.do()
		if got := closed(questions); got != tt.want {
			t.Errorf("%s: woken %t, want %t", tt.name, got, tt.want)
		}
		if !closed(grown) {
			t.Errorf("%s: the log has grown and nobody was told", tt.name)
		}
	}
	if now, err := w.Question(t.Context(), "s", q.ID); err != nil || now.State != "moot" {
		t.Errorf("the question is %s, %v; want moot", now.State, err)
	}
}

func (w *world) allowed(c tool.Call) {
	w.Helper()
	if v, err := w.Decide(context.Background(), here, c); err != nil || !v.Allowed() {
		w.Fatalf("%s: got %s by %s, %v; want it to run", c.Name, v.Effect, v.Rule, err)
	}
}

func (w *world) reset() {
	w.Helper()
	if err := w.Reset(context.Background(), here, "anna", "http"); err != nil {
		w.Fatal(err)
	}
}

func (w *world) ends() {
	w.Helper()
	if _, err := w.End(context.Background(), engine.Ending{Ref: here}); err != nil {
		w.Fatal(err)
	}
}

// A conflict wrote nothing; any other failure may have.
func TestAppendWakesUnlessNothingWasWritten(t *testing.T) {
	log := &failing{Store: memory.New()}
	f := notify.New(log)
	events := []*event.Event{{Kind: event.TrustReset, Answer: &event.Answer{}}}
	for _, tt := range []struct {
		err      error
		wakes    bool
		failures uint64
	}{
		{engine.ErrConflict, false, 0},
		{errors.New("disk full"), true, 1},
		{errors.New("disk full"), true, 2},
		{nil, true, 2},
	} {
		if tt.err != nil {
			log.fail.Store(&tt.err)
		}
		grown, questions := f.Grown(), f.QuestionsChanged()
		if err := f.Append(t.Context(), "s", 0, events); !errors.Is(err, tt.err) {
			t.Errorf("got %v, want %v", err, tt.err)
		}
		if closed(grown) != tt.wakes || closed(questions) != tt.wakes || f.Failures() != tt.failures {
			t.Errorf("after %v: woken %t and %t, %d failures; want %t and %d", tt.err, closed(grown), closed(questions), f.Failures(), tt.wakes, tt.failures)
		}
	}
}

func TestLoadCountsFailures(t *testing.T) {
	log := &failing{Store: memory.New()}
	f := notify.New(log)
	reset := &event.Event{Kind: event.TrustReset, Answer: &event.Answer{}}
	if err := f.Append(t.Context(), "s", 0, []*event.Event{reset, reset}); err != nil {
		t.Fatal(err)
	}
	for range f.Load(t.Context(), "s", 0) {
		break // whoever stops early gets no more
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := audit.Verify(audit.Head{}, f.Load(t.Context(), "s", 0)); err == nil {
			t.Error("a closed log was read")
		}
	}
	if got := f.Failures(); got != 2 {
		t.Errorf("got %d failures, want 2", got)
	}
}

// BEY-10
func TestAWatchIsToldOfWhatConcernsItsQuestion(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(w *world, q engine.Question)
		want bool
		news int
	}{
		{"its answer", func(w *world, q engine.Question) { w.vote(engine.Vote{IDs: []string{q.ID}}) }, true, 0},
		{"another question's answer", func(w *world, _ engine.Question) {
			w.vote(engine.Vote{IDs: []string{w.held(exec(2)).ID}})
		}, false, 0},
		{"a grant given elsewhere", func(w *world, _ engine.Question) {
			w.vote(engine.Vote{IDs: []string{w.held(exec(2)).ID}, Approve: true, For: time.Minute})
		}, true, 1},
		{"a reset", func(w *world, _ engine.Question) { w.reset() }, true, 1},
		{"a wrong code", func(w *world, _ engine.Question) { w.says(".approve exec 00000000") }, true, 0},
		{"a call that is let through", func(w *world, _ engine.Question) { w.allowed(tool.Call{Name: "read"}) }, false, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.taint()
			q := w.held(exec(1))
			l := w.log.Listen("s")
			watch, before := l.Watch(q.ID, q.Digest)
			tt.do(w, q)
			if got := closed(watch.Changed()); got != tt.want {
				t.Errorf("woken %t, want %t", got, tt.want)
			}
			if got := l.News() - before; got != tt.news {
				t.Errorf("got %d news, want %d", got, tt.news)
			}
			watch.Stop()
			l.Close()
			if w.log.Watching() != 0 || w.log.Listening() != 0 {
				t.Errorf("%d watches of %d sessions are left behind", w.log.Watching(), w.log.Listening())
			}
		})
	}
}

func TestThoseWhoWatchOneQuestionShareOneBell(t *testing.T) {
	w := newWorld(t)
	w.taint()
	q := w.held(exec(1))
	one, two := w.log.Listen("s"), w.log.Listen("s")
	a, _ := one.Watch(q.ID, q.Digest)
	b, _ := two.Watch(q.ID, q.Digest)
	if a.Changed() != b.Changed() || w.log.Watching() != 2 || w.log.Listening() != 1 {
		t.Errorf("%d watch in %d sessions, want 2 who share one bell in 1", w.log.Watching(), w.log.Listening())
	}
	a.Stop()
	one.Close()
	w.vote(engine.Vote{IDs: []string{q.ID}})
	if !closed(b.Changed()) {
		t.Error("whoever is left was not told")
	}
	after, _ := two.Watch(q.ID, q.Digest)
	if closed(after.Changed()) {
		t.Error("a watch begins woken by what was told before")
	}
	after.Stop()
	b.Stop()
	two.Close()
	if w.log.Watching() != 0 || w.log.Listening() != 0 {
		t.Errorf("%d watches of %d sessions are left behind", w.log.Watching(), w.log.Listening())
	}
}
