// Package config reads tidemark.yaml: the policy (package policy) and beside it what
// the server needs: where to listen and which remote plugins to call. Given an OpenClaw
// file instead, it reads the policy out of our plugin's entry there. It is pure; the
// environment is handed in.
package config

import (
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/base/endpoint"
	"github.com/tidemark/tidemark/internal/base/outbound"
	"github.com/tidemark/tidemark/internal/external/anchors"
	"github.com/tidemark/tidemark/internal/external/verifier"
	"github.com/tidemark/tidemark/internal/people/telegram"
	"github.com/tidemark/tidemark/policy"
)

// DefaultListen is where the server listens when nothing else is said.
const DefaultListen = "127.0.0.1:8417"

// Config is a whole file.
type Config struct {
	Policy *policy.Set
	Server Server
	Hooks  []Plugin
	Own    Plugins // those that ship
	LLM    LLM
	MCP    MCP

	Approvals      Approvals
	Auditor        Auditor
	Extract        Auditor // a model of its own for values of what is kept from agents; without a provider the other one, if it may
	Verifier       *verifier.Config
	VerifierAgents map[string]verifier.Override
	VerifierChat   *telegram.Settings // the chat the verifier asks in; nil: none
	Telegram       *telegram.Settings // where approval questions are asked too; nil: nowhere
	Channels       Channels           // where else they are asked
	Console        Console
	Retention      Retention
	Anchors        *anchors.Options // where the head of the log is written down; nil: nowhere
	Shadow         string           // file of a candidate policy that runs beside this one; "": none
	Production     bool             // the environment says so
	Outside        string           // identifies the sections that take effect only at a start
	// Sections is each of them in one form, without the values of its secrets; of channels and plugins each entry
	// (channels.slack). What the file does not have is not there.
	Sections map[string]string
}

// Server is the `server` section.
type Server struct {
	Listen       string
	AllowedHosts []string      // further names clients may use in the Host header
	MaxBody      int64         // bytes of a request body
	Memory       int64         // bytes that sessions may take in memory, about; 0: by what the machine has
	Deadline     time.Duration // that a decision waits for the log, all in all; 0: as the store has it
	Checkpoints  int64         // bytes that checkpoints of sessions may take on disk; 0: none are kept
	Tickets      string        // required, optional, or "": as the data folder was made
	TLS          *TLS          // where it speaks TLS itself, to other machines; nil: nowhere
	Address      string        // https address under which others reach it through something that speaks TLS for it; "": none
	// Plain says that Listen may be beyond this machine without TLS: something before it speaks that, or the network is a container's own.
	Plain bool
}

// Plugin is one entry of the `hooks` section: an HTTP endpoint that takes part in hooks.
type Plugin struct {
	Name     string
	URL      string
	Hooks    []hook.Name
	Secret   endpoint.Secret // signs every request
	Priority int
	FailOpen bool // the file says failClosed, which is its default
	Limit    time.Duration
}

// Lookup reads an environment variable.
type Lookup func(name string) (string, bool)

// Parse reads a file. All faults are reported at once; the Config is nil if any of them
// is an error. An empty file is the shipped defaults.
func Parse(file string, src []byte, env Lookup) (*Config, configfile.Faults) {
	d := &decoder{env: env}
	root, set, faults := d.read(file, src)
	if root == nil {
		return nil, faults
	}
	c := &Config{Policy: set, Server: Server{Listen: DefaultListen, MaxBody: 8 << 20, Checkpoints: 2 << 30}}
	d.sections(root, c)
	c.Outside, c.Sections = outside(root), apiece(root)
	faults = append(faults, d.Faults...)
	faults.Sort()
	if faults.Err() != nil || set == nil {
		return nil, faults
	}
	return c, faults
}

// formerSections are those of files from before.
var formerSections = []configfile.Former{
	{Name: "auditor", Now: "reader, with uses: [words, definitions, calls]"},
	{Name: "contracts", Now: "waitMs in the section reader; 0 where it shall not read what is said"},
}

