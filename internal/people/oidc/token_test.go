package oidc_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/tidemark/tidemark/internal/people/oidc"
	"github.com/tidemark/tidemark/internal/test/oidctest"
)

// claim bends what the provider says of somebody; nil takes it away.
func claim(key string, value any) func(*oidctest.Provider) {
	return func(p *oidctest.Provider) {
		p.Claims = func(c jwt.MapClaims) {
			if c[key] = value; value == nil {
				delete(c, key)
			}
		}
	}
}

func at(d time.Duration) int64 { return time.Now().Add(d).Unix() }

// CON-29: an ID token counts only for us, for this sign-in, and now.
func TestWhatAnIDTokenMustSay(t *testing.T) {
	for name, c := range map[string]struct {
		bend func(*oidctest.Provider)
		want error
	}{
		"another nonce":                      {bend: claim("nonce", "x")},
		"no nonce":                           {bend: claim("nonce", nil)},
		"another issuer":                     {bend: claim("iss", "https://evil.example")},
		"no issuer":                          {bend: claim("iss", nil)},
		"another client":                     {bend: claim("aud", "wiki")},
		"no client":                          {bend: claim("aud", nil)},
		"a client that is a number":          {bend: claim("aud", 7)},
		"several clients, given to nobody":   {bend: claim("aud", []string{oidctest.ClientID, "wiki"})},
		"given to another client":            {bend: claim("azp", "wiki")},
		"given to no text":                   {bend: claim("azp", 7)},
		"over for two minutes":               {bend: claim("exp", at(-2*time.Minute))},
		"no end":                             {bend: claim("exp", nil)},
		"an end that is a text":              {bend: claim("exp", "tomorrow")},
		"of the future":                      {bend: claim("iat", at(2*time.Minute))},
		"of yesterday":                       {bend: claim("iat", at(-24*time.Hour))},
		"of no time":                         {bend: claim("iat", nil)},
		"not yet":                            {bend: claim("nbf", at(2*time.Minute))},
		"of nobody":                          {bend: claim("sub", "")},
		"in no group that the file has":      {bend: claim("groups", []string{"sales", "sec-team-2", "SEC-TEAM"}), want: oidc.ErrNoRole},
		"in no group":                        {bend: claim("groups", nil), want: oidc.ErrNoRole},
		"in groups of another shape":         {bend: claim("groups", map[string]any{"sec-team": true}), want: oidc.ErrNoRole},
		"in a group that only has it inside": {bend: claim("groups", []any{[]string{"sec-team"}}), want: oidc.ErrNoRole},
		"an address that nobody verified":    {bend: claim("email_verified", false), want: oidc.ErrNoRole},
		"an address verified by a text":      {bend: claim("email_verified", "true"), want: oidc.ErrNoRole},
		"no word whether it was verified":    {bend: claim("email_verified", nil), want: oidc.ErrNoRole},
		"a name that looks like an account":  {bend: claim("email", "slack:U1"), want: oidc.ErrNoRole},
		"a name that ends the line":          {bend: claim("email", "ada@example.com\n"), want: oidc.ErrNoRole},
		"a name in look-alike letters":       {bend: claim("email", "аda@example.com"), want: oidc.ErrNoRole},
		"a name nobody can read":             {bend: claim("email", strings.Repeat("a", 65)), want: oidc.ErrNoRole},
	} {
		t.Run(name, func(t *testing.T) {
			fake := oidctest.New(t)
			c.bend(fake)
			w := newWorld(t, fake)
			who, err := w.arrive(w.travel())
			want := c.want
			if want == nil {
				want = oidc.ErrToken
			}
			refused(t, who, err, want)
		})
	}
}

