package approvalproof_test

import (
	"context"
	"crypto/rand"
	"errors"
	"iter"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/people/approvalproof"
	"github.com/tidemark/tidemark/internal/store/memory"
)

// gated is a log that is read when it is let.
type gated struct {
	*memory.Store
	reads atomic.Int64
	gate  chan struct{} // closed: nothing holds a read up
}

func (g *gated) Load(ctx context.Context, name string, after uint64) iter.Seq2[audit.Record, error] {
	g.reads.Add(1)
	<-g.gate
	return g.Store.Load(ctx, name, after)
}

// BEY-10: however many answer at once, the log of people is read for all of them together: nobody is refused because others answer too. Who
// comes while it is read does not get what was read before, which may lack a key that was enrolled meanwhile.
func TestManyAnswersReadTheKeysTogether(t *testing.T) {
	for _, shared := range []bool{false, true} {
		store := memory.New()
		g := &gated{Store: store, gate: make(chan struct{})}
		close(g.gate)
		k, err := approvalproof.Open(t.Context(), approvalproof.Options{Store: g, Shared: shared, Now: time.Now, Rand: rand.Reader})
		if err != nil {
			t.Fatal(err)
		}
		g.gate = make(chan struct{})
		g.reads.Store(0)
		var early, all sync.WaitGroup
		early.Go(func() {
			_, _ = k.Prove(&engine.Vote{Via: "http"}, "said") // it may see the key or not
		})
		for g.reads.Load() == 0 { // it reads now
			time.Sleep(time.Millisecond)
		}
		const many = 500
		var needs atomic.Int64
		open(t, approvalproof.Options{Store: store}).enrol(t) // elsewhere, after the first read began
		for range many {
			all.Go(func() {
				if _, err := k.Prove(&engine.Vote{Via: "http"}, "said"); errors.Is(err, engine.ErrProof) {
					needs.Add(1)
				}
			})
		}
		time.Sleep(20 * time.Millisecond) // most of them wait by then; whoever does not reads for itself, and is right too
		close(g.gate)
		early.Wait()
		all.Wait()
		if needs.Load() != many {
			t.Errorf("shared %v: %d of %d were asked for the key that was enrolled before they answered", shared, needs.Load(), many)
		}
		if n := g.reads.Load(); n > many/5 {
			t.Errorf("shared %v: the log was read %d times for %d answers", shared, n, many)
		}
	}
}
