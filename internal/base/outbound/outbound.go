// Package outbound is how Tidemark itself reaches servers that its owner has configured:
// plugins, verifiers, auditors, messengers.
//
// It makes clients that do network I/O and does none itself.
//
// Invariants:
//   - a client follows no redirect: what was signed or is secret goes to one place only;
//   - no proxy, cookie or credential is taken from the environment;
//   - plain http stays on this machine where that is asked for, whatever a name leads to;
//   - errors do not repeat a URL or a header's value: either may hold a token.
package outbound

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
)

// URL reads an address that can be asked.
func URL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, errors.New("url cannot be parsed")
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, errors.New("url is not http or https")
	case u.Hostname() == "":
		return nil, errors.New("url has no host")
	case u.User != nil:
		return nil, errors.New("url holds credentials: put them beside it, not in it")
	}
	return u, nil
}

// Exposed is the error for an address that would be spoken to in the clear over a network.
func Exposed(u *url.URL) error {
	if u.Scheme == "http" && !Local(u.Hostname()) {
		return fmt.Errorf("plain http to %s: use https", u.Hostname())
	}
	return nil
}

// Local reports whether a host is this machine. Where the name localhost leads is looked at
// again when it is dialled.
func Local(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// framing are the names that say how a request is framed and what may come back.
var framing = []string{
	"Host", "Connection", "Transfer-Encoding", "Trailer", "Upgrade", "Te", "Accept", "Accept-Encoding", "Expect",
}

// notInName reports what RFC 9110 does not let into the name of a header.
func notInName(r rune) bool {
	return r <= ' ' || r > '~' || strings.ContainsRune("()<>@,;:\\\"/[]?={}", r)
}

// Header checks a header out of a configuration: it may change neither how a request is
// framed nor what we say in it ourselves. own are further names of ours.
func Header(name, value string, own ...string) error {
	key := http.CanonicalHeaderKey(name)
	switch {
	case name == "" || strings.ContainsFunc(name, notInName):
		return fmt.Errorf("header name %q is not allowed", name)
	case strings.HasPrefix(key, "X-Tidemark-"), strings.HasPrefix(key, "Content-"),
		slices.Contains(own, key), slices.Contains(framing, key):
		return fmt.Errorf("header %s cannot be set", key)
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
		return fmt.Errorf("header %s has a control character", key)
	}
	return nil
}

// Options say how a transport connects. The zero Options reach any host.
type Options struct {
	LocalOnly bool           // only this machine can be dialled
	Roots     *x509.CertPool // nil: the system's
	Conns     int            // how many idle connections are kept; 16 if 0
	Once      bool           // every request has a connection of its own
}

const dialTimeout = 5 * time.Second

// Transport makes connections. Answers are not unpacked: a bound on them counts what is
// sent.
func Transport(o Options) *http.Transport {
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}
	if o.LocalOnly {
		dialer.Control = func(_, address string, _ syscall.RawConn) error {
			if host, _, err := net.SplitHostPort(address); err != nil || !Local(host) {
				return errors.New("plain http beyond this machine")
			}
			return nil
		}
	}
	if o.Conns == 0 {
		o.Conns = 16
	}
	return &http.Transport{
		DialContext: dialer.DialContext, TLSClientConfig: &tls.Config{RootCAs: o.Roots, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2: true, DisableCompression: true, DisableKeepAlives: o.Once,
		MaxIdleConns: o.Conns, MaxIdleConnsPerHost: o.Conns, IdleConnTimeout: 90 * time.Second,
		TLSHandshakeTimeout: dialTimeout, MaxResponseHeaderBytes: 64 << 10,
	}
}

// Client is a client with such a transport.
func Client(o Options) *http.Client {
	return &http.Client{Transport: Transport(o), CheckRedirect: Stay}
}

// Stay is a client's CheckRedirect: a redirect is an answer like any other.
func Stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
