package httpapi

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// guard refuses requests that a web page could make behind its reader's back: those
// that reached us under a foreign name (DNS rebinding) and those of a foreign origin.
type guard struct {
	hosts map[string]bool // lower case, without port
	cross *http.CrossOriginProtection
}

func newGuard(hosts []string) (*guard, error) {
	g := &guard{hosts: map[string]bool{}, cross: http.NewCrossOriginProtection()}
	for _, h := range hosts {
		name := hostName(h)
		if name == "" || strings.ContainsAny(name, "/*@ ") {
			return nil, fmt.Errorf("allowed host %q is not a host name", h)
		}
		g.hosts[name] = true
		for _, scheme := range []string{"http://", "https://"} {
			if err := g.cross.AddTrustedOrigin(scheme + h); err != nil {
				return nil, fmt.Errorf("allow host %q: %w", h, err)
			}
		}
	}
	return g, nil
}

// check is nil for a request that may go on.
func (g *guard) check(r *http.Request) *Problem {
	if !g.ours(hostName(r.Host)) {
		return newProblem(http.StatusMisdirectedRequest, "host", "this server does not answer to that Host; use its loopback address or add the name to server.allowedHosts")
	}
	origins, given := r.Header["Origin"]
	if given && (len(origins) != 1 || !g.sameOrigin(origins[0], r.Host)) {
		return newProblem(http.StatusForbidden, "origin", "requests from that origin are not served")
	}
	if err := g.cross.Check(r); err != nil {
		return newProblem(http.StatusForbidden, "origin", "cross-origin requests are not served")
	}
	return nil
}

// ours reports whether a name can only have come from somebody who meant this server.
func (g *guard) ours(name string) bool {
	if name == "localhost" || g.hosts[name] {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.IsLoopback()
}

// sameOrigin accepts the origin the request was addressed to, and allowed hosts. Another
// port of this machine is another origin: any local program may serve a page there.
func (g *guard) sameOrigin(origin, host string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return false
	}
	return strings.EqualFold(u.Host, host) || g.hosts[hostName(u.Host)]
}

// hostName is the host without port and brackets, in lower case.
func hostName(hostport string) string {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	return strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
}
