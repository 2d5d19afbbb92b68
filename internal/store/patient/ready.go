package patient

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/tidemark/tidemark/internal/base/patience"
	"github.com/tidemark/tidemark/internal/engine"
)

const (
	fresh = time.Second            // how long a commit that worked says that the next one will
	again = 250 * time.Millisecond // between two looks whether a silent store is back
)

// probe is a commit that leaves nothing behind.
type probe struct {
	began time.Time
	done  chan struct{} // closed when err is set
	err   error
}

// look begins a probe, or joins the one under way.
func (s *Store) look() *probe {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.probe != nil || s.ctx.Err() != nil {
		return s.probe
	}
	p := &probe{began: time.Now(), done: make(chan struct{})}
	s.probe = p
	s.busy.Go(func() {
		ctx, cancel := context.WithTimeout(s.ctx, s.limit)
		p.err = s.wrote(s.log.Ping(ctx))
		late := errors.Is(ctx.Err(), context.DeadlineExceeded) && p.err != nil
		cancel()
		s.mu.Lock()
		s.probe = nil
		s.mu.Unlock()
		close(p.done)
		if late && s.age() > s.limit {
			s.quiet(s.limit)
		}
	})
	return p
}

// quiet notes that nothing was heard for a while, and has somebody look until something is.
func (s *Store) quiet(waited time.Duration) {
	since := time.Now().Add(-waited)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil || !s.silent.CompareAndSwap(nil, &since) {
		return
	}
	s.busy.Go(func() {
		tick := time.NewTicker(again)
		defer tick.Stop()
		for {
			ctx, cancel := context.WithTimeout(s.ctx, s.limit)
			err := s.wrote(s.log.Ping(ctx))
			answers := err == nil || ctx.Err() == nil // a refusal is an answer, and whoever asks next gets it
			cancel()
			if answers {
				s.silent.Store(nil)
				return
			}
			select {
			case <-tick.C:
			case <-s.ctx.Done():
				return
			}
		}
	})
}

// Watch looks from time to time whether commits work, while nobody writes, until the context ends: so Ready knows before it is
// asked. Where a probe costs the disk of a machine that is otherwise idle, it is left out.
func (s *Store) Watch(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.ctx.Done():
			return
		case <-tick.C:
		}
		if s.silent.Load() == nil && s.age() > every {
			s.look()
		}
	}
}

// age is how long ago a commit was last seen to work; very long where the last one failed.
func (s *Store) age() time.Duration {
	at := s.proven.Load()
	if at < 0 {
		return math.MaxInt64
	}
	return time.Since(s.born) - time.Duration(at)
}

// Ready says whether commits work now. Where that is known it answers at once; else it waits for somebody who looks, a second at
// the most.
func (s *Store) Ready(ctx context.Context) error {
	if err := s.mute(); err != nil {
		return err
	}
	if s.age() <= fresh {
		return nil
	}
	p := s.look()
	if p == nil {
		return fmt.Errorf("%w: the log is closed", engine.ErrUnavailable)
	}
	end := time.NewTimer(max(0, fresh-time.Since(p.began)))
	defer end.Stop()
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
		return ctx.Err()
	case <-end.C:
		return fmt.Errorf("%w: the log does not answer: %w", engine.ErrUnavailable, patience.ErrLate)
	}
}
