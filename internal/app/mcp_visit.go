package app

import (
	"context"
	"fmt"
	"time"

	"github.com/tidemark/tidemark/internal/config/load"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/mcp/oauth"
	"github.com/tidemark/tidemark/internal/mcp/probe"
)

// MCPServerURL is the address of an MCP server that the gateway reaches over HTTP.
func MCPServerURL(p datafolder.Paths, name string) (string, error) {
	cfg, _, err := load.Read(p.Config)
	if err != nil {
		return "", err
	}
	servers, err := mcpServers(cfg, p)
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

// Visit is how an MCP server is asked.
type Visit struct {
	Server       string // its address
	Show         func(address string) error
	ClientID     string
	ClientSecret string
	Keep         bool   // what it gives is kept
	Call         string // a tool to call without arguments; "": none
}

// Visited is what an MCP server says of itself.
type Visited struct {
	probe.Found
	SignedIn bool `json:"signedIn"`
}

// loginLimit is how long a person may take to sign in.
const loginLimit = 10 * time.Minute

// VisitMCP asks an MCP server what it is, and signs in where it wants that.
func VisitMCP(ctx context.Context, p datafolder.Paths, v Visit) (Visited, error) {
	ctx, cancel := context.WithTimeout(ctx, loginLimit)
	defer cancel()
	k := oauth.Open(oauth.Path(p.Data), time.Now, nil)
	found, signedIn, err := k.Visit(ctx, v.Server, oauth.Person{
		Show: v.Show, ClientID: v.ClientID, ClientSecret: v.ClientSecret, Keep: v.Keep, Call: v.Call,
	})
	return Visited{found, signedIn}, err
}

// ForgetMCP drops what an MCP server gave, and says whether anything was kept.
func ForgetMCP(ctx context.Context, p datafolder.Paths, server string) (bool, error) {
	return oauth.Open(oauth.Path(p.Data), time.Now, nil).Forget(ctx, server)
}

// MCPNames are the names of the MCP servers in tidemark.yaml.
func MCPNames(p datafolder.Paths) ([]string, error) {
	cfg, _, err := load.Read(p.Config)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, s := range cfg.MCP.Servers {
		out = append(out, s.Name)
	}
	return out, nil
}
