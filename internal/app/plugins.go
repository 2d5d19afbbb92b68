package app

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/build"
	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/external/remotehook"
	"github.com/tidemark/tidemark/internal/plugins/compliance"
	"github.com/tidemark/tidemark/internal/plugins/cost"
	"github.com/tidemark/tidemark/internal/plugins/experiment"
	"github.com/tidemark/tidemark/internal/plugins/telemetry"
	"github.com/tidemark/tidemark/internal/store/notify"
)

// plugins are those that ship and are switched on. The zero value is none.
type plugins struct {
	closers []func() error
}

func (p *plugins) close() error {
	errs := make([]error, 0, len(p.closers))
	for _, c := range p.closers {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}

// openPlugins registers those that the file switches on.
func (a *App) openPlugins(ctx context.Context, bus *hook.Bus, f *notify.Store, key []byte) error {
	own := a.config.Own
	if o := own.Experiment; o != nil {
		x, err := experiment.New(*o)
		if err == nil {
			err = bus.Register(x.Handler())
		}
		if err != nil {
			return fmt.Errorf("plugin experiment: %w", err)
		}
	}
	if own.Compliance != nil {
		if err := a.openCompliance(bus, key); err != nil {
			return fmt.Errorf("plugin compliance: %w", err)
		}
	}
	if own.Cost != nil {
		o := *own.Cost
		o.Folder, o.Now, o.Logger = a.opts.Paths.Cost(), time.Now, a.opts.Logger
		guard, err := cost.Open(o)
		if err != nil {
			return fmt.Errorf("plugin cost: %w", err)
		}
		a.plugins.closers = append(a.plugins.closers, guard.Close)
		if err := bus.Register(guard.Handler()); err != nil {
			return fmt.Errorf("plugin cost: %w", err)
		}
	}
	if own.Telemetry != nil {
		if err := a.openTelemetry(ctx, f); err != nil {
			return fmt.Errorf("plugin telemetry: %w", err)
		}
	}
	return nil
}

// openCompliance redacts by the policy that is in force when something is written down.
func (a *App) openCompliance(bus *hook.Bus, key []byte) error {
	c := a.config.Own.Compliance
	own := hmac.New(sha256.New, key) // so that a hash of one record says nothing about those of another
	own.Write([]byte("compliance record"))
	keeper, err := compliance.Open(compliance.Options{
		Folder: a.opts.Paths.Compliance(), Now: time.Now, Key: own.Sum(nil),
		KeepDays: c.KeepDays, Prompts: c.Prompts, Personal: c.Personal, Answers: c.Answers,
		Redact: func(text string) string { return a.Monitor.Policy().Redactor().Text(text) },
		Args:   func(tool string, args []byte) []byte { return a.Monitor.Policy().Redactor().Args(tool, args) },
	})
	if err != nil {
		return err
	}
	a.plugins.closers = append(a.plugins.closers, keeper.Close)
	return bus.Register(keeper.Handler())
}

// openTelemetry tells a collector what is recorded from now on.
func (a *App) openTelemetry(ctx context.Context, f *notify.Store) error {
	head, err := a.log.Head(ctx)
	if err != nil {
		return err
	}
	t := a.config.Own.Telemetry
	headers := make(map[string]string, len(t.Headers))
	for name, value := range t.Headers {
		headers[name] = string(value)
	}
	x, err := telemetry.New(telemetry.Options{
		Endpoint: t.Endpoint, Headers: headers, Service: t.Service, Version: build.Version(), Every: t.Every,
		Log: a.log, After: head.Records, Grown: f.Grown, Now: time.Now, Logger: a.opts.Logger,
	})
	if err != nil {
		return err
	}
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { x.Run(run) })
	a.plugins.closers = append(a.plugins.closers, func() error {
		stop()
		running.Wait()
		return nil
	})
	return nil
}

// newBus is the bus with the plugins that are asked over HTTP.
func newBus(cfg *config.Config, logger *slog.Logger) (*hook.Bus, error) {
	bus := hook.New(hook.Options{Logger: logger})
	for _, p := range cfg.Hooks {
		plugin, err := remotehook.New(remotehook.Options{
			Name: p.Name, URL: p.URL, Hooks: p.Hooks, Secret: []byte(p.Secret),
			Priority: p.Priority, FailOpen: p.FailOpen, Limit: p.Limit,
		})
		if err != nil {
			return nil, err
		}
		if err := bus.Register(plugin.Handler()); err != nil {
			return nil, fmt.Errorf("plugin %s: %w", p.Name, err)
		}
	}
	return bus, nil
}
