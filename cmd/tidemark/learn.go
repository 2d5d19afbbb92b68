package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/installation"
	"github.com/tidemark/tidemark/internal/policies"
	"github.com/tidemark/tidemark/internal/reports/report"
)

// learnFlags are what the command was told.
type learnFlags struct {
	since    string
	opts     policies.LearnOptions
	yaml     bool
	apply    bool
	maxStops int
}

func (e *env) learnCommand() *cobra.Command {
	var f learnFlags
	cmd := &cobra.Command{
		Use:   "learn",
		Short: "Propose narrower rules from clean sessions, with what they would have stopped",
		Long: `Read the log and propose rules that narrow what each agent may do to what it did in
clean sessions: those in which nothing less trusted than local came in and nothing was
refused. Calls that were held, refused or made in a tainted context are never learned
from. Each proposal says what was seen and how many of the recorded calls it would have
stopped.

Nothing is changed without --apply. That adds the proposals which would have stopped
nothing (or at most --max-stops calls each) to the policy file, keeps the file as it was
beside it, and is refused if the result would be looser anywhere. What would widen the
policy is never proposed here: see tidemark report.`,
		Example: `  tidemark policy learn
  tidemark policy learn --yaml > proposed.yaml
  tidemark policy learn --min-sessions 50 --apply`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return fmt.Errorf("learn: %w", err)
			}
			return e.learn(cmd.Context(), &f)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.since, "since", "", "only sessions that began in the last so long, e.g. 30d or 720h (default: the whole log)")
	fl.IntVar(&f.opts.MinSessions, "min-sessions", 20, "clean sessions that must have been seen of an agent, and of a tool")
	fl.IntVar(&f.opts.MinDays, "min-days", 7, "days on which they must have begun")
	fl.BoolVar(&f.yaml, "yaml", false, "print the proposals as a part of a policy file")
	fl.BoolVar(&f.apply, "apply", false, "add the proposals to the policy file")
	fl.IntVar(&f.maxStops, "max-stops", 0, "with --apply: take proposals that would have stopped at most so many recorded calls")
	return cmd
}

func (f *learnFlags) check() error {
	if f.opts.MinSessions < 1 || f.opts.MinDays < 1 || f.maxStops < 0 {
		return errors.New("--min-sessions and --min-days are numbers from 1 on, --max-stops from 0 on")
	}
	if f.yaml && f.apply {
		return errors.New("--yaml prints, --apply writes: give one of them")
	}
	if f.since == "" {
		return nil
	}
	d, err := span(f.since)
	if err != nil || d <= 0 {
		return fmt.Errorf("--since: %q is no time span (write 7d, 24h, 90m)", f.since)
	}
	f.opts.Since = time.Now().Add(-d)
	return nil
}

func (e *env) learn(ctx context.Context, f *learnFlags) error {
	p, err := e.paths()
	if err != nil {
		return err
	}
	var lesson *policies.Lesson
	err = e.withLog(ctx, func(log *installation.Log) error {
		bar := newProgress(e.errOut, "reading")
		lesson, err = policies.Learn(ctx, log, p, f.opts, bar.step)
		bar.done()
		return err
	})
	if err != nil {
		return err
	}
	switch {
	case f.apply:
		return e.applyLesson(p, f, lesson)
	case e.json:
		return e.printJSON(lesson)
	case f.yaml:
		_, err := e.out.Write(policies.Fragment(lesson.Proposals))
		return err
	}
	return e.showLesson(f, lesson)
}

func (e *env) applyLesson(p datafolder.Paths, f *learnFlags, lesson *policies.Lesson) error {
	list := []policies.Proposal{}
	for _, c := range lesson.Proposals {
		if c.Backtest.Clean == 0 && c.Backtest.All <= f.maxStops {
			list = append(list, c)
		}
	}
	done := policies.Applied{}
	if len(list) > 0 {
		var err error
		if done, err = policies.Apply(p, lesson, list, time.Now()); err != nil {
			return err
		}
	}
	if e.json {
		return e.printJSON(map[string]any{"applied": list, "left": len(lesson.Proposals) - len(list), "written": done})
	}
	for i := range list {
		e.printf("%s %s: %s\n", e.ui.word("good", "added"), list[i].Name, report.Line(list[i].Text))
	}
	if left := len(lesson.Proposals) - len(list); left > 0 {
		e.printf("%d left out: they would have stopped calls that ran (tidemark policy learn shows them, --max-stops takes them)\n", left)
	}
	if len(list) == 0 {
		e.printf("nothing was changed\n")
		return nil
	}
	e.printf("%s now only narrower", done.File)
	if done.Backup != "" {
		e.printf("; as it was: %s", done.Backup)
	}
	e.printf("\na running server takes it up at its next reload (kill -HUP, or POST /v1/policy/reload)\n")
	return nil
}

func (e *env) showLesson(f *learnFlags, l *policies.Lesson) error {
	if len(l.Agents) == 0 {
		e.printf("no sessions to learn from yet\n")
		return nil
	}
	var rows [][]cell
	for _, a := range l.Agents {
		enough := cell{"good", "yes"}
		if !a.Enough {
			enough = cell{"warn", fmt.Sprintf("no: %d clean sessions on %d days are needed", f.opts.MinSessions, f.opts.MinDays)}
		}
		row := []cell{{"", agentName(a.Agent)}}
		for _, n := range []int{a.Sessions, a.Clean, a.Days, a.Calls} {
			row = append(row, cell{"", strconv.Itoa(n)})
		}
		rows = append(rows, append(row, enough))
	}
	if err := e.ui.table(e.out, []string{"AGENT", "SESSIONS", "CLEAN", "DAYS", "CALLS", "ENOUGH"}, rows); err != nil {
		return err
	}
	if len(l.Proposals) == 0 {
		e.printf("\nno proposals\n")
		return nil
	}
	for _, c := range l.Proposals {
		meaning := "confirm"
		if c.Effect != "escalate" {
			meaning = "deny"
		}
		b := c.Backtest
		e.printf("\n%s  %s\n    %s\n",
			e.ui.word("title", c.Name), e.ui.word(meaning, report.Line(c.Text)), e.ui.word("dim", report.Line(c.Evidence)))
		e.printf("    would have stopped %s of %d in clean sessions, %s of %d in all\n",
			e.stops(b.Clean), b.CleanOf, e.stops(b.All), b.AllOf)
	}
	e.printf("\ntidemark policy learn --yaml prints them for the policy file, --apply adds those that would have stopped nothing\n")
	return nil
}

func agentName(s string) string {
	if s == "" {
		return "(none named)"
	}
	return report.Line(s)
}

func (e *env) stops(n int) string {
	if n == 0 {
		return e.ui.word("good", "0")
	}
	return e.ui.word("warn", strconv.Itoa(n))
}
