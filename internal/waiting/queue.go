package waiting

import (
	"context"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/store/notify"
)

// Queue is the list of questions as it was last read. However many look at it, it is read once for each
// change. It is safe for concurrent use.
type Queue struct {
	monitor *engine.Monitor
	log     *notify.Store
	now     func() time.Time

	mu      sync.Mutex
	changed <-chan struct{}   // guarded by mu; closed when the list is old
	at      time.Time         // guarded by mu; when it was read
	list    []engine.Question // guarded by mu; shared, never changed
}

// NewQueue makes a Queue; log is the store that the monitor writes to.
func NewQueue(m *engine.Monitor, log *notify.Store, now func() time.Time) *Queue {
	return &Queue{monitor: m, log: log, now: now}
}

// freshFor is how long a list may be shown that nothing changed: what expires is not recorded.
const freshFor = 250 * time.Millisecond

// Questions is the queue as it is now. The list is everybody's: a caller that would change it copies it first.
func (q *Queue) Questions(ctx context.Context) ([]engine.Question, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.changed != nil && q.now().Sub(q.at) < freshFor {
		select {
		case <-q.changed:
		default:
			return q.list, nil
		}
	}
	changed := q.log.QuestionsChanged() // before reading, or a question could slip in between
	list, err := q.monitor.Questions(context.WithoutCancel(ctx))
	if err != nil {
		q.changed = nil
		return nil, err
	}
	q.changed, q.at, q.list = changed, q.now(), list
	return list, nil
}
