package app

import (
	"context"

	"github.com/tidemark/tidemark/internal/store/retention"
)

// startRetention prunes the log as its configuration says, again and again until the server stops. Of several servers
// of one log one does. Each forgets what was taken out, whoever did.
func (a *App) startRetention() {
	ctx, cancel := context.WithCancel(context.Background()) //nolint:gosec // Close calls it
	a.pruned = cancel
	a.sharing.Go(func() { retention.Follow(ctx, a.log, a.Monitor.Forget, a.opts.Logger) })
	a.sharing.Go(func() { a.counts.KeepOn(ctx, a.opts.Logger) })
	r := a.config.Retention
	if len(r.Limits) == 0 {
		return
	}
	again := func(ctx context.Context) { retention.Repeat(ctx, a.log, r.Limits, r.Every, a.opts.Logger) }
	a.sharing.Go(func() {
		if a.shared == nil {
			again(ctx)
			return
		}
		waits := func(err error) { a.opts.Logger.Warn("pruning waits for the database", "error", err) }
		a.shared.Lease(ctx, "retention", again, waits)
	})
}
