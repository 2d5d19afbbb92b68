package console

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/people/sight"
)

// questions is the queue as it is now.
func (c *Console) questions(ctx context.Context) ([]engine.Question, error) {
	list, err := c.queue.Questions(ctx)
	s := sight.From(ctx)
	return slices.DeleteFunc(slices.Clone(list), func(q engine.Question) bool { return !s.Agent(q.Agent) }), err
}

// hurry is when calls were approved of late: who approves one after the other reads none.
type hurry struct {
	mu sync.Mutex
	at []time.Time // guarded by mu
}

const (
	hurryFor     = 10 * time.Minute
	fewApprovals = 5
)

func (h *hurry) note(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = append(slices.DeleteFunc(h.at, func(t time.Time) bool { return now.Sub(t) > hurryFor }), now)
}

// often is how many calls were approved in the last minutes.
func (h *hurry) often(now time.Time) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = slices.DeleteFunc(h.at, func(t time.Time) bool { return now.Sub(t) > hurryFor })
	return len(h.at)
}
