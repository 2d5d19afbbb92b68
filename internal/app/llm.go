package app

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/agents/harness"
	"github.com/tidemark/tidemark/internal/base/outbound"
	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/llm/conversation"
	"github.com/tidemark/tidemark/internal/llm/proxy"
	"github.com/tidemark/tidemark/internal/llm/sigv4"
	"github.com/tidemark/tidemark/internal/llm/written"
	"github.com/tidemark/tidemark/internal/people/accounts"
	"github.com/tidemark/tidemark/internal/store/notify"
)

// openLLM makes the proxy to models. Nothing is contacted yet.
func (a *App) openLLM(f *notify.Store, bus *hook.Bus, metrics *prometheus.Registry, key []byte) (*proxy.Proxy, error) {
	c := a.config.LLM
	near := a.private()
	open := c.Require == "none" || c.Require == "" && near
	ups, err := a.upstreams(open && !near)
	if err != nil {
		return nil, err
	}
	if a.greeting, err = proxy.NewHandshake(a.handshakeSecret(key)); err != nil {
		return nil, err
	}
	if err := a.openWritten(key); err != nil {
		return nil, err
	}
	follower := conversation.New(a.Monitor, conversation.Options{
		Names: catalogue.Canonical, Markers: markers(c.Markers), Instructions: c.Instructions, Commands: c.ChatCommands,
		Key: key, Keeper: a.written, HostTools: func(agent string) []string {
			if own := catalogue.HostTools(agent); own != nil && catalogue.Named(agent) {
				return own
			}
			return c.HostTools
		},
		ControlTools: func(agent string) []string {
			if catalogue.Named(agent) {
				return catalogue.ControlTools(agent)
			}
			return nil
		},
	})
	t := a.Tokens
	tokens := proxy.Tokens{Agent: t.Agent, Others: []string{t.Reader, t.Owner, t.Approver, t.Admin}}
	tokens.Machine = func(token string) string {
		if p, ok := a.people.Find(token); ok && p.Role == accounts.AgentRole {
			return p.Machine
		}
		return ""
	}
	return proxy.New(proxy.Options{
		Monitor: a.Monitor, Feed: f, Bus: bus, Follower: follower, Tokens: tokens,
		Upstreams: ups, Handshake: a.greeting, Hosts: a.config.Server.Hosts(),
		Owner: c.Sender == "owner" || c.Sender == "" && near, RequireToken: !open, Commands: c.ChatCommands,
		MaxContext: c.MaxContext, MaxConcurrent: c.MaxConcurrent, MaxIterations: c.MaxIterations, Wait: c.Wait,
		Logger: a.opts.Logger, Now: time.Now, Metrics: metrics, Claims: a.claims, Desk: a.kept, Lend: a.external.Lend(),
	})
}

// upstreams are those of the file, as the command line has them; open: anybody could use their keys.
func (a *App) upstreams(open bool) (ups []proxy.Upstream, err error) {
	c := a.config.LLM
	ups = make([]proxy.Upstream, 0, len(c.Upstreams))
	for _, u := range c.Upstreams {
		if open && (u.Key != "" || u.Sign != nil) {
			return nil, fmt.Errorf("open LLM proxy: with llm.require: none and %s anybody could use the key of upstream %s; "+
				"require a token, or listen on this machine alone", a.address(), u.Name)
		}
		ups = append(ups, proxy.Upstream{
			Name: u.Name, API: u.API, BaseURL: u.BaseURL, Key: string(u.Key), KeyHeader: u.KeyHeader,
			Handshake: u.Handshake, Hooks: u.Hooks, PassPaths: u.PassPaths, PassNames: u.PassNames, Sign: signingKey(u.Sign),
		})
	}
	for name, base := range a.opts.Upstreams {
		to := proxy.Upstream{BaseURL: base}
		var fault string
		if to.Name, to.API, fault = config.NameUpstream(name); fault == "" {
			fault = config.CheckUpstream(base)
		}
		if fault != "" {
			return nil, fmt.Errorf("upstream %s: %s", name, fault)
		}
		if ups, err = proxy.Redirect(ups, to, strings.Contains(name, ":")); err != nil {
			return nil, err
		}
	}
	return ups, nil
}

// keeper is where what models and tools wrote is kept.
type keeper interface {
	conversation.Keeper
	Close() error
}

// openWritten opens what models and tools wrote: in the data folder, or beside the log that several servers have.
func (a *App) openWritten(key []byte) error {
	if a.shared == nil {
		w, err := written.Open(a.opts.Paths.Written(), key, a.opts.Logger)
		if err == nil {
			a.written = w
		}
		return err
	}
	a.written = written.NewShared(a.waited(), a.opts.Logger)
	return written.NewShared(a.shared, a.opts.Logger).TakeOver(context.Background(), a.opts.Paths.Written(), key) // it may be large
}

// handshakeFor is how long the line in a system prompt counts. A host makes the prompt anew
// for each turn; whoever gets hold of a line should not have it for long.
const handshakeFor = time.Hour

// signingKey is a key for Amazon's service of models.
func signingKey(s *config.Signing) *sigv4.Key {
	if s == nil {
		return nil
	}
	return &sigv4.Key{ID: s.ID, Secret: string(s.Secret), Token: string(s.Token), Region: s.Region, Service: "bedrock"}
}

// greet signs lines for plugins, where an upstream wants to see one.
func (a *App) greet() func(session string) string {
	for _, u := range a.config.LLM.Upstreams {
		if u.Handshake {
			return func(session string) string { return a.greeting.Sign(session, time.Now().Add(handshakeFor)) }
		}
	}
	return nil
}

func markers(from []config.Marker) []harness.Marker {
	out := make([]harness.Marker, len(from))
	for i, m := range from {
		out[i] = harness.Marker{Agent: m.Agent, Begin: m.Begin, End: m.End, Summary: m.What == "summary", Result: m.What == "result"}
	}
	return out
}

// address is where the server listens or will.
func (a *App) address() string {
	if a.opts.Listen != "" {
		return a.opts.Listen
	}
	return a.config.Server.Listen
}

// loopbackOnly reports whether only this machine can reach an address. A name other than
// localhost may stand for anything.
func loopbackOnly(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && outbound.Local(host)
}

// redirected is the configuration with the addresses that the command line gives upstreams: what is asked there must be asked there
// alone.
func (a *App) redirected() *config.Config {
	if len(a.opts.Upstreams) == 0 || len(a.config.Auditor.Models) == 0 {
		return a.config
	}
	out := *a.config
	out.LLM.Upstreams = slices.Clone(out.LLM.Upstreams)
	for i, u := range out.LLM.Upstreams {
		for named, base := range a.opts.Upstreams {
			if name, _, fault := config.NameUpstream(named); fault == "" && name == u.Name {
				out.LLM.Upstreams[i].BaseURL = base
			}
		}
	}
	return &out
}
