package app

import (
	"context"
	"fmt"
	"time"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/internal/store/retention"
)

// startRetention prunes the log as its configuration says, again and again until the server stops. Of several servers
// of one log one does. Each forgets what was taken out, whoever did.
func (a *App) startRetention() {
	ctx, cancel := context.WithCancel(context.Background()) //nolint:gosec // Close calls it
	a.pruned = cancel
	a.sharing.Go(func() { a.forgetPruned(ctx) })
	a.sharing.Go(func() { a.keepCounts(ctx) })
	r := a.config.Retention
	if len(r.Limits) == 0 {
		return
	}
	again := func(ctx context.Context) {
		tick := time.NewTicker(r.Every)
		defer tick.Stop()
		for {
			a.prune(ctx)
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}
	a.sharing.Go(func() {
		if a.shared == nil {
			again(ctx)
			return
		}
		waits := func(err error) { a.opts.Logger.Warn("pruning waits for the database", "error", err) }
		a.shared.Lease(ctx, "retention", again, waits)
	})
}

// countEvery is how often what happened since is counted for reports.
const countEvery = time.Minute

// keepCounts counts what happens, so that no report has to, until ctx ends.
func (a *App) keepCounts(ctx context.Context) {
	tick := time.NewTicker(countEvery)
	defer tick.Stop()
	failed := false
	for {
		err := a.counts.Keep(ctx)
		if err != nil && !failed && ctx.Err() == nil {
			a.opts.Logger.Warn("reports are counted when they are asked for", "error", err)
		}
		failed = err != nil
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// forgetEvery is how soon a server has nothing in memory of what was taken out of the log.
const forgetEvery = 5 * time.Second

// forgetPruned has the monitor forget sessions of which something was taken out, until ctx ends.
func (a *App) forgetPruned(ctx context.Context) {
	tick := time.NewTicker(forgetEvery)
	defer tick.Stop()
	var seen uint64
	failed := false
	for {
		err := a.forget(ctx, &seen)
		if err != nil && !failed && ctx.Err() == nil { // once, and not every few seconds
			a.opts.Logger.Warn("what was taken out of the log may still be in memory", "error", err)
		}
		failed = err != nil
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// forget goes through what the log of retention says beyond a record.
func (a *App) forget(ctx context.Context, seen *uint64) error {
	for rec, err := range a.log.Load(ctx, store.RetentionLog, *seen) {
		if err != nil {
			return err
		}
		e, err := event.FromRecord(rec)
		if err != nil {
			return err
		}
		if e.Pruning != nil {
			a.Monitor.Forget(e.Pruning.Session)
		}
		*seen = rec.Seq
	}
	return nil
}

func (a *App) prune(ctx context.Context) {
	out, err := retention.Prune(ctx, a.log, retention.Request{
		Limits: a.config.Retention.Limits, Now: time.Now(), By: "tidemark serve", Why: "retention of the policy file",
	})
	if err != nil && ctx.Err() == nil {
		a.opts.Logger.Error("the log was not pruned", "error", err)
	}
	if out.Records > 0 || len(out.Held) > 0 {
		a.opts.Logger.Info("pruned", "records", out.Records, "sessions", out.Sessions, "bytes", out.Bytes,
			"what", fmt.Sprint(out.What), "held", len(out.Held))
	}
}
