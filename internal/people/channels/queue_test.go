package channels_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/people/channels"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/trust"
)

// queue is a monitor that says what a test puts into it.
type queue struct {
	mu     sync.Mutex
	list   []engine.Question          // guarded by mu
	failed error                      // guarded by mu; of listing
	one    map[string]engine.Question // guarded by mu; what is read by id
	refuse error                      // guarded by mu; of answering
}

// Questions lists what the test put there.
func (q *queue) Questions(context.Context) ([]engine.Question, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return append([]engine.Question(nil), q.list...), q.failed
}

// Question reads one.
func (q *queue) Question(_ context.Context, _, id string) (engine.Question, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if got, ok := q.one[id]; ok {
		return got, nil
	}
	return engine.Question{}, engine.ErrNotFound
}

// Answer refuses as the test says.
func (q *queue) Answer(context.Context, engine.Vote) (engine.Outcome, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return engine.Outcome{Notice: "Noted."}, q.refuse
}

func (q *queue) put(err error, list ...engine.Question) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.list, q.failed = list, err
	for _, one := range list {
		q.one[one.ID] = one
	}
}

// queued is a world whose monitor is a queue.
func queued(t *testing.T, change func(*channels.Options)) (*world, *queue) {
	t.Helper()
	q := &queue{one: map[string]engine.Question{}}
	return newWorld(t, func(o *channels.Options) {
		o.Monitor = q
		if change != nil {
			change(o)
		}
	}), q
}

func (w *world) question(id string) engine.Question {
	return engine.Question{
		ID: id, Session: "s", Tool: "exec", Args: `{"command":"rollout all"}`, Kind: policy.KindTaintEscalation, Rule: "r", Reason: "because",
		Level: "untrusted", State: "pending", Expires: w.now().Add(time.Hour),
	}
}

func TestWhatTheAuditorBlockedIsNotPushed(t *testing.T) {
	w, q := queued(t, nil)
	blocked, plain := w.question("q1"), w.question("q2")
	blocked.Kind, plain.Tool = policy.KindIntentBlock, "cron"
	q.put(nil, blocked, plain)
	w.ring()
	if m := w.telegram.Message(1); !strings.HasPrefix(m.Text, "Approval needed: cron\n") {
		t.Errorf("pushed %q, want the question about cron alone", m.Text)
	}
	w.stop()
	if got := len(w.telegram.Requests("sendMessage")); got != 1 {
		t.Errorf("%d messages, want 1", got)
	}
}

// A log that cannot be read is no sign that a question was answered.
func TestAQuestionIsNotTakenBackOnDoubt(t *testing.T) {
	waits := make(chan struct{})
	w, q := queued(t, patient(waits))
	q.put(nil, w.question("q1"))
	w.ring()
	m := w.telegram.Message(1)
	q.put(errors.New("the log cannot be read"))
	w.ring()
	for range 2 {
		<-waits
	}
	if s := w.channel.Status(); s.OK || s.LastError != "the log cannot be read" {
		t.Errorf("status = %+v", s)
	}
	w.telegram.Tap(alice, m, "Allow once")
	w.says(1, "Allow once by @alice. Noted.")
}

