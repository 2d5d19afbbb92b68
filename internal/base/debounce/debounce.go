// Package debounce runs a function once per key after a delay; calls made meanwhile are merged. It is for what is cheaper done
// together and must not be forgotten. A Group starts a timer for each key that waits, and no other goroutine.
//
// Invariants:
//   - what was asked for is done after at most the delay, or by Close;
//   - after Close everything is done at once.
package debounce

import (
	"sync"
	"time"
)

// Group does one thing for many keys. It is safe for concurrent use.
type Group struct {
	after time.Duration
	do    func(key string)

	mu     sync.Mutex
	timers map[string]*time.Timer // guarded by mu; by key
	closed bool                   // guarded by mu
}

// New makes a Group; do runs on a goroutine of its own, and may run for several keys at once.
func New(after time.Duration, do func(key string)) *Group {
	return &Group{after: after, do: do, timers: map[string]*time.Timer{}}
}

// Ask has it done for a key. Who asks while it waits has it done along.
func (g *Group) Ask(key string) {
	g.mu.Lock()
	closed := g.closed
	if !closed && g.timers[key] == nil {
		g.timers[key] = time.AfterFunc(g.after, func() {
			g.mu.Lock()
			delete(g.timers, key) // before: what is asked for from now on is not in it
			g.mu.Unlock()
			g.do(key)
		})
	}
	g.mu.Unlock()
	if closed {
		g.do(key)
	}
}

// Close does all that waits; from then on nothing does.
func (g *Group) Close() {
	g.mu.Lock()
	g.closed = true
	var waiting []string
	for key, t := range g.timers {
		t.Stop()
		waiting = append(waiting, key)
	}
	clear(g.timers)
	g.mu.Unlock()
	for _, key := range waiting {
		g.do(key)
	}
}
