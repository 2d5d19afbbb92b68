package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark/graph"
	"github.com/tidemark/tidemark/internal/app"
	"github.com/tidemark/tidemark/internal/draw"
	"github.com/tidemark/tidemark/store"
)

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
			return e.withLog(cmd.Context(), func(log *app.Log) error {
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

func findGraph(ctx context.Context, log *app.Log, args []string) (*graph.Graph, error) {
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
