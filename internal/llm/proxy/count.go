package proxy

import (
	"context"
	"sync"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/engine"
)

// counter counts model calls of the turns that are under way. It forgets those of a
// generation ago: memory stays bounded, and the monitor's own count is the floor.
type counter struct {
	mu       sync.Mutex
	now, old map[place]tally // guarded by mu
}

type place struct{ session, branch string }

type tally struct {
	turn string
	n    int
}

const maxCounted = 4096

// next is how many model calls the turn had before this one.
func (c *counter) next(at place, turn string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.now[at]
	if !ok {
		t = c.old[at]
	}
	if t.turn != turn {
		t = tally{turn: turn}
	}
	n := t.n
	t.n++
	if c.now == nil || len(c.now) >= maxCounted {
		c.old, c.now = c.now, map[place]tally{}
	}
	c.now[at] = t
	return n
}

// iteration is the number of this model call in its turn; -1 where nobody asks for it and
// the monitor counts alone.
func (p *Proxy) iteration(ctx context.Context, ref engine.Ref) (int, error) {
	if p.o.MaxIterations == 0 && !p.seesRequests() {
		return -1, nil
	}
	view, err := p.o.Monitor.View(ctx, ref.Session)
	if err != nil {
		return 0, err
	}
	for _, b := range view.Branches {
		if b.Branch == ref.Branch {
			return max(p.counts.next(place{ref.Session, ref.Branch}, b.Turn), b.Iteration), nil
		}
	}
	return 0, nil
}

// seesRequests reports whether a plugin may see whole requests.
func (p *Proxy) seesRequests() bool {
	return p.handled(hook.NameContextAssembled, hook.NameLoopIterationStart,
		hook.NameBeforeLLMCall, hook.NameAfterLLMCall, hook.NameLoopIterationEnd)
}

// handled reports whether a plugin handles one of the hooks.
func (p *Proxy) handled(names ...hook.Name) bool {
	for _, n := range names {
		if p.o.Bus.Handles(n) {
			return true
		}
	}
	return false
}
