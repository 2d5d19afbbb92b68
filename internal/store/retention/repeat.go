package retention

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"time"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store"
)

// Repeat prunes a log again and again as a server's policy file says, until ctx ends.
func Repeat(ctx context.Context, log Log, limits Limits, every time.Duration, logger *slog.Logger) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		once(ctx, log, limits, logger)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func once(ctx context.Context, log Log, limits Limits, logger *slog.Logger) {
	out, err := Prune(ctx, log, Request{
		Limits: limits, Now: time.Now(), By: "tidemark serve", Why: "retention of the policy file",
	})
	if err != nil && ctx.Err() == nil {
		logger.Error("the log was not pruned", "error", err)
	}
	if out.Records > 0 || len(out.Held) > 0 {
		logger.Info("pruned", "records", out.Records, "sessions", out.Sessions, "bytes", out.Bytes,
			"what", fmt.Sprint(out.What), "held", len(out.Held))
	}
}

// followEvery is how soon a server has nothing in memory of what was taken out of the log.
const followEvery = 5 * time.Second

// Follow has a server forget sessions of which something was taken out, whoever did, until ctx ends.
func Follow(ctx context.Context, log interface {
	Load(ctx context.Context, session string, after uint64) iter.Seq2[audit.Record, error]
}, forget func(session string), logger *slog.Logger,
) {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	var seen uint64
	failed := false
	for {
		err := news(log.Load(ctx, store.RetentionLog, seen), forget, &seen)
		if err != nil && !failed && ctx.Err() == nil { // once, and not every few seconds
			logger.Warn("what was taken out of the log may still be in memory", "error", err)
		}
		failed = err != nil
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// news goes through what the log of retention says beyond a record.
func news(records iter.Seq2[audit.Record, error], forget func(session string), seen *uint64) error {
	for rec, err := range records {
		if err != nil {
			return err
		}
		e, err := event.FromRecord(rec)
		if err != nil {
			return err
		}
		if e.Pruning != nil {
			forget(e.Pruning.Session)
		}
		*seen = rec.Seq
	}
	return nil
}
