package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark/internal/agents/install"
	"github.com/tidemark/tidemark/internal/app"
	"github.com/tidemark/tidemark/internal/box/trial"
	"github.com/tidemark/tidemark/internal/diagnosis"
)

func (e *env) doctorCommand() *cobra.Command {
	var o struct {
		deep          bool
		hook, project string
	}
	cmd := &cobra.Command{
		Use:       "doctor [AGENT...]",
		ValidArgs: install.Names(),
		Short:     "Prove, door by door, that what must be denied is denied",
		Long: `Examine the server, the tokens, the log, the approval channels, the hosts and the
agents, and send through every door a call that must be blocked. Agents that are not
installed are passed over, unless they are named.

With --deep the real agents are run too, each with a scripted model in a folder of its
own: a few seconds each, no account is used.

Exit codes: 0 all is good; 1 something is broken or fails open; 2 the command itself could
not be carried out.

Agents: ` + strings.Join(diagnosis.Agents(), ", "),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := e.paths()
			if err != nil {
				return err
			}
			w, err := install.HomeWorld(p, o.hook, o.project)
			if err != nil {
				return err
			}
			self, err := os.Executable()
			if err != nil {
				return err
			}
			return e.doctor(cmd.Context(), diagnosis.Options{
				Paths: p, Agents: args, World: w, Deep: o.deep, Program: self, Serve: app.ServeAside,
				Box: func(a trial.Around) ([]trial.Row, error) {
					a.First, a.Reduced = smallProgram(), true
					return trial.Run(a)
				},
			})
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.deep, "deep", false, "run the real agents with a scripted model too")
	f.StringVar(&o.hook, "hook", "", "path of tidemark-hook (default: beside this program)")
	f.StringVar(&o.project, "project", "", "look at a project's settings instead of the user's")
	return cmd
}

func (e *env) doctor(ctx context.Context, o diagnosis.Options) error {
	if e.ui.colour && !e.json {
		o.Progress = func(name string) { fmt.Fprintf(e.errOut, "\r\x1b[Klooking at %s …", name) }
	}
	r, err := diagnosis.Examine(ctx, o)
	if o.Progress != nil {
		fmt.Fprint(e.errOut, "\r\x1b[K")
	}
	if err != nil {
		return err
	}
	if e.json {
		if err := e.printJSON(map[string]any{"ok": r.OK(), "findings": r.Findings}); err != nil {
			return err
		}
	} else {
		e.printDiagnosis(r)
	}
	if !r.OK() {
		return errFault
	}
	return nil
}

// gradeColours are the meanings of the grades.
var gradeColours = map[string]string{"good": "good", "broken": "bad", "open": "bad", "limit": "warn", "off": "faint"}

// printDiagnosis prints a heading for each thing that was examined and a line for each
// finding; faults are red whole.
func (e *env) printDiagnosis(r diagnosis.Diagnosis) {
	about, width := "", 0
	var absent []string
	for _, f := range r.Findings {
		width = max(width, len([]rune(f.Name)))
	}
	for _, f := range r.Findings {
		if f.Grade.String() == "off" && f.Name == "program" { // one line for all of them
			absent = append(absent, f.About)
			continue
		}
		if f.About != about {
			about = f.About
			e.printf("%s\n", e.ui.word("title", about))
		}
		grade := f.Grade.String()
		text := f.Text
		if grade == "broken" || grade == "open" {
			text = e.ui.word("bad", text)
		}
		pad := strings.Repeat(" ", width-len([]rune(f.Name)))
		e.printf("  %s %s%s  %s\n", e.ui.word(gradeColours[grade], fmt.Sprintf("%-6s", grade)), f.Name, pad, text)
		if f.Fix != "" {
			e.printf("  %s %s\n", strings.Repeat(" ", 6+width+2), e.ui.word("faint", "→ "+f.Fix))
		}
	}
	if len(absent) > 0 {
		e.printf("%s\n  %s\n", e.ui.word("title", "not on this machine"), e.ui.word("faint", strings.Join(absent, ", ")))
	}
	e.printf("\n%s\n", e.verdict(r))
}

// verdict is the last line.
func (e *env) verdict(r diagnosis.Diagnosis) string {
	if r.OK() {
		return e.ui.word("good", "all good: every door that was tried blocks")
	}
	var broken, open int
	for _, f := range r.Findings {
		switch f.Grade.String() {
		case "broken":
			broken++
		case "open":
			open++
		}
	}
	return e.ui.word("bad", fmt.Sprintf("%d broken, %d fail open", broken, open))
}
