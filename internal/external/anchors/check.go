package anchors

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/store"
)

// Ledger is what checkpoints are held against.
type Ledger interface {
	HeadAt(ctx context.Context, batch uint64) (store.Head, error)
}

// Check holds checkpoints against a ledger: what they say must still be there. It gives a break for each that is not.
func Check(ctx context.Context, ledger Ledger, list []Checkpoint) ([]store.Break, error) {
	var out []store.Break
	for i := range list {
		c := &list[i]
		at, err := ledger.HeadAt(ctx, c.Head.Batch)
		switch {
		case errors.Is(err, engine.ErrNotFound):
			out = append(out, c.broken("the log had %d commits then and has no such commit now: its end was removed", c.Head.Batch))
		case err != nil:
			return nil, err
		case at.Hash != c.Head.Hash:
			out = append(out, c.broken("commit %d was %s and is %s: records up to it were removed or rewritten",
				c.Head.Batch, c.Head.Hash, at.Hash))
		}
	}
	return out, nil
}

func (c *Checkpoint) broken(format string, args ...any) store.Break {
	return store.Break{Problem: "the anchor of " + c.Time.Format(time.RFC3339) + ": " + fmt.Sprintf(format, args...)}
}
