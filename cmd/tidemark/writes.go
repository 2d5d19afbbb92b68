package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/internal/app"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/store"
)

func (e *env) writesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "writes",
		Short: "Review blocked writes to memory files",
		Long:  "A blocked write to a memory file is kept whole. Release it (the agent may then repeat exactly that call) or discard it.",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return e.listWrites(cmd.Context()) },
	}
	for _, a := range []struct{ name, short string }{
		{"release", "Print the write and let the agent repeat it once"},
		{"discard", "Give the write up"},
	} {
		cmd.AddCommand(&cobra.Command{
			Use: a.name + " ID", Short: a.short,
			Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error { return e.review(cmd.Context(), args[0], a.name) },
		})
	}
	return cmd
}

type writeRow struct {
	Session string `json:"session"`
	tidemark.WriteView
}

func (e *env) writes(ctx context.Context) ([]writeRow, error) {
	out := []writeRow{}
	err := e.withLog(ctx, func(log *app.Log) error {
		q := store.SessionQuery{Limit: store.MaxLimit}
		for {
			rows, err := log.Sessions(ctx, q)
			if err != nil {
				return fmt.Errorf("list sessions: %w", err)
			}
			for _, r := range rows {
				q.After = r.Name
				v, err := log.Monitor.View(ctx, r.Name)
				if err != nil {
					return err
				}
				for _, w := range v.Writes {
					out = append(out, writeRow{v.Session, w})
				}
			}
			if len(rows) < store.MaxLimit {
				return nil
			}
		}
	})
	return out, err
}

func (e *env) listWrites(ctx context.Context) error {
	all, err := e.writes(ctx)
	if err != nil {
		return err
	}
	if e.json {
		return e.printJSON(map[string]any{"writes": all})
	}
	if len(all) == 0 {
		e.printf("no quarantined writes\n")
		return nil
	}
	rows := make([][]cell, len(all))
	for i, w := range all {
		status := cell{"", w.Status}
		if w.Status == "held" {
			status = cell{"warn", w.Status}
		}
		rows[i] = []cell{
			{"", w.ID}, status, {"", w.Tool}, {"", w.Path},
			{"dim", w.Session}, {"dim", w.Time.Local().Format(time.DateTime)},
		}
	}
	return e.ui.table(e.out, []string{"WRITE", "STATUS", "TOOL", "PATH", "SESSION", "TIME"}, rows)
}

func (e *env) review(ctx context.Context, id, action string) error {
	all, err := e.writes(ctx)
	if err != nil {
		return err
	}
	for _, w := range all {
		if w.ID == id {
			return e.reviewOne(ctx, w, action)
		}
	}
	return fmt.Errorf("%s %s: no such write", action, id)
}

func (e *env) reviewOne(ctx context.Context, w writeRow, action string) error {
	c, err := e.findServer(ctx)
	if err != nil {
		return err
	}
	var args strictjson.Value
	if c != nil {
		var out struct {
			Args strictjson.Value `json:"args"`
		}
		body := map[string]any{"action": action, "session": w.Session}
		if err := c.call(ctx, http.MethodPost, "/v1/writes/"+w.ID, body, &out); err != nil {
			return fmt.Errorf("%s %s: %w", action, w.ID, err)
		}
		args = out.Args
	} else {
		err := e.withWritableLog(ctx, func(log *app.Log) error {
			call, err := log.Monitor.Review(ctx, w.Session, w.ID, action == "release", whoami(), "cli")
			args = call.Args
			return err
		})
		if err != nil {
			return err
		}
	}
	if e.json {
		return e.printJSON(map[string]any{"id": w.ID, "action": action, "tool": w.Tool, "path": w.Path, "args": args})
	}
	e.printf("%sd %s: %s to %s\n", action, w.ID, w.Tool, w.Path)
	if action == "release" {
		e.printf("%s\n", args)
	}
	return nil
}
