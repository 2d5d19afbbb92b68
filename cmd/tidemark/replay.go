package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/config/load"
	"github.com/tidemark/tidemark/internal/reports/replay"
	"github.com/tidemark/tidemark/internal/reports/report"
	"github.com/tidemark/tidemark/policy"
)

// replayFlags are what the command was told.
type replayFlags struct {
	format   string
	policy   string
	diff     string
	agent    string
	approve  bool
	answers  string
	keep     bool
	html     string
	maxAsks  float64
	mustStop []string
	stopFile string
}

func (e *env) replayCommand() *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:   "replay [FILE|FOLDER|-]...",
		Short: "Run recorded transcripts through a policy: what would have been asked or denied",
		Long: `Read recorded transcripts and say what the policy would have said to each call, and
why. It is the same decision as in production; nothing is executed, no model, auditor or
verifier is asked, and nothing is written to the log.

Formats: trace, openai, anthropic, agentdojo, claude-code, openclaw, found out by looking
unless --format is given; and log, the sessions of the data folder (its log keeps no
arguments but those a question showed).

A call that is asked about is answered as the recording says; where it does not, the
answer is no, or yes with --approve. A call that did not run brings no result. A yes is for
the one call (in a trace, answer: once) or for the task (answer: task); where a recording only
says approve, --answers decides, and --answers both plays it both ways and prints a column for
each: questions, runs left alone, runs stopped, and which of --must-stop were.

Exit status: 0, 1 if a bar (--max-asks, --must-stop) is missed, 2 if something could not
be read.`,
		Example: `  tidemark policy replay runs.jsonl
  tidemark policy replay --policy strict.yaml --diff quiet.yaml ~/transcripts
  tidemark policy replay --format trace --json - < runs.jsonl
  tidemark policy replay --max-asks 0.2 --must-stop attack-7:3 runs.jsonl
  tidemark policy replay --answers both --must-stop-file attacks.txt runs.jsonl
  tidemark policy replay --format log --html report.html`,
		RunE: func(cmd *cobra.Command, files []string) error {
			if !cmd.Flags().Changed("max-asks") {
				f.maxAsks = -1
			} else if f.maxAsks < 0 {
				return errors.New("replay: --max-asks: a number from 0 on")
			}
			if !slices.Contains([]string{"once", "task", "both"}, f.answers) || f.answers == "both" && f.diff != "" {
				return errors.New("replay: --answers: once, task, or both, which goes without --diff")
			}
			return e.replay(cmd.Context(), &f, files)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.format, "format", "", "how the transcripts are written (default: found out by looking)")
	fl.StringVar(&f.policy, "policy", "", "policy file (default: the one of the installation, or what is shipped)")
	fl.StringVar(&f.diff, "diff", "", "second policy file: print the calls about which the two differ")
	fl.StringVar(&f.agent, "agent", "", "agent whose overrides apply")
	fl.BoolVar(&f.approve, "approve", false, "say yes where the recording does not tell the answer")
	fl.StringVar(&f.answers, "answers", "once", "what a yes is where the recording does not say: once, task, or both side by side")
	fl.BoolVar(&f.keep, "keep-going", false, "go on after a run that cannot be read; the exit status is still 2")
	fl.StringVar(&f.html, "html", "", "write a report for people to this file")
	fl.Float64Var(&f.maxAsks, "max-asks", 0, "fail if there are more questions per run than this")
	fl.StringArrayVar(&f.mustStop, "must-stop", nil, "fail unless a call of this run is stopped: ID, or ID:STEP; may be repeated")
	fl.StringVar(&f.stopFile, "must-stop-file", "", "file with one such ID or ID:STEP per line")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formatNames(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func formatNames() []string {
	out := []string{logFormat}
	for _, f := range replay.Formats() {
		out = append(out, string(f))
	}
	return out
}

// logFormat stands for the installation's own log.
const logFormat = "log"

func (e *env) replay(ctx context.Context, f *replayFlags, files []string) error {
	opts, err := e.replayOptions(f)
	if err != nil {
		return err
	}
	targets, err := f.targets()
	if err != nil {
		return err
	}
	in, err := e.transcripts(ctx, f.format, files)
	if err != nil {
		return err
	}
	tasked, _ := f.targets()
	r := &replaying{
		env: e, flags: f, targets: targets, tasked: tasked, total: in.bytes,
		bar: newProgress(e.errOut, "replaying"), out: bufio.NewWriter(e.out),
	}
	if err := r.openPage(); err != nil {
		return errors.Join(err, in.close())
	}
	opts.Beat = func(bytes int) { r.bar.step(max(r.played.Add(int64(bytes)), r.read.Load()), r.total) }
	err = replay.Each(ctx, in.units, opts, r.add)
	r.bar.done()
	if err = errors.Join(err, in.close(), r.closePage(err == nil), r.out.Flush()); err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	return r.finish()
}

func (e *env) replayOptions(f *replayFlags) (replay.Options, error) {
	o := replay.Options{Person: replay.Person{Agent: f.agent, Approves: f.approve, Tasks: f.answers == "task"}, Hosts: sessionHosts()}
	o.Both = f.answers == "both"
	path := f.policy
	if path == "" {
		p, err := e.paths()
		if err != nil {
			return o, err
		}
		path = p.Config
	}
	var err error
	if o.Policy, err = readPolicy(path); err != nil || f.diff == "" {
		return o, err
	}
	o.Other, err = readPolicy(f.diff)
	return o, err
}

// sessionHosts are the hosts whose session files are read, as their hooks describe them: what is replayed is what would
// have been decided.
func sessionHosts() map[replay.Format]replay.Host {
	claude := func(name string, args []byte) (string, []byte) { return catalogue.Canonical("claude", name, args) }
	return map[replay.Format]replay.Host{
		replay.ClaudeCode: {Name: claude, Tools: catalogue.HostTools("claude"), Control: catalogue.ControlTools("claude")},
		replay.OpenClaw:   {Tools: catalogue.HostTools("openclaw"), Control: catalogue.ControlTools("openclaw")},
	}
}

func readPolicy(path string) (*policy.Set, error) {
	cfg, _, err := load.Read(path)
	if err != nil {
		return nil, err
	}
	return cfg.Policy, nil
}

// targets are the calls that must be stopped.
func (f *replayFlags) targets() (*replay.Targets, error) {
	names := f.mustStop
	if f.stopFile != "" {
		raw, err := os.ReadFile(f.stopFile)
		if err != nil {
			return nil, fmt.Errorf("replay: --must-stop-file: %w", err)
		}
		for line := range strings.Lines(string(raw)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				names = append(names, line)
			}
		}
	}
	return replay.NewTargets(names), nil
}