// CON-29: nothing but a key of the provider, of the kind that the signature says, signs a token.
func TestWhoMaySignAnIDToken(t *testing.T) {
	mine, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(oidctest.Key("r").Public())
	if err != nil {
		t.Fatal(err)
	}
	asPEM := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	modulus, err := base64.RawURLEncoding.DecodeString(oidctest.JWK("r")["n"].(string))
	if err != nil {
		t.Fatal(err)
	}
	sign := func(alg string, key any, header map[string]any) func(*oidctest.Provider) {
		return func(p *oidctest.Provider) {
			p.Sign = func(c jwt.MapClaims) string { return oidctest.Signed(c, alg, key, header) }
		}
	}
	list := func(change func(k map[string]any)) func(*oidctest.Provider) {
		return func(p *oidctest.Provider) {
			p.Keys = func(set []map[string]any) []any { change(set[0]); return []any{set[0]} }
		}
	}
	h := func(kid string) map[string]any { return map[string]any{"kid": kid} }
	for name, bend := range map[string]func(*oidctest.Provider){
		"nobody":                                 sign("none", jwt.UnsafeAllowNoneSignatureType, h("r")),
		"nobody, with a signature cut off":       func(p *oidctest.Provider) { p.Sign = cutOff },
		"nobody, spelled another way":            func(p *oidctest.Provider) { p.Sign = nOnE },
		"another key under the provider's id":    sign("RS256", mine, h("r")),
		"another key under an id of its own":     sign("RS256", mine, h("mine")),
		"another key that it brings along":       sign("RS256", mine, map[string]any{"kid": "r", "jwk": map[string]any{"kty": "RSA"}, "jku": "https://evil.example"}),
		"the public key as a secret, PEM":        sign("HS256", asPEM, h("r")),
		"the public key as a secret, DER":        sign("HS256", der, h("r")),
		"the public key as a secret, modulus":    sign("HS256", modulus, h("r")),
		"the client's secret":                    sign("HS256", []byte(oidctest.Secret), h("r")),
		"a good key of another kind than its id": sign("ES256", oidctest.Key("e"), h("r")),
		"a good key, and an id that is a number": sign("RS256", oidctest.Key("r"), map[string]any{"kid": 7}),
		"another hash":                           sign("RS512", oidctest.Key("r"), h("r")),
		"a good key, for access":                 sign("RS256", oidctest.Key("r"), map[string]any{"kid": "r", "typ": "at+jwt"}),
		"a good key, meaning more":               sign("RS256", oidctest.Key("r"), map[string]any{"kid": "r", "crit": []string{"b64"}, "b64": false}),
		"a good key that is for encryption":      list(func(k map[string]any) { k["use"] = "enc" }),
		"a good key for another algorithm":       list(func(k map[string]any) { k["alg"] = "PS256" }),
		"a good key that was taken back":         list(func(k map[string]any) { k["kid"] = "newer" }),
		"a secret in the list of keys": func(p *oidctest.Provider) {
			sign("HS256", []byte("0123456789abcdef"), h("s"))(p)
			p.Keys = func([]map[string]any) []any {
				return []any{map[string]any{"kty": "oct", "kid": "s", "k": base64.RawURLEncoding.EncodeToString([]byte("0123456789abcdef"))}}
			}
		},
		"no token":       func(p *oidctest.Provider) { p.Sign = func(jwt.MapClaims) string { return "a.b.c" } },
		"an endless one": func(p *oidctest.Provider) { p.Sign = func(jwt.MapClaims) string { return strings.Repeat("a", 70<<10) } },
	} {
		t.Run(name, func(t *testing.T) {
			fake := oidctest.New(t)
			bend(fake)
			w := newWorld(t, fake)
			who, err := w.arrive(w.travel())
			refused(t, who, err, oidc.ErrToken)
		})
	}
}

func cutOff(c jwt.MapClaims) string {
	text := oidctest.Signed(c, "RS256", oidctest.Key("r"), map[string]any{"kid": "r"})
	return text[:strings.LastIndex(text, ".")+1]
}

func nOnE(c jwt.MapClaims) string {
	parts := strings.Split(oidctest.Signed(c, "RS256", oidctest.Key("r"), nil), ".")
	return base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"nOnE","kid":"r"}`)) + "." + parts[1] + "."
}

// CON-29: a token without an id counts where there is one key it can be of.
func TestATokenWithoutAKeysID(t *testing.T) {
	for name, c := range map[string]struct {
		keys []any
		want bool
	}{
		"one key of its kind": {[]any{oidctest.JWK("r"), oidctest.JWK("e")}, true},
		"two":                 {[]any{oidctest.JWK("r"), oidctest.JWK("r")}, false},
		"none":                {[]any{oidctest.JWK("e")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			fake := oidctest.New(t)
			fake.Keys = func([]map[string]any) []any { return c.keys }
			fake.Sign = func(m jwt.MapClaims) string { return oidctest.Signed(m, "RS256", oidctest.Key("r"), nil) }
			w := newWorld(t, fake)
			if who, err := w.arrive(w.travel()); (err == nil) != c.want {
				t.Errorf("got %+v, %v", who, err)
			}
		})
	}
}

// CON-29: a provider that answers without a token signs nobody in.
func TestAnAnswerWithoutAToken(t *testing.T) {
	for name, bend := range map[string]func(a map[string]any){
		"no ID token":            func(a map[string]any) { delete(a, "id_token") },
		"one that is a number":   func(a map[string]any) { a["id_token"] = 7 },
		"no access token at all": func(a map[string]any) { delete(a, "access_token") },
	} {
		t.Run(name, func(t *testing.T) {
			fake := oidctest.New(t)
			fake.Answer = bend
			w := newWorld(t, fake)
			who, err := w.arrive(w.travel())
			refused(t, who, err, oidc.ErrProvider)
		})
	}
}
