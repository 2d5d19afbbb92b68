package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/agents/install"
	"github.com/tidemark/tidemark/internal/agents/wrap"
	"github.com/tidemark/tidemark/internal/base/endpoint"
	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/config/load"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/mcp/judge"
	"github.com/tidemark/tidemark/internal/mcp/oauth"
	"github.com/tidemark/tidemark/internal/mcp/pins"
	"github.com/tidemark/tidemark/internal/mcp/relay"
	"github.com/tidemark/tidemark/internal/mcp/upstreams"
	"github.com/tidemark/tidemark/internal/reports/doctor"
)

// pinMode is what of servers counts as accepted without a person.
func pinMode(cfg *config.Config) pins.Mode {
	if cfg.MCP.Pin == "first-use" {
		return pins.First
	}
	return pins.Mode(cfg.MCP.Pin)
}

// mcpServers are the servers that are reached over HTTP: those of the file, and those that were moved
// here out of the settings of agents. A name that both have is the file's; that an agent had another
// server under it is an error, because it would be given one that it never asked for.
func mcpServers(cfg *config.Config, p datafolder.Paths) ([]config.MCPServer, error) {
	out := slices.Clone(cfg.MCP.Servers)
	moved, err := upstreams.Read(p.Data)
	if err != nil {
		return nil, err
	}
	for _, name := range moved.Names() {
		from := moved.Servers[name]
		if i := slices.IndexFunc(out, func(s config.MCPServer) bool { return s.Name == name }); i >= 0 {
			if out[i].URL != from.URL {
				return nil, fmt.Errorf("mcp.servers.%s: an agent's server of this name, at another address, was put behind Tidemark (%s): "+
					"give yours another name, or tidemark mcp unwrap that agent and wrap it again", name, upstreams.Path(p.Data))
			}
			continue // the owner's own word counts
		}
		s := config.MCPServer{Name: name, URL: from.URL, Auth: from.Auth, Headers: map[string]endpoint.Secret{}}
		for k, v := range from.Headers {
			s.Headers[k] = endpoint.Secret(v)
		}
		out = append(out, s)
	}
	return out, nil
}

// MCPReached are the names of the servers that are reached over HTTP through the server of a data folder. What its file has from the
// environment is not looked at.
func MCPReached(p datafolder.Paths) ([]string, error) {
	cfg, _, err := load.ReadWith(p.Config, func(string) (string, bool) { return "unread", true })
	if err != nil {
		return nil, err
	}
	servers, err := mcpServers(cfg, p)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, s := range servers {
		out = append(out, s.Name)
	}
	slices.Sort(out)
	return out, nil
}

// MCPPins asks the server that runs about definitions, for a relay that an agent started.
func MCPPins(port *judge.Remote) judge.Pins {
	return pins.For[judge.Server]{Port: pins.Remote{Send: func(ctx context.Context, _, path string, in, out any) error {
		return port.Post(ctx, path, in, out)
	}}}
}

// signing are the Transports of servers that a person signs in to; the others are dialled as they
// are.
type signing struct {
	keeper *oauth.Keeper
	in     map[string]bool // by name
}

var _ judge.Transports = signing{}

func (a *App) transports(servers []config.MCPServer) judge.Transports {
	t := signing{keeper: oauth.Open(oauth.Path(a.opts.Paths.Data), time.Now, nil), in: map[string]bool{}}
	for _, s := range servers {
		t.in[s.Name] = s.Auth == "oauth"
	}
	return t
}

// Transport implements judge.Transports.
func (t signing) Transport(s judge.Server) (http.RoundTripper, error) {
	next, err := relay.Direct{}.Transport(s)
	if err != nil || !t.in[s.Name] {
		return next, err
	}
	return t.keeper.Transport(s.URL, next)
}

// openPins reads what MCP servers looked like when they were accepted. A tool of a server must
// not have a name that policies know by itself.
func openPins(ctx context.Context, s engine.Store, mode pins.Mode, shared bool) (*pins.Keeper, error) {
	return pins.Open(ctx, pins.Options{
		Store: s, Now: time.Now, Mode: mode, Reserved: append(catalogue.Reserved(), judge.OwnNames()...), Shared: shared,
	})
}

// serversOf are the MCP servers in the settings of agents: of those that are named, or of all.
func serversOf(w install.World, agents []string) ([]doctor.MCPServer, error) {
	var out []doctor.MCPServer
	var errs []error
	for _, name := range wrap.Names() {
		if len(agents) > 0 && !slices.Contains(agents, name) {
			continue
		}
		seen, err := wrap.Look(w, name)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
			continue
		}
		for _, s := range seen {
			out = append(out, doctor.MCPServer{
				Agent: name, Name: s.Name, File: s.File, Why: s.Why, Behind: s.Behind, Lost: s.Lost, Relay: s.Relay,
			})
		}
	}
	return out, errors.Join(errs...)
}
