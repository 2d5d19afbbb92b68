// Package oidc signs people in at the console by a provider of OpenID Connect: the code flow with
// PKCE, and a role by what the provider says of them.
//
// It does network I/O and starts no goroutine; the clock and randomness are handed in.
//
// Invariants:
//   - what comes back counts only in the browser that set out, within ten minutes, and once;
//   - nobody is who they are by anything but an ID token that a key of the provider signed, for us,
//     for this very sign-in;
//   - nobody gets in without a role that the file gives them;
//   - an address that the provider names, and that is not its own, is asked through outbound.Guarded;
//   - what the provider writes is repeated to nobody, but for a name of known form.
package oidc

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"github.com/tidemark/tidemark/internal/base/endpoint"
	"github.com/tidemark/tidemark/internal/base/outbound"
)

// Role gives a role to whoever has one of the values in the claim.
type Role struct {
	Name   string // reader, approver or admin
	Values []string
}

// Options are what a Provider needs. Issuer, ClientID, Roles, Now and Rand are required.
type Options struct {
	Issuer   string // exactly as its tokens say it
	ClientID string
	Secret   endpoint.Secret // empty: a public client, which PKCE alone protects
	Scopes   []string        // besides openid; empty: email and profile
	Claim    string          // that says what somebody is; empty: groups
	NameFrom string          // the claim they are called by; empty: email
	Roles    []Role          // the highest first

	Now   func() time.Time
	Rand  io.Reader      // a CSPRNG
	Roots *x509.CertPool // nil: the system's
}

// The bounds of a sign-in.
const (
	Life    = 10 * time.Minute // from setting out to coming back
	skew    = time.Minute      // that the provider's clock may be off
	maxCode = 8 << 10
	maxOpen = 16 // requests to the provider at a time
)

// What may be wrong with a sign-in. Each is in the error, with what it was.
var (
	// ErrStale is for what comes back to another browser, too late, or again.
	ErrStale = errors.New("this sign-in was not begun in this browser, is older than ten minutes, or was used already")
	// ErrBusy is for more sign-ins at once than are let through.
	ErrBusy = errors.New("too many people sign in at once; try again in a moment")
	// ErrProvider is for a provider that cannot be asked, or answers what it must not.
	ErrProvider = errors.New("the provider cannot be used")
	// ErrRefused is for a provider that did not let the person through.
	ErrRefused = errors.New("the provider did not sign you in")
	// ErrToken is for an ID token that proves nothing.
	ErrToken = errors.New("the provider's answer about you cannot be accepted")
	// ErrNoRole is for somebody whom the file gives nothing to do here.
	ErrNoRole = errors.New("you have no role here")
)

// Provider is one provider. It is safe for concurrent use; it remembers in memory alone, so that a
// restart ends the sign-ins that are under way, unless it was told to share them.
type Provider struct {
	o      Options
	issuer *url.URL
	key    []byte        // of tickets
	open   chan struct{} // holds one value for each request to the provider

	mu    sync.Mutex
	about *metadata            // guarded by mu; nil: not known
	used  map[string]time.Time // guarded by mu; tickets that somebody came back with, until they are over
	book  Used                 // the same for all servers; nil: this one is alone
}

// Used is where servers note tickets that somebody came back with.
type Used interface {
	// Use notes one until its time is over, and reports whether nobody has before.
	Use(ctx context.Context, ticket string, until time.Time) (first bool, err error)
	// GiveBack forgets one.
	GiveBack(ctx context.Context, ticket string) error
}

// Share lets a sign-in that was begun at one server come back to another: those with the same key know each
// other's tickets. It is called before the first of them.
func (p *Provider) Share(key []byte, book Used) { p.key, p.book = key, book }

// New checks the options and makes a Provider. Nothing is asked yet.
func New(o Options) (*Provider, error) {
	if o.ClientID == "" || len(o.Roles) == 0 || o.Now == nil || o.Rand == nil {
		return nil, errors.New("new oidc provider: client id, roles, clock and randomness are needed")
	}
	issuer, err := issuerURL(o.Issuer)
	if err != nil {
		return nil, fmt.Errorf("new oidc provider: %w", err)
	}
	if o.Claim == "" {
		o.Claim = "groups"
	}
	if o.NameFrom == "" {
		o.NameFrom = "email"
	}
	if len(o.Scopes) == 0 {
		o.Scopes = []string{"email", "profile"}
	}
	p := &Provider{o: o, issuer: issuer, key: make([]byte, 32), open: make(chan struct{}, maxOpen), used: map[string]time.Time{}}
	if _, err := io.ReadFull(o.Rand, p.key); err != nil {
		return nil, fmt.Errorf("new oidc provider: draw key: %w", err)
	}
	return p, nil
}

// issuerURL reads an issuer: https, or http on this machine, and nothing behind the path.
func issuerURL(raw string) (*url.URL, error) {
	u, err := outbound.URL(raw)
	switch {
	case err != nil:
		return nil, err
	case u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		return nil, errors.New("an issuer has no ? and no #")
	}
	return u, outbound.Exposed(u)
}

// Name is the provider as people know it: its host.
func (p *Provider) Name() string { return p.issuer.Hostname() }

// Check looks whether the provider can be reached and says what it must.
func (p *Provider) Check(ctx context.Context) error {
	_, err := p.discover(ctx)
	return err
}

// Start is the way to the provider.
type Start struct {
	Ticket string // for a cookie of this browser
	URL    string // where it goes
}

