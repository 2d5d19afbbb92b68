package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/config/load"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/installation"
	"github.com/tidemark/tidemark/internal/plugins/compliance"
	"github.com/tidemark/tidemark/internal/plugins/cost"
	"github.com/tidemark/tidemark/internal/plugins/experiment"
	"github.com/tidemark/tidemark/internal/reports/report"
	"github.com/tidemark/tidemark/internal/store"
)

func (e *env) reportCommand() *cobra.Command {
	var since string
	opts := report.Options{}
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Say which rules ask most, how people answer, and what to reconsider; what plugins wrote down",
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
			return e.withLog(cmd.Context(), func(log *installation.Log) error { return e.showReport(cmd, log, opts) })
		},
	}
	cmd.Flags().StringVar(&since, "since", "", "only the last so long, e.g. 7d or 168h (default: the whole log)")
	cmd.AddCommand(e.pluginsCommand())
	cmd.Flags().IntVar(&opts.MinAsked, "min-asked", 10, "suggest only what is based on at least this many cases")
	return cmd
}

func (e *env) showReport(cmd *cobra.Command, log *installation.Log, opts report.Options) error {
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

func (e *env) pluginsCommand() *cobra.Command {
	var since string
	cmd := &cobra.Command{
		Use:   "plugins",
		Short: "What the plugins that ship have written down: cost, compliance record, experiment",
		Long: `Plugins are switched on in the section plugins of the policy file; see docs/plugins.md. These
commands read what they left behind. They need no server.`,
		Args: known,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVar(&since, "since", "30d", "only the last so long, e.g. 7d or 168h")
	sub := func(use, short string, run func(ctx context.Context, p datafolder.Paths, from time.Time) error) *cobra.Command {
		return &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := span(since)
			if err != nil || d <= 0 {
				return fmt.Errorf("plugins: --since: %q is no time span (write 7d, 24h, 90m)", since)
			}
			p, err := e.paths()
			if err != nil {
				return err
			}
			return run(cmd.Context(), p, time.Now().Add(-d))
		}}
	}
	var session string
	record := sub("record", "Who did what, and why it was allowed: the compliance record with the monitor's reasons, as lines of JSON",
		func(ctx context.Context, p datafolder.Paths, from time.Time) error {
			return e.exportRecord(ctx, p, from, session)
		})
	record.Flags().StringVar(&session, "session", "", "only this session")
	cmd.AddCommand(
		sub("cost", "What model calls took, by day and model", e.showCost), record,
		sub("experiment", "How the sessions of both arms fared, and where two policies differ", e.showExperiment),
	)
	return cmd
}

// costRow is what a day's calls of a model took.
type costRow struct {
	Day       string  `json:"day"`
	Model     string  `json:"model"`
	Calls     int     `json:"calls"`
	Input     int64   `json:"input"`
	Output    int64   `json:"output"`
	Money     float64 `json:"money"`
	Estimated int     `json:"estimated"` // calls whose input nobody counted
}

func (e *env) showCost(_ context.Context, p datafolder.Paths, from time.Time) error {
	rows := map[[2]string]*costRow{}
	for c, err := range cost.Entries(p.Cost(), from.UTC().Format(time.DateOnly)) {
		if err != nil {
			return fmt.Errorf("read cost: %w", err)
		}
		key := [2]string{c.Time.UTC().Format(time.DateOnly), c.Model}
		if rows[key] == nil {
			rows[key] = &costRow{Day: key[0], Model: key[1]}
		}
		r := rows[key]
		r.Calls++
		r.Input, r.Output, r.Money = r.Input+c.Input, r.Output+c.Output, r.Money+c.Money
		if c.Estimated {
			r.Estimated++
		}
	}
	list := slices.SortedFunc(maps.Values(rows), func(a, b *costRow) int { return cmp.Compare(a.Day+" "+a.Model, b.Day+" "+b.Model) })
	if e.json {
		return e.printJSON(map[string]any{"rows": list})
	}
	if len(list) == 0 {
		e.printf("nothing was spent, or plugins.cost is not switched on\n")
		return nil
	}
	var cells [][]cell
	for _, r := range list {
		cells = append(cells, []cell{
			{"", r.Day}, {"", r.Model}, {"", strconv.Itoa(r.Calls)},
			{"", strconv.FormatInt(r.Input, 10)}, {"", strconv.FormatInt(r.Output, 10)}, {"", strconv.FormatFloat(r.Money, 'f', 4, 64)},
		})
	}
	return e.ui.table(e.out, []string{"day", "model", "calls", "tokens in", "tokens out", "money"}, cells)
}

