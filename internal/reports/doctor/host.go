package doctor

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"
)

// decides is the hook without which a host asks nothing.
const decides = "before_tool_call"

// CheckHosts looks at the signs of life of plugins. expected are the hosts that have one
// installed, by name: their silence is a finding too.
func CheckHosts(s Server, expected func(ctx context.Context) []string) Check {
	return Check{Name: "hosts", Run: func(ctx context.Context) []Finding {
		f := found{about: "hosts"}
		v := s.Ask(ctx)
		if v == nil {
			return nil // said already
		}
		missing := expected(ctx)
		for _, h := range v.Hosts {
			missing = slices.DeleteFunc(missing, func(name string) bool { return name == h.Host })
			f.host(h)
		}
		for _, name := range missing {
			f.add(Open, name, fmt.Sprintf("not heard since the server started %s ago: it does not run, or it runs WITHOUT its plugin",
				time.Since(v.Started).Round(time.Second)), "if it runs, look into its log for why the plugin did not load, and restart it")
		}
		return f.list
	}}
}

func (f *found) host(h Host) {
	age := time.Duration(h.Age) * time.Second
	switch {
	case h.Silent:
		f.add(Broken, h.ID, fmt.Sprintf("silent for %s: it was stopped, or it runs without its plugin", age), "if it runs, restart it")
	case !slices.Contains(h.Hooks, decides):
		f.add(Broken, h.ID, "alive, but its plugin says that "+decides+" is not active", "see the host's log")
	default:
		f.add(Good, h.ID, fmt.Sprintf("%s %s, plugin %s, %d hooks, heard %s ago",
			h.Host, h.Version, h.PluginVersion, len(h.Hooks), age), "")
	}
}

// Provider is where a host gets its models from.
type Provider struct{ Name, URL string }

// Models is the path of a host's model calls.
type Models struct {
	Providers []Provider
	Replaces  bool // no providers but these can be asked
	Included  bool // parts of its file stand elsewhere and were not read
}

// Hole is a case in which a host runs a tool without asking its plugin. It closes when no
// completion comes but through us.
type Hole struct{ Name, Text string }

// proxied are the paths under which we stand in for a provider.
var proxied = []string{"openai", "anthropic", "gemini"}

// through says whether all models are reached through the server, or which is not.
func (m Models) through(server string) (ok bool, why string) {
	switch {
	case m.Included:
		return false, "parts of its file stand in other files, which were not read"
	case len(m.Providers) == 0:
		return false, "it names no provider of its own, so models are asked directly"
	case !m.Replaces:
		return false, `models.mode is not "replace", so the host's own providers can be asked directly`
	}
	for _, p := range m.Providers {
		if !ours(p.URL, server) {
			return false, fmt.Sprintf("models of %s are asked directly", p.Name)
		}
	}
	return true, ""
}

// ours reports whether an address is one of the server's proxy paths.
func ours(address, server string) bool {
	u, err := url.Parse(address)
	s, err2 := url.Parse(server)
	if err != nil || err2 != nil || server == "" || u.Port() != s.Port() || !sameMachine(u.Hostname(), s.Hostname()) {
		return false
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	return slices.Contains(proxied, first)
}

func sameMachine(a, b string) bool { return a == b || loopback(a) && loopback(b) }

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && (ip.IsLoopback() || ip.IsUnspecified())
}

// addHoles says which of a host's holes are open. Where nobody knows how its models are
// reached, all are.
func (f *found) addHoles(a Agent) {
	closed, why := false, "it is not known whether its models go through Tidemark"
	if a.Models != nil {
		closed, why = a.Models.through(a.Server)
	}
	for _, h := range a.Holes {
		if closed {
			f.add(Good, h.Name, "closed: every model is asked through Tidemark", "")
			continue
		}
		f.add(Open, h.Name, h.Text+" ("+why+")",
			`set models.mode to "replace" and every baseUrl under models.providers to the server's /openai, /anthropic or /gemini`)
	}
}
