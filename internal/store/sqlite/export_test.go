package sqlite

// Queued is the number of requests waiting for the writer.
func (s *Store) Queued() int { return len(s.writer.queue) }

// MaxBatch is the bound of a commit.
const MaxBatch = maxBatch

// MaxHeads is the size of one generation of the cache of heads.
const MaxHeads = maxHeads

// Heads is the cache of heads, as far as a test needs it.
type Heads struct{ heads heads }

// Put remembers where a session stands.
func (h *Heads) Put(session string, seq uint64) {
	at := head{row: 1}
	at.Seq = seq
	h.heads.put(session, at)
}

// Get is what is remembered of a session.
func (h *Heads) Get(session string) (uint64, bool) {
	at, ok := h.heads.get(session)
	return at.Seq, ok
}

// Len is the number of heads held.
func (h *Heads) Len() int { return len(h.heads.young) + len(h.heads.old) }
