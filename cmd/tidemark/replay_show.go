package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tidemark/tidemark/internal/reports/replay"
	"github.com/tidemark/tidemark/internal/reports/report"
)

// finish prints the summary and says whether the bars were kept.
func (r *replaying) finish() error {
	if !r.json {
		r.summary()
	} else if r.flags.diff != "" {
		line := map[string]int{"runs": r.sum.Runs, "calls": r.sum.Calls, "stricter": r.stricter, "looser": r.looser}
		if err := writeLine(r.env.out, line); err != nil {
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
	for _, t := range r.targets.Missed() {
		out = append(out, fmt.Sprintf("%s was not stopped", report.Line(t)))
	}
	return out
}

func (r *replaying) summary() {
	s := &r.sum
	r.printf("%s  %d runs, %d calls\n\n", r.ui.word("title", "Replay"), s.Runs, s.Calls)
	r.figures("Questions", s)
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
