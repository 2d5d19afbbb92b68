package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark/internal/installation"
	"github.com/tidemark/tidemark/internal/reports/definitions"
	"github.com/tidemark/tidemark/internal/reports/report"
	"github.com/tidemark/tidemark/internal/reports/toolusage"
)

// toolLine is a tool as the server tells it.
type toolLine struct {
	toolusage.Tool
	Waiting []string `json:"waiting,omitempty"`
}

func (e *env) toolsCommand() *cobra.Command {
	var find, agent string
	var why bool
	cmd := &cobra.Command{
		Use:   "tools",
		Short: "Show what each tool does as far as we can tell, and what became of its calls",
		Long: `List the tools that the policy names and those that were called lately: what a call of each is
taken for, what it brings into the context, whether the policy speaks of it (named), how many
of its latest calls were held and refused, and which MCP servers' definitions of it wait for a
person (tidemark mcp review). What one rule says of a tool is in tidemark policy explain; to say what
a tool is, see tidemark tools annotate.

--why lists the definitions that hold now instead: what a call is taken for, what says so, who
described it, the definition's hash, and who says that it only reads. A policy says so of one
definition with annotations.TOOL.onlyReads: [HASH], a person at a question with --reads.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return e.tools(cmd.Context(), find, agent, why) },
	}
	cmd.Flags().StringVar(&find, "find", "", "only tools with this in their name")
	cmd.Flags().StringVar(&agent, "agent", "", "agent whose overrides apply")
	cmd.Flags().BoolVar(&why, "why", false, "list definitions: what each is taken for and why, its hash, and who says that it only reads")
	cmd.AddCommand(e.toolHistoryCommand(), e.annotateCommand())
	return cmd
}

func (e *env) tools(ctx context.Context, find, agent string, why bool) error {
	list, err := e.toolList(ctx, agent)
	if err != nil {
		return fmt.Errorf("tools: %w", err)
	}
	list = slices.DeleteFunc(list, func(t toolLine) bool {
		return !strings.Contains(strings.ToLower(t.Name), strings.ToLower(find))
	})
	if e.json {
		return e.printJSON(map[string]any{"tools": list})
	}
	if why {
		return e.toolReasons(list)
	}
	var rows [][]cell
	for i := range list {
		t := &list[i]
		is := ""
		for _, f := range []struct {
			is   bool
			word string
		}{{t.Source, "source"}, {t.Sink, "sink"}, {t.Caution, "cautioned"}, {t.Named, "named"},
			{slices.ContainsFunc(t.Definitions, toolusage.Definition.OnlyReads), "said to read"}, {len(t.Waiting) > 0, "waiting: " +
				report.Line(strings.Join(t.Waiting, " "))}} {
			if f.is {
				is = strings.TrimPrefix(is+", "+f.word, ", ")
			}
		}
		rows = append(rows, []cell{
			{"title", report.Line(t.Name)}, {"", t.Does()}, {"", t.Response}, {"", is}, {"", strconv.FormatInt(t.Calls, 10)},
			{"", strconv.FormatInt(t.Held, 10)}, {"", strconv.FormatInt(t.Denied, 10)},
		})
	}
	return e.ui.table(e.out, []string{"TOOL", "DOES", "BRINGS", "IS", "CALLS", "ASKED", "DENIED"}, rows)
}

// toolReasons prints what each definition is taken for.
func (e *env) toolReasons(list []toolLine) error {
	var rows [][]cell
	for i := range list {
		t := &list[i]
		if len(t.Definitions) == 0 {
			rows = append(rows, []cell{
				{"title", report.Line(t.Name)}, {"", t.Act}, {"", report.Line(t.Why)}, {"dim", "its name"}, {"", ""}, {"", ""},
			})
		}
		for _, d := range t.Definitions {
			rows = append(rows, []cell{
				{"title", report.Line(t.Name)}, {"", d.Act}, {"", report.Line(d.Why)}, {"", report.Line(cmp.Or(d.By, "a host"))},
				{"", d.Hash}, {"", report.Line(d.Reads)},
			})
		}
	}
	return e.ui.table(e.out, []string{"TOOL", "DOES", "BECAUSE", "DESCRIBED BY", "DEFINITION", "CONFIRMED READ-ONLY BY"}, rows)
}

// toolList asks the server, or reads the log and the policy file.
func (e *env) toolList(ctx context.Context, agent string) (list []toolLine, err error) {
	c, err := e.findServer(ctx)
	if err != nil {
		return nil, err
	}
	if c != nil {
		var out struct {
			Tools []toolLine `json:"tools"`
		}
		err := c.call(ctx, http.MethodGet, "/v1/tools?agent="+url.QueryEscape(agent), nil, &out)
		return out.Tools, err
	}
	err = e.withLog(ctx, func(log *installation.Log) error {
		all, err := toolusage.Of(ctx, log.Monitor.Policy().For(agent), log.Reader,
			toolusage.Known{Definitions: definitions.New(log.Reader), Lasting: log.Monitor.Lasting})
		for _, t := range all {
			list = append(list, toolLine{Tool: t})
		}
		return err
	})
	return list, err
}

func (e *env) toolHistoryCommand() *cobra.Command {
	var f definitions.Filter
	cmd := &cobra.Command{
		Use:   "history [TOOL]",
		Short: "How definitions of tools became what they are, and who accepted them",
		Long: `List the definitions of tools that MCP servers offered and hosts described, those that changed
last first. Of a tool that is named: each text with when it was first seen, what it changed in
the one before it, and who accepted it or wants it to stay hidden. Listed are the newest 32 texts
of a tool, and of hosts those of the last 256 lists; tidemark log has all of them.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				f.Tool = args[0]
			}
			return e.toolHistory(cmd.Context(), f)
		},
	}
	cmd.Flags().StringVar(&f.Server, "server", "", "only of this MCP server: NAME, or NAME@ID")
	return cmd
}

