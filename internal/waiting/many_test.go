package waiting_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/policy"
)

// Many callers wait at once. While they do, nobody reads the log; each gets the outcome
// of its own question, and nothing is left behind.
//
// BEY-10
func TestManyCallersWaitAtOnce(t *testing.T) {
	for _, tt := range []struct {
		name                   string
		sessions, callers      int
		file                   string
		answeredSimultaneously bool
	}{
		{"a thousand callers in fifty sessions", 50, 20, "approvalTtlSeconds: 3600", true},
		{"a thousand callers in fifty sessions, answered one by one", 50, 20, "approvalTtlSeconds: 3600", false},
		{"two hundred callers in one session", 1, 200, "approvalTtlSeconds: 3600\napprovalMaxOpen: 256", true},
		{"two hundred callers in one session, answered one by one", 1, 200, "approvalTtlSeconds: 3600\napprovalMaxOpen: 256", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, tt.file)
				callers := map[string]<-chan ended{}
				for i := range tt.sessions {
					session := fmt.Sprintf("s%d", i)
					w.taint(main(session))
					for n := range tt.callers {
						callers[session+string(exec(n).Args)] = w.waits(t.Context(), main(session), exec(n), time.Hour)
					}
				}
				synctest.Wait()
				w.allWait(len(callers))
				questions, err := w.Questions(t.Context())
				if err != nil || len(questions) != len(callers) {
					t.Fatalf("got %d questions, %v; want %d", len(questions), err, len(callers))
				}
				w.answerAll(questions, tt.answeredSimultaneously)
				w.outcomes(questions, callers)
				w.empty()
			})
		})
	}
}

// allWait checks that n callers wait and that waiting costs the log nothing.
func (w *world) allWait(n int) {
	w.Helper()
	if got := w.feed.Watching(); got != int64(n) {
		w.Fatalf("%d callers wait, want %d", got, n)
	}
	loads := w.log.loads.Load()
	<-time.After(10 * time.Minute)
	synctest.Wait()
	if got := w.log.loads.Load(); got != loads {
		w.Errorf("the log was read %d times while everybody waited, want 0", got-loads)
	}
	if got := w.feed.Watching(); got != int64(n) {
		w.Errorf("after ten minutes %d callers wait, want %d", got, n)
	}
}

// approves says which questions the test approves: two of three.
func approves(i int) bool { return i%3 != 0 }

func (w *world) answerAll(questions []engine.Question, together bool) {
	w.Helper()
	var failed atomic.Int64
	answer := func(i int) {
		q := questions[i]
		if w.vote(engine.Vote{Session: q.Session, IDs: []string{q.ID}, Approve: approves(i)}) != nil {
			failed.Add(1)
		}
	}
	done := make(chan struct{})
	for i := range questions {
		if !together {
			answer(i)
			continue
		}
		go func() {
			answer(i)
			done <- struct{}{}
		}()
	}
	for range questions {
		if together {
			<-done
		}
	}
	if n := failed.Load(); n != 0 {
		w.Errorf("%d answers did not count", n)
	}
}

// outcomes compares what each caller got with the answer to its question.
func (w *world) outcomes(questions []engine.Question, callers map[string]<-chan ended) {
	w.Helper()
	spent := map[string]bool{}
	for i, q := range questions {
		v := <-callers[q.Session+q.Args]
		switch {
		case v.err != nil || v.Held != nil || v.Late:
			w.Errorf("question %d: got %s by %s, %v", i, v.Effect, v.Rule, v.err)
		case approves(i) && (!v.Allowed() || v.Spent != q.ID || spent[v.Spent]):
			w.Errorf("question %d: got %s spending %q, want its own approval", i, v.Effect, v.Spent)
		case !approves(i) && (v.Effect != policy.Deny || v.Rule != "owner-denied"):
			w.Errorf("question %d: got %s by %s, want the denial", i, v.Effect, v.Rule)
		}
		spent[v.Spent] = v.Spent != ""
	}
}
