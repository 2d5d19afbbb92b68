package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark/internal/app"
	"github.com/tidemark/tidemark/internal/mcp/gate"
	"github.com/tidemark/tidemark/internal/mcp/pipe"
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
	if !app.MCPName(name) {
		return fmt.Errorf("--name %q cannot be the name of a server: use letters, digits, dashes and single underscores", name)
	}
	p, err := e.paths()
	if err != nil {
		return err
	}
	cfg, _, err := app.ReadConfig(p.Config)
	if err != nil {
		return err
	}
	port := app.MCPPort(p)
	conn, err := gate.New(gate.Options{
		Server: gate.Server{Name: name, Command: command}, Port: port, Pins: app.MCPPins(port),
		Origin:   gate.Origin{Env: os.Getenv, Owner: cfg.MCP.Sender == "owner"},
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
