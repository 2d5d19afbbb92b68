package waiting_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
)

// Whoever watches a question is told its outcome, whichever it is.
//
// BEY-10
func TestOutcomeIsToldAtOnce(t *testing.T) {
	for _, tt := range ways {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, byLevels+tt.file)
				ref := engine.Ref{Session: "s", Turn: "r"}
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
func (w *world) watches(ctx context.Context, q engine.Question, patience time.Duration) <-chan string {
	out := make(chan string, 1)
	go func() {
		now, err := w.waiter.Outcome(ctx, q, patience)
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
		last := w.watches(t.Context(), q, time.Hour)
		synctest.Wait()
		other := w.held(main("s"), exec(2)) // a grant that does not fit is no outcome
		w.mustVote(engine.Vote{Session: "s", IDs: []string{other.ID}, Approve: true, For: time.Minute, Where: map[string]string{"n": "2"}})
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
			_, err := w.waiter.Outcome(t.Context(), engine.Question{ID: "ask-0", Session: "s", State: "pending"}, time.Hour)
			if !errors.Is(err, engine.ErrNotFound) {
				t.Errorf("got %v, want ErrNotFound", err)
			}
		}
		w.empty()
	})
}
