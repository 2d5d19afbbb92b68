package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/tidemark/tidemark/internal/outside/verifier"
	"github.com/tidemark/tidemark/internal/reports/report"
	"github.com/tidemark/tidemark/store"
)

// Status says of everybody the policy file names whether they can be reached, without a
// server.
func Status(ctx context.Context, p Paths) (parts []Part, err error) {
	err = withOutside(p, func(o *outside) error {
		parts = o.status(ctx)
		return nil
	})
	return parts, err
}

// ErrNoVerifier is returned where the policy file has no verifier.
var ErrNoVerifier = errors.New("the policy file has no verifier section that is enabled")

// TestVerifier asks the verifier about a call that is nobody's, and reports in full.
func TestVerifier(ctx context.Context, p Paths) (result verifier.TestResult, err error) {
	err = withOutside(p, func(o *outside) error {
		if o.verifier == nil {
			return ErrNoVerifier
		}
		result = o.verifier.Test(ctx)
		return nil
	})
	return result, err
}

// Coverage says what the verifier would do about a tool; nil: there is none.
func Coverage(p Paths, agent, tool string) (covered *verifier.Coverage, err error) {
	err = withOutside(p, func(o *outside) error {
		if o.verifier != nil {
			c := o.verifier.Explain(agent, tool)
			covered = &c
		}
		return nil
	})
	return covered, err
}

// withOutside makes everybody the file names, for the length of step.
func withOutside(p Paths, step func(*outside) error) error {
	cfg, _, err := ReadConfig(p.Config)
	if err != nil {
		return err
	}
	cfg.Auditor.Record = "" // nobody is asked anything worth keeping
	o, err := openOutside(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return errors.Join(step(o), o.close(context.Background()))
}

// Report folds the whole log. progress is told how many records were read.
func (l *Log) Report(ctx context.Context, opts report.Options, progress func(done, total int64)) (report.Report, error) {
	head, err := l.Head(ctx)
	if err != nil {
		return report.Report{}, fmt.Errorf("read log: %w", err)
	}
	b := report.New(opts)
	q := store.EntryQuery{Limit: store.MaxLimit}
	for done := int64(0); ; {
		page, err := l.Since(ctx, q)
		if err != nil {
			return report.Report{}, fmt.Errorf("read log: %w", err)
		}
		for _, e := range page {
			q.After = e.ID
			if err := b.Add(e.Record); err != nil {
				return report.Report{}, fmt.Errorf("read log: %w", err)
			}
		}
		done += int64(len(page))
		progress(done, max(done, head.Records))
		if len(page) == 0 {
			return b.Report(), nil
		}
	}
}
