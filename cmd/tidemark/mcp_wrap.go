package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark/internal/agents/install"
	mcpwrap "github.com/tidemark/tidemark/internal/agents/wrap"
	"github.com/tidemark/tidemark/internal/app"
	"github.com/tidemark/tidemark/internal/reports/report"
)

// mcpWrapCommands are those that change the settings of agents.
func (e *env) mcpWrapCommands() []*cobra.Command {
	put, take := &installFlags{}, &installFlags{}
	in := &cobra.Command{
		Use:   "wrap AGENT...",
		Short: "Put the MCP servers in an agent's settings behind Tidemark",
		Long: `Rewrite every entry of an MCP server in an agent's settings: a server that the agent starts
is started by tidemark mcp, one that it reaches over HTTP is reached through the gateway,
which takes over its address and headers. Everything else stays byte for byte, and
tidemark mcp unwrap gives back every byte. Entries that cannot be wrapped are named.

With --project the files of a project are rewritten in place of the user's; others who use
them need Tidemark then, too.

Agents: ` + strings.Join(mcpwrap.Names(), ", "),
		Example: `  tidemark mcp wrap claude --dry-run
  tidemark mcp wrap claude codex
  tidemark mcp unwrap claude`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return e.wrap(cmd.Context(), put, args) },
	}
	out := &cobra.Command{
		Use: "unwrap AGENT...", Short: "Give the MCP servers in an agent's settings back as they were", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return e.unwrap(cmd.Context(), take, args) },
	}
	for cmd, f := range map[*cobra.Command]*installFlags{in: put, out: take} {
		cmd.Flags().StringVar(&f.project, "project", "", "a project's files in place of the user's")
		cmd.Flags().BoolVar(&f.dry, "dry-run", false, "print what would change, as a diff, and change nothing")
	}
	return []*cobra.Command{in, out}
}

// wrapOptions are what entries are rewritten to.
func (e *env) wrapOptions() (mcpwrap.Options, error) {
	var o mcpwrap.Options
	p, err := e.paths()
	if err != nil {
		return o, err
	}
	if o.Program, err = os.Executable(); err != nil {
		return o, fmt.Errorf("find this program: %w", err)
	}
	if usual, err := app.FindPaths("", ""); err != nil || usual.Data != p.Data {
		if o.Data, err = filepath.Abs(p.Data); err != nil {
			return o, fmt.Errorf("find data folder: %w", err)
		}
	}
	o.Gateway, err = gatewayAt(p)
	if err != nil {
		return o, err
	}
	if install.Exists(p.Tokens()) {
		tokens, _, err := app.LoadTokens(p.Tokens())
		if err != nil {
			return o, err
		}
		o.Token = tokens.Agent
	}
	return o, nil
}

// gatewayAt is where the server listens, or would.
func gatewayAt(p app.Paths) (string, error) {
	r, err := app.FindRunning(p)
	if err == nil || !errors.Is(err, app.ErrNotRunning) {
		return r.URL, err
	}
	cfg, _, err := app.ReadConfig(p.Config)
	if err != nil {
		return "", err
	}
	host, port, err := net.SplitHostPort(cfg.Server.Listen)
	if err != nil {
		return "", fmt.Errorf("find the server's address: %w", err)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port), nil
}

// wrapped is what became of one agent's servers.
type wrapped struct {
	installed
	Servers []mcpwrap.Server `json:"servers"`
}

type wrapPlan func(w install.World, agent string) (*install.Plan, []mcpwrap.Server, error)

func (e *env) wrap(ctx context.Context, f *installFlags, names []string) error {
	o, err := e.wrapOptions()
	if err != nil {
		return err
	}
	return e.rewrap(ctx, f, names, func(w install.World, agent string) (*install.Plan, []mcpwrap.Server, error) {
		return mcpwrap.Prepare(w, agent, o, time.Now())
	})
}

func (e *env) unwrap(ctx context.Context, f *installFlags, names []string) error {
	return e.rewrap(ctx, f, names, mcpwrap.Removal)
}

// rewrap plans everything before the first file is written.
func (e *env) rewrap(ctx context.Context, f *installFlags, names []string, plan wrapPlan) error {
	w, err := e.installWorld(f)
	if err != nil {
		return err
	}
	servers := map[string][]mcpwrap.Server{}
	out, err := e.settle(ctx, w, f.dry, names, func(name string) (*install.Plan, error) {
		p, seen, err := plan(w, name)
		if err != nil {
			return nil, err
		}
		servers[p.Agent] = seen
		for _, s := range seen {
			if s.Why != "" {
				p.Notes = append(p.Notes, fmt.Sprintf("%s (%s) is left as it is: %s", report.Line(s.Name), s.File, s.Why))
			}
		}
		if len(seen) == 0 {
			p.Notes = append(p.Notes, "no MCP server is in its settings")
		}
		return p, nil
	})
	if err != nil || !e.json {
		return err
	}
	all := make([]wrapped, len(out))
	for i, r := range out {
		all[i] = wrapped{installed: r, Servers: servers[r.Agent]}
		all[i].Agent = strings.TrimPrefix(r.Agent, "mcp-")
	}
	return e.printJSON(all)
}

// offerWrap tells whoever installs hooks of servers that are not behind Tidemark.
func (e *env) offerWrap(w install.World, agent string) string {
	seen, err := mcpwrap.Look(w, agent)
	if err != nil {
		return ""
	}
	var names []string
	for _, s := range seen {
		if !s.Behind && s.Why == "" {
			names = append(names, report.Line(s.Name))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("its MCP servers (%s) are judged by the hooks; to pin what they say of their tools and to be asked inside the agent: "+
		"tidemark mcp wrap %s", strings.Join(names, ", "), agent)
}