// Whatever became of the question, a vote that does not count says so.
func TestAVoteThatDoesNotCountSaysWhy(t *testing.T) {
	tests := map[string]struct {
		refuse error
		state  string
		by     string
		want   string
	}{
		"expired":              {approval.ErrExpired, "expired", "", "Too late: the question has expired. This answer changed nothing."},
		"approved elsewhere":   {approval.ErrGone, "approved", "owner", "Answered elsewhere: approved by owner. This answer changed nothing."},
		"denied elsewhere":     {approval.ErrGone, "denied", "", "Answered elsewhere: denied. This answer changed nothing."},
		"spent":                {approval.ErrGone, "spent", "owner", "Answered elsewhere: approved by owner. This answer changed nothing."},
		"dead":                 {approval.ErrDead, "dead", "", "Closed: too many wrong codes were tried. Nothing was approved. This answer changed nothing."},
		"gone":                 {approval.ErrGone, "moot", "", "Answered elsewhere, or no longer asked. This answer changed nothing."},
		"gone without a trace": {approval.ErrGone, "", "", "Answered elsewhere, or no longer asked. This answer changed nothing."},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w, q := queued(t, nil)
			q.put(nil, w.question("q1"))
			w.ring()
			m := w.telegram.Message(1)
			now := w.question("q1")
			now.State, now.By = tt.state, tt.by
			q.mu.Lock()
			q.refuse, q.one["q1"] = &engine.AnswerError{Err: tt.refuse, TriesLeft: -1}, now
			if tt.state == "" {
				delete(q.one, "q1")
			}
			q.mu.Unlock()
			w.telegram.Tap(alice, m, "Allow once")
			w.says(1, tt.want)
			if s := w.channel.Status(); s.Answered != 0 {
				t.Errorf("status = %+v, want no answer counted", s)
			}
		})
	}
}

// BEY-10
func TestTheQuestionShowsItsEvidence(t *testing.T) {
	w, q := queued(t, nil)
	one := w.question("q1")
	one.Branch, one.Prompt, one.Allows = "child", "Does it match your intent?", "exactly this call"
	one.Opinion = &event.Opinion{Answer: "unsure", Reason: "the user named no file"}
	for i := range 10 {
		one.Words = append(one.Words, event.Said{Text: fmt.Sprintf("message %d\nRule: none", i)})
		one.Sources = append(one.Sources, trust.Source{Tool: "web_fetch", Step: uint64(i), Detail: "https://evil.example", Excerpt: "say\nRule: none"})
	}
	one.Sources[0].Tool, one.Sources[0].Kind = "", "group_message"
	q.put(nil, one)
	w.ring()
	text := w.telegram.Message(1).Text
	for _, part := range []string{
		"\nQuestion: Does it match your intent?\n", "\n│ (2 earlier messages)\n│ “message 2 Rule: none”\n", "\n│ “message 9 Rule: none”\n",
		"\n│ group message (https://evil.example) “say\\nRule: none”\n│ web_fetch at step 1", "\n│ and web_fetch at step 4, web_fetch at step 5, web_fetch at step 6, web_fetch at step 7, 2 more\n",
		"\nAuditor: unsure: the user named no file\n", "\nIf you approve: exactly this call\n", "\nSession: s / child\n",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the message does not hold %q:\n%s", part, text)
		}
	}
	if strings.Count(text, "\nRule:") != 0 {
		t.Errorf("the message has a forged rule:\n%s", text)
	}
}

// BEY-10: a question is shown when it is due here, and not before; one that is shown stays.
func TestAQuestionIsShownWhenItIsDue(t *testing.T) {
	var due atomic.Bool
	slept := make(chan time.Duration, 8)
	wake := make(chan struct{})
	w := newWorld(t, func(o *channels.Options) {
		now := o.Now
		o.Pushed = func(q *engine.Question, at time.Time) (bool, time.Time) {
			return due.Load() && q.Tool == "exec", now().Add(10 * time.Minute)
		}
		o.Sleep = func(ctx context.Context, d time.Duration) error {
			slept <- d
			select {
			case <-wake:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
	w.ask("s")
	if got := <-slept; got != 10*time.Minute {
		t.Errorf("it looks again after %s", got)
	}
	if n := len(w.telegram.Requests("sendMessage")); n != 0 {
		t.Fatalf("%d messages before it is due", n)
	}
	due.Store(true)
	close(wake)
	w.telegram.Message(1)
	due.Store(false)
	w.ring()
	w.telegram.Tap(alice, w.telegram.Message(1), "Deny")
	w.says(1, "Deny by @alice. Denied: exec.")
}
