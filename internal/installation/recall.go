package installation

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/internal/store/sqlite"
)

// Recall tells the monitor which questions may still be open, so that the queue is complete after a
// restart. No session is read: each is when it speaks, or when somebody looks at its question.
func Recall(ctx context.Context, kept KeptLog, m *engine.Monitor, logger *slog.Logger) error {
	open, err := kept.Asks(ctx, time.Now().UnixNano())
	if err != nil {
		return fmt.Errorf("recall questions: %w", err)
	}
	for _, q := range open {
		m.Expect(q.Session, q.ID, time.Unix(0, q.Expires))
	}
	log, ok := kept.(*sqlite.Store)
	if !ok || !log.Upgraded() {
		return nil
	}
	names, err := recent(ctx, log)
	if err != nil {
		return fmt.Errorf("recall sessions: %w", err)
	}
	for _, name := range names {
		if _, err := m.View(ctx, name); err != nil {
			logger.Error("session cannot be read; its calls will be refused", "session", name, "error", err)
		}
	}
	return nil
}

// recent names the sessions of the last day. In a log of before this version only they themselves say
// who spawned them: once, they are all read.
func recent(ctx context.Context, log *sqlite.Store) (names []string, err error) {
	since := time.Now().Add(-24 * time.Hour).UnixNano()
	query := store.SessionQuery{Limit: store.MaxLimit}
	for {
		page, err := log.Sessions(ctx, query)
		if err != nil || len(page) == 0 {
			return names, err
		}
		for _, s := range page {
			if query.After = s.Name; s.LastTime >= since {
				names = append(names, s.Name)
			}
		}
	}
}
