package app

import (
	"context"
	"time"

	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/external/anchors"
	"github.com/tidemark/tidemark/internal/installation"
	"github.com/tidemark/tidemark/internal/services"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/internal/store/retention"
)

// startAnchors begins to write the head of the log down elsewhere, where the file says so. Of several servers of one log one does.
func (a *App) startAnchors(key []byte) (err error) {
	if !a.config.Anchors.Any() {
		return nil
	}
	if a.anchors, err = anchors.New(*a.config.Anchors, a.log, installation.Signer(key), time.Now); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	a.unanchor = cancel
	told := func(err error) { a.opts.Logger.Error("the log is not anchored", "error", err) }
	a.anchoring.Go(func() {
		if a.shared == nil {
			a.anchors.Run(ctx, told)
			return
		}
		a.shared.Lease(ctx, "anchors", func(held context.Context) { a.anchors.Run(held, told) }, told)
	})
	return nil
}

// anchored says whether the head reaches where it is written down.
func (a *App) anchored() []services.Part {
	if a.anchors == nil {
		return nil
	}
	status, fault := a.anchors.Status()
	p := services.Part{Name: "anchors", Detail: a.anchors.Detail(), OK: fault == nil, Figures: status}
	if fault != nil {
		p.Fault = fault.Error()
	}
	return []services.Part{p}
}

// anchorBreaks holds the log against what this server's file of anchors says.
func (a *App) anchorBreaks(ctx context.Context) ([]store.Break, error) {
	if a.anchors == nil || a.config.Anchors.File == "" {
		return nil, nil
	}
	key, err := datafolder.LoadKey(a.opts.Paths.Key())
	if err != nil {
		return nil, err
	}
	ledger, ok := a.log.(anchors.Ledger)
	if !ok {
		return nil, nil
	}
	breaks, _, err := anchors.CheckFile(ctx, ledger, a.config.Anchors.File, installation.Signer(key).Key)
	return breaks, err
}

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
