package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/user"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/internal/app"
	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/store"
)

func (e *env) approvalsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "approvals",
		Short: "List open questions and answer them",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return e.listApprovals(cmd.Context()) },
	}
	var minutes int
	approve := &cobra.Command{
		Use: "approve ID", Short: "Let the held call through", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.answer(cmd.Context(), args[0], true, minutes)
		},
	}
	approve.Flags().IntVar(&minutes, "minutes", 0, "let every call of this tool through for so long (0: only this call)")
	deny := &cobra.Command{
		Use: "deny ID", Short: "Refuse the held call", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return e.answer(cmd.Context(), args[0], false, 0) },
	}
	cmd.AddCommand(approve, deny, e.watchCommand())
	return cmd
}

// questions asks the running server, or reads the log when there is none.
func (e *env) questions(ctx context.Context) ([]tidemark.Question, error) {
	c, err := e.findServer(ctx)
	if err != nil {
		return nil, err
	}
	if c != nil {
		var page struct {
			Approvals []tidemark.Question `json:"approvals"`
		}
		err := c.call(ctx, http.MethodGet, "/v1/approvals", nil, &page)
		return page.Approvals, err
	}
	var out []tidemark.Question
	err = e.withLog(ctx, func(log *app.Log) error {
		rows, err := log.Sessions(ctx, store.SessionQuery{Limit: store.MaxLimit})
		if err != nil {
			return fmt.Errorf("list sessions: %w", err)
		}
		for _, r := range rows {
			if _, err := log.Monitor.View(ctx, r.Name); err != nil {
				return err
			}
		}
		out, err = log.Monitor.Questions(ctx)
		return err
	})
	return out, err
}

func (e *env) listApprovals(ctx context.Context) error {
	all, err := e.questions(ctx)
	if err != nil {
		return err
	}
	if e.json {
		if all == nil {
			all = []tidemark.Question{}
		}
		return e.printJSON(map[string]any{"approvals": all})
	}
	open := 0
	for _, q := range all {
		if q.State != "pending" {
			continue
		}
		open++
		e.printf("%s  %s in %s (step %d, %s)\n",
			e.ui.word("title", q.ID), e.ui.word("confirm", q.Tool), q.Session, q.Step, e.ui.as(q.Level))
		for _, l := range strings.Split(q.Text(), "\n") {
			e.printf("    %s\n", text.OneLine(l))
		}
		e.printf("    %s\n", e.ui.word("dim", q.Rule))
		e.printf("    expires in %s   tidemark approvals approve %s\n", time.Until(q.Expires).Round(time.Second), q.ID)
	}
	if open == 0 {
		e.printf("no open questions\n")
	}
	return nil
}

func (e *env) answer(ctx context.Context, id string, approve bool, minutes int) error {
	if minutes < 0 || minutes > 24*60 {
		return errors.New("answer: minutes must be 0 to 1440")
	}
	c, err := e.findServer(ctx)
	if err != nil {
		return err
	}
	decision := map[bool]string{true: "approve", false: "deny"}[approve]
	if c != nil {
		var out map[string]any
		body := map[string]any{"decision": decision, "minutes": minutes}
		if err := c.call(ctx, http.MethodPost, "/v1/approvals/"+id, body, &out); err != nil {
			return fmt.Errorf("%s %s: %w", decision, id, err)
		}
		if e.json {
			return e.printJSON(out)
		}
		e.printf("%v\n", out["notice"])
		return nil
	}
	return e.answerOffline(ctx, id, approve, minutes)
}

// answerOffline writes the answer into the log itself: no server is running.
func (e *env) answerOffline(ctx context.Context, id string, approve bool, minutes int) error {
	all, err := e.questions(ctx)
	if err != nil {
		return err
	}
	for _, q := range all {
		if q.ID == id {
			return e.withWritableLog(ctx, func(log *app.Log) error {
				out, err := log.Monitor.Answer(ctx, tidemark.Vote{
					Session: q.Session, IDs: []string{id}, Approve: approve,
					For: time.Duration(minutes) * time.Minute, By: whoami(), Via: "cli",
				})
				if err != nil {
					return err
				}
				if e.json {
					return e.printJSON(map[string]any{"resolved": out.IDs, "grant": out.Grant, "notice": out.Notice})
				}
				e.printf("%s\n", out.Notice)
				return nil
			})
		}
	}
	return fmt.Errorf("answer %s: no open question has this id", id)
}

func (e *env) withWritableLog(ctx context.Context, step func(*app.Log) error) error {
	p, err := e.paths()
	if err != nil {
		return err
	}
	log, err := app.OpenLogForAnswers(ctx, p)
	if err != nil {
		return err
	}
	return errors.Join(step(log), log.Close())
}

func whoami() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "local user"
}
