package engine_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/trust"
)

// SEQ-09: a log that has less of a session than it had is an older one: the session is refused, not less tainted.
func TestALogThatIsPutBackIsRefused(t *testing.T) {
	store := newFakeStore()
	w := busy(t, store)
	w.observe(main("s"), "web_fetch", "a page")
	kept := len(w.events("s")) - 1
	store.load = func(ctx context.Context, session string, after uint64) iter.Seq2[audit.Record, error] {
		return func(yield func(audit.Record, error) bool) {
			for rec, err := range store.Store.Load(ctx, session, after) {
				if rec.Seq > uint64(kept) || !yield(rec, err) {
					return
				}
			}
		}
	}
	store.append = func(context.Context, string, uint64, []*event.Event) error { return engine.ErrConflict }
	for range 2 {
		v, err := w.Decide(t.Context(), main("s"), call("read", `{}`))
		if v.Allowed() || !errors.Is(err, engine.ErrUnavailable) {
			t.Errorf("got %v, %v; want it refused", v.Effect, err)
		}
	}
}

// A gauge reads no session, and tells how many calls wait: as they are asked about, answered, replaced, expired, and after a restart.
func TestOpenQuestionsAreCountedWithoutALookAtSessions(t *testing.T) {
	w := newWorld(t, byLevels)
	loads := 0
	store := &fakeStore{Store: w.store}
	store.load = func(ctx context.Context, session string, after uint64) iter.Seq2[audit.Record, error] {
		loads++
		return w.store.Load(ctx, session, after)
	}
	count := func(m *engine.Monitor, want int) {
		t.Helper()
		before := loads
		if got := m.OpenQuestions(); got != want || loads != before {
			t.Errorf("%d questions are open and the log was read %d times, want %d and 0", got, loads-before, want)
		}
	}
	m := func() *engine.Monitor {
		return newMonitor(t, engine.Options{Policy: w.Policy(), Store: store, Now: w.clock.Now, Rand: w.dice, MaxSessions: 2})
	}
	w.Monitor = m()
	var ids []string
	for i := range 5 {
		s := fmt.Sprint("s", i)
		w.says(s, trust.Sender{Provider: "discord", ID: "1", IsOwner: true, Group: "g"}, "go")
		ids = append(ids, w.want(policy.Confirm, main(s), call("send_email", `{"to":"bob@example.com"}`)).Held.ID)
	}
	count(w.Monitor, 5)
	for i, approve := range []bool{true, false} {
		if _, err := w.Answer(t.Context(), engine.Vote{Session: fmt.Sprint("s", i), IDs: ids[i : i+1], Approve: approve}); err != nil {
			t.Fatal(err)
		}
	}
	count(w.Monitor, 3)
	after := m()
	for i, id := range ids {
		after.Expect(fmt.Sprint("s", i), id, w.clock.Now().Add(time.Hour)) // as the table of questions tells: two were answered
	}
	count(after, 5)
	list, err := after.Questions(t.Context())
	pending := 0
	for _, q := range list {
		if q.Pending() {
			pending++
		}
	}
	if err != nil || pending != 3 {
		t.Errorf("the queue after a restart: %d wait, %v", pending, err)
	}
	count(after, 3)
	w.clock.advance(48 * time.Hour)
	count(after, 0)
	before := loads
	if list, err := after.Questions(t.Context()); err != nil || len(list) != 0 || loads != before {
		t.Errorf("long after: %d in the queue, %d reads, %v", len(list), loads-before, err)
	}
}

// What a look at a session brings into memory counts against the bound, and is the first to go.
func TestSessionsThatAreOnlyLookedAtAreWeighed(t *testing.T) {
	w := newWorld(t, "")
	for i := range 50 {
		s := fmt.Sprint("s", i)
		w.ownerSays(s, "go")
		w.taints(s)
	}
	w.Monitor = newMonitor(t, engine.Options{Policy: w.Policy(), Store: w.store, Now: w.clock.Now, Rand: w.dice, MaxHeard: 40 << 10})
	for i := range 50 {
		w.view(fmt.Sprint("s", i))
	}
	if n := w.Held(); n > 48<<10 {
		t.Errorf("%d bytes of sessions that were only looked at are held, the bound is %d", n, 40<<10)
	}
}

