package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/draw"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/graph"
	"github.com/tidemark/tidemark/internal/installation"
	"github.com/tidemark/tidemark/internal/reports/report"
	"github.com/tidemark/tidemark/internal/reports/timeline"
	"github.com/tidemark/tidemark/internal/store"
)

func (e *env) sessionsCommand() *cobra.Command {
	var limit int
	var prefix string
	cmd := &cobra.Command{
		Use:   "sessions [SESSION]",
		Short: "List sessions, or show one",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.withLog(cmd.Context(), func(log *installation.Log) error {
				if len(args) == 1 {
					v, err := log.Monitor.View(cmd.Context(), args[0])
					if err != nil {
						return err
					}
					calls, earlier, err := latestCalls(cmd.Context(), log, args[0])
					if err != nil {
						return err
					}
					if err := e.showSession(v, calls); err != nil || e.json {
						return err
					}
					e.showCalls(args[0], calls, earlier)
					return nil
				}
				return e.listSessions(cmd, log, store.SessionQuery{Limit: limit, Prefix: prefix})
			})
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 50, "how many at most")
	cmd.Flags().StringVar(&prefix, "prefix", "", "only sessions whose key starts with this")
	return cmd
}

func (e *env) listSessions(cmd *cobra.Command, log *installation.Log, q store.SessionQuery) error {
	rows, err := log.Sessions(cmd.Context(), q)
	if err != nil {
		return fmt.Errorf("list sessions: %w", err)
	}
	views := make([]engine.View, 0, len(rows))
	for _, r := range rows {
		v, err := log.Monitor.View(cmd.Context(), r.Name)
		if err != nil {
			return err
		}
		views = append(views, v)
	}
	if e.json {
		return e.printJSON(map[string]any{"sessions": views})
	}
	if len(views) == 0 {
		e.printf("no sessions yet\n")
		return nil
	}
	cells := make([][]cell, len(views))
	for i, v := range views {
		cells[i] = []cell{
			{"", v.Session}, {v.Taint.Level.String(), v.Taint.Level.String()}, {"", strconv.FormatUint(v.Turns, 10)},
			{"", strconv.FormatInt(v.Steps, 10)}, {"", strconv.FormatInt(v.Denied, 10)}, {"", strconv.Itoa(len(v.Questions))},
			{"dim", v.Last.Local().Format(time.DateTime)},
		}
	}
	return e.ui.table(e.out, []string{"SESSION", "TAINT", "TURNS", "CALLS", "HELD", "OPEN", "LAST"}, cells)
}

// maxCallsShown is how many calls of a session are shown with it.
const maxCallsShown = 20

// latestCalls are the last calls of a session and the answers about them, and how many there are before them.
func latestCalls(ctx context.Context, log *installation.Log, name string) (out []timeline.Step, earlier int, err error) {
	out = []timeline.Step{}
	for s, err := range timeline.Of(log.Monitor.Events(ctx, name)) {
		if err != nil {
			return nil, 0, err
		}
		if s.Kind != string(event.CallDecided) && s.Kind != string(event.Answered) {
			continue
		}
		if out = append(out, s); len(out) > maxCallsShown {
			out, earlier = out[1:], earlier+1
		}
	}
	return out, earlier, nil
}

// showCalls tells what was called, what it does and what came of it, the latest last.
func (e *env) showCalls(name string, calls []timeline.Step, earlier int) {
	if earlier > 0 {
		e.printf("  %d earlier: tidemark log --session %s\n", earlier, report.Line(name))
	}
	for i := range calls {
		s := &calls[i]
		line := "  " + s.Time.Local().Format(time.TimeOnly)
		if word, ok := outcomes[s.Effect]; ok {
			line += " " + e.ui.word(s.Effect, word)
		}
		line += " " + report.Line(s.Title)
		if s.Did != "" {
			line += " " + text.Mark(report.Line(s.Did), maxSaid)
		}
		e.printf("%s\n", line)
	}
}

func (e *env) showSession(v engine.View, calls []timeline.Step) error {
	if e.json {
		return e.printJSON(struct {
			engine.View
			Calls []timeline.Step `json:"calls"`
		}{v, calls})
	}
	e.printf("%s  taint %s, %d turns, %d calls judged, %d denied or asked about\n",
		e.ui.word("title", v.Session), e.ui.as(v.Taint.Level.String()), v.Turns, v.Steps, v.Denied)
	if ev := engine.Evidence(v.Taint); ev != "" {
		e.printf("  because of %s\n", ev)
	}
	for _, b := range v.Branches {
		name := b.Branch
		if name == "" {
			name = "main"
		}
		state := "sealed"
		if b.Open {
			state = "open"
		}
		e.printf("  branch %s: %s, turn %s (%s), iteration %d\n", name, e.ui.as(b.Taint.Level.String()), b.Turn, state, b.Iteration)
	}
	for _, q := range v.Questions {
		e.printf("  question %s: %s (%s) %s, expires %s\n", q.ID, q.Tool, q.Rule, q.State, q.Expires.Local().Format(time.TimeOnly))
	}
	for _, g := range v.Grants {
		until := "the turn ends"
		if !g.Turn {
			until = g.Until.Local().Format(time.TimeOnly)
		}
		e.printf("  grant %s: %v until %s, not below %s", g.ID, g.Tools, until, g.Ceiling)
		if g.Calls > 0 {
			e.printf(", %d calls more", g.Calls)
		}
		if len(g.Where) > 0 {
			e.printf(", where %s", approval.Where(g.Where))
		}
		e.printf("\n")
	}
	for _, w := range v.Writes {
		e.printf("  write %s: %s to %s, %s\n", w.ID, w.Tool, w.Path, w.Status)
	}
	e.showTask(v.Task)
	return nil
}

