package engine_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/internal/store/notify"
	"github.com/tidemark/tidemark/internal/store/sqlite"
)

// pier is a store whose queued events wait until a test lets them go on, in their order.
type pier struct {
	*memory.Store
	mu     sync.Mutex
	queued []*boat
}

type boat struct {
	session string
	at      uint64
	events  []*event.Event
	done    chan error
}

func newPier() *pier { return &pier{Store: memory.New()} }

// Enqueue implements engine.Queue. The events are the caller's again when it returns.
func (p *pier) Enqueue(ctx context.Context, session string, at uint64, events []*event.Event) (func() error, error) {
	b := &boat{session: session, at: at, done: make(chan error, 1)}
	for _, e := range events {
		if _, err := e.Record(session); err != nil {
			return nil, err
		}
		own, decided := *e, *e.Decided
		decided.Call, own.Decided = nil, &decided
		b.events = append(b.events, &own)
	}
	p.put(b)
	return func() error {
		select {
		case err := <-b.done:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}, nil
}

// Append implements engine.Store: it takes its place behind what is queued.
func (p *pier) Append(ctx context.Context, session string, at uint64, events []*event.Event) error {
	b := &boat{session: session, at: at, events: events, done: make(chan error, 1)}
	p.put(b)
	return <-b.done
}

func (p *pier) put(b *boat) {
	p.mu.Lock()
	p.queued = append(p.queued, b)
	p.mu.Unlock()
}

// ready is how many wait, once there are two or nothing moves any more.
func (p *pier) ready() int {
	for range 100 {
		p.mu.Lock()
		n := len(p.queued)
		p.mu.Unlock()
		if n > 1 {
			return n
		}
		time.Sleep(time.Millisecond)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.queued)
}

// land writes the first that waits, if there is one, or loses it.
func (p *pier) land(lost error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queued) == 0 {
		return
	}
	b := p.queued[0]
	p.queued = p.queued[1:]
	if lost == nil {
		lost = p.Store.Append(context.Background(), b.session, b.at, b.events)
	}
	b.done <- lost
}

// answer is what one caller got.
type answer struct {
	v   engine.Verdict
	err error
}

// callers ask for one call each, all in one session, after the owner spoke.
func callers(w *world, p *pier, n int) <-chan answer {
	begun := make(chan struct{})
	go func() {
		defer close(begun)
		w.ownerSays("s", "Look at the sources")
	}()
	p.until(begun)
	out := make(chan answer, n)
	for i := range n {
		go func() {
			v, err := w.Decide(w.Context(), main("s"), call("read_file", fmt.Sprintf(`{"path":"src/%d.go"}`, i)))
			out <- answer{v, err}
		}()
	}
	return out
}

// until writes whatever comes until something is done.
func (p *pier) until(done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-time.After(time.Millisecond):
			p.land(nil)
		}
	}
}

// decided counts the records of decisions.
func decided(w *world) (n int) {
	for rec, err := range w.store.Load(w.Context(), "s", 0) {
		if err != nil {
			w.Fatal(err)
		}
		if rec.Kind == string(event.CallDecided) {
			n++
		}
	}
	return n
}

// SEQ-09: callers of one session do not wait for one another's records, and none has a permit before its own is written.
func TestDecisionsOfOneSessionFlyTogether(t *testing.T) {
	p := newPier()
	w := newWorldOn(t, "", p)
	const n = 16
	got := callers(w, p, n)
	for tries := 0; p.ready() < 2; tries++ {
		if tries == n {
			t.Fatal("never are two on their way")
		}
		p.land(nil) // somebody was alone, and the others waited
	}
	if have := decided(w); len(got) > have {
		t.Errorf("%d callers have an answer, and %d records are written", len(got), have)
	}
	for range n {
		for len(got) == 0 {
			p.land(nil)
		}
		if a := <-got; a.err != nil || a.v.Permit == nil {
			t.Errorf("%+v, %v", a.v, a.err)
		}
		if have := decided(w); have == 0 {
			t.Errorf("an answer and %d records", have)
		}
	}
	if have := decided(w); have != n {
		t.Errorf("%d decisions are written, want %d", have, n)
	}
}

// SEQ-09: nor has one a permit before its own is written where others were asked about the call first, and the session was let go meanwhile.
func TestADecisionThatOthersWereAskedAboutWaitsForItsRecord(t *testing.T) {
	p := newPier()
	w := newWorldOn(t, "", p).with(nil, &gate{rule: func(engine.Check) engine.Ruling { return engine.Ruling{Allow: true, By: "webhook"} }})
	const n = 16
	got := callers(w, p, n)
	for answers := 0; answers < n; {
		select {
		case a := <-got:
			answers++
			if a.err != nil || a.v.Permit == nil {
				t.Errorf("%+v, %v", a.v, a.err)
			}
			if have := decided(w); have < answers {
				t.Fatalf("%d callers have an answer, and %d records are written", answers, have)
			}
		default:
			if p.ready() > 0 {
				p.land(nil)
			}
		}
	}
}

// SEQ-09: where one of them is lost, its caller has no permit, and those behind it are decided again.
func TestADecisionThatIsLostLetsNothingThrough(t *testing.T) {
	for _, lost := range []int{0, 1, 3, 7} {
		t.Run(fmt.Sprint(lost), func(t *testing.T) {
			p := newPier()
			w := newWorldOn(t, "", p)
			const n = 16
			got := callers(w, p, n)
			permits, failed := 0, 0
			for landed := 0; permits+failed < n; {
				select {
				case a := <-got:
					if a.v.Permit != nil {
						permits++
					}
					if a.err != nil {
						failed++
						if a.v.Permit != nil || !errors.Is(a.err, engine.ErrUnavailable) {
							t.Errorf("%+v, %v", a.v, a.err)
						}
					}
				default:
					if p.ready() == 0 {
						continue
					}
					var err error
					if landed == lost {
						err = errors.New("the disk is gone")
					}
					p.land(err)
					landed++
				}
			}
			if failed != 1 || decided(w) != permits {
				t.Errorf("%d permits, %d failed, %d records", permits, failed, decided(w))
			}
		})
	}
}

// SEQ-09: the log that ships, told of as the server tells of it: every caller has its answer, and the chain holds.
func TestManyCallersOfOneSessionInTheLogThatShips(t *testing.T) {
	log, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "log.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	w := newWorldOn(t, "", notify.New(log))
	w.ownerSays("s", "Look at the sources")
	const n, each = 16, 8
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			for k := range each {
				v, err := w.Decide(t.Context(), main("s"), call("read_file", fmt.Sprintf(`{"path":"src/%d-%d.go"}`, i, k)))
				if err != nil || v.Permit == nil {
					t.Errorf("%+v, %v", v, err)
				}
			}
		})
	}
	all.Wait()
	report, err := log.Verify(t.Context(), nil)
	if have := decided(w); err != nil || !report.OK() || have != n*each {
		t.Errorf("%d decisions are written, want %d; %+v, %v", have, n*each, report, err)
	}
}
