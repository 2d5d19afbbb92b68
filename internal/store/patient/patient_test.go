package patient_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/base/patience"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/internal/store/notify"
	"github.com/tidemark/tidemark/internal/store/patient"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

// log is a store that can fall silent, be slow, or refuse.
type log struct {
	*memory.Store
	silent  atomic.Bool
	slow    atomic.Int64 // that each request takes
	refuses atomic.Bool
	asked   atomic.Int64
}

var errRefused = errors.New("the disk is full")

// answer waits as the store would.
func (l *log) answer(ctx context.Context) error {
	l.asked.Add(1)
	t := time.NewTimer(time.Duration(l.slow.Load()))
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", engine.ErrUnavailable, ctx.Err())
	}
	for l.silent.Load() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", engine.ErrUnavailable, ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
	if l.refuses.Load() {
		return fmt.Errorf("%w: %w", engine.ErrUnavailable, errRefused)
	}
	return nil
}

// Records is how many there are.
func (l *log) Records() (n int64) {
	for range l.Store.Load(context.Background(), "s", 0) {
		n++
	}
	for range l.Store.Load(context.Background(), "new", 0) {
		n++
	}
	return n
}

func (l *log) Ping(ctx context.Context) error { return l.answer(ctx) }

func (l *log) Append(ctx context.Context, session string, at uint64, events []*event.Event) error {
	if err := l.answer(ctx); err != nil {
		return err
	}
	return l.Store.Append(ctx, session, at, events)
}

func (l *log) Load(ctx context.Context, session string, after uint64) iter.Seq2[audit.Record, error] {
	return func(yield func(audit.Record, error) bool) {
		if err := l.answer(ctx); err != nil {
			yield(audit.Record{}, err)
			return
		}
		for rec, err := range l.Store.Load(ctx, session, after) {
			if !yield(rec, err) {
				return
			}
		}
	}
}

func began() []*event.Event {
	return []*event.Event{{Kind: event.TurnBegan, Time: 1, Turn: "t", Began: &event.Began{}}}
}

func open(l *log) *patient.Store { return patient.New(l, 3*time.Second) }

// A call whose store is silent is refused when its time is over; those behind it do not wait in turn, and nobody waits again until
// the store has answered a probe.
func TestASilentStoreIsNotWaitedForTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &log{Store: memory.New()}
		s := open(l)
		defer s.Close()
		l.silent.Store(true)
		start := time.Now()
		for i, want := range []time.Duration{3 * time.Second, 0, 0} {
			begun := time.Now()
			err := s.Append(t.Context(), "s", 0, began())
			if !errors.Is(err, patience.ErrLate) || !errors.Is(err, engine.ErrUnavailable) || errors.Is(err, context.Canceled) {
				t.Fatalf("append %d: got %v", i, err)
			}
			if took := time.Since(begun); took != want {
				t.Errorf("append %d took %v, want %v", i, took, want)
			}
		}
		if err := s.Ready(t.Context()); !errors.Is(err, patience.ErrLate) || time.Since(start) != 3*time.Second {
			t.Errorf("ready: %v after %v", err, time.Since(start))
		}
		l.silent.Store(false)
		time.Sleep(time.Second)
		if err := s.Ready(t.Context()); err != nil {
			t.Errorf("ready again: %v", err)
		}
		if err := s.Append(t.Context(), "s", 0, began()); err != nil {
			t.Errorf("append again: %v", err)
		}
	})
}

// A store that answers others while one waits is busy: that one is refused, and nobody else is. One that takes no commits is silent,
// whoever reads meanwhile.
func TestABusyStoreIsNotSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &log{Store: memory.New()}
		s := open(l)
		defer s.Close()
		wait := func() error {
			l.slow.Store(int64(5 * time.Second))
			late := make(chan error)
			go func() { late <- s.Append(t.Context(), "s", 0, began()) }()
			synctest.Wait()
			l.slow.Store(int64(100 * time.Millisecond))
			time.Sleep(time.Second)
			for range s.Load(t.Context(), "s", 0) {
			}
			return <-late
		}
		commit := func() {
			time.Sleep(time.Second)
			if err := s.Append(t.Context(), "new", 0, began()); err != nil {
				t.Error(err)
			}
		}
		go commit()
		if err := wait(); !errors.Is(err, patience.ErrLate) {
			t.Errorf("the one that waited: %v", err)
		}
		if err := s.Ready(t.Context()); err != nil {
			t.Errorf("after it: %v", err)
		}
		time.Sleep(time.Minute)
		if err := wait(); !errors.Is(err, patience.ErrLate) {
			t.Errorf("the one that waited: %v", err)
		}
		if err := s.Ready(t.Context()); !errors.Is(err, patience.ErrLate) {
			t.Errorf("while nothing is committed and others read: %v", err)
		}
	})
}

