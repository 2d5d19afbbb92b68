package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/internal/app"
	"github.com/tidemark/tidemark/internal/reports/report"
	"github.com/tidemark/tidemark/trust"
)

func (e *env) labelsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "labels",
		Short: "List what was written while tainted, or vouch for it",
		Long: `A file, memory or record that an agent wrote while its context held content that is not
trusted keeps that label: whoever reads it, in any session, is tainted again. Look at it,
and clear the label if it may be trusted; that is recorded (tidemark audit --session
tidemark:labels).`,
		Example: `  tidemark labels
  tidemark labels clear file:work/notes.txt`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return e.listLabels(cmd.Context()) },
	}
	cmd.AddCommand(&cobra.Command{
		Use: "clear KEY", Short: "Trust it again, as tidemark labels spells it", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return e.clearLabel(cmd.Context(), args[0]) },
	})
	return cmd
}

func (e *env) listLabels(ctx context.Context) error {
	var all []tidemark.LabelView
	err := e.withLog(ctx, func(log *app.Log) (err error) {
		all, err = log.Monitor.Labels(ctx)
		return err
	})
	if err != nil {
		return err
	}
	if e.json {
		return e.printJSON(map[string]any{"labels": all})
	}
	if len(all) == 0 {
		e.printf("nothing was written while tainted\n")
		return nil
	}
	rows := make([][]cell, len(all))
	for i, l := range all {
		rows[i] = []cell{
			{"", report.Line(l.Key)}, {l.Level.String(), l.Level.String()}, {"", report.Line(l.Session)}, {"", report.Line(l.Tool)},
			{"", strconv.FormatUint(l.Step, 10)}, {"dim", report.Line(tidemark.Evidence(trust.Label{Level: l.Level, Sources: l.Sources}))},
		}
	}
	return e.ui.table(e.out, []string{"KEY", "LEVEL", "SESSION", "WRITTEN BY", "STEP", "BECAUSE OF"}, rows)
}

// clearLabel goes through the server where one runs, so that it knows at once.
func (e *env) clearLabel(ctx context.Context, key string) error {
	c, err := e.findServer(ctx)
	if err != nil {
		return err
	}
	if c != nil {
		err = c.call(ctx, http.MethodDelete, "/v1/labels?key="+url.QueryEscape(key), nil, nil)
		var no *refused
		if errors.As(err, &no) && no.Status == http.StatusNotFound {
			err = tidemark.ErrNotFound
		}
	} else {
		err = e.withWritableLog(ctx, func(log *app.Log) error {
			if err := log.Unproven(); err != nil {
				return err
			}
			return log.Monitor.ClearLabel(ctx, key, whoami(), "cli")
		})
	}
	if errors.Is(err, tidemark.ErrNotFound) {
		return fmt.Errorf("clear label: nothing is labelled %q (tidemark labels lists what is)", key)
	}
	if err != nil {
		return err
	}
	if e.json {
		return e.printJSON(map[string]any{"key": key, "cleared": true})
	}
	e.printf("cleared %s: what reads it is no longer tainted by it\n", report.Line(key))
	return nil
}
