package load

import (
	"fmt"
	"slices"

	"github.com/tidemark/tidemark/internal/base/endpoint"
	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/mcp/upstreams"
)

// MCPName reports whether a server may be called so.
func MCPName(name string) bool { return config.ServerName(name) }

// MCPServers are the servers that are reached over HTTP: those of the file, and those that were moved
// here out of the settings of agents. A name that both have is the file's; that an agent had another
// server under it is an error, because it would be given one that it never asked for.
func MCPServers(cfg *config.Config, p datafolder.Paths) ([]config.MCPServer, error) {
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
	cfg, _, err := ReadWith(p.Config, func(string) (string, bool) { return "unread", true })
	if err != nil {
		return nil, err
	}
	servers, err := MCPServers(cfg, p)
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

// MCPServerURL is the address of an MCP server that the gateway reaches over HTTP.
func MCPServerURL(p datafolder.Paths, name string) (string, error) {
	cfg, _, err := Read(p.Config)
	if err != nil {
		return "", err
	}
	servers, err := MCPServers(cfg, p)
	if err != nil {
		return "", err
	}
	known := "none is known"
	for i, s := range servers {
		if s.Name == name {
			return s.URL, nil
		}
		if known += ", " + s.Name; i == 0 {
			known = "known are " + s.Name
		}
	}
	return "", fmt.Errorf("no MCP server that is reached over HTTP is called %q (%s)", name, known)
}

// MCPNames are the names of the MCP servers in tidemark.yaml.
func MCPNames(p datafolder.Paths) ([]string, error) {
	cfg, _, err := Read(p.Config)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, s := range cfg.MCP.Servers {
		out = append(out, s.Name)
	}
	return out, nil
}
