package waiting_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"iter"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/internal/store/notify"
	"github.com/tidemark/tidemark/internal/waiting"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// counted is a log that counts how often it is read, and can be told to fail.
type counted struct {
	*memory.Store
	loads atomic.Int64
	fail  atomic.Pointer[error] // of the next append
}

func (c *counted) Append(ctx context.Context, session string, at uint64, events []*event.Event) error {
	if err := c.fail.Swap(nil); err != nil {
		return *err
	}
	return c.Store.Append(ctx, session, at, events)
}

func (c *counted) Load(ctx context.Context, session string, after uint64) iter.Seq2[audit.Record, error] {
	c.loads.Add(1)
	return c.Store.Load(ctx, session, after)
}

// world is a monitor whose log is watched. Its clock is the real one, or that of the
// bubble a test runs in.
type world struct {
	testing.TB
	*engine.Monitor
	feed   *notify.Store
	waiter *waiting.Waiter
	log    *counted
}

func newWorld(t testing.TB, file string) *world {
	t.Helper()
	return newWorldOn(t, file, &counted{Store: memory.New()}, time.Now)
}

func newWorldOn(t testing.TB, file string, log *counted, now func() time.Time) *world {
	t.Helper()
	set, faults := policy.Parse("policy.yaml", []byte(file))
	if err := faults.Err(); err != nil {
		t.Fatalf("policy: %v", err)
	}
	w := &world{TB: t, log: log, feed: notify.New(log)}
	var err error
	w.Monitor, err = engine.New(engine.Options{Policy: set, Store: w.feed, Now: now, Rand: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	w.waiter = waiting.New(w.Monitor, w.feed)
	return w
}

func main(session string) engine.Ref { return engine.Ref{Session: session} }

// exec is a call that a tainted context holds; every n is another one.
func exec(n int) tool.Call {
	return tool.Call{Name: "exec", Args: fmt.Appendf(nil, `{"command":"rollout all","n":%d}`, n)}
}

// says is the owner speaking in a direct message.
func (w *world) says(ref engine.Ref, message string) engine.Opening {
	w.Helper()
	open, err := w.Begin(context.Background(), engine.Turn{
		Ref: ref, Sender: trust.Sender{Provider: "discord", ID: "1", IsOwner: true}, Message: &message,
	})
	if err != nil {
		w.Fatalf("begin: %v", err)
	}
	return open
}

// taint lets a web page into the session.
func (w *world) taint(ref engine.Ref) {
	w.Helper()
	w.says(ref, "Do what the page says.")
	fetch := tool.Call{Name: "web_fetch", Args: []byte(`{"url":"https://example.com"}`)}
	if v, err := w.Decide(context.Background(), ref, fetch); err != nil || !v.Allowed() {
		w.Fatalf("web_fetch: got %s, %v", v.Effect, err)
	}
	result := tool.Result{Name: fetch.Name, Args: fetch.Args, Content: []byte("a page")}
	if _, err := w.Observe(context.Background(), engine.Observation{Ref: ref, Result: result}); err != nil {
		w.Fatalf("observe: %v", err)
	}
}

// held asks about a call without waiting and returns the question with its code.
func (w *world) held(ref engine.Ref, c tool.Call) engine.Question {
	w.Helper()
	v, err := w.Decide(context.Background(), ref, c)
	if err != nil || v.Held == nil {
		w.Fatalf("%s: got %s by %s, %v; want it held", c.Name, v.Effect, v.Rule, err)
	}
	return *v.Held
}

// ended is how a wait ended.
type ended struct {
	engine.Verdict
	err error
}

// waits starts a caller that waits for its answer.
func (w *world) waits(ctx context.Context, ref engine.Ref, c tool.Call, patience time.Duration) <-chan ended {
	out := make(chan ended, 1)
	go func() {
		v, err := w.waiter.Decide(ctx, ref, c, patience)
		if v.Permit != nil && v.Permit.Redeem(c) != nil {
			err = engine.ErrPermit
		}
		out <- ended{v, err}
	}()
	return out
}

// vote is an approver's answer; it may come too late.
func (w *world) vote(v engine.Vote) error {
	v.By, v.Via = "anna", "http"
	_, err := w.Answer(context.Background(), v)
	return err
}

func (w *world) mustVote(v engine.Vote) {
	w.Helper()
	if err := w.vote(v); err != nil {
		w.Fatalf("answer: %v", err)
	}
}

// state is where a question stands.
func (w *world) state(q engine.Question) string {
	w.Helper()
	now, err := w.Question(context.Background(), q.Session, q.ID)
	if err != nil {
		w.Fatalf("question: %v", err)
	}
	return now.State
}

// empty checks that nobody is waiting and nothing is kept for anybody.
func (w *world) empty() {
	w.Helper()
	if n, sessions := w.feed.Watching(), w.feed.Listening(); n != 0 || sessions != 0 {
		w.Errorf("%d callers wait and %d sessions are kept, want none", n, sessions)
	}
}

// byLevels begins the policy of a test that is about levels, or whose calls are to be asked
// about whatever they say. All others run under the shipped preset.
const byLevels = "preset: classic\n"
