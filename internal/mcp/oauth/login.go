package oauth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"github.com/tidemark/tidemark/internal/base/outbound"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/mcp/probe"
)

// Person is how somebody signs in.
type Person struct {
	// Show brings an authorization address before them; nil: it is asked for by us, for
	// authorization servers that ask nobody.
	Show func(address string) error
	// ClientID is who we are there, where that is settled; an https address is a document about us.
	// Empty: we register.
	ClientID     string
	ClientSecret string
	// Keep says that what is given is kept.
	Keep bool
	// Call is a tool to call without arguments; "": none.
	Call string
}

// maxRounds bounds how often one visit asks for more rights.
const maxRounds = 4

// Visit asks the server at an address what it is, and signs in where that is wanted.
func (k *Keeper) Visit(ctx context.Context, server string, p Person) (found probe.Found, signedIn bool, err error) {
	client, err := k.guarded(server)
	if err != nil {
		return probe.Found{}, false, err
	}
	defer client.CloseIdleConnections()
	v := &visit{keeper: k, server: server, person: p, client: client, issuers: map[string]string{}}
	v.client.Transport = noting{client.Transport, v}
	if err := v.listen(ctx); err != nil {
		return probe.Found{}, false, err
	}
	defer v.close()
	if v.handler, err = auth.NewAuthorizationCodeHandler(v.config()); err != nil {
		return probe.Found{}, false, fmt.Errorf("sign in: %w", err)
	}
	u, err := outbound.URL(server)
	if err != nil {
		return probe.Found{}, false, err
	}
	base := outbound.Client(outbound.Options{LocalOnly: u.Scheme == "http", Roots: k.roots})
	defer base.CloseIdleConnections()
	if k.base != nil {
		base.Transport = k.base
	}
	base.Transport = &signedTransport{v, base.Transport}
	found, err = probe.Server(ctx, base, server, p.Call)
	return found, v.rounds > 0, err
}

// visit is one sign-in.
type visit struct {
	keeper   *Keeper
	server   string
	person   Person
	client   *http.Client // for what the server names
	handler  *auth.AuthorizationCodeHandler
	listener net.Listener
	answers  chan url.Values
	done     *http.Server
	rounds   int

	mu      sync.Mutex
	issuers map[string]string // guarded by mu; by token endpoint, as their documents say
	told    bool              // guarded by mu; the server gave a document about itself in this round
	lie     error             // guarded by mu; and it does not fit
}

// listen waits on loopback for the browser to come back.
func (v *visit) listen(ctx context.Context) error {
	var err error
	if v.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0"); err != nil {
		return fmt.Errorf("sign in: listen on this machine: %w", err)
	}
	v.answers = make(chan url.Values, 1)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /callback", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'")
		select {
		case v.answers <- r.URL.Query():
			_, _ = io.WriteString(w, "You can close this page and go back to the terminal.\n") // a browser that is gone
		default:
			http.Error(w, "an answer came already", http.StatusConflict)
		}
	})
	v.done = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = v.done.Serve(v.listener) }() // ends with close
	return nil
}

func (v *visit) close() { _ = v.done.Close() } // its one connection was answered

func (v *visit) redirect() string { return "http://" + v.listener.Addr().String() + "/callback" }

func (v *visit) config() *auth.AuthorizationCodeHandlerConfig {
	c := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: v.redirect(), AuthorizationCodeFetcher: v.fetch, Client: v.client, RequestRefreshToken: true, NewTokenSource: v.keep,
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "Tidemark", RedirectURIs: []string{v.redirect()}, GrantTypes: []string{"authorization_code", "refresh_token"},
			ResponseTypes: []string{"code"}, TokenEndpointAuthMethod: "",
		}},
	}
	switch id := v.person.ClientID; {
	case strings.HasPrefix(id, "https://"):
		c.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: id}
	case id != "":
		c.PreregisteredClient = &oauthex.ClientCredentials{ClientID: id}
		if v.person.ClientSecret != "" {
			c.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: v.person.ClientSecret}
		}
	}
	return c
}

// fetch brings a person to the authorization server and waits for their answer.
func (v *visit) fetch(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	u, err := outbound.URL(args.URL)
	if err == nil && u.Scheme != "https" && !outbound.Local(u.Hostname()) {
		err = errors.New("url is not https")
	}
	if err != nil {
		return nil, fmt.Errorf("the address to sign in at is not opened: %w", err)
	}
	var q url.Values
	if v.person.Show == nil {
		if q, err = v.unattended(ctx, args.URL); err != nil {
			return nil, err
		}
	} else {
		if err := v.person.Show(args.URL); err != nil {
			return nil, err
		}
		select {
		case q = <-v.answers:
		case <-ctx.Done():
			return nil, fmt.Errorf("sign in: nobody came back: %w", ctx.Err())
		}
	}
	if q.Get("error") != "" || q.Get("code") == "" {
		return nil, errors.New("sign in: the authorization server says no")
	}
	return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
}