// Who waited for a person waits longer for a store that is busy; one that is known to be silent is waited for by nobody.
func TestWhoWaitedForAPersonWaitsLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &log{Store: memory.New()}
		s := open(l)
		defer s.Close()
		l.slow.Store(int64(8 * time.Second))
		ctx := patience.Begin(patience.Unhurried(t.Context()))
		if err := s.Append(ctx, "s", 0, began()); err != nil {
			t.Errorf("after a person's answer: %v", err)
		}
		if err := s.Append(patience.Begin(t.Context()), "new", 0, began()); !errors.Is(err, patience.ErrLate) {
			t.Errorf("a call of a host: %v", err)
		}
		l.silent.Store(true)
		begun := time.Now()
		if err := s.Append(ctx, "s", 1, began()); !errors.Is(err, patience.ErrLate) || time.Since(begun) > 0 {
			t.Errorf("of a store that is silent: %v after %v", err, time.Since(begun))
		}
	})
}

// What one decision waits is added up; what its reader does between records is not the store's.
func TestTheWaitsOfOneDecisionAreAddedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &log{Store: memory.New()}
		s := open(l)
		defer s.Close()
		if err := s.Append(t.Context(), "s", 0, append(began(), began()...)); err != nil {
			t.Fatal(err)
		}
		l.slow.Store(int64(1200 * time.Millisecond))
		ctx := patience.Begin(t.Context())
		read := func() (n int, err error) {
			for _, err := range s.Load(ctx, "s", 0) {
				if err != nil {
					return n, err
				}
				n++
				time.Sleep(time.Minute)
			}
			return n, nil
		}
		for i := range 2 {
			if n, err := read(); n != 2 || err != nil {
				t.Fatalf("read %d: %d records, %v", i, n, err)
			}
		}
		begun := time.Now()
		if n, err := read(); n != 0 || !errors.Is(err, patience.ErrLate) || time.Since(begun) != 600*time.Millisecond {
			t.Errorf("the third: %d records, %v, after %v", n, err, time.Since(begun))
		}
		if err := s.Append(ctx, "s", 2, began()); !errors.Is(err, patience.ErrLate) {
			t.Errorf("nothing is left: got %v", err)
		}
		if err := s.Append(patience.Begin(t.Context()), "s", 2, began()); err != nil {
			t.Errorf("another decision has its own time: %v", err)
		}
	})
}

// A refusal is passed on as it is, a caller that goes is no silence, and neither is one that comes with little time left.
func TestOnlySilenceIsSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &log{Store: memory.New()}
		s := open(l)
		defer s.Close()
		l.refuses.Store(true)
		if err := s.Append(t.Context(), "s", 0, began()); !errors.Is(err, errRefused) || errors.Is(err, patience.ErrLate) {
			t.Errorf("refused: got %v", err)
		}
		if err := s.Ready(t.Context()); !errors.Is(err, errRefused) {
			t.Errorf("ready after a refusal: got %v", err)
		}
		l.refuses.Store(false)
		l.silent.Store(true)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if err := s.Append(ctx, "s", 0, began()); errors.Is(err, patience.ErrLate) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the caller went: got %v", err)
		}
		late := patience.Begin(t.Context())
		patience.Of(late).Add(2900 * time.Millisecond)
		if err := s.Append(late, "s", 0, began()); !errors.Is(err, patience.ErrLate) {
			t.Errorf("little time left: got %v", err)
		}
		l.silent.Store(false)
		if err := s.Append(t.Context(), "s", 0, began()); err != nil {
			t.Errorf("nobody was silent: %v", err)
		}
		if err := s.Append(t.Context(), "s", 0, began()); !errors.Is(err, engine.ErrConflict) {
			t.Errorf("a conflict: got %v", err)
		}
	})
}

