package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark/internal/config/load"
	"github.com/tidemark/tidemark/internal/installation"
	"github.com/tidemark/tidemark/internal/mcp/judge"
	"github.com/tidemark/tidemark/internal/mcp/pipe"
	"github.com/tidemark/tidemark/internal/pins"
	"github.com/tidemark/tidemark/internal/reports/report"
)

func (e *env) mcpCommand() *cobra.Command {
	var name string
	var variables []string
	cmd := &cobra.Command{
		Use:   "mcp --name NAME [--env VARIABLE] -- COMMAND [ARGS...]",
		Short: "Put the monitor between an agent and its MCP servers",
		Long: `Put the monitor between an agent and an MCP server that it starts itself. The agent is configured to
run this in place of the server; it runs the server, judges what passes between them, and ends with
the server's exit code. The server gets the usual variables (HOME, PATH, LANG and the like) and
those that --env or mcp.env of the policy file name, and no other: not the agent's keys.

  tidemark mcp --name files -- npx -y @modelcontextprotocol/server-filesystem .
  tidemark mcp --name crm --env CRM_TOKEN -- python -m crm_server

The monitor is the server that runs on the data folder (tidemark serve); without it nothing is let
through. Servers that are reached over HTTP are named in the policy file (mcp.servers) and stand
under /mcp/NAME of the server.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			cmd.SuggestionsMinimumDistance = 2
			if near := cmd.SuggestionsFor(strings.Join(args, " ")); name == "" && len(near) > 0 {
				return fmt.Errorf("unknown command %q: did you mean %s?", args[0], strings.Join(near, " or "))
			}
			if name == "" || len(args) == 0 {
				return errors.New("tidemark mcp takes --name NAME -- COMMAND [ARGS...]")
			}
			return e.relayMCP(cmd.Context(), name, variables, args)
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "what the server is called in policies: its tools are NAME__tool")
	cmd.Flags().StringArrayVar(&variables, "env", nil, "a variable of the environment that the server gets too")
	cmd.AddCommand(e.mcpPinCommands()...)
	cmd.AddCommand(e.mcpWrapCommands()...)
	cmd.AddCommand(e.mcpVisitCommands()...)
	return cmd
}

// relayMCP stands between the agent that started this and a server.
func (e *env) relayMCP(ctx context.Context, name string, variables, command []string) error {
	if !load.MCPName(name) {
		return fmt.Errorf("--name %q cannot be the name of a server: use letters, digits, dashes and single underscores", name)
	}
	p, err := e.paths()
	if err != nil {
		return err
	}
	cfg, _, err := load.Read(p.Config)
	if err != nil {
		return err
	}
	port := judge.Running(p)
	conn, err := judge.New(judge.Options{
		Server: judge.Server{Name: name, Command: command}, Port: port, Pins: judge.RunningPins(port),
		Origin:   judge.Origin{Env: os.Getenv, Owner: cfg.MCP.Sender == "owner"},
		Patience: cfg.MCP.Wait, Elicit: cfg.MCP.Elicit != "never",
		Logger: slog.New(slog.NewTextHandler(e.errOut, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}
	code, err := pipe.Run(ctx, pipe.Options{
		Command: command, Env: pipe.Env(os.Environ(), slices.Concat(variables, cfg.MCP.Env)), Gate: conn,
		In: e.in, Out: e.out, ErrOut: e.errOut, MaxMessage: int(cfg.MCP.MaxMessage),
	})
	if err != nil {
		return err
	}
	if code != 0 {
		return exitStatus(code)
	}
	return nil
}

// mcpPinCommands are those about what MCP servers say of their tools.
func (e *env) mcpPinCommands() []*cobra.Command {
	return []*cobra.Command{
		{
			Use: "list", Short: "List the MCP servers that were used, and what is hidden of them", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return e.listServers(cmd.Context()) },
		},
		{
			Use: "review NAME", Short: "Show what is hidden of a server, and how it differs from what was accepted",
			Long: `Show what is hidden of a server, and how it differs from what was accepted. NAME/TOOL shows
one tool, NAME@ID a server of several that have the name.`,
			Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error { return e.reviewServer(cmd.Context(), args[0]) },
		},
		{
			Use: "accept NAME[/TOOL]", Short: "Accept what a server says of its tools now",
			Long: `Show what is hidden of a server and accept it: all of it, or one tool. It takes the approver
or admin token, which an agent does not have; where a passkey is enrolled it is done in the
console. What changes again before it is accepted is not accepted.`,
			Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error { return e.acceptServer(cmd.Context(), args[0]) },
		},
	}
}

func (e *env) listServers(ctx context.Context) error {
	var all []pins.ServerView
	err := e.withLog(ctx, func(log *installation.Log) (err error) {
		all, err = log.Pins.Servers(ctx)
		return err
	})
	if err != nil {
		return err
	}
	if e.json {
		return e.printJSON(map[string]any{"servers": all})
	}
	if len(all) == 0 {
		e.printf("no MCP server was used through Tidemark yet (tidemark mcp wrap AGENT)\n")
		return nil
	}
	rows := make([][]cell, len(all))
	hidden := false
	for i, s := range all {
		meaning := "good"
		if len(s.Held) > 0 {
			meaning, hidden = "warn", true
		}
		rows[i] = []cell{
			{"", report.Line(s.Name)}, {"dim", s.ID}, {"", strconv.Itoa(s.Accepted)},
			{meaning, report.Line(strings.Join(s.Held, ", "))}, {"dim", report.Line(s.At)},
		}
	}
	if err := e.ui.table(e.out, []string{"SERVER", "ID", "ACCEPTED", "HIDDEN", "WHAT IT IS"}, rows); err != nil {
		return err
	}
	if hidden {
		e.printf("look at what is hidden: tidemark mcp review SERVER\n")
	}
	return nil
}

// hiddenOf is what is hidden, from the server that runs or from the log.
func (e *env) hiddenOf(ctx context.Context, c *client, what string) (v pins.ReviewView, err error) {
	server, tool, _ := strings.Cut(what, "/")
	if c != nil {
		path := "/v1/servers/" + url.PathEscape(server)
		if tool != "" {
			path += "?tool=" + url.QueryEscape(tool)
		}
		return v, c.call(ctx, http.MethodGet, path, nil, &v)
	}
	err = e.withLog(ctx, func(log *installation.Log) (err error) {
		v, err = log.Pins.Review(ctx, server, tool)
		return err
	})
	return v, err
}

func (e *env) reviewServer(ctx context.Context, what string) error {
	c, err := e.findServer(ctx)
	if err != nil {
		return err
	}
	v, err := e.hiddenOf(ctx, c, what)
	if err != nil {
		return err
	}
	if e.json {
		return e.printJSON(v)
	}
	e.printReview(v)
	if len(v.Items) > 0 {
		e.printf("to accept it: tidemark mcp accept %s\n", report.Line(what))
	}
	return nil
}

// printReview shows differences; what others wrote in them was made harmless where they were made.
func (e *env) printReview(v pins.ReviewView) {
	e.printf("%s\n  %s\n", e.ui.word("title", report.Line(v.Name)), e.ui.word("dim", report.Line(v.At)))
	if len(v.Items) == 0 {
		e.printf("  nothing is hidden\n")
	}
	for _, i := range v.Items {
		e.printf("\n%s: %s\n", e.ui.word("heading", report.Line(i.Name)), report.Line(i.Why))
		for _, w := range i.Warnings {
			e.printf("  %s %s\n", e.ui.word("warn", "look closely:"), report.Line(w))
		}
		if !i.Usable {
			e.printf("  %s\n", e.ui.word("bad", "it cannot be accepted"))
		}
		e.printf("%s", e.diff(i.Diff))
	}
	e.printf("\n")
}

// acceptServer goes through the server where one runs, so that agents are told at once.
func (e *env) acceptServer(ctx context.Context, what string) error {
	c, err := e.findServer(ctx)
	if err != nil {
		return err
	}
	if c == nil {
		return errors.New("accept definitions: no server is running; start it: tidemark serve")
	}
	v, err := e.hiddenOf(ctx, c, what)
	if err != nil {
		return err
	}
	if !e.json {
		e.printReview(v)
	}
	if len(v.Items) == 0 {
		if e.json {
			return e.printJSON(map[string]any{"accepted": []string{}})
		}
		return nil
	}
	server, tool, _ := strings.Cut(what, "/")
	var done struct {
		Accepted []string `json:"accepted"`
	}
	in := map[string]any{"seen": v.Seen}
	if tool != "" {
		in["tool"] = tool
	}
	if err := c.call(ctx, http.MethodPost, "/v1/servers/"+url.PathEscape(server)+"/accept", in, &done); err != nil {
		return err
	}
	if e.json {
		return e.printJSON(done)
	}
	e.printf("accepted: %s\n", report.Line(strings.Join(done.Accepted, ", ")))
	return nil
}
