package oidc_test

import (
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/people/oidc"
	"github.com/tidemark/tidemark/internal/test/oidctest"
)

func FuzzKeys(f *testing.F) {
	for _, id := range []string{"r", "e", "d"} {
		raw, err := strictjson.Marshal(map[string]any{"keys": []any{oidctest.JWK(id)}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add([]byte(`{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"},{"kty":"EC","crv":"P-256","x":"","y":""},{"kty":"oct","k":"AA"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if n, err := oidc.ReadKeys(raw); err == nil && n > 100 {
			t.Errorf("%d keys", n)
		}
	})
}

// Whatever is changed in a good token, it is not good any more.
func FuzzToken(f *testing.F) {
	keys, err := strictjson.Marshal(map[string]any{"keys": []any{oidctest.JWK("r"), oidctest.JWK("e"), oidctest.JWK("d")}})
	if err != nil {
		f.Fatal(err)
	}
	now := time.Now()
	p, err := oidc.New(oidc.Options{
		Issuer: "https://sso.example", ClientID: "c", Roles: []oidc.Role{{Name: "reader", Values: []string{"x"}}},
		Now: func() time.Time { return now }, Rand: strings.NewReader(strings.Repeat("k", 32)),
	})
	if err != nil {
		f.Fatal(err)
	}
	good := map[string]bool{}
	for kid, alg := range map[string]string{"r": "RS256", "e": "ES256", "d": "EdDSA"} {
		token := oidctest.Signed(jwt.MapClaims{
			"iss": "https://sso.example", "aud": "c", "sub": "s", "nonce": "n", "iat": now.Unix(), "exp": now.Add(time.Minute).Unix(),
		}, alg, oidctest.Key(kid), map[string]any{"kid": kid})
		if !p.Verified(token, keys, "n") {
			f.Fatalf("a good token by %s does not count", alg)
		}
		good[token] = true
		f.Add(token)
	}
	f.Fuzz(func(t *testing.T, token string) {
		if p.Verified(token, keys, "n") && !good[token] {
			t.Errorf("it counts: %s", token)
		}
	})
}
