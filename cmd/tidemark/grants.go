package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/internal/app"
	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/store"
)

func (e *env) grantsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "grants",
		Short: "List what answers have opened, and take it back",
		Long: `List what your answers have opened besides the calls they were about: for a task, for some minutes, or for a turn.
Each says what it lets through, who gave it and when it ends.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return e.listGrants(cmd.Context()) },
	}
	cmd.AddCommand(&cobra.Command{
		Use: "revoke ID", Short: "End a grant before its time", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return e.revokeGrant(cmd.Context(), args[0]) },
	})
	return cmd
}

type grantRow struct {
	Session string `json:"session"`
	tidemark.GrantView
}

// grants are those in force: the server's, or the log's where none runs.
func (e *env) grants(ctx context.Context) ([]grantRow, error) {
	c, err := e.findServer(ctx)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return e.loggedGrants(ctx)
	}
	all := []grantRow{}
	for after := ""; ; {
		var page struct {
			Grants []grantRow `json:"grants"`
			Next   string     `json:"next"`
		}
		if err := c.call(ctx, http.MethodGet, "/v1/grants?after="+url.QueryEscape(after), nil, &page); err != nil {
			return nil, fmt.Errorf("list grants: %w", err)
		}
		if all = append(all, page.Grants...); page.Next == "" {
			return all, nil
		}
		after = page.Next
	}
}

func (e *env) loggedGrants(ctx context.Context) ([]grantRow, error) {
	out := []grantRow{}
	err := e.withLog(ctx, func(log *app.Log) error {
		for q := (store.SessionQuery{Limit: store.MaxLimit}); ; {
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
				for _, g := range v.Grants {
					out = append(out, grantRow{v.Session, g})
				}
			}
			if len(rows) < store.MaxLimit {
				return nil
			}
		}
	})
	return out, err
}

func (e *env) listGrants(ctx context.Context) error {
	all, err := e.grants(ctx)
	if err != nil {
		return err
	}
	if e.json {
		return e.printJSON(map[string]any{"grants": all})
	}
	for _, g := range all {
		kind := "until the turn ends"
		switch {
		case g.Task:
			kind = "for this task, until " + g.Until.UTC().Format("2006-01-02 15:04 UTC") + " at the latest"
		case !g.Turn:
			kind = "until " + g.Until.UTC().Format("2006-01-02 15:04 UTC")
		}
		e.printf("%s  %s in %s, by %s\n", e.ui.word("title", g.ID), kind, text.OneLine(g.Session), text.OneLine(g.By))
		e.printf("    %s\n    tidemark grants revoke %s\n", text.OneLine(g.Opens), g.ID)
	}
	if len(all) == 0 {
		e.printf("no grants in force\n")
	}
	return nil
}

func (e *env) revokeGrant(ctx context.Context, id string) error {
	all, err := e.grants(ctx)
	if err != nil {
		return err
	}
	for _, g := range all {
		if g.ID != id {
			continue
		}
		c, err := e.findServer(ctx)
		switch {
		case err != nil:
		case c != nil:
			var out map[string]any
			err = c.call(ctx, http.MethodDelete, "/v1/grants/"+url.PathEscape(id)+"?session="+url.QueryEscape(g.Session), nil, &out)
		default:
			err = e.withWritableLog(ctx, func(log *app.Log) error { return log.Monitor.Revoke(ctx, g.Session, id, whoami(), "cli") })
		}
		if err != nil {
			return fmt.Errorf("revoke %s: %w", id, err)
		}
		e.printf("ended: %s\n", id)
		return nil
	}
	return fmt.Errorf("revoke %s: no grant in force has this id", id)
}
