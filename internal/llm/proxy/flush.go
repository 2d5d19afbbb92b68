package proxy

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// What a request and its answer bring counts at once, and is written together a moment later.
// Nothing is let through on it before: a decision writes what waits along with itself, and the
// end of an answer with calls in it waits until all of it is written. What a crash takes comes
// back with the next request, as something that nobody saw.

// flushAfter is how long what a conversation brought may wait to be written.
const flushAfter = 20 * time.Millisecond

// flusher writes what waits, soon.
type flusher struct {
	mu     sync.Mutex
	timers map[string]*time.Timer // guarded by mu; by session
	closed bool                   // guarded by mu; nothing may wait any more
}

// later writes what waits of a session soon. Who comes while it waits is written along.
func (p *Proxy) later(session string) {
	f := &p.flushes
	f.mu.Lock()
	closed := f.closed
	if f.timers == nil {
		f.timers = map[string]*time.Timer{}
	}
	if !closed && f.timers[session] == nil {
		f.timers[session] = time.AfterFunc(flushAfter, func() { p.flush(session) })
	}
	f.mu.Unlock()
	if closed {
		p.flush(session)
	}
}

func (p *Proxy) flush(session string) {
	p.flushes.mu.Lock()
	delete(p.flushes.timers, session)
	p.flushes.mu.Unlock()
	ctx := context.Background()
	if err := p.o.Monitor.Flush(ctx, session); err != nil { // it still waits, and nothing more may before it is written
		p.o.Logger.LogAttrs(ctx, slog.LevelError, "conversation not recorded yet", slog.String("error", err.Error()))
	}
}

// drain writes all that waits; from then on nothing does.
func (p *Proxy) drain() {
	f := &p.flushes
	f.mu.Lock()
	f.closed = true
	var waiting []string
	for session, t := range f.timers {
		t.Stop()
		waiting = append(waiting, session)
	}
	f.mu.Unlock()
	for _, session := range waiting {
		p.flush(session)
	}
}
