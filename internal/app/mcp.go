package app

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/base/debounce"
	"github.com/tidemark/tidemark/internal/base/sameorigin"
	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/config/load"
	"github.com/tidemark/tidemark/internal/machines"
	"github.com/tidemark/tidemark/internal/mcp/judge"
	"github.com/tidemark/tidemark/internal/mcp/oauth"
	"github.com/tidemark/tidemark/internal/mcp/relay"
	"github.com/tidemark/tidemark/internal/people/approvalproof"
	"github.com/tidemark/tidemark/internal/pins"
	"github.com/tidemark/tidemark/internal/store/notify"
	"github.com/tidemark/tidemark/internal/waiting"
	"github.com/tidemark/tidemark/tool"
)

// openMCP makes the gateway: the port for relays that agents start, and the servers that are reached
// over HTTP. What is neither is left to next. Nothing is contacted yet.
func (a *App) openMCP(f *notify.Store, bus *hook.Bus, next http.Handler) (http.Handler, error) {
	g, err := sameorigin.New(a.config.Server.Hosts())
	if err != nil {
		return nil, fmt.Errorf("open MCP gateway: %w", err)
	}
	c := a.config.MCP
	engine := &judge.Engine{
		Monitor: a.Monitor, Waiter: waiting.New(a.Monitor, f), Claims: a.claims, Bus: bus,
		Proofs: func() bool { return a.keys.Required() != approvalproof.None || len(a.config.Approvals.Who.List) > 0 },
	}
	engine.Desk = a.kept
	a.shown = debounce.New(shownWithin, a.writeShown)
	engine.Soon = a.shown
	servers, err := load.MCPServers(a.config, a.opts.Paths)
	if err != nil {
		return nil, fmt.Errorf("open MCP gateway: %w", err)
	}
	engine.Relayed = a.relayed(servers)
	if err := a.pins.EachSaid(func(server, said string) error { return a.Monitor.HearJSON(server, []byte(said)) }); err != nil {
		a.opts.Logger.Warn("mcp: not all that servers said before is remembered", slog.String("error", err.Error()))
	}
	admission := judge.NewAdmission(g, a.Tokens.Agent)
	admission.Machine = func(token string) (string, bool) { return machines.Of(a.people, token) }
	var upstreams []relay.Upstream
	var signedIn []string
	for _, s := range servers {
		if upstreams = append(upstreams, upstreamOf(s)); s.Auth == "oauth" {
			signedIn = append(signedIn, s.Name)
		}
	}
	visitors := judge.NewAdmission(g, a.Tokens.Agent)
	visitors.Machine = admission.Machine
	if visitors.Open = c.Require == "none"; visitors.Open && !a.private() {
		return nil, fmt.Errorf("open MCP gateway: with mcp.require: none and %s anybody could use the servers; "+
			"require a token, or listen on this machine alone", a.address())
	}
	r, err := relay.New(relay.Options{
		Upstreams: upstreams, Port: engine, Pins: pins.For[judge.Server]{Port: a.pins},
		Transports: oauth.NewTransports(a.opts.Paths.Data, signedIn...),
		Admission:  visitors,
		Owner:      c.Sender == "owner", Elicit: c.Elicit == "always", Patience: c.Wait, MaxMessage: c.MaxMessage, Logger: a.opts.Logger,
	})
	if err != nil {
		return nil, fmt.Errorf("open MCP gateway: %w", err)
	}
	port := &judge.PortHandler{Port: engine, Admission: admission, Logger: a.opts.Logger, MaxBody: 2*c.MaxMessage + 1<<20} // as base64
	others := r.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if strings.HasPrefix(req.URL.Path, judge.PortPath) {
			port.ServeHTTP(w, req)
			return
		}
		others.ServeHTTP(w, req)
	}), nil
}

// shownWithin is how long what a session was shown may wait to be written.
const shownWithin = 20 * time.Millisecond

// writeShown writes what a session was shown through the gateway.
func (a *App) writeShown(session string) {
	ctx := context.Background()
	if err := a.Monitor.Flush(ctx, session); err != nil { // it still waits, and nothing more may before it is written
		a.opts.Logger.LogAttrs(ctx, slog.LevelError, "mcp: results not recorded yet", slog.String("error", err.Error()))
	}
}

// relayed tells the servers that agents start behind a relay: a program whose definitions are known, under the name of
// no server whose credentials are ours and of no agent.
func (a *App) relayed(servers []config.MCPServer) func(string) bool {
	kept := map[string]bool{}
	for _, s := range servers {
		kept[tool.Name(s.Name)] = true
	}
	for _, name := range catalogue.Names() {
		kept[tool.Name(name)] = true
	}
	return func(name string) bool { return !kept[name] && a.pins.Starts(name) }
}

func upstreamOf(s config.MCPServer) relay.Upstream {
	u := relay.Upstream{Server: judge.Server{Name: s.Name, URL: s.URL}, Passthrough: s.Auth == "passthrough", Headers: map[string]string{}}
	for name, value := range s.Headers {
		u.Headers[name] = string(value)
	}
	return u
}
