package config

import (
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/base/endpoint"
)

// MCP is the `mcp` section: the gateway before MCP servers.
type MCP struct {
	Servers    []MCPServer // those reached over HTTP, in the order of the file
	Elicit     string      // auto: in clients that agents start; always: over HTTP too; never
	Sender     string      // owner, unknown: who speaks through the door
	Require    string      // token, none: what /mcp/NAME wants to see
	Wait       time.Duration
	Env        []string // what every stdio server gets besides the usual variables
	MaxMessage int64    // bytes
}

// MCPServer is an upstream that is reached over HTTP.
type MCPServer struct {
	Name    string
	URL     string
	Auth    string // none, passthrough: what goes to it as credential
	Headers map[string]endpoint.Secret
}

// defaultMCP is what counts without a word in the file.
func defaultMCP() MCP {
	return MCP{Elicit: "auto", Sender: "owner", Require: "token", Wait: 10 * time.Minute, MaxMessage: 32 << 20}
}

// mcp reads the section.
func (d *decoder) mcp(n *configfile.Node) MCP {
	m := defaultMCP()
	if n == nil {
		return m
	}
	word := func(to *string, words ...string) func(*configfile.Node) {
		return func(n *configfile.Node) {
			if i, ok := d.Choice(n, words...); ok {
				*to = words[i]
			}
		}
	}
	d.Fields(n, map[string]func(*configfile.Node){
		"servers": func(n *configfile.Node) {
			for _, k := range d.Entries(n) {
				if s, ok := d.mcpServer(k); ok {
					m.Servers = append(m.Servers, s)
				}
			}
		},
		"elicit":  word(&m.Elicit, "auto", "always", "never"),
		"sender":  word(&m.Sender, "owner", "unknown"),
		"require": word(&m.Require, "token", "none"),
		"wait":    func(n *configfile.Node) { m.Wait = max(d.span(n, maxWait), time.Nanosecond) }, // none is not unset
		"env": func(n *configfile.Node) {
			for _, v := range d.Texts(n) {
				m.Env = append(m.Env, v.Text)
			}
		},
		"maxMessageBytes": func(n *configfile.Node) {
			if v, ok := d.Int(n, 1<<10, 1<<30); ok {
				m.MaxMessage = v
			}
		},
	})
	return m
}

// ServerName reports whether a server may be called so: its tools are NAME__tool, so that "__" would
// be read in two ways.
func ServerName(s string) bool {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	return s != "" && len(s) <= 64 && strings.Trim(s, allowed) == "" && strings.Trim(s, "._-") != "" &&
		!strings.Contains(s, "__") && !strings.HasSuffix(s, "_")
}

func (d *decoder) mcpServer(k configfile.Key) (MCPServer, bool) {
	s := MCPServer{Name: k.Name, Auth: "none"}
	if !ServerName(k.Name) {
		d.Hintf(k.Pos, "use letters, digits, dashes and single underscores", "%s cannot be the name of a server", k.Value.Path)
		return s, false
	}
	plain := false
	var address *configfile.Node
	d.Fields(k.Value, map[string]func(*configfile.Node){
		"url":       func(n *configfile.Node) { address = n },
		"plainHTTP": func(n *configfile.Node) { plain, _ = d.Bool(n) },
		"auth": func(n *configfile.Node) {
			words := []string{"none", "passthrough"}
			if i, ok := d.Choice(n, words...); ok {
				s.Auth = words[i]
			}
		},
		"headers": func(n *configfile.Node) { s.Headers = d.headers(n) },
	})
	if address == nil {
		const hint = "a server that the agent starts itself needs no entry: tidemark mcp --name NAME -- COMMAND"
		d.Hintf(k.Pos, hint, "%s needs url", k.Value.Path)
		return s, false
	}
	s.URL = d.upstreamURL(address, plain)
	return s, s.URL != ""
}

// headers reads what is put on every request to a server.
func (d *decoder) headers(n *configfile.Node) map[string]endpoint.Secret {
	r := &endpoint.Reader{Decoder: &d.Decoder, Env: d.env}
	out := map[string]endpoint.Secret{}
	for _, k := range d.Entries(n) {
		name := k.Name
		if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") != "" ||
			strings.EqualFold(name, "host") || name == "" {
			d.Errorf(k.Pos, "%s is no header that can be set", k.Value.Path)
			continue
		}
		if v, ok := r.Expanded(k.Value); ok {
			out[name] = v
		}
	}
	return out
}
