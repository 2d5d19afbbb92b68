package oidc

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/outbound"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// The bounds of asking the provider.
const (
	askTime   = 10 * time.Second
	maxAnswer = 1 << 20
	fresh     = 10 * time.Minute // for which what it says of itself is believed
)

// metadata is what a provider says of itself.
type metadata struct {
	Issuer        string   `json:"issuer"`
	Authorization string   `json:"authorization_endpoint"`
	Token         string   `json:"token_endpoint"`
	Keys          string   `json:"jwks_uri"`
	Challenges    []string `json:"code_challenge_methods_supported"`
	AuthMethods   []string `json:"token_endpoint_auth_methods_supported"`
	NamesItself   bool     `json:"authorization_response_iss_parameter_supported"`

	read time.Time
}

// metadata is what the provider says of itself, asked for once in a while.
func (p *Provider) metadata(ctx context.Context) (*metadata, error) {
	p.mu.Lock()
	about := p.about
	p.mu.Unlock()
	if about != nil && p.o.Now().Sub(about.read) < fresh {
		return about, nil
	}
	return p.discover(ctx)
}

// discover asks the provider what it says of itself, and believes it where it is about the issuer
// that the file names.
func (p *Provider) discover(ctx context.Context) (*metadata, error) {
	about := &metadata{read: p.o.Now()}
	if err := p.get(ctx, strings.TrimSuffix(p.o.Issuer, "/")+"/.well-known/openid-configuration", about); err != nil {
		return nil, err
	}
	if about.Issuer != p.o.Issuer {
		return nil, fmt.Errorf("%w: it calls itself another issuer than console.oidc.issuer; write it exactly as it does", ErrProvider)
	}
	// A provider that says nothing of PKCE may know it; one that says what it knows must know S256.
	if len(about.Challenges) > 0 && !slices.Contains(about.Challenges, "S256") {
		return nil, fmt.Errorf("%w: it does not know PKCE with S256", ErrProvider)
	}
	for name, address := range map[string]string{
		"authorization_endpoint": about.Authorization, "token_endpoint": about.Token, "jwks_uri": about.Keys,
	} {
		u, err := outbound.URL(address)
		if err == nil {
			err = outbound.Exposed(u)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: its %s: %w", ErrProvider, name, err)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.about = about
	return about, nil
}

// keys are those the provider signs with right now. They are asked for at every sign-in, of which
// there are few: so one that it took back is worth nothing at once.
func (p *Provider) keys(ctx context.Context, about *metadata) ([]key, error) {
	var set keySet
	if err := p.get(ctx, about.Keys, &set); err != nil {
		return nil, err
	}
	return set.read(), nil
}

// get reads a JSON document of the provider's.
func (p *Provider) get(ctx context.Context, address string, out any) error {
	client, done, err := p.client(address)
	if err != nil {
		return err
	}
	defer done()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return fmt.Errorf("%w: its address cannot be asked", ErrProvider)
	}
	req.Header.Set("Accept", "application/json")
	res, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("%w: ask %s: %w", ErrProvider, req.URL.Hostname(), plain(err))
	}
	defer func() { _ = res.Body.Close() }() // all that counts was read
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%w: %s%s answers with status %d", ErrProvider, req.URL.Hostname(), req.URL.Path, res.StatusCode)
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil || len(raw) > maxAnswer {
		return fmt.Errorf("%w: the answer of %s%s cannot be read, or is too long", ErrProvider, req.URL.Hostname(), req.URL.Path)
	}
	if err := strictjson.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("%w: the answer of %s%s is not the JSON it should be", ErrProvider, req.URL.Hostname(), req.URL.Path)
	}
	return nil
}
