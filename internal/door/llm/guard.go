package llm

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// guard refuses requests that a web page could make behind its reader's back, by the same
// rules as the HTTP API on the same listener: those that reached us under a foreign name
// (DNS rebinding) and those of a foreign origin.
type guard struct {
	hosts map[string]bool // lower case, without port
	cross *http.CrossOriginProtection
}

func newGuard(hosts []string) (*guard, error) {
	g := &guard{hosts: map[string]bool{}, cross: http.NewCrossOriginProtection()}
	for _, h := range hosts {
		g.hosts[hostName(h)] = true
		for _, scheme := range []string{"http://", "https://"} {
			if err := g.cross.AddTrustedOrigin(scheme + h); err != nil {
				return nil, fmt.Errorf("allow host %q: %w", h, err)
			}
		}
	}
	return g, nil
}

// check is nil for a request that may go on.
func (g *guard) check(r *http.Request) *problem {
	if name := hostName(r.Host); name != "localhost" && !g.hosts[name] && !loopback(name) {
		return newProblem(http.StatusMisdirectedRequest, "this server does not answer to that Host; use its loopback address or add the name to server.allowedHosts")
	}
	if origins, given := r.Header["Origin"]; given && (len(origins) != 1 || !g.sameOrigin(origins[0], r.Host)) {
		return newProblem(http.StatusForbidden, "requests from that origin are not served")
	}
	if g.cross.Check(r) != nil {
		return newProblem(http.StatusForbidden, "cross-origin requests are not served")
	}
	return nil
}

func (g *guard) sameOrigin(origin, host string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return false
	}
	return strings.EqualFold(u.Host, host) || g.hosts[hostName(u.Host)]
}

func loopback(name string) bool {
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.IsLoopback()
}

// hostName is the host without port and brackets, in lower case.
func hostName(hostport string) string {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	return strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
}