// events are the log's, from a time on.
func events(ctx context.Context, log *installation.Log, from time.Time, session string) iter.Seq2[store.Entry, error] {
	return func(yield func(store.Entry, error) bool) {
		q := store.EntryQuery{Session: session, Limit: store.MaxLimit}
		for {
			page, err := log.Since(ctx, q)
			if err != nil {
				yield(store.Entry{}, fmt.Errorf("read log: %w", err))
				return
			}
			for _, entry := range page {
				q.After = entry.ID
				if entry.Time >= from.UnixNano() && !yield(entry, nil) {
					return
				}
			}
			if len(page) == 0 {
				return
			}
		}
	}
}

func (e *env) exportRecord(ctx context.Context, p datafolder.Paths, from time.Time, session string) error {
	return e.withLog(ctx, func(log *installation.Log) error {
		reasons := func(yield func(compliance.Line, error) bool) {
			for entry, err := range events(ctx, log, from, session) {
				line, ok := compliance.Why(entry.Record)
				if (ok || err != nil) && !yield(line, err) {
					return
				}
			}
		}
		for line, err := range compliance.Merge(compliance.Entries(p.Compliance(), from.UTC().Format(time.DateOnly)), reasons) {
			if err != nil {
				return fmt.Errorf("export record: %w", err)
			}
			if session != "" && line.Session != session || line.Time.Before(from) {
				continue
			}
			raw, err := strictjson.Marshal(line)
			if err != nil {
				return fmt.Errorf("export record: %w", err)
			}
			e.printf("%s\n", raw)
		}
		return nil
	})
}

func (e *env) showExperiment(ctx context.Context, p datafolder.Paths, from time.Time) error {
	cfg, _, err := load.Read(p.Config)
	if err != nil {
		return err
	}
	var x *experiment.Experiment
	if o := cfg.Own.Experiment; o != nil {
		if x, err = experiment.New(*o); err != nil {
			return err
		}
	} else if cfg.Shadow == "" {
		return errors.New("plugins: the policy file has no plugins.experiment and no shadow: nothing is compared")
	}
	r := experiment.NewReport(x)
	err = e.withLog(ctx, func(log *installation.Log) error {
		for entry, err := range events(ctx, log, from, "") {
			if err != nil {
				return err
			}
			if ev, err := event.FromRecord(entry.Record); err == nil && !strings.HasPrefix(entry.Session, store.Own) {
				r.Add(entry.Session, &ev)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return e.printExperiment(r)
}

func (e *env) printExperiment(r *experiment.Report) error {
	pairs := slices.SortedFunc(maps.Keys(r.Policies), func(a, b experiment.Pair) int {
		return cmp.Compare(a.InForce+" "+a.Candidate, b.InForce+" "+b.Candidate)
	})
	if e.json {
		var policies []map[string]any
		for _, p := range pairs {
			policies = append(policies, map[string]any{"inForce": p.InForce, "candidate": p.Candidate, "calls": r.Policies[p]})
		}
		return e.printJSON(map[string]any{"arms": r.Arms, "policies": policies})
	}
	a, b := r.Arms[experiment.A], r.Arms[experiment.B]
	row := func(name string, x, y any) []cell {
		return []cell{{"", name}, {"", fmt.Sprint(x)}, {"", fmt.Sprint(y)}}
	}
	if err := e.ui.table(e.out, []string{"", "arm a", "arm b"}, [][]cell{
		row("sessions", a.Sessions, b.Sessions), row("turns", a.Turns, b.Turns), row("model calls", a.ModelCalls, b.ModelCalls),
		row("tokens in", a.TokensIn, b.TokensIn), row("tokens out", a.TokensOut, b.TokensOut),
		row("ms for a model call", int64(a.LatencyMs), int64(b.LatencyMs)),
		row("tool calls", a.Calls, b.Calls), row("asked about", a.Asked, b.Asked), row("denied", a.Denied, b.Denied),
		row("ran approved", a.Approved, b.Approved), row("failed", a.Failed, b.Failed),
	}); err != nil {
		return err
	}
	for _, p := range pairs {
		e.printf("%d calls: the policy in force said %s, the candidate %s\n", r.Policies[p], p.InForce, p.Candidate)
	}
	return nil
}
