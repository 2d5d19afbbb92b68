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
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/outbound"
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
	return &Plugin{o: o, client: outbound.Client(outbound.Options{LocalOnly: u.Scheme == "http" && !o.PlainHTTP})}, nil
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
		if err := outbound.Header(name, value); err != nil {
			return nil, err
		}
	}
	u, err := outbound.URL(o.URL)
	if err == nil && !o.PlainHTTP {
		err = outbound.Exposed(u)
	}
	return u, err
}
