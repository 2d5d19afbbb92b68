package console

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/tidemark/tidemark"
)

// queue is the list of questions as it was last read. However many browsers listen, it is read
// once for each change.
type queue struct {
	mu      sync.Mutex
	changed <-chan struct{}     // guarded by mu; closed when the list is old
	at      time.Time           // guarded by mu; when it was read
	list    []tidemark.Question // guarded by mu; shared, never changed
}

// freshFor is how long a list may be shown that nothing changed: what expires is not recorded.
const freshFor = 250 * time.Millisecond

// questions is the queue as it is now.
func (c *Console) questions(ctx context.Context) ([]tidemark.Question, error) {
	q := &c.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.changed != nil && c.now().Sub(q.at) < freshFor {
		select {
		case <-q.changed:
		default:
			return slices.Clone(q.list), nil
		}
	}
	changed := c.feed.QuestionsChanged() // before reading, or a question could slip in between
	list, err := c.monitor.Questions(context.WithoutCancel(ctx))
	if err != nil {
		q.changed = nil
		return nil, err
	}
	q.changed, q.at, q.list = changed, c.now(), list
	return slices.Clone(list), nil
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