// sections reads everything beside the policy.
func (d *decoder) sections(root *configfile.Node, c *Config) {
	for _, k := range root.Keys {
		for _, f := range formerSections {
			if k.Name == f.Name {
				d.Was(k.Pos, k.Name, f.Now)
			}
		}
	}
	d.server(root.Get("server"), &c.Server)
	c.Hooks = d.plugins(root.Get("hooks"))
	c.Own = d.shipped(root.Get("plugins"))
	c.LLM = d.llm(root.Get("llm"))
	c.MCP = d.mcp(root.Get("mcp"))
	d.readExternal(root, c)
	c.Channels = d.channels(root.Get("channels"))
	c.Console = d.console(root.Get("console"))
	c.Retention = d.retention(root.Get("retention"))
	c.Approvals = d.approvals(root.Get("approvals"))
	d.manned(root, len(c.Approvals.Who.People))
	c.Anchors = d.anchors(root.Get("anchors"))
	if n := root.Get("shadow"); n != nil {
		c.Shadow, _ = d.Text(n)
	}
}

type decoder struct {
	configfile.Decoder
	env Lookup
}

// hooksWait is the longest that the server may take before agents' hooks, which refuse after 5 s, hear why.
const hooksWait = 4 * time.Second

func (d *decoder) server(n *configfile.Node, s *Server) {
	if n == nil {
		return
	}
	d.Fields(n, map[string]func(*configfile.Node){
		"listen": func(n *configfile.Node) {
			v, ok := d.Text(n)
			if !ok {
				return
			}
			if _, _, err := net.SplitHostPort(v); err != nil {
				d.Hintf(n.Pos, "write it as 127.0.0.1:8417", "server.listen is not host:port")
				return
			}
			s.Listen = v
		},
		"allowedHosts": func(n *configfile.Node) {
			for _, h := range d.Texts(n) {
				s.AllowedHosts = append(s.AllowedHosts, h.Text)
			}
		},
		"maxBodyBytes": func(n *configfile.Node) {
			if v, ok := d.Int(n, 1<<10, 1<<30); ok {
				s.MaxBody = v
			}
		},
		"tickets": func(n *configfile.Node) {
			if v, ok := d.Text(n); ok && v != "required" && v != "optional" {
				d.Hintf(n.Pos, "write required or optional", "server.tickets is neither required nor optional")
			} else if ok {
				s.Tickets = v
			}
		},
		"tls":     func(n *configfile.Node) { s.TLS = d.tls(n) },
		"address": func(n *configfile.Node) { s.Address = d.publicAddress(n) },
		"plain": func(n *configfile.Node) {
			if v, ok := d.Bool(n); ok {
				s.Plain = v
			}
		},
		"deadlineMs": func(n *configfile.Node) {
			v, ok := d.Int(n, 100, 60_000)
			if s.Deadline = time.Duration(v) * time.Millisecond; ok && s.Deadline > hooksWait {
				d.Warnf(n.Pos, "server.deadlineMs is more than %d: agents' hooks refuse by themselves after 5 seconds, "+
					"before the server says why", hooksWait.Milliseconds())
			}
		},
		"sessionMemoryMB": func(n *configfile.Node) {
			if v, ok := d.Int(n, 1, 1<<20); ok {
				s.Memory = v << 20
			}
		},
		"checkpointMB": func(n *configfile.Node) {
			if v, ok := d.Int(n, 0, 1<<20); ok {
				s.Checkpoints = v << 20
			}
		},
	})
}

func (d *decoder) plugins(n *configfile.Node) []Plugin {
	var out []Plugin
	seen := map[string]bool{}
	for _, item := range d.Items(n) {
		p := d.plugin(item)
		if seen[p.Name] {
			d.Errorf(item.Pos, "two plugins are named %q", p.Name)
		}
		seen[p.Name] = true
		out = append(out, p)
	}
	return out
}

