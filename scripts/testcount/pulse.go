package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// silence is how long nothing may be written: whoever looks on, or waits for output, must see
// that the run goes on. With the time between two looks it is at most half a minute.
const silence = 25 * time.Second

// pulse is a writer that says something itself where nobody else did for a while.
type pulse struct {
	begun time.Time

	mu   sync.Mutex
	out  io.Writer // guarded by mu
	last time.Time // guarded by mu; when something was written
}

func newPulse(out io.Writer, now time.Time) *pulse {
	return &pulse{begun: now, out: out, last: now}
}

// Write implements io.Writer.
func (p *pulse) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = time.Now()
	return p.out.Write(b)
}

// beat says how long it has been, where it has been quiet.
func (p *pulse) beat(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.last) < silence {
		return
	}
	p.last = now
	fmt.Fprintf(p.out, "...   building or testing, %s so far\n", now.Sub(p.begun).Round(time.Second))
}

// keep beats until it is told to stop.
func (p *pulse) keep(stop <-chan struct{}) {
	tick := time.NewTicker(silence / 5)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case now := <-tick.C:
			p.beat(now)
		}
	}
}
