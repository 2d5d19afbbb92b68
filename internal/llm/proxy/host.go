package proxy

import (
	"context"
	"sync"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/llm/format"
)

// hosts remembers whether the hosts to which calls are left ask about them. A line in a
// system prompt shows that a plugin was there when the prompt was made; that it asks, only
// its questions show. Nothing more is left to a host that was found out.
type hosts struct {
	mu         sync.Mutex
	young, old map[string]*host // guarded by mu, as are the hosts; by session, in two generations
}

// host is what is known of one session's.
type host struct {
	answers int  // with calls that were left to it
	found   bool // it asked about none of them
}

const (
	maxHosts   = 1 << 14 // sessions of a generation
	maxUnasked = 4       // answers with calls before somebody must have asked
)

// asks reports whether calls may be left to the host: after a few answers with calls it
// has asked about some call of the session. Which ones cannot be held against it: hosts
// give calls other ids, and put them inside others.
func (h *hosts) asks(ctx context.Context, m *engine.Monitor, ref engine.Ref) (bool, error) {
	answers, found := 0, false
	h.change(ref.Session, func(k *host) { answers, found = k.answers, k.found })
	if found || answers < maxUnasked {
		return !found, nil
	}
	v, err := m.View(ctx, ref.Session) // calls that were only left to the host are no steps
	if err != nil {
		return false, err
	}
	if v.Steps == 0 { // from here on we ask ourselves, which must not look like the host
		h.change(ref.Session, func(k *host) { k.found = true })
	}
	return v.Steps > 0, nil
}

// left notes that calls went out for the host to ask about.
func (h *hosts) left(session string, parts []format.Part) {
	for i := range parts {
		if parts[i].Kind == format.Call {
			h.change(session, func(k *host) { k.answers++ })
			return
		}
	}
}

// change finds or makes the record of a session.
func (h *hosts) change(session string, change func(*host)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	k := h.young[session]
	if k == nil {
		if k = h.old[session]; k == nil {
			k = &host{}
		}
		if h.young == nil || len(h.young) >= maxHosts {
			h.young, h.old = map[string]*host{}, h.young
		}
		h.young[session] = k
	}
	change(k)
}
