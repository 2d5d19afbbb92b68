package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tidemark/tidemark/internal/app"
	"github.com/tidemark/tidemark/internal/reports/report"
)

func (e *env) reportCommand() *cobra.Command {
	var since string
	opts := report.Options{}
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Say which rules ask most, how people answer, and what to reconsider",
		Long: `Read the log and count, per rule and tool, how often people were asked, what they
answered and how long it took; what the auditor and the verifier said; and which
defaults may be worth another look. Nothing is changed. What a server has counted
already is not read again. Time spans are rounded up to whole hours of the last
three days, and to whole days (UTC) before.`,
		Example: `  tidemark report --since 7d`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if since != "" {
				d, err := span(since)
				if err != nil || d <= 0 {
					return fmt.Errorf("report: --since: %q is no time span (write 7d, 24h, 90m)", since)
				}
				opts.Since = time.Now().Add(-d)
			}
			return e.withLog(cmd.Context(), func(log *app.Log) error { return e.showReport(cmd, log, opts) })
		},
	}
	cmd.Flags().StringVar(&since, "since", "", "only the last so long, e.g. 7d or 168h (default: the whole log)")
	cmd.Flags().IntVar(&opts.MinAsked, "min-asked", 10, "how often something must have happened to be suggested about")
	return cmd
}

func (e *env) showReport(cmd *cobra.Command, log *app.Log, opts report.Options) error {
	bar := newProgress(e.errOut, "reading")
	r, err := log.Report(cmd.Context(), opts, bar.step)
	bar.done()
	if err != nil {
		return err
	}
	if e.json {
		return e.printJSON(r)
	}
	width := 100
	if f, ok := isTerminal(e.out); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil {
			width = w
		}
	}
	return r.Render(e.out, width, e.ui.colour)
}

// span reads a time span; besides what Go knows there are days and weeks: 7d, 2w, 1d12h.
func span(text string) (time.Duration, error) {
	var total time.Duration
	for _, unit := range []struct {
		mark string
		is   time.Duration
	}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}} {
		before, after, found := strings.Cut(text, unit.mark)
		if !found {
			continue
		}
		n, err := strconv.ParseUint(before, 10, 16)
		if err != nil {
			return 0, fmt.Errorf("no time span: %q", text)
		}
		total, text = total+time.Duration(n)*unit.is, after
	}
	if text == "" && total > 0 {
		return total, nil
	}
	rest, err := time.ParseDuration(text)
	return total + rest, err
}