func (d *decoder) plugin(n *configfile.Node) Plugin {
	p := Plugin{Limit: hook.DefaultLimit}
	d.Fields(n, map[string]func(*configfile.Node){
		"name":      func(n *configfile.Node) { p.Name, _ = d.Text(n) },
		"url":       func(n *configfile.Node) { p.URL = d.address(n) },
		"hooks":     func(n *configfile.Node) { p.Hooks = d.names(n) },
		"secretEnv": func(n *configfile.Node) { p.Secret = d.secret(n) },
		"failClosed": func(n *configfile.Node) {
			closed, ok := d.Bool(n)
			p.FailOpen = ok && !closed
		},
		"priority": func(n *configfile.Node) {
			v, _ := d.Int(n, -1000, 1000)
			p.Priority = int(v)
		},
		"timeoutMs": func(n *configfile.Node) {
			if v, ok := d.Int(n, 1, 60_000); ok {
				p.Limit = time.Duration(v) * time.Millisecond
			}
		},
	})
	for key, missing := range map[string]bool{
		"name": p.Name == "", "url": p.URL == "", "hooks": len(p.Hooks) == 0, "secretEnv": p.Secret == "",
	} {
		if missing && n.Get(key) == nil {
			d.Errorf(n.Pos, "%s needs %s", n.Path, key)
		}
	}
	return p
}

// url reads an absolute http or https URL.
func (d *decoder) url(n *configfile.Node) (*url.URL, bool) {
	v, ok := d.Text(n)
	if !ok {
		return nil, false
	}
	u, err := url.Parse(v)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil {
		d.Hintf(n.Pos, "write it as https://host/path, without user or password", "%s is not a usable URL", n.Path)
		return nil, false
	}
	return u, true
}

// started are the sections that take effect only at a start.
var started = []string{
	"server", "hooks", "llm", "mcp",
	"reader", "auditor", "extract", "contracts", "verifier", "telegram", "channels", "approvals", "plugins", "console",
	"retention", "anchors",
}

// outside identifies what asks others, without its secrets.
func outside(root *configfile.Node) string {
	var b strings.Builder
	for _, key := range started {
		fmt.Fprintf(&b, "%s:", key)
		write(&b, root.Get(key))
	}
	return b.String()
}

// apiece is the same, section by section.
func apiece(root *configfile.Node) map[string]string {
	out := map[string]string{}
	put := func(name string, n *configfile.Node) {
		var b strings.Builder
		write(&b, n)
		out[name] = b.String()
	}
	for _, key := range started {
		switch n := root.Get(key); {
		case n == nil:
		case key == "channels" || key == "plugins":
			for _, k := range n.Keys {
				put(key+"."+k.Name, k.Value)
			}
		default:
			put(key, n)
		}
	}
	return out
}

func write(b *strings.Builder, n *configfile.Node) {
	if n == nil {
		return
	}
	fmt.Fprintf(b, "(%d %q %d %v", n.Kind, n.Text, n.Int, n.Bool)
	for _, k := range n.Keys {
		fmt.Fprintf(b, " %q ", k.Name)
		write(b, k.Value)
	}
	for _, item := range n.List {
		write(b, item)
	}
	b.WriteString(")")
}

// address accepts https anywhere and http on this machine only: an unencrypted answer
// could be swapped on the way.
func (d *decoder) address(n *configfile.Node) string {
	u, ok := d.url(n)
	if !ok {
		return ""
	}
	v := n.Text
	if u.Scheme == "http" && !outbound.Local(u.Hostname()) {
		d.Hintf(n.Pos, "use https, or an address of this machine", "%s is not encrypted", n.Path)
		return ""
	}
	return v
}

func (d *decoder) names(n *configfile.Node) []hook.Name {
	known := hook.Names()
	words := make([]string, len(known))
	for i, k := range known {
		words[i] = string(k)
	}
	var out []hook.Name
	for _, item := range d.Texts(n) {
		if i, ok := d.Choice(item, words...); ok {
			out = append(out, known[i])
		}
	}
	return out
}

func (d *decoder) secret(n *configfile.Node) endpoint.Secret {
	name, ok := d.Text(n)
	if !ok {
		return ""
	}
	v, set := d.env(name)
	if !set || len(v) < 16 {
		d.Hintf(n.Pos, "set it to at least 16 characters before starting", "environment variable %s is not set or too short", name)
		return ""
	}
	return endpoint.Secret(v)
}
