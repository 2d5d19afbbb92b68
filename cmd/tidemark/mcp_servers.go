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
	"github.com/tidemark/tidemark/internal/config/load"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/mcp/oauth"
	"github.com/tidemark/tidemark/internal/people/accounts"
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
	// Some agents pass few variables on, so that a folder that is named by one is written down too.
	if usual, err := app.FindPaths("", ""); err != nil || usual.Data != p.Data || os.Getenv("TIDEMARK_DATA") != "" {
		if o.Data, err = filepath.Abs(p.Data); err != nil {
			return o, fmt.Errorf("find data folder: %w", err)
		}
	}
	if url, _, err := datafolder.Elsewhere(p); err != nil || url != "" {
		return o, err
	}
	o.Gateway, err = gatewayAt(p)
	if err != nil {
		return o, err
	}
	if install.Exists(p.Tokens()) {
		tokens, _, err := accounts.LoadTokens(p.Tokens())
		if err != nil {
			return o, err
		}
		o.Token = tokens.Agent
	}
	o.Taken, err = load.MCPNames(p)
	return o, err
}

// gatewayAt is where the server listens, or would.
func gatewayAt(p datafolder.Paths) (string, error) {
	r, err := datafolder.FindRunning(p)
	if err == nil || !errors.Is(err, datafolder.ErrNotRunning) {
		return r.URL, err
	}
	cfg, _, err := load.Read(p.Config)
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

// rewrap plans everything before the first file is written. Agents share the file of the gateway's servers, so that each
// is planned again after the one before it was written.
func (e *env) rewrap(ctx context.Context, f *installFlags, names []string, plan wrapPlan) error {
	w, err := e.installWorld(f)
	if err != nil {
		return err
	}
	servers := map[string][]mcpwrap.Server{}
	for _, name := range names {
		if _, _, err := plan(w, name); err != nil {
			return err
		}
	}
	var out []installed
	for _, name := range names {
		more, err := e.settle(ctx, w, f.dry, []string{name}, noted(w, plan, servers))
		if err != nil {
			return err
		}
		out = append(out, more...)
	}
	if !e.json {
		return nil
	}
	all := make([]wrapped, len(out))
	for i, r := range out {
		all[i] = wrapped{installed: r, Servers: servers[r.Agent]}
		all[i].Agent = strings.TrimPrefix(r.Agent, "mcp-")
	}
	return e.printJSON(all)
}

// noted is a plan that says which servers are left as they are.
func noted(w install.World, plan wrapPlan, servers map[string][]mcpwrap.Server) func(string) (*install.Plan, error) {
	return func(name string) (*install.Plan, error) {
		p, seen, err := plan(w, name)
		if err != nil {
			return nil, err
		}
		servers[p.Agent] = seen
		for _, s := range seen {
			if s.Why != "" {
				p.Notes = append(p.Notes, fmt.Sprintf("%s (%s) is left as it is: %s", report.Line(s.Name), s.File, s.Why))
			}
			if s.Package != "" {
				const own = "%s (%s) reads only what is on this machine. What it brings counts as this machine's once your policy file " +
					"says so, under trustRules: - {name: own-%s, tools: [\"%s__*\"], trust: local}"
				p.Notes = append(p.Notes, fmt.Sprintf(own, report.Line(s.Name), s.Package, s.As, s.As))
			}
		}
		if len(seen) == 0 {
			p.Notes = append(p.Notes, "no MCP server is in its settings")
		}
		return p, nil
	}
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
	return fmt.Sprintf("its MCP servers (%s) are judged by the hooks; to pin what they say of their tools, too: tidemark mcp wrap %s",
		strings.Join(names, ", "), agent)
}

// visitFlags are those of login and probe.
type visitFlags struct {
	url, client   string
	call          string
	quiet, secret bool
}

// mcpVisitCommands are those that ask servers over HTTP.
func (e *env) mcpVisitCommands() []*cobra.Command {
	in, look, out := &visitFlags{}, &visitFlags{}, &visitFlags{}
	login := &cobra.Command{
		Use:   "login NAME",
		Short: "Sign in to an MCP server that is reached over HTTP",
		Long: `Sign in to an MCP server that is reached over HTTP. The browser is opened at the server's
authorization server, and what it gives is kept in the data folder, for this server alone; the
gateway renews it. Agents never see it.`,
		Example: `  tidemark mcp login hub
  tidemark mcp login hub --url https://hub.example/mcp`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return e.visit(cmd.Context(), in, args[0], true) },
	}
	probe := &cobra.Command{
		Use:   "probe NAME|URL",
		Short: "Ask an MCP server what it is, and which tools it has",
		Long: `Ask an MCP server that is reached over HTTP what it is, which revision it speaks and which tools
it has. Nothing that is kept is used, and nothing is kept. With --no-browser an authorization server
is asked by this program, which works only where it asks nobody.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return e.visit(cmd.Context(), look, args[0], false) },
	}
	logout := &cobra.Command{
		Use: "logout NAME", Short: "Forget what an MCP server gave at tidemark mcp login", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return e.logout(cmd.Context(), out, args[0]) },
	}
	logout.Flags().StringVar(&out.url, "url", "", "address of the server (default: the one NAME has in the settings)")
	for cmd, f := range map[*cobra.Command]*visitFlags{login: in, probe: look} {
		fl := cmd.Flags()
		fl.StringVar(&f.client, "client-id", "", "who Tidemark is there, where it cannot register: an id, or https://…")
		fl.BoolVar(&f.secret, "client-secret-stdin", false, "read the secret of --client-id from standard input")
	}
	login.Flags().StringVar(&in.url, "url", "", "address of the server (default: the one NAME has in the settings)")
	probe.Flags().StringVar(&look.call, "call", "", "call this tool, without arguments, with what was given for this visit alone")
	probe.Flags().BoolVar(&look.quiet, "no-browser", false, "open no browser")
	return []*cobra.Command{login, logout, probe}
}

// serverAt is the address that is meant by a flag, or by what was named.
func (f *visitFlags) serverAt(p datafolder.Paths, what string) (string, error) {
	switch {
	case f.url != "":
		return f.url, nil
	case strings.Contains(what, "://"):
		return what, nil
	}
	return load.MCPServerURL(p, what)
}

func (e *env) logout(ctx context.Context, f *visitFlags, what string) error {
	p, err := e.paths()
	if err != nil {
		return err
	}
	address, err := f.serverAt(p, what)
	if err != nil {
		return err
	}
	had, err := oauth.ForgetServer(ctx, p, address)
	if err != nil {
		return err
	}
	if e.json {
		return e.printJSON(map[string]bool{"forgotten": had})
	}
	if !had {
		e.printf("nothing is kept for %s\n", report.Line(what))
		return nil
	}
	e.printf("what %s gave is forgotten here; the server may still take it: end it there, too\n", report.Line(what))
	return nil
}

func (e *env) visit(ctx context.Context, f *visitFlags, what string, keep bool) error {
	p, err := e.paths()
	if err != nil {
		return err
	}
	address, err := f.serverAt(p, what)
	if err != nil {
		return err
	}
	v := oauth.Visit{Server: address, ClientID: f.client, Keep: keep, Call: f.call}
	if f.secret {
		if v.ClientSecret, err = e.line(ctx, maxSecret); err != nil {
			return fmt.Errorf("read secret: %w", err)
		}
	}
	if !f.quiet {
		v.Show = e.showLogin
	}
	found, err := oauth.VisitServer(ctx, p, v)
	if err != nil {
		return err
	}
	if e.json {
		return e.printJSON(found)
	}
	e.printf("%s speaks %s and has %d tools: %s\n", report.Line(found.Server), report.Line(found.Version), len(found.Tools),
		report.Line(strings.Join(found.Tools, ", ")))
	switch {
	case keep && found.SignedIn:
		e.printf("signed in; what it gave is kept for this server alone\n")
	case keep:
		e.printf("it lets everybody in: there is nothing to sign in to\n")
	}
	return nil
}

// showLogin opens the page where a person signs in, and says where it is.
func (e *env) showLogin(address string) error {
	fmt.Fprintf(e.errOut, "sign in at:\n  %s\n", report.Line(address))
	if err := browser(address).Start(); err != nil {
		fmt.Fprintf(e.errOut, "no browser could be opened (%v): open it yourself\n", err)
	}
	return nil
}
