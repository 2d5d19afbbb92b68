package llm

import (
	"context"
	"sync"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/internal/door/llm/wire"
	"github.com/tidemark/tidemark/tool"
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
	found   bool        // it ran a call and did not ask
	answers int         // answers with calls left to it since it was last seen to ask
	calls   []tool.Call // some of those calls, without their arguments
}

const (
	maxHosts   = 1 << 14 // sessions of a generation
	maxUnasked = 4       // answers in a row whose calls nobody asks about
	maxLeft    = 32      // calls remembered of one session
)

// asks reports whether calls may be left to the host: it has asked about every call whose
// result has just come back, and now and then about those that were left to it before.
func (h *hosts) asks(ctx context.Context, m *tidemark.Monitor, ref tidemark.Ref, news []wire.Message) (bool, error) {
	found, answers, calls := h.get(ref.Session)
	if found {
		return false, nil
	}
	for _, call := range latest(news) {
		asked, err := m.Asked(ctx, ref, call)
		if !asked {
			h.change(ref.Session, func(k *host) { k.found = true }) // also on an error: these results are not new again
		}
		if !asked || err != nil {
			return false, err
		}
	}
	for _, call := range calls {
		asked, err := m.Asked(ctx, ref, call)
		if err != nil {
			return false, err
		}
		if asked {
			h.change(ref.Session, func(k *host) { k.answers, k.calls = 0, nil })
			return true, nil
		}
	}
	return answers < maxUnasked, nil
}

// left notes calls that went out for the host to ask about.
func (h *hosts) left(session string, parts []wire.Part) {
	var calls []tool.Call
	for i := range parts {
		if p := &parts[i]; p.Kind == wire.Call {
			calls = append(calls, tool.Call{ID: p.CallID, Name: p.Name})
		}
	}
	if len(calls) == 0 {
		return
	}
	h.change(session, func(k *host) {
		k.answers++
		k.calls = append(k.calls, calls...)
		k.calls = k.calls[max(0, len(k.calls)-maxLeft):]
	})
}

func (h *hosts) get(session string) (found bool, answers int, calls []tool.Call) {
	h.change(session, func(k *host) { found, answers, calls = k.found, k.answers, k.calls[:len(k.calls):len(k.calls)] })
	return found, answers, calls
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

// latest are the calls whose results stand after the last words of the model. What stands
// before them is history, which may have been made anywhere.
func latest(news []wire.Message) []tool.Call {
	var out []tool.Call
	for i := range news {
		if news[i].Role == wire.Assistant {
			out = nil
		}
		for j := range news[i].Parts {
			if p := &news[i].Parts[j]; p.Kind == wire.Result {
				out = append(out, tool.Call{ID: p.CallID, Name: p.Name})
			}
		}
	}
	return out
}
