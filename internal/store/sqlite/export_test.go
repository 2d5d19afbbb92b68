package sqlite

import (
	"context"
	"time"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/internal/store/internal/group"
)

// Step is one Append of a batch.
type Step struct {
	Session string
	At      uint64
	Events  []*event.Event
}

// Together commits steps to the log at path in one batch, beside whoever else writes it,
// and returns the outcome of each.
func Together(path string, steps []Step) ([]error, error) {
	db, err := pool(path, 1, writing(time.Second))
	if err != nil {
		return nil, err
	}
	defer db.Close()
	w := newWriter(path, db, nil)
	defer w.disconnect()
	batch := make([]*group.Request, len(steps))
	for i, step := range steps {
		records, err := store.Encode(step.Session, step.Events)
		if err != nil {
			return nil, err
		}
		batch[i] = &group.Request{Session: step.Session, At: step.At, Records: records}
	}
	return group.New(w).Together(context.Background(), batch), nil
}

// MaxBatch is the bound of a commit.
const MaxBatch = group.MaxBatch

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
