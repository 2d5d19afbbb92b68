package auditor

import (
	"log/slog"
	"sync"
	"time"
)

// The states of a breaker, as the status says them.
const (
	breakerClosed = "closed"    // requests go out
	breakerOpen   = "open"      // none does
	breakerHalf   = "half-open" // one does, to see
)

// breaker holds requests back from an endpoint that failed tripAfter times in a row, for openFor; then one is let through, and what
// becomes of it decides.
type breaker struct {
	log *slog.Logger

	mu       sync.Mutex
	open     bool      // guarded by mu
	since    time.Time // guarded by mu; of the latest failure, while it is open
	trying   bool      // guarded by mu; the one is on its way
	failures int       // guarded by mu; in a row
}

// state is what becomes of a request now.
func (b *breaker) state() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stateNow()
}

func (b *breaker) stateNow() string {
	switch {
	case !b.open:
		return breakerClosed
	case time.Since(b.since) < openFor:
		return breakerOpen
	}
	return breakerHalf
}

// do sends a request, if it may go out.
func (b *breaker) do(send func() (string, error)) (string, error) {
	b.mu.Lock()
	state := b.stateNow()
	if state == breakerOpen || state == breakerHalf && b.trying {
		b.mu.Unlock()
		return "", ErrOpen
	}
	b.trying = state == breakerHalf
	b.mu.Unlock()
	counted := false
	defer func() {
		if !counted { // it panicked
			b.count(state, false)
		}
	}()
	text, err := send()
	counted = true
	if cancelled(err) { // nobody waited for it: it says nothing of the endpoint
		b.mu.Lock()
		b.trying = b.trying && state != breakerHalf
		b.mu.Unlock()
		return text, err
	}
	b.count(state, alive(err))
	return text, err
}

// count notes what became of a request that went out in some state.
func (b *breaker) count(state string, well bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if state == breakerHalf {
		b.trying = false
	} else if b.open {
		return // it was on its way before
	}
	was := b.stateNow()
	if well {
		b.open, b.failures = false, 0
	} else if b.failures++; state == breakerHalf || b.failures >= tripAfter {
		b.open, b.since, b.failures = true, time.Now(), 0
	}
	if is := b.stateNow(); is != was {
		b.log.Warn("auditor: breaker changed", "from", was, "to", is)
	}
}