// unattended asks an authorization server that asks nobody.
func (v *visit) unattended(ctx context.Context, address string) (url.Values, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, errors.New("sign in: the address cannot be read")
	}
	once := *v.client
	once.CheckRedirect = outbound.Stay
	res, err := once.Do(req)
	if err != nil {
		return nil, fmt.Errorf("sign in: %w", plain(err))
	}
	_ = res.Body.Close() // where it leads to is in its header
	back, ok := strings.CutPrefix(res.Header.Get("Location"), v.redirect()+"?")
	if !ok {
		return nil, errors.New("sign in: the authorization server wants to see a person: tidemark mcp login NAME")
	}
	return url.ParseQuery(back)
}

// keep is told of every token, before it is used.
func (v *visit) keep(ctx context.Context, c *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
	if v.person.Keep {
		v.mu.Lock()
		issuer, known := v.issuers[c.Endpoint.TokenURL]
		v.mu.Unlock()
		if !known { // a server from before there were documents about them
			issuer = strings.TrimSuffix(c.Endpoint.TokenURL, "/token")
		}
		g := grant{
			Client: c.ClientID, Secret: c.ClientSecret, TokenURL: c.Endpoint.TokenURL, Style: int(c.Endpoint.AuthStyle), Scopes: c.Scopes,
		}
		g.take(t)
		err := v.keeper.alone(ctx, func() error {
			f, err := v.keeper.read()
			if err != nil {
				return err
			}
			f.put(issuer, v.server, g)
			return v.keeper.write(f)
		})
		if err != nil {
			return nil, err
		}
	}
	return c.TokenSource(ctx, t), nil
}

// noting reads the documents along: who authorization servers are, and whether the server's own
// document fits. The SDK checks them too, but takes a server whose document does not fit for one
// that has none, and then its own address for the authorization server's; here that is the end.
type noting struct {
	next http.RoundTripper
	v    *visit
}

// RoundTrip implements http.RoundTripper.
func (n noting) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := n.v.doubt(r); err != nil {
		return nil, err
	}
	res, err := n.next.RoundTrip(r)
	if err != nil || r.Method != http.MethodGet || res.StatusCode != http.StatusOK || !strings.Contains(r.URL.Path, "/.well-known/") {
		return res, err
	}
	raw, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(raw))
	n.v.read(r, raw)
	return res, nil
}

// aboutItself begins the paths of a server's document about itself.
const aboutItself = "/.well-known/oauth-protected-resource"

var errUnfit = errors.New("the server's document about its authorization does not fit it")

// doubt refuses to go on once a document did not fit: another one is asked for only then.
func (v *visit) doubt(r *http.Request) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.told && strings.HasPrefix(r.URL.Path, aboutItself) {
		v.lie = errUnfit
	}
	return v.lie
}

// read learns from a document.
func (v *visit) read(r *http.Request, raw []byte) {
	var doc struct {
		Issuer   string `json:"issuer"`
		Token    string `json:"token_endpoint"`
		Resource string `json:"resource"`
	}
	if strictjson.Unmarshal(raw, &doc) != nil {
		return // the SDK says so
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if doc.Issuer != "" && doc.Token != "" {
		v.issuers[doc.Token] = doc.Issuer
	}
	if !strings.HasPrefix(r.URL.Path, aboutItself) && doc.Resource == "" {
		return
	}
	v.told = true
	if is := strings.TrimSuffix(doc.Resource, "/"); is != strings.TrimSuffix(v.server, "/") && is != origin(v.server) {
		v.lie = errUnfit
	}
}

// origin is an address without its path.
func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// signedTransport sends requests to the server while a person signs in, each with the token it has by then.
type signedTransport struct {
	v    *visit
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (a *signedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	first, err := a.v.signed(r)
	if err != nil {
		return nil, err
	}
	res, err := a.next.RoundTrip(first)
	if err != nil || res.StatusCode != http.StatusUnauthorized && res.StatusCode != http.StatusForbidden || a.v.rounds >= maxRounds {
		return res, err
	}
	a.v.rounds++
	a.v.mu.Lock()
	a.v.told = false
	a.v.mu.Unlock()
	if err := a.v.handler.Authorize(r.Context(), r, res); err != nil {
		return nil, err
	}
	again, err := a.v.signed(r)
	if err != nil {
		return nil, err
	}
	if r.GetBody != nil {
		if again.Body, err = r.GetBody(); err != nil {
			return nil, fmt.Errorf("ask server: %w", err)
		}
	}
	return a.next.RoundTrip(again)
}

// signed is a request with the token there is by now.
func (v *visit) signed(r *http.Request) (*http.Request, error) {
	source, err := v.handler.TokenSource(r.Context())
	if err != nil || source == nil {
		return r.Clone(r.Context()), err
	}
	t, err := source.Token()
	if err != nil {
		return nil, fmt.Errorf("renew token: %w", plain(err))
	}
	return with(r, t.AccessToken), nil
}
