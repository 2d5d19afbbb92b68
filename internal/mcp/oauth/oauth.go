// Package oauth is the OAuth client for MCP servers that are reached over HTTP. Whoever relays is
// the client of the server itself: what an agent sends as its credential goes no further, and
// what we got goes to nobody but the server it was given for.
//
// It does network I/O, writes one file of the data folder, and listens on loopback while a person
// signs in. The protocol is the MCP SDK's; where it goes is ours: every address that a server
// names is asked through outbound.Guarded.
//
// Invariants:
//   - tokens are kept by issuer and server, in a file of 0600, written whole or not at all;
//   - an authorization address is opened only where it is http or https, and never by a shell;
//   - nothing but a person signs in: a door only renews what they got.
package oauth

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"github.com/tidemark/tidemark/internal/base/outbound"
)

// Keeper keeps tokens. It is safe for concurrent use, also beside others on the same file.
type Keeper struct {
	path  string
	now   func() time.Time
	roots *x509.CertPool    // nil: the system's
	base  http.RoundTripper // how servers are asked, in tests; nil: as they are addressed

	mu sync.Mutex // one renewal at a time
}

// Open makes a Keeper on a file, which need not be there yet.
func Open(path string, now func() time.Time, roots *x509.CertPool) *Keeper {
	return &Keeper{path: path, now: now, roots: roots}
}

// guarded is a client for what the server at an address names.
func (k *Keeper) guarded(server string) (*http.Client, error) {
	u, err := outbound.URL(server)
	if err != nil {
		return nil, err
	}
	if err := outbound.Exposed(u); err != nil {
		return nil, err
	}
	return outbound.Guarded(outbound.Options{Roots: k.roots}, outbound.Local(u.Hostname())), nil
}

// ErrLogin is in the error for a server that nobody has signed in to.
var ErrLogin = errors.New("nobody has signed in to it: tidemark mcp login NAME")

// early is how long before its end a token is renewed.
const early = time.Minute

// Token is a good token for a server: the kept one, or one that it is renewed by. With stale, the
// kept one was refused although it looks good.
func (k *Keeper) Token(ctx context.Context, server, stale string) (string, error) {
	f, err := k.read()
	if err != nil {
		return "", err
	}
	if _, g := f.find(server); g == nil || k.good(g, stale) {
		return g.access()
	}
	var token string
	err = k.alone(ctx, func() error {
		token, err = k.renewed(ctx, server, stale)
		return err
	})
	return token, err
}

// good reports whether a token need not be renewed.
func (k *Keeper) good(g *grant, stale string) bool {
	return g.Access != stale && (g.Expiry.IsZero() || k.now().Add(early).Before(g.Expiry))
}

// renewed is a good token in place of one that is not: one that another process has got meanwhile, or a new one.
// Preconditions: the file is ours alone.
func (k *Keeper) renewed(ctx context.Context, server, stale string) (string, error) {
	f, err := k.read()
	if err != nil {
		return "", err
	}
	issuer, g := f.find(server)
	switch {
	case g == nil || k.good(g, stale):
		return g.access()
	case g.Refresh == "":
		return "", fmt.Errorf("its token is no longer good, and cannot be renewed: %w", ErrLogin)
	}
	client, err := k.guarded(server)
	if err != nil {
		return "", err
	}
	defer client.CloseIdleConnections()
	old := &oauth2.Token{RefreshToken: g.Refresh, Expiry: time.Unix(1, 0)}
	next, err := g.config().TokenSource(context.WithValue(ctx, oauth2.HTTPClient, client), old).Token()
	if err != nil {
		return "", fmt.Errorf("renew token: %w", plain(err))
	}
	g.take(next)
	f.put(issuer, server, *g)
	if err := k.write(f); err != nil {
		return "", err
	}
	return g.Access, nil
}

// plain is an error of the library without what the other side wrote: it may hold anything.
func plain(err error) error {
	var r *oauth2.RetrieveError
	if errors.As(err, &r) && r.Response != nil {
		return fmt.Errorf("the authorization server answers with status %d", r.Response.StatusCode)
	}
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// Transport puts the server's token on requests to it, and renews it once where it is refused.
// What comes with a credential already, or goes elsewhere, is refused.
func (k *Keeper) Transport(server string, next http.RoundTripper) (http.RoundTripper, error) {
	u, err := outbound.URL(server)
	if err != nil {
		return nil, err
	}
	if err := outbound.Exposed(u); err != nil {
		return nil, err
	}
	return &transport{keeper: k, server: server, origin: origin(server), next: next}, nil
}

type transport struct {
	keeper         *Keeper
	server, origin string
	next           http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if origin(r.URL.String()) != t.origin {
		return nil, errors.New("ask server: the request goes elsewhere")
	}
	if r.Header.Get("Authorization") != "" || r.Header.Get("Cookie") != "" {
		return nil, errors.New("ask server: the request has somebody else's credential")
	}
	token, err := t.keeper.Token(r.Context(), t.server, "")
	if errors.Is(err, ErrLogin) { // the server may need none
		return t.next.RoundTrip(r)
	}
	if err != nil {
		return nil, err
	}
	res, err := t.next.RoundTrip(with(r, token))
	if err != nil || res.StatusCode != http.StatusUnauthorized || r.Body != nil && r.GetBody == nil {
		return res, err
	}
	fresh, err := t.keeper.Token(r.Context(), t.server, token)
	if err != nil {
		return res, nil //nolint:nilerr // the client is told that it is not let in
	}
	again := with(r, fresh)
	if r.Body != nil {
		if again.Body, err = r.GetBody(); err != nil {
			return res, nil //nolint:nilerr // as above
		}
	}
	_ = res.Body.Close() // nobody reads it
	return t.next.RoundTrip(again)
}

// with is the request with a token.
func with(r *http.Request, token string) *http.Request {
	out := r.Clone(r.Context())
	out.Header.Set("Authorization", "Bearer "+token)
	return out
}