// replaying is one run of the command.
type replaying struct {
	*env
	flags   *replayFlags
	targets *replay.Targets
	tasked  *replay.Targets // the same, where a yes is for the task
	bar     *progress
	total   int64
	read    atomic.Int64 // bytes of recordings that are done
	played  atomic.Int64 // bytes of those that were read while they came in, as far as they are played
	out     *bufio.Writer

	page     *replay.Page
	file     *os.File
	sum      replay.Summary
	other    replay.Summary
	stricter int
	looser   int
}

// add takes one run's outcome: it is printed whole or not at all.
func (r *replaying) add(o replay.Outcome) error {
	r.bar.step(max(r.read.Add(int64(o.Bytes)), r.played.Load()), r.total)
	r.sum.Add(&o)
	if r.page != nil {
		r.page.Add(&o)
	}
	if o.Err != nil {
		if !r.flags.keep {
			return o.Err
		}
		r.bar.done()
		fmt.Fprintf(r.errOut, "tidemark: replay: %s\n", report.Line(o.Err.Error()))
		return nil
	}
	r.targets.Add(&o)
	if r.flags.diff != "" {
		r.other.Add(&replay.Outcome{ID: o.ID, Calls: o.Other})
		return r.changes(&o)
	}
	if r.flags.answers == "both" {
		task := replay.Outcome{ID: o.ID, Calls: o.Other}
		r.other.Add(&task)
		r.tasked.Add(&task)
	}
	if !r.json {
		return nil
	}
	for i := range o.Calls {
		if err := writeLine(r.out, o.Calls[i]); err != nil {
			return err
		}
	}
	return nil
}

func writeLine(w io.Writer, v any) error {
	raw, err := strictjson.Marshal(v)
	if err != nil {
		return fmt.Errorf("print JSON: %w", err)
	}
	_, err = w.Write(append(raw, '\n'))
	return err
}

