// Package sameorigin keeps web pages from speaking to the server behind their reader's back. All
// doors on the listener stand behind the same one. It does no I/O.
package sameorigin

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/tidemark/tidemark/internal/base/outbound"
)

// Guard refuses requests that reached us under a foreign name (DNS rebinding) and those of
// a foreign origin. A nil Guard lets nothing through.
type Guard struct {
	hosts map[string]bool // lower case, without port
	cross *http.CrossOriginProtection
}

// ConsoleName is the name of this machine under which people see the console. Browsers take
// it for loopback without asking anybody; cookies of it do not go to localhost.
const ConsoleName = "tidemark.localhost"

// Refusal is why a request may not go on.
type Refusal struct {
	Status int
	Kind   string // host or origin
	Text   string
}

// New makes a Guard that lets requests to loopback and to these names through.
func New(hosts []string) (*Guard, error) {
	g := &Guard{hosts: map[string]bool{}, cross: http.NewCrossOriginProtection()}
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

// Check is nil for a request that may go on.
func (g *Guard) Check(r *http.Request) *Refusal {
	if g == nil || !g.ours(hostName(r.Host)) {
		return &Refusal{
			http.StatusMisdirectedRequest, "host",
			"this server does not answer to that Host; use its loopback address or add the name to server.allowedHosts",
		}
	}
	origins, given := r.Header["Origin"]
	if given && (len(origins) != 1 || !g.sameOrigin(origins[0], r.Host)) {
		return &Refusal{http.StatusForbidden, "origin", "requests from that origin are not served"}
	}
	if err := g.cross.Check(r); err != nil {
		return &Refusal{http.StatusForbidden, "origin", "cross-origin requests are not served"}
	}
	return nil
}

// ours reports whether a name can only have come from somebody who meant this server.
func (g *Guard) ours(name string) bool {
	return g.hosts[name] || name == ConsoleName || outbound.Local(name)
}

// sameOrigin accepts the origin the request was addressed to, and allowed hosts. Another
// port of this machine is another origin: any local program may serve a page there.
func (g *Guard) sameOrigin(origin, host string) bool {
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