// BEY-02: calls that label something at the same time share commits, each label is there when its call is let through, and who reads
// labels does not wait for the disk.
func TestLabelsAreWrittenTogether(t *testing.T) {
	store := &fakeStore{Store: memory.New()}
	w := newWorldOn(t, "toolOverrides: {write: {\"*\": allow}}", store)
	const calls = 24
	for i := range calls {
		w.ownerSays(fmt.Sprint("s", i), "go")
		w.taints(fmt.Sprint("s", i))
	}
	var mu sync.Mutex
	commits := 0
	reading := make(chan struct{})
	store.append = func(ctx context.Context, session string, at uint64, events []*event.Event) error {
		if session == "tidemark:labels" {
			mu.Lock()
			commits++
			first := commits == 1
			mu.Unlock()
			if first {
				<-reading // the disk is slow: meanwhile labels are read, and others wait to write theirs
			}
		}
		return store.Store.Append(ctx, session, at, events)
	}
	var all sync.WaitGroup
	for i := range calls {
		all.Go(func() {
			v, err := w.Decide(t.Context(), main(fmt.Sprint("s", i)), call("write", fmt.Sprintf(`{"path":"work/%d.txt","content":"x"}`, i)))
			if err != nil || !v.Allowed() {
				t.Errorf("write %d: %v, %v", i, v.Effect, err)
			}
		})
	}
	w.ownerSays("reader", "read it")
	if _, err := w.Decide(t.Context(), main("reader"), call("read", `{"path":"work/other.txt"}`)); err != nil {
		t.Error(err)
	}
	close(reading)
	all.Wait()
	labels, err := w.Labels(t.Context())
	if err != nil || len(labels) != calls {
		t.Errorf("%d labels, %v; want %d", len(labels), err, calls)
	}
	t.Logf("%d commits for %d labels", commits, calls)
}

// budgeted is an auditor that counts with what the log tells it.
type budgeted struct {
	*oracle
	most   int
	before int
	told   []int
}

func (b *budgeted) Audited(_ string, before int) { b.before = before }

func (b *budgeted) Audit(ctx context.Context, session string, q intent.Question) (intent.Opinion, error) {
	b.told = append(b.told, b.before)
	if b.before >= b.most {
		return intent.Opinion{}, errors.New("the session has used up its audits")
	}
	return b.oracle.Audit(ctx, session, q)
}

// How often a session was audited is in its log: it counts for every server, and over a restart.
func TestAuditsAreCountedForAllServers(t *testing.T) {
	o := says(intent.Consistent, "it is what was asked for")
	w := cautious(t, o, "")
	first, second := &budgeted{oracle: o, most: 3}, &budgeted{oracle: o, most: 3}
	var servers [2]*world
	for i, a := range []*budgeted{first, second} {
		shared, _ := w.store.(engine.Shared)
		m := newMonitor(t, engine.Options{
			Policy: w.Policy(), Store: w.store, Shared: shared, Now: w.clock.Now, Rand: w.dice, Auditor: a,
		})
		servers[i] = &world{TB: t, Monitor: m, store: w.store, clock: w.clock, dice: w.dice}
	}
	for i := range 4 {
		want := policy.Allow
		if i == 3 {
			want = policy.Confirm // the budget is used up: as if the auditor could not be asked
		}
		servers[i%2].want(want, main("s"), call("exec", fmt.Sprintf(`{"command":"make %d"}`, i)))
	}
	if got := fmt.Sprint(first.told, second.told); got != "[0 2] [1 3]" {
		t.Errorf("they were told of %s audits before", got)
	}
}
