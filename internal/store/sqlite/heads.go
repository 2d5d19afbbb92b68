package sqlite

import "github.com/tidemark/tidemark/internal/audit"

// head is where a session's chain stands; a session without records has no row.
type head struct {
	row int64 // of the session
	audit.Head
}

// maxHeads is how many heads each generation of the cache holds.
const maxHeads = 1 << 14

// heads remembers where sessions stand, in two generations: what was not used during a
// whole generation is forgotten, so that old sessions cost no memory. It holds only
// what is committed.
type heads struct {
	young, old map[string]head
}

func (h *heads) get(session string) (head, bool) {
	if at, ok := h.young[session]; ok {
		return at, true
	}
	at, ok := h.old[session]
	return at, ok
}

func (h *heads) put(session string, at head) {
	if h.young == nil || len(h.young) >= maxHeads {
		h.old, h.young = h.young, make(map[string]head)
	}
	h.young[session] = at
}

func (h *heads) forget() { h.young, h.old = nil, nil }