// changes prints the calls of a run about which the two policies differ.
func (r *replaying) changes(o *replay.Outcome) error {
	for _, c := range o.Changes() {
		if c.Stricter() {
			r.stricter++
		} else {
			r.looser++
		}
		if r.json {
			if err := writeLine(r.out, c); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(r.out, "%s step %d  %s  %s -> %s  (%s -> %s)\n", report.Line(c.ID), c.Step, report.Line(c.Tool),
			r.ui.word(colourOf(c.Was.Decision), c.Was.Decision), r.ui.word(colourOf(c.Now.Decision), c.Now.Decision),
			report.Line(c.Was.Rule), report.Line(c.Now.Rule))
	}
	return nil
}

func (r *replaying) openPage() error {
	if r.flags.html == "" {
		return nil
	}
	var err error
	if r.file, err = os.Create(r.flags.html); err != nil {
		return fmt.Errorf("replay: --html: %w", err)
	}
	r.page = replay.NewPage(r.file, "Replay")
	return nil
}

// closePage ends the report; half a report is removed.
func (r *replaying) closePage(good bool) error {
	if r.page == nil {
		return nil
	}
	var err error
	if good {
		err = r.page.Close(&r.sum)
	}
	err = errors.Join(err, r.file.Close())
	if !good || err != nil {
		err = errors.Join(err, os.Remove(r.flags.html))
	}
	return err
}

// finish prints the summary and says whether the bars were kept.
func (r *replaying) finish() error {
	if !r.json {
		r.summary()
	} else if r.flags.diff != "" {
		line := map[string]int{"runs": r.sum.Runs, "calls": r.sum.Calls, "stricter": r.stricter, "looser": r.looser}
		if err := writeLine(r.env.out, line); err != nil {
			return err
		}
	} else if r.flags.answers == "both" {
		if err := writeLine(r.env.out, map[string]any{"once": &r.sum, "task": &r.other}); err != nil {
			return err
		}
	}
	missed := r.missed()
	for _, m := range missed {
		fmt.Fprintf(r.errOut, "tidemark: replay: %s\n", m)
	}
	switch {
	case r.sum.Bad > 0:
		return fmt.Errorf("replay: %d run(s) could not be read", r.sum.Bad)
	case len(missed) > 0:
		return errFault
	}
	return nil
}

// missed says which bars were not kept.
func (r *replaying) missed() []string {
	var out []string
	if most := r.flags.maxAsks; most >= 0 && r.sum.AsksPerRun() > most {
		out = append(out, fmt.Sprintf("%.3f questions per run, more than %s", r.sum.AsksPerRun(), strconv.FormatFloat(most, 'g', -1, 64)))
	}
	once := r.targets.Missed()
	for _, t := range once {
		out = append(out, fmt.Sprintf("%s was not stopped", report.Line(t)))
	}
	if r.flags.answers == "both" {
		for _, t := range r.tasked.Missed() {
			if !slices.Contains(once, t) {
				out = append(out, fmt.Sprintf("%s was not stopped where a yes is for the task", report.Line(t)))
			}
		}
	}
	return out
}

func (r *replaying) summary() {
	s := &r.sum
	r.printf("%s  %d runs, %d calls\n\n", r.ui.word("title", "Replay"), s.Runs, s.Calls)
	if r.flags.answers == "both" {
		r.columns(s, &r.other)
	} else {
		r.figures("Questions", s)
	}
	if r.flags.diff != "" {
		r.figures("With the other policy", &r.other)
		r.printf("\n%d calls stricter, %d looser with the other policy\n", r.stricter, r.looser)
	}
	rows := s.Rows()
	if len(rows) == 0 {
		return
	}
	r.printf("\n")
	most := rows[0].Asks + rows[0].Denials
	var table [][]cell
	for _, row := range rows {
		table = append(table, []cell{
			{"", report.Line(row.Rule)}, {"", report.Line(row.Tool)},
			number("confirm", row.Asks), number("deny", row.Denials), number("", row.Runs),
			{"confirm", strings.Repeat("█", max(1, (row.Asks+row.Denials)*20/most))},
		})
	}
	_ = r.ui.table(r.env.out, []string{"rule", "tool", "asked", "denied", "runs", "stops"}, table)
}

// columns are the figures of one recording where each yes is for one call, and where it is for the task.
func (r *replaying) columns(once, task *replay.Summary) {
	row := func(name, form string, of func(*replay.Summary) any) []cell {
		return []cell{{"", name}, {"", fmt.Sprintf(form, of(once))}, {"", fmt.Sprintf(form, of(task))}}
	}
	_ = r.ui.table(r.env.out, []string{"a yes is", "once", "for the task"}, [][]cell{
		row("questions", "%d", func(s *replay.Summary) any { return s.Asks }),
		row("per run", "%.2f", func(s *replay.Summary) any { return s.AsksPerRun() }),
		row("denials", "%d", func(s *replay.Summary) any { return s.Denials }),
		row("runs left alone", "%d", func(s *replay.Summary) any { return s.Quiet }),
		row("runs stopped", "%d", func(s *replay.Summary) any { return s.Stopped }),
	})
}

func (r *replaying) figures(name string, s *replay.Summary) {
	r.printf("%s  %d, %.2f per run; %d denials; %.1f%% of the runs left alone\n",
		r.ui.word("dim", name), s.Asks, s.AsksPerRun(), s.Denials, 100*float64(s.Quiet)/float64(max(1, s.Runs)))
}

func number(meaning string, n int) cell {
	if n == 0 {
		meaning = "dim"
	}
	return cell{meaning, strconv.Itoa(n)}
}

// colourOf is the meaning whose colour a decision has.
func colourOf(decision string) string {
	if decision == replay.Ask {
		return "confirm"
	}
	return decision
}