func (e *env) toolHistory(ctx context.Context, f definitions.Filter) error {
	all, err := e.histories(ctx, f)
	if err != nil {
		return fmt.Errorf("tools history: %w", err)
	}
	if e.json {
		return e.printJSON(map[string]any{"definitions": all})
	}
	if len(all) == 0 {
		e.printf("nobody has described such a tool yet: an MCP server behind Tidemark does, and a host that sends definitions\n")
		return nil
	}
	if f.Tool == "" {
		rows := make([][]cell, len(all))
		for i := range all {
			x := &all[i]
			rows[i] = []cell{
				{"title", report.Line(x.Tool)}, {"", report.Line(describer(x))}, {"", day(x.First)}, {"", day(x.Changed)},
				{"", strconv.Itoa(x.Seen)},
			}
		}
		return e.ui.table(e.out, []string{"TOOL", "DESCRIBED BY", "FIRST", "CHANGED", "TEXTS"}, rows)
	}
	for i := range all {
		e.printHistory(&all[i])
	}
	return nil
}

func (e *env) printHistory(x *definitions.History) {
	e.printf("%s  %s\n", e.ui.word("title", report.Line(x.Tool)), report.Line(describer(x)))
	for i := range x.Versions {
		v := &x.Versions[i]
		state := map[string]string{
			"told": "sent by the host", "first": "accepted when the server was first used", "hidden": "hidden: nobody has answered",
			"accepted": "accepted by " + v.By + " (" + v.Via + ") " + day(v.Answered),
			"denied":   "kept hidden by " + v.By + " (" + v.Via + ") " + day(v.Answered),
		}[v.State]
		e.printf("\n%s  %s\n", e.ui.word("heading", day(v.Seen)), report.Line(state))
		if v.Note != "" {
			e.printf("  %s\n", report.Line(v.Note))
		}
		if v.Why != "" {
			e.printf("  %s\n", e.ui.word("dim", report.Line("it was hidden because "+v.Why)))
		}
		e.printf("%s", e.diff(v.Diff)) // what others wrote in it was made harmless where it was made
	}
	if n := x.Seen - len(x.Versions); n > 0 {
		e.printf("\n%d older texts are not shown; the log has them\n", n)
	}
	e.printf("\n")
}

// describer says who describes a tool.
func describer(x *definitions.History) string {
	switch {
	case x.Server != "":
		return "MCP server " + x.Server + "@" + x.On
	case x.Agent != "":
		return "host of " + x.Agent
	}
	return "a host"
}

func day(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

// histories asks the server, or reads the log.
func (e *env) histories(ctx context.Context, f definitions.Filter) (all []definitions.History, err error) {
	c, err := e.findServer(ctx)
	if err != nil {
		return nil, err
	}
	if c != nil {
		var out struct {
			Definitions []definitions.History `json:"definitions"`
		}
		to := url.Values{"tool": {f.Tool}, "server": {f.Server}}
		err := c.call(ctx, http.MethodGet, "/v1/tools/history?"+to.Encode(), nil, &out)
		return out.Definitions, err
	}
	err = e.withLog(ctx, func(log *installation.Log) (err error) {
		if book := definitions.New(log.Reader); f.Tool == "" {
			all, err = book.All(ctx, f)
		} else {
			all, err = book.Of(ctx, f)
		}
		return err
	})
	return all, err
}
