package installation

import (
	"context"
	"fmt"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/reports/report"
	"github.com/tidemark/tidemark/internal/reports/tally"
)

// CountUses says of what people allowed for good how often it was used.
func (l *Log) CountUses(ctx context.Context, list []engine.GrantView) error {
	uses, err := tally.New(l, l.counts, l.signs).Uses(ctx)
	if err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	for i := range list {
		if g := &list[i]; !g.Pair {
			g.Counted(uses[g.ID].Times, uses[g.ID].Last)
		}
	}
	return nil
}

// Report says what the log comes to: what a server has counted, and what is new since. progress is told how many records were read.
func (l *Log) Report(ctx context.Context, opts report.Options, progress func(done, total int64)) (report.Report, error) {
	r, err := tally.New(l, l.counts, l.signs).Report(ctx, opts, progress)
	if err != nil {
		return r, fmt.Errorf("read log: %w", err)
	}
	return r, nil
}
