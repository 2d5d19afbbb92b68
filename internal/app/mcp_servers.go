package app

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/tidemark/tidemark/internal/base/endpoint"
	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/config/load"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/mcp/judge"
	"github.com/tidemark/tidemark/internal/mcp/oauth"
	"github.com/tidemark/tidemark/internal/mcp/pins"
	"github.com/tidemark/tidemark/internal/mcp/relay"
	"github.com/tidemark/tidemark/internal/mcp/upstreams"
)

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
