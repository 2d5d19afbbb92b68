package judge

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// What one agent reads through its relays counts in what it does through the gateway, and the other way round. An agent that names its
// conversation in one place and not in the other has two sessions here: while both are in use, the more tainted is what both are worth.

// The bounds of what is remembered.
const (
	maxCompany = 64
	together   = 24 * time.Hour
)

// company are the sessions in use that may be one agent's.
type company struct {
	mu      sync.Mutex
	named   map[string]*companion // guarded by mu; sessions with a name in which nobody hears the user
	gateway map[string]time.Time  // guarded by mu; when a client without a name last asked over HTTP, by its machine
}

// companion is a session with a name.
type companion struct {
	place Place
	since time.Time // it is known
	last  time.Time // it was used
}

// meet notes that a place is in use, and says which others its agent may have read something in.
func (c *company) meet(p Place, wordless bool, now time.Time) []Place {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, machine, _ := strings.Cut(p.Agent, "@")
	theirs := Place{Session: named("mcp", common)}.on(machine)
	nobodys := p.Session == theirs.Session
	if p.Gateway && nobodys {
		if c.gateway == nil {
			c.gateway = map[string]time.Time{}
		}
		c.gateway[machine] = now
		var out []Place
		for _, m := range c.named {
			if _, on, _ := strings.Cut(m.place.Agent, "@"); on == machine && now.Sub(m.last) < together {
				out = append(out, m.place)
			}
		}
		return out
	}
	if !wordless || nobodys || p.Gateway { // a client that names its conversation over HTTP has said which it is
		return nil
	}
	m := c.named[p.Session]
	if m == nil {
		m = &companion{place: p, since: now}
		c.remember(p.Session, m)
	}
	m.last = now
	if last, ever := c.gateway[machine]; !ever || now.Sub(last) > together {
		return nil
	}
	return []Place{theirs}
}

// remember makes room by what was used least lately.
// Preconditions: mu is held.
func (c *company) remember(session string, m *companion) {
	if c.named == nil {
		c.named = map[string]*companion{}
	}
	for len(c.named) >= maxCompany {
		oldest := ""
		for name, other := range c.named {
			if oldest == "" || other.last.Before(c.named[oldest].last) {
				oldest = name
			}
		}
		delete(c.named, oldest)
	}
	c.named[session] = m
}

// join makes a place worth no more than the others that its agent may have read something in. It is asked before a call is decided.
func (e *Engine) join(ctx context.Context, p Place) error {
	at, err := e.Monitor.Standing(ctx, p.ref())
	if err != nil {
		return err
	}
	for _, other := range e.company.meet(p, at.WordsUnknown, time.Now()) {
		if at.Taint.Level < trust.Local {
			return nil
		}
		there, err := e.Monitor.Standing(ctx, engine.Ref{Session: other.Session})
		if err != nil || !there.Begun || !there.WordsUnknown || there.Taint.Level >= trust.Local {
			continue // one that hears the user is judged where it is
		}
		level := there.Taint.Level
		_, err = e.Monitor.Observe(ctx, engine.Observation{
			Ref: p.ref(), Declared: &level,
			Result: tool.Result{Name: "mcp__together", Content: []byte("what was read in " + other.Session)},
		})
		if err != nil {
			return err
		}
		at.Taint.Level = level
	}
	return nil
}
