package tally

import (
	"context"
	"log/slog"
	"time"
)

// countEvery is how often what happened since is counted for reports.
const countEvery = time.Minute

// KeepOn counts what happens, so that no report has to, until ctx ends.
func (t *Tally) KeepOn(ctx context.Context, logger *slog.Logger) {
	tick := time.NewTicker(countEvery)
	defer tick.Stop()
	failed := false
	for {
		err := t.Keep(ctx)
		if err != nil && !failed && ctx.Err() == nil {
			logger.Warn("reports are counted when they are asked for", "error", err)
		}
		failed = err != nil
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
