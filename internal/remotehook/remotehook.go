// Package remotehook makes a plugin out of an HTTP endpoint: a hook.Handler whose
// functions POST the event and read the result.
//
// The request goes to the configured URL, whatever the hook, with the body a handler
// in Go would see as arguments:
//
//	POST <url>
//	Content-Type: application/json
//	X-Tidemark-Hook: before_llm_call
//	X-Tidemark-Timestamp: 1767225600
//	X-Tidemark-Signature: v1=<hex HMAC-SHA256(secret, timestamp "." body)>
//
//	{"hook": "before_llm_call", "event": {…}, "ctx": {…}}
//
// The answer is 200 with the hook's result as a JSON object, or 204 for "no change".
// Hooks that only tell need one of the two, without a result.
//
// The package does network I/O; its connections are reused and end with Close.
//
// Invariants:
//   - anything but a complete, known answer is an error, so that the bus fails open or
//     closed as the plugin was registered: another status, another content type, an
//     unknown field, more than MaxAnswer bytes, a redirect, the end of the context;
//   - the signature covers the exact bytes sent, the hook's name among them;
//   - plain http reaches only this machine unless that was allowed;
//   - no proxy, cookie or credential is taken from the environment.
package remotehook

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/tidemark/tidemark/hook"
)

// MaxAnswer is the longest answer that is read, in bytes.
const MaxAnswer = 1 << 20

// Options describe a remote plugin. Name, URL, Hooks and Secret are required.
type Options struct {
	Name      string
	URL       string
	Hooks     []hook.Name
	Secret    []byte // signs the requests
	Priority  int
	FailOpen  bool              // see hook.Handler
	Limit     time.Duration     // per call; 0 is the bus's
	Header    map[string]string // sent along, for the endpoint's own authentication
	PlainHTTP bool              // allow http:// beyond this machine
	Now       func() time.Time  // the clock of the signature; nil is time.Now
}

// Plugin is a remote plugin.
type Plugin struct {
	o      Options
	client *http.Client
}

// New checks the options. It opens no connection.
func New(o Options) (*Plugin, error) {
	u, err := o.check()
	if err != nil {
		return nil, fmt.Errorf("configure remote plugin %q: %w", o.Name, err)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Hooks, o.Secret, o.Header = slices.Clone(o.Hooks), slices.Clone(o.Secret), maps.Clone(o.Header)
	return &Plugin{o: o, client: newClient(u.Scheme == "http" && !o.PlainHTTP)}, nil
}

// Close ends idle connections. The plugin must not be called any more.
func (p *Plugin) Close() { p.client.CloseIdleConnections() }

func (o *Options) check() (*url.URL, error) {
	switch {
	case o.Name == "":
		return nil, errors.New("no name")
	case len(o.Secret) == 0:
		return nil, errors.New("no secret")
	case len(o.Hooks) == 0:
		return nil, errors.New("no hooks")
	}
	for i, n := range o.Hooks {
		if _, err := hook.ParseName(string(n)); err != nil {
			return nil, err
		}
		if slices.Contains(o.Hooks[:i], n) {
			return nil, fmt.Errorf("hook %s is listed twice", n)
		}
	}
	for name, value := range o.Header {
		if err := checkHeader(name, value); err != nil {
			return nil, err
		}
	}
	return parseURL(o.URL, o.PlainHTTP)
}

// parseURL does not repeat the URL in its errors: a query may hold a token.
func parseURL(raw string, plain bool) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, errors.New("url cannot be parsed")
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, errors.New("url is not http or https")
	case u.Hostname() == "":
		return nil, errors.New("url has no host")
	case u.User != nil:
		return nil, errors.New("url holds credentials: use a header")
	case u.Scheme == "http" && !plain && !loopback(u.Hostname()):
		return nil, fmt.Errorf("plain http to %s: use https", u.Hostname())
	}
	return u, nil
}

// checkHeader keeps the configuration from changing what is signed or how it is framed.
func checkHeader(name, value string) error {
	key := http.CanonicalHeaderKey(name)
	switch {
	case name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("()<>@,;:\\\"/[]?={}", r) }):
		return fmt.Errorf("header name %q is not allowed", name)
	case strings.HasPrefix(key, "X-Tidemark-"), strings.HasPrefix(key, "Content-"),
		slices.Contains([]string{"Host", "Connection", "Transfer-Encoding", "Trailer", "Upgrade", "Te", "Accept", "Accept-Encoding"}, key):
		return fmt.Errorf("header %s cannot be set", key)
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
		return fmt.Errorf("header %s has a control character", key)
	}
	return nil
}

func loopback(host string) bool {
	if host == "localhost" {
		return true // where it leads is checked again at each dial
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func newClient(loopbackOnly bool) *http.Client {
	dialer := &net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}
	if loopbackOnly {
		dialer.Control = func(_, address string, _ syscall.RawConn) error {
			if host, _, err := net.SplitHostPort(address); err != nil || !loopback(host) {
				return errors.New("plain http beyond this machine")
			}
			return nil
		}
	}
	return &http.Client{
		Transport: &http.Transport{
			DialContext:            dialer.DialContext,
			ForceAttemptHTTP2:      true,
			DisableCompression:     true, // MaxAnswer counts what is sent
			MaxIdleConns:           16,
			MaxIdleConnsPerHost:    16,
			IdleConnTimeout:        90 * time.Second,
			TLSHandshakeTimeout:    5 * time.Second,
			MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
