package waiting_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/audit"
	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/internal/people/waiting"
	"github.com/tidemark/tidemark/store/memory"
	"github.com/tidemark/tidemark/tool"
)

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
func TestAskedIsClosedWhenTheQueueChanges(t *testing.T) {
	w := newWorld(t, byLevels)
	ref := main("s")
	w.taint(ref)
	var q tidemark.Question
	steps := []struct {
		name string
		do   func()
		want bool
	}{
		{"a call that nothing holds", func() { w.allowed(ref, tool.Call{Name: "read"}) }, false},
		{"a question", func() { q = w.held(ref, exec(1)) }, true},
		{"the same question again", func() { w.held(ref, exec(1)) }, false},
		{"a wrong code", func() { w.says(ref, ".approve exec 00000000") }, true},
		{"an approval", func() { w.mustVote(tidemark.Vote{Session: "s", IDs: []string{q.ID}, Approve: true}) }, true},
		{"the call that spends it", func() { w.allowed(ref, exec(1)) }, true},
		{"another question", func() { q = w.held(ref, exec(2)) }, true},
		{"a reset", func() { w.reset() }, true},
		{"the call that needs no answer any more", func() { w.allowed(ref, exec(2)) }, true},
		{"a call while nothing is open", func() { w.allowed(ref, exec(3)) }, false},
		{"an answer", func() { w.ends(ref) }, true},
	}
	for _, tt := range steps {
		asked, grown := w.feed.Asked(), w.feed.Grown()
		tt.do()
		if got := closed(asked); got != tt.want {
			t.Errorf("%s: woken %t, want %t", tt.name, got, tt.want)
		}
		if !closed(grown) {
			t.Errorf("%s: the log has grown and nobody was told", tt.name)
		}
	}
	if w.state(q) != "moot" {
		t.Errorf("the question is %s, want moot", w.state(q))
	}
}

func (w *world) allowed(ref tidemark.Ref, c tool.Call) {
	w.Helper()
	if v, err := w.Decide(context.Background(), ref, c); err != nil || !v.Allowed() {
		w.Fatalf("%s: got %s by %s, %v; want it to run", c.Name, v.Effect, v.Rule, err)
	}
}

func (w *world) reset() {
	w.Helper()
	if err := w.Reset(context.Background(), main("s"), "anna", "http"); err != nil {
		w.Fatal(err)
	}
}

func (w *world) ends(ref tidemark.Ref) {
	w.Helper()
	if _, err := w.End(context.Background(), tidemark.Ending{Ref: ref}); err != nil {
		w.Fatal(err)
	}
}

// A conflict wrote nothing; any other failure may have.
func TestAppendWakesUnlessNothingWasWritten(t *testing.T) {
	log := &counted{Store: memory.New()}
	f := waiting.New(log)
	events := []*event.Event{{Kind: event.TrustReset, Answer: &event.Answer{}}}
	for _, tt := range []struct {
		err      error
		wakes    bool
		failures uint64
	}{
		{tidemark.ErrConflict, false, 0},
		{errors.New("disk full"), true, 1},
		{errors.New("disk full"), true, 2},
		{nil, true, 2},
	} {
		if tt.err != nil {
			log.fail.Store(&tt.err)
		}
		grown, asked := f.Grown(), f.Asked()
		if err := f.Append(t.Context(), "s", 0, events); !errors.Is(err, tt.err) {
			t.Errorf("got %v, want %v", err, tt.err)
		}
		if closed(grown) != tt.wakes || closed(asked) != tt.wakes || f.Failures() != tt.failures {
			t.Errorf("after %v: woken %t and %t, %d failures; want %t and %d", tt.err, closed(grown), closed(asked), f.Failures(), tt.wakes, tt.failures)
		}
	}
}

func TestLoadCountsFailures(t *testing.T) {
	log := &counted{Store: memory.New()}
	f := waiting.New(log)
	if err := f.Append(t.Context(), "s", 0, []*event.Event{{Kind: event.TrustReset, Answer: &event.Answer{}}, {Kind: event.TrustReset, Answer: &event.Answer{}}}); err != nil {
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

// Whoever watches a question is told its outcome, whichever it is.
//
// BEY-10
func TestOutcomeIsToldAtOnce(t *testing.T) {
	for _, tt := range ways {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, byLevels+tt.file)
				ref := tidemark.Ref{Session: "s", Turn: "r"}
				w.taint(ref)
				q := w.held(ref, exec(1))
				caller := w.waits(t.Context(), ref, exec(1), time.Minute)
				seen := w.watches(t.Context(), q, time.Minute)
				synctest.Wait()
				start := time.Now()
				tt.act(w, q)
				<-caller
				if got := <-seen; got == "pending" || got == "expired" || time.Since(start) != 0 {
					t.Errorf("got %s after %s, want the outcome at once", got, time.Since(start))
				}
				w.empty()
			})
		})
	}
}

// watches waits for the outcome of a question and tells its state.
func (w *world) watches(ctx context.Context, q tidemark.Question, patience time.Duration) <-chan string {
	out := make(chan string, 1)
	go func() {
		now, err := w.feed.Outcome(ctx, w.Monitor, q, patience)
		if err != nil {
			now.State = err.Error()
		}
		out <- now.State
	}()
	return out
}

func TestOutcomeOfAQuestionNobodyAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "")
		w.taint(main("s"))
		q := w.held(main("s"), exec(1))
		ctx, cancel := context.WithCancel(t.Context())
		gone := w.watches(ctx, q, time.Hour)
		synctest.Wait()
		cancel()
		for name, tt := range map[string]struct {
			seen <-chan string
			want string
		}{
			"a watcher that is gone":     {gone, "pending"},
			"a watcher without patience": {w.watches(t.Context(), q, 0), "pending"},
			"one of little patience":     {w.watches(t.Context(), q, time.Second), "pending"},
		} {
			if got := <-tt.seen; got != tt.want {
				t.Errorf("%s: got %s, want %s", name, got, tt.want)
			}
		}
		last := w.watches(t.Context(), q, 5*time.Minute)
		synctest.Wait()
		other := w.held(main("s"), exec(2)) // a grant that does not fit is no outcome
		w.mustVote(tidemark.Vote{Session: "s", IDs: []string{other.ID}, Approve: true, For: time.Minute, Where: map[string]string{"n": "2"}})
		if got := <-last; got != "expired" {
			t.Errorf("one of much patience: got %s, want expired", got)
		}
		q.State = "expired"
		if got := <-w.watches(t.Context(), q, time.Hour); got != "expired" {
			t.Errorf("a question that is closed: got %s", got)
		}
		w.empty()
	})
}

func TestOutcomeOfAQuestionNobodyKnows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "")
		w.taint(main("s"))
		for range 2 {
			_, err := w.feed.Outcome(t.Context(), w.Monitor, tidemark.Question{ID: "ask-0", Session: "s", State: "pending"}, time.Hour)
			if !errors.Is(err, tidemark.ErrNotFound) {
				t.Errorf("got %v, want ErrNotFound", err)
			}
		}
		w.empty()
	})
}
