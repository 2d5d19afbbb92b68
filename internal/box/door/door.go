// Package door is the way out of a box in which a whole agent runs: to the models and the MCP servers that stand behind the monitor,
// and to nobody else. It runs outside, in the box's owner, on sockets that were made in the box's network and handed out of it.
//
// Invariants:
//   - requests reach the monitor, below the paths that a list names, and nothing else of it: no question is answered from inside;
//   - no key is in the box. What stands there in place of one (Options.Sign) opens nothing outside; the door puts the real one in;
//   - a request with any other key is refused: its owner would read at the provider what the agent says;
//   - nothing that the box says of itself (headers of ours, cookies, credentials for proxies) goes further.
package door

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/box"
)

// Address is where the door is in the box, as Base has it in an address.
const (
	Address = "127.0.0.1:8417"
	Base    = "http://" + Address
)

// Key is what a provider is shown.
type Key struct {
	Header string
	Value  string // with what stands before the key there
}

// Options say what is behind the door.
type Options struct {
	Server    string            // the monitor's address
	Transport http.RoundTripper // how it is reached; nil: as it is
	Sign      string            // what stands in the box in place of every key
	Keys      map[string]Key    // real keys, by the first part of the path; the monitor has the others, or there are none
	Token     string            // the monitor's token for agents: MCP servers are asked with it
	Session   string            // whose calls those are
	Models    bool              // the monitor wants the token for models too
}

// models and servers are the first parts of the paths that lead somewhere.
var (
	models  = []string{"anthropic", "openai", "gemini", "llm"}
	servers = "mcp"
)

// Door is the way out of one box.
type Door struct {
	opts    Options
	server  *url.URL
	forward *httputil.ReverseProxy
	doors   []*http.Server
}

// New makes a way out. It opens nothing before the box does.
func New(o Options) (*Door, error) {
	at, err := url.Parse(o.Server)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" || len(o.Sign) < 16 {
		return nil, errors.New("make door: an address of the monitor and a sign are needed")
	}
	d := &Door{opts: o, server: at}
	d.forward = &httputil.ReverseProxy{
		Transport: o.Transport, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0), Rewrite: d.rewrite,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			refuse(w, http.StatusBadGateway, "the monitor could not be reached")
		},
	}
	return d, nil
}

// network is a box's network, as far as it is needed here.
type network interface {
	Listen(address string) (net.Listener, error)
}

// Open opens the door in a box's network.
func (d *Door) Open(n *box.Network) error { return d.open(n) }

func (d *Door) open(n network) error {
	for address, handler := range map[string]http.Handler{Address: d, box.Proxy: http.HandlerFunc(d.noProxy)} {
		l, err := n.Listen(address)
		if err != nil {
			return err
		}
		s := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
		d.doors = append(d.doors, s)
		go func() { _ = s.Serve(l) }() // it ends when it is closed
	}
	return nil
}

// Close closes it, and with it every connection.
func (d *Door) Close() error {
	var errs []error
	for _, s := range d.doors {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// ServeHTTP hands on what is for a model or an MCP server.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	first, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch known := first == servers || slices.Contains(models, first); {
	case !known || rest == "" || path.Clean(r.URL.Path) != strings.TrimSuffix(r.URL.Path, "/") || r.URL.EscapedPath() != r.URL.Path:
		refuse(w, http.StatusForbidden, "this box reaches its models and MCP servers, and nothing else of the monitor")
	case slices.ContainsFunc(shown(r), func(key string) bool { return key != d.opts.Sign }):
		refuse(w, http.StatusForbidden, "requests leave this box with the key that was given for it and with no other")
	default:
		d.forward.ServeHTTP(w, r)
	}
}

// noProxy answers who asks for a way to anywhere else.
func (d *Door) noProxy(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect && r.URL.Host == Address { // a client that asks its proxy for this very machine
		d.ServeHTTP(w, r)
		return
	}
	refuse(w, http.StatusForbidden, "no network: this box reaches its models and MCP servers, and nothing else")
}

func refuse(w http.ResponseWriter, status int, text string) {
	http.Error(w, "[confined: "+text+"]", status)
}

// keyHeaders are where clients put a key; one may also stand in the query.
var keyHeaders = []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key", "Api-Key"}

const keyQuery = "key"

// shown are the keys that a request shows, whole.
func shown(r *http.Request) []string {
	var out []string
	for _, name := range keyHeaders {
		for _, value := range r.Header.Values(name) {
			if scheme, key, ok := strings.Cut(value, " "); ok && strings.EqualFold(scheme, "Bearer") {
				value = key
			}
			out = append(out, strings.TrimSpace(value))
		}
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return append(out, "") // whoever reads it otherwise finds another key
	}
	for name, values := range query {
		if strings.EqualFold(name, keyQuery) || strings.EqualFold(name, "access_token") || strings.EqualFold(name, "api_key") {
			out = append(out, values...)
		}
	}
	return out
}

// rewrite makes the request that the monitor gets.
func (d *Door) rewrite(p *httputil.ProxyRequest) {
	out := p.Out
	out.URL.Scheme, out.URL.Host, out.Host = d.server.Scheme, d.server.Host, d.server.Host
	for name := range out.Header {
		if strings.HasPrefix(name, "X-Tidemark-") || slices.Contains(keyHeaders, name) || slices.Contains(dropped, name) {
			delete(out.Header, name)
		}
	}
	if query, err := url.ParseQuery(out.URL.RawQuery); err == nil && query.Has(keyQuery) {
		query.Del(keyQuery)
		out.URL.RawQuery = query.Encode()
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(out.URL.Path, "/"), "/")
	if first == servers {
		out.Header.Set("Authorization", "Bearer "+d.opts.Token)
		out.Header.Set("X-Tidemark-Session", d.opts.Session)
		return
	}
	if d.opts.Models {
		out.Header.Set("X-Tidemark-Token", d.opts.Token)
	}
	switch key, known := d.opts.Keys[first]; {
	case known:
		out.Header.Set(key.Header, key.Value)
	case len(shown(p.In)) > 0: // the monitor puts its own in the place of it
		out.Header.Set("Authorization", "Bearer "+d.opts.Sign)
	}
}

// dropped are headers that are nobody's business outside.
var dropped = []string{
	"Cookie", "Origin", "Referer", "Proxy-Authorization", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Forwarded",
}

// WantsToken asks the monitor whether models are asked with its token only.
func WantsToken(ctx context.Context, server string, transport http.RoundTripper) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(server, "/")+"/llm/canary/v1/models", nil)
	if err != nil {
		return false, fmt.Errorf("ask the monitor: %w", err)
	}
	answer, err := (&http.Client{Transport: transport}).Do(r)
	if err != nil {
		return false, fmt.Errorf("ask the monitor: %w", err)
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<20))
	return answer.StatusCode == http.StatusUnauthorized, answer.Body.Close()
}