// Begin sets out. Redirect is where the provider sends the browser back to.
func (p *Provider) Begin(ctx context.Context, redirect string) (Start, error) {
	about, err := p.metadata(ctx)
	if err != nil {
		return Start{}, err
	}
	t, err := p.newTicket(redirect)
	if err != nil {
		return Start{}, err
	}
	config := p.config(about, redirect)
	return Start{Ticket: t.text, URL: config.AuthCodeURL(t.state(),
		oauth2.S256ChallengeOption(t.verifier()), oauth2.SetAuthURLParam("nonce", t.nonce()))}, nil
}

// Finish takes what the browser came back with, and says who it is. The ticket is good for one
// code: it is used up by the first that the provider takes.
func (p *Provider) Finish(ctx context.Context, redirect, ticket string, q url.Values) (Who, error) {
	t, err := p.readTicket(ticket, redirect)
	if err != nil {
		return Who{}, err
	}
	about, err := p.metadata(ctx)
	if err != nil {
		return Who{}, err
	}
	code, err := p.answer(t, about, q)
	if err != nil {
		return Who{}, err
	}
	if err := p.use(ctx, t); err != nil {
		return Who{}, err
	}
	raw, err := p.exchange(ctx, about, redirect, code, t)
	if err != nil {
		return Who{}, errors.Join(err, p.giveBack(ctx, t)) // the provider gave nothing for it
	}
	keys, err := p.keys(ctx, about)
	if err != nil {
		return Who{}, err
	}
	claims, err := p.verify(raw, keys, t.nonce())
	if err != nil {
		return Who{}, err
	}
	return p.who(claims)
}

// answer reads what the provider sent the browser back with, and returns the code.
func (p *Provider) answer(t *ticket, about *metadata, q url.Values) (string, error) {
	for _, key := range []string{"state", "code", "iss", "error"} {
		if len(q[key]) > 1 {
			return "", fmt.Errorf("%w: %s is there twice", ErrStale, key)
		}
	}
	if !same(q.Get("state"), t.state()) {
		return "", ErrStale
	}
	// Which provider answered: without it, the code of another could be handed in for one of ours.
	if iss := q.Get("iss"); iss != p.o.Issuer && (iss != "" || about.NamesItself) {
		return "", fmt.Errorf("%w: the answer is of another provider", ErrStale)
	}
	if q.Has("error") {
		return "", fmt.Errorf("%w: %s", ErrRefused, word(q.Get("error")))
	}
	code := q.Get("code")
	if code == "" || len(code) > maxCode {
		return "", fmt.Errorf("%w: there is no code in the answer", ErrRefused)
	}
	return code, nil
}

// errorWord is an error code of OAuth: nothing else of what the other side writes is repeated.
var errorWord = regexp.MustCompile(`^[a-z_]{1,40}$`)

func word(code string) string {
	if errorWord.MatchString(code) {
		return code
	}
	return "it does not say why"
}

// exchange hands the code in, and returns the ID token.
func (p *Provider) exchange(ctx context.Context, about *metadata, redirect, code string, t *ticket) (string, error) {
	client, done, err := p.client(about.Token)
	if err != nil {
		return "", err
	}
	defer done()
	ctx = context.WithValue(ctx, oauth2.HTTPClient, client)
	token, err := p.config(about, redirect).Exchange(ctx, code, oauth2.VerifierOption(t.verifier()))
	var refused *oauth2.RetrieveError
	switch {
	case errors.As(err, &refused) && refused.ErrorCode != "":
		return "", fmt.Errorf("%w: it does not take the code: %s", ErrProvider, word(refused.ErrorCode))
	case err != nil:
		return "", fmt.Errorf("%w: it does not take the code: %w", ErrProvider, plain(err))
	}
	raw, ok := token.Extra("id_token").(string)
	if !ok || raw == "" {
		return "", fmt.Errorf("%w: it sent no ID token", ErrProvider)
	}
	return raw, nil
}

// plain is an error without what the other side wrote, and without the address, which may hold a code.
func plain(err error) error {
	var refused *oauth2.RetrieveError
	var at *url.Error
	switch {
	case errors.As(err, &refused) && refused.Response != nil:
		return fmt.Errorf("status %d", refused.Response.StatusCode)
	case errors.As(err, &at):
		return at.Err
	}
	return errors.New("the answer cannot be read")
}

func (p *Provider) config(about *metadata, redirect string) *oauth2.Config {
	style := oauth2.AuthStyleInHeader
	basic := len(about.AuthMethods) == 0 || slices.Contains(about.AuthMethods, "client_secret_basic")
	if p.o.Secret == "" || !basic {
		style = oauth2.AuthStyleInParams
	}
	return &oauth2.Config{
		ClientID: p.o.ClientID, ClientSecret: string(p.o.Secret), RedirectURL: redirect,
		Endpoint: oauth2.Endpoint{AuthURL: about.Authorization, TokenURL: about.Token, AuthStyle: style},
		Scopes:   append([]string{"openid"}, p.o.Scopes...),
	}
}

// client asks an address in the provider's name. The provider's own origin is the one that the file
// names, wherever it is; every other must be public. One that asks too many at once gets ErrBusy.
func (p *Provider) client(address string) (client *http.Client, done func(), err error) {
	u, err := outbound.URL(address)
	if err == nil {
		err = outbound.Exposed(u)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrProvider, err)
	}
	select {
	case p.open <- struct{}{}:
	default:
		return nil, nil, ErrBusy
	}
	o := outbound.Options{Roots: p.o.Roots, Once: true, LocalOnly: u.Scheme == "http"}
	if u.Scheme == p.issuer.Scheme && u.Host == p.issuer.Host {
		client = outbound.Client(o)
		client.Timeout = askTime
	} else {
		client = outbound.Guarded(o, false)
	}
	return client, func() { <-p.open }, nil
}
