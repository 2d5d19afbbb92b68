package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark/internal/app"
	"github.com/tidemark/tidemark/internal/reports/inventory"
	"github.com/tidemark/tidemark/internal/reports/report"
)

// toolLine is a tool as the server tells it.
type toolLine struct {
	inventory.Tool
	Waiting []string `json:"waiting,omitempty"`
}

func (e *env) toolsCommand() *cobra.Command {
	var find, agent string
	cmd := &cobra.Command{
		Use:   "tools",
		Short: "What each tool is taken for, and what became of its calls",
		Long: `List the tools that the policy names and those that were called lately: what a call of each is
taken for, what it brings into the context, whether the policy speaks of it (named), how many
of its latest calls were held and refused, and which MCP servers' definitions of it wait for a
person (tidemark mcp pins). What one rule says of a tool is in tidemark explain; to say what
a tool is, see tidemark annotate.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return e.tools(cmd.Context(), find, agent) },
	}
	cmd.Flags().StringVar(&find, "find", "", "only tools with this in their name")
	cmd.Flags().StringVar(&agent, "agent", "", "agent whose overrides apply")
	return cmd
}

func (e *env) tools(ctx context.Context, find, agent string) error {
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
	var rows [][]cell
	for i := range list {
		t := &list[i]
		is := ""
		for _, f := range []struct {
			is   bool
			word string
		}{{t.Source, "source"}, {t.Sink, "sink"}, {t.Caution, "cautioned"}, {t.Named, "named"}, {len(t.Waiting) > 0, "waiting: " +
			report.Line(strings.Join(t.Waiting, " "))}} {
			if f.is {
				is = strings.TrimPrefix(is+", "+f.word, ", ")
			}
		}
		rows = append(rows, []cell{
			{"title", report.Line(t.Name)}, {"", t.Act}, {"", t.Response}, {"", is}, {"", strconv.FormatInt(t.Calls, 10)},
			{"", strconv.FormatInt(t.Held, 10)}, {"", strconv.FormatInt(t.Denied, 10)},
		})
	}
	return e.ui.table(e.out, []string{"TOOL", "DOES", "BRINGS", "IS", "CALLS", "HELD", "REFUSED"}, rows)
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
	err = e.withLog(ctx, func(log *app.Log) error {
		all, err := inventory.Of(ctx, log.Monitor.Policy().For(agent), log.Reader)
		for _, t := range all {
			list = append(list, toolLine{Tool: t})
		}
		return err
	})
	return list, err
}
