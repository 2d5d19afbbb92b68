package standing

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/tidemark/tidemark/internal/event"
)

// Switch is whether everything is stopped, as its log says. It is safe for concurrent use.
type Switch struct {
	log    Log
	name   string
	shared bool // others write there too: what was read counts for a moment
	now    func() time.Time

	lock    chan struct{}  // a lock that whoever waits for it can give up on
	version uint64         // guarded by lock
	stop    *event.Stopped // guarded by lock; nil: nothing is stopped

	known atomic.Pointer[known] // nil: the log must be read before anything is decided
}

// known is what the log said, and when it was looked at.
type known struct {
	stop *event.Stopped
	at   time.Time
}

// NewSwitch is what the log of that name says. shared says that others write it too.
func NewSwitch(log Log, name string, shared bool, now func() time.Time) *Switch {
	return &Switch{log: log, name: name, shared: shared, now: now, lock: make(chan struct{}, 1)}
}

// fresh is how long what was read counts where others write: a word of theirs holds here within a second.
const fresh = 300 * time.Millisecond

// Look is the stop that is in force; nil: there is none. An error says that nobody knows, and then nothing runs.
func (s *Switch) Look(ctx context.Context) (*event.Stopped, error) {
	if k := s.holds(); k != nil {
		return k.stop, nil
	}
	if err := s.acquire(ctx); err != nil {
		return nil, err
	}
	defer s.release()
	if k := s.holds(); k != nil { // somebody looked meanwhile
		return k.stop, nil
	}
	if err := s.read(ctx); err != nil {
		return nil, err
	}
	return s.stop, nil
}

// Seen is the stop that was in force when somebody last looked; nil: there was none, or nobody looked.
func (s *Switch) Seen() *event.Stopped {
	if k := s.known.Load(); k != nil {
		return k.stop
	}
	return nil
}

// holds is what is known, as long as it counts. A clock that went back makes it old.
func (s *Switch) holds() *known {
	k := s.known.Load()
	if k == nil || !s.shared {
		return k
	}
	if age := s.now().Sub(k.at); age < 0 || age >= fresh {
		return nil
	}
	return k
}

func (s *Switch) acquire(ctx context.Context) error {
	select {
	case s.lock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("read whether everything is stopped: %w", ctx.Err())
	}
}

func (s *Switch) release() { <-s.lock }

// read reads what is new in the log.
// Preconditions: the lock is held.
func (s *Switch) read(ctx context.Context) error {
	s.known.Store(nil)
	at := s.now() // before: what is written while it reads is looked for next time
	for rec, err := range s.log.Load(ctx, s.name, s.version) {
		if err != nil {
			return fmt.Errorf("read whether everything is stopped: %w", err)
		}
		e, err := event.FromRecord(rec)
		if err != nil {
			return fmt.Errorf("read whether everything is stopped: %w", err)
		}
		s.apply(&e)
	}
	s.known.Store(&known{s.stop, at})
	return nil
}

// apply folds one event. One that says nothing of it, which nobody writes, stops.
// Preconditions: the lock is held.
func (s *Switch) apply(e *event.Event) {
	s.version++
	at := time.Unix(0, e.Time).UTC()
	switch c := e.Stop; {
	case c == nil:
		s.stop = &event.Stopped{At: at}
	case c.Resumed:
		s.stop = nil
	default:
		s.stop = &event.Stopped{Reason: c.Reason, At: at}
		if e.Answer != nil {
			s.stop.By = e.Answer.By
		}
	}
}

// Say writes that everything stops, or goes on. What is so already is not written again.
func (s *Switch) Say(ctx context.Context, e *event.Event) (*event.Stopped, error) {
	if err := s.acquire(ctx); err != nil {
		return nil, err
	}
	defer s.release()
	if err := s.read(ctx); err != nil {
		return nil, err
	}
	const attempts = 8
	for range attempts {
		if (s.stop == nil) == e.Stop.Resumed {
			return s.stop, nil
		}
		was := s.version
		err := s.log.Append(ctx, s.name, was, []*event.Event{e})
		if err == nil {
			s.apply(e)
			s.known.Store(&known{s.stop, s.now()})
			return s.stop, nil
		}
		if failed := s.read(ctx); failed != nil || s.version == was {
			s.known.Store(nil) // nobody knows what was written
			return nil, fmt.Errorf("record that everything stops or goes on: %w", err)
		}
	}
	return nil, fmt.Errorf("record that everything stops or goes on: %w", errBusy)
}

// Stop has nothing run any more, and says who wants it so.
func (s *Switch) Stop(ctx context.Context, reason, by, via string) (*event.Stopped, error) {
	return s.Say(ctx, &event.Event{
		Kind: event.StopSaid, Time: s.now().UnixNano(), Answer: &event.Answer{By: by, Via: via, Verdict: "stop"},
		Stop: &event.Stop{Reason: reason},
	})
}

// Resume ends a Stop.
func (s *Switch) Resume(ctx context.Context, by, via string) error {
	_, err := s.Say(ctx, &event.Event{
		Kind: event.StopSaid, Time: s.now().UnixNano(), Answer: &event.Answer{By: by, Via: via, Verdict: "resume"},
		Stop: &event.Stop{Resumed: true},
	})
	return err
}