// Ready answers by what is known: at once after a commit, and within a second where nobody has written; a closed one is not ready.
func TestReadyWaitsForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &log{Store: memory.New()}
		s := open(l)
		asked := l.asked.Load()
		if err := s.Ready(t.Context()); err != nil || l.asked.Load() != asked {
			t.Errorf("just opened: %v, asked %d times", err, l.asked.Load()-asked)
		}
		time.Sleep(time.Hour)
		if err := s.Ready(t.Context()); err != nil || l.asked.Load() != asked+1 {
			t.Errorf("an hour later: %v, asked %d times", err, l.asked.Load()-asked)
		}
		time.Sleep(time.Hour)
		l.silent.Store(true)
		for i, want := range []time.Duration{time.Second, 0} {
			begun := time.Now()
			if err := s.Ready(t.Context()); !errors.Is(err, patience.ErrLate) || time.Since(begun) != want {
				t.Errorf("silent, %d: %v after %v, want %v", i, err, time.Since(begun), want)
			}
		}
		s.Close()
		if err := s.Ready(t.Context()); err == nil {
			t.Error("a closed one is ready")
		}
	})
}

// A watched store is known to be silent before anybody asks.
func TestAWatchedStoreIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &log{Store: memory.New()}
		s := open(l)
		defer s.Close()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go s.Watch(ctx, time.Second)
		time.Sleep(time.Minute)
		l.silent.Store(true)
		time.Sleep(10 * time.Second)
		begun := time.Now()
		if err := s.Append(t.Context(), "s", 0, began()); !errors.Is(err, patience.ErrLate) || time.Since(begun) != 0 {
			t.Errorf("got %v after %v", err, time.Since(begun))
		}
	})
}

// What a call waits for the lock of its session is counted, too.
func TestALockIsWaitedForAsWell(t *testing.T) {
	var mu sync.Mutex
	ctx := patience.Begin(t.Context())
	patience.Lock(ctx, &mu, time.Now)
	if got := patience.Of(ctx).Waited(); got != 0 {
		t.Errorf("a free lock: waited %v", got)
	}
	times := []time.Time{time.Unix(0, 0), time.Unix(3, 0)}
	now := func() time.Time {
		at := times[0]
		if times = times[1:]; len(times) == 1 {
			mu.Unlock() // whoever holds it is done
		}
		return at
	}
	patience.Lock(ctx, &mu, now)
	if got := patience.Of(ctx).Waited(); got != 3*time.Second {
		t.Errorf("a lock that somebody held: waited %v", got)
	}
	s := open(&log{Store: memory.New()})
	defer s.Close()
	if err := s.Append(ctx, "s", 0, began()); !errors.Is(err, patience.ErrLate) {
		t.Errorf("nothing is left: got %v", err)
	}
	patience.Of(t.Context()).Add(time.Hour) // nobody adds up
	if got := patience.Of(t.Context()).Waited(); got != 0 {
		t.Errorf("nobody adds up: got %v", got)
	}
}

// SEQ-09: however many calls of a session stand behind one another, none waits for a silent store in its turn, and each is refused with
// a reason.
func TestCallsOfOneSessionDoNotWaitInTurn(t *testing.T) {
	l := &log{Store: memory.New()}
	s := patient.New(l, 300*time.Millisecond)
	defer s.Close()
	if told := notify.New(s); !told.Patient() || notify.New(l).Patient() {
		t.Error("a store that tells does not say whether waits for it are added up")
	}
	set, faults := policy.Parse("t.yaml", nil)
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	m, err := engine.New(engine.Options{Policy: set, Store: s, Now: time.Now, Rand: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	decide := func(session string) error {
		v, err := m.Decide(t.Context(), engine.Ref{Session: session}, tool.Call{ID: "c", Name: "read", Args: []byte(`{}`)})
		if err != nil && v.Permit != nil {
			t.Error("a call that was not decided may run")
		}
		return err
	}
	if err := decide("s"); err != nil {
		t.Fatal(err)
	}
	l.silent.Store(true)
	before := l.Records()
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			if err := decide([]string{"s", "new"}[i%2]); !errors.Is(err, patience.ErrLate) || !strings.Contains(err.Error(), "log") {
				t.Errorf("call %d: got %v", i, err)
			}
		})
	}
	all.Wait()
	if now := l.Records(); now != before {
		t.Errorf("%d records were written of calls that were refused", now-before)
	}
	l.silent.Store(false)
	for s.Ready(t.Context()) != nil {
		time.Sleep(10 * time.Millisecond)
	}
	for _, name := range []string{"s", "new"} {
		if err := decide(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