// showTask prints the constraints of the task at hand.
func (e *env) showTask(t *engine.TaskView) {
	if t == nil {
		return
	}
	e.printf("  task, from %d message(s) of the user:\n", t.Words)
	if t.Failed != "" {
		e.printf("    none could be drawn up: %s\n", t.Failed)
	}
	for _, r := range t.Rules {
		e.printf("    %s", r.Tool)
		for _, c := range r.Constraints {
			e.printf(" %s", c)
		}
		if r.Why != "" {
			e.printf("  %s", e.ui.word("dim", r.Why))
		}
		e.printf("\n")
	}
}

func (e *env) resetCommand() *cobra.Command {
	var branch string
	cmd := &cobra.Command{
		Use:   "session SESSION",
		Short: "Trust a session's context again",
		Long:  "Say, as the owner, that what a session has read may be trusted again. It is recorded and shown in the graph.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := e.findServer(cmd.Context())
			if err != nil {
				return err
			}
			if c != nil {
				path := "/v1/sessions/" + url.PathEscape(args[0]) + "/reset-trust"
				err = c.call(cmd.Context(), http.MethodPost, path, map[string]any{"branch": branch}, nil)
			} else {
				err = e.withWritableLog(cmd.Context(), func(log *installation.Log) error {
					if err := log.Unproven(); err != nil {
						return err
					}
					return log.Monitor.Reset(cmd.Context(), engine.Ref{Session: args[0], Branch: branch}, whoami(), "cli")
				})
			}
			if err != nil {
				return fmt.Errorf("reset trust of %s: %w", args[0], err)
			}
			if e.json {
				return e.printJSON(map[string]any{"session": args[0], "branch": branch, "reset": true})
			}
			e.printf("trust of %s was reset\n", args[0])
			return nil
		},
	}
	cmd.Flags().StringVar(&branch, "branch", "", "branch (default the main one)")
	return cmd
}

func (e *env) stopAllCommand() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "stop-all",
		Short: "Stop everything: deny every call of every agent until tidemark resume",
		Long: `Deny every call, at every door and at every server that shares the log, within a second, until
"tidemark resume". It is recorded and holds over restarts. Commands that run already go on.
Where no server runs on the data folder it holds from the next start.`,
		Example: `  tidemark stop-all --reason "the support agent mails customers on its own"`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var out struct {
				Stopped *event.Stopped `json:"stopped"`
			}
			err := e.atServer(cmd.Context(), "/v1/stop", map[string]any{"reason": reason}, &out, func(log *installation.Log) (err error) {
				out.Stopped, err = log.Monitor.Stop(cmd.Context(), reason, whoami(), "cli")
				return err
			})
			if err != nil {
				return fmt.Errorf("stop everything: %w", err)
			}
			if e.json {
				return e.printJSON(out)
			}
			e.printf("%s\n", out.Stopped)
			return nil
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for agents and people (300 characters)")
	return cmd
}

func (e *env) resumeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "resume",
		Short: "Let calls be judged again after tidemark stop-all",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := e.atServer(cmd.Context(), "/v1/resume", nil, nil, func(log *installation.Log) error {
				if err := log.Unproven(); err != nil {
					return err
				}
				return log.Monitor.Resume(cmd.Context(), whoami(), "cli")
			})
			if err != nil {
				return fmt.Errorf("resume: %w", err)
			}
			if e.json {
				return e.printJSON(map[string]any{"stopped": nil})
			}
			e.printf("resumed: calls are judged again\n")
			return nil
		},
	}
}

// atServer posts to the running server, or does the same to the log where none runs.
func (e *env) atServer(ctx context.Context, path string, body, out any, alone func(*installation.Log) error) error {
	c, err := e.findServer(ctx)
	if err != nil {
		return err
	}
	if c != nil {
		return c.call(ctx, http.MethodPost, path, body, out)
	}
	return e.withWritableLog(ctx, alone)
}

func (e *env) graphCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "graph [SESSION [TURN]]",
		Short: "Draw where a turn's content came from",
		Long:  "Draw the provenance graph of a turn: the latest turn of the newest session when nothing is named.",
		Args:  cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if e.json {
				format = "json"
			}
			return e.withLog(cmd.Context(), func(log *installation.Log) error {
				g, err := findGraph(cmd.Context(), log, args)
				if err != nil {
					return err
				}
				return e.drawGraph(g, format)
			})
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text, json, prov, dot or svg")
	formats := []string{"text", "json", "prov", "dot", "svg"}
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func findGraph(ctx context.Context, log *installation.Log, args []string) (*graph.Graph, error) {
	var session, turn string
	if len(args) > 0 {
		session = args[0]
	}
	if len(args) > 1 {
		turn = args[1]
	}
	if session == "" {
		rows, err := log.Sessions(ctx, store.SessionQuery{Limit: 1})
		if err != nil {
			return nil, fmt.Errorf("list sessions: %w", err)
		}
		if len(rows) == 0 {
			return nil, errors.New("graph: no sessions yet")
		}
		session = rows[0].Name
	}
	return log.Monitor.Graph(ctx, session, turn)
}

func (e *env) drawGraph(g *graph.Graph, format string) error {
	switch format {
	case "text":
		return draw.Tree(e.out, g, e.drawStyle())
	case "json":
		return e.printJSON(g)
	case "prov":
		raw, err := g.PROV()
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(e.out, "%s\n", raw)
		return err
	case "dot":
		return draw.DOT(e.out, g)
	case "svg":
		return draw.SVG(e.out, g)
	}
	return fmt.Errorf("graph: unknown format %q (want text, json, prov, dot or svg)", format)
}
