package outbound

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// The bounds of an answer to a guarded client.
const (
	guardedBody  = 1 << 20
	guardedTime  = 10 * time.Second
	maxRedirects = 3
)

// Guarded is a client for addresses that somebody else names: a server that says where its
// authorization server is. It speaks https to public addresses alone, looks at where a name leads
// when it is dialled, reads at most 1 MiB and waits at most 10 seconds. With local, for a server
// that is on this machine itself, this machine can be reached too, also by http. A redirect is
// followed three times, for what was got and not for what was sent.
func Guarded(o Options, local bool) *http.Client {
	t := Transport(o)
	dialer := &net.Dialer{Timeout: dialTimeout, Control: func(_, address string, _ syscall.RawConn) error {
		ip, err := netip.ParseAddrPort(address)
		if err != nil || !Public(ip.Addr()) && !(local && ip.Addr().Unmap().IsLoopback()) {
			return ErrNotPublic
		}
		return nil
	}}
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, address)
	}
	return &http.Client{
		Transport: guarded{t, local}, Timeout: guardedTime,
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects || via[0].Method != http.MethodGet {
				return errors.New("the answer is a redirect, which is not followed here")
			}
			return nil // the address is looked at before it is asked
		},
	}
}

// ErrNotPublic is in the error for an address that must not be reached.
var ErrNotPublic = errors.New("the address is not a public one")

// guarded looks at every request, redirected ones too, and bounds every answer.
type guarded struct {
	next  *http.Transport
	local bool
}

// RoundTrip implements http.RoundTripper.
func (g guarded) RoundTrip(r *http.Request) (*http.Response, error) {
	u, err := URL(r.URL.String())
	if err != nil {
		return nil, err
	}
	if u.Scheme != "https" && !(g.local && Local(u.Hostname())) {
		return nil, fmt.Errorf("plain http to %s: only https is spoken here", u.Hostname())
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && !Public(ip) && !(g.local && ip.Unmap().IsLoopback()) {
		return nil, ErrNotPublic
	}
	res, err := g.next.RoundTrip(r)
	if err == nil {
		res.Body = &bounded{ReadCloser: res.Body, left: guardedBody}
	}
	return res, err
}

// CloseIdleConnections lets a client close them.
func (g guarded) CloseIdleConnections() { g.next.CloseIdleConnections() }

// bounded is a body that ends in an error where it is too long.
type bounded struct {
	io.ReadCloser
	left int
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left+1)])
	if b.left -= n; b.left < 0 {
		return 0, fmt.Errorf("the answer has more than %d bytes", guardedBody)
	}
	return n, err
}

// special are addresses that are not of the public network, beside those that netip knows: of
// this network, of providers behind NAT, of protocols, of benchmarks, of documentation, reserved,
// and those that carry an IPv4 address inside.
var special = prefixes("0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "240.0.0.0/4", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")

// global is what of IPv6 is given out.
var global = netip.MustParsePrefix("2000::/3")

func prefixes(all ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(all))
	for i, s := range all {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// Public reports whether an address is one of the public network.
func Public(ip netip.Addr) bool {
	ip = ip.Unmap()
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || ip.Zone() != "" || ip.Is6() && !global.Contains(ip) {
		return false
	}
	for _, p := range special {
		if p.Contains(ip) {
			return false
		}
	}
	return true
}
