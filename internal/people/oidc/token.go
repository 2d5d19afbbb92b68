package oidc

import (
	"errors"
	"fmt"
	"slices"

	"github.com/golang-jwt/jwt/v5"
)

// algorithms are those an ID token may be signed with. That "none" and every MAC are not among them
// is what keeps a token nobody signed, and one "signed" with a public key as the secret, out.
var algorithms = []string{"RS256", "PS256", "ES256", "EdDSA"}

const maxToken = 64 << 10

// verify reads an ID token, where a key of the provider signed it, for us, for this sign-in, and it
// is not over.
func (p *Provider) verify(raw string, keys []key, nonce string) (jwt.MapClaims, error) {
	if len(raw) > maxToken {
		return nil, fmt.Errorf("%w: the ID token is too long", ErrToken)
	}
	parser := jwt.NewParser(jwt.WithValidMethods(algorithms), jwt.WithStrictDecoding(), jwt.WithTimeFunc(p.o.Now),
		jwt.WithLeeway(skew), jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithIssuer(p.o.Issuer), jwt.WithAudience(p.o.ClientID))
	claims := jwt.MapClaims{}
	token, err := parser.ParseWithClaims(raw, claims, func(t *jwt.Token) (any, error) { return fitting(t, keys) })
	if err != nil || !token.Valid {
		return nil, fmt.Errorf("%w: %s", ErrToken, reason(err))
	}
	if err := p.forUs(claims, nonce); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrToken, err)
	}
	return claims, nil
}

var errNoKey = errors.New("no key of the provider fits it")

// fitting are the keys that may have signed a token, by its id and by its algorithm.
func fitting(t *jwt.Token, keys []key) (any, error) {
	if kind, _ := t.Header["typ"].(string); t.Header["typ"] != nil && kind != "JWT" {
		return nil, errNoKey // some other token, such as one for access
	}
	if t.Header["crit"] != nil {
		return nil, errNoKey // it says that it means more than we know
	}
	id, named := t.Header["kid"].(string)
	if t.Header["kid"] != nil && !named {
		return nil, errNoKey
	}
	var set jwt.VerificationKeySet
	for _, k := range keys {
		if slices.Contains(k.algs, t.Method.Alg()) && (!named || k.id == id) {
			set.Keys = append(set.Keys, k.public)
		}
	}
	if len(set.Keys) == 0 || !named && len(set.Keys) > 1 {
		return nil, errNoKey
	}
	return set, nil
}

// reason is what was wrong with a token, in words of ours.
func reason(err error) string {
	for _, r := range []struct {
		is   error
		text string
	}{
		{errNoKey, errNoKey.Error()},
		{jwt.ErrTokenMalformed, "it is not a token"},
		{jwt.ErrTokenSignatureInvalid, "its signature is wrong, or of a kind that is not accepted"},
		{jwt.ErrTokenUnverifiable, "it is signed in an unknown way"},
		{jwt.ErrTokenExpired, "it has expired: are both clocks right?"},
		{jwt.ErrTokenUsedBeforeIssued, "it is dated in the future: are both clocks right?"},
		{jwt.ErrTokenNotValidYet, "it is not valid yet: are both clocks right?"},
		{jwt.ErrTokenInvalidIssuer, "it is from another issuer"},
		{jwt.ErrTokenInvalidAudience, "it is for another client"},
	} {
		if errors.Is(err, r.is) {
			return r.text
		}
	}
	return "something required is missing from it"
}

// forUs checks what the library does not.
func (p *Provider) forUs(claims jwt.MapClaims, nonce string) error {
	audience, err := claims.GetAudience()
	if err != nil {
		return errors.New("it is for another client")
	}
	azp, named := claims["azp"]
	if who, _ := azp.(string); named && who != p.o.ClientID || !named && len(audience) > 1 {
		return errors.New("it was given to another client")
	}
	if given, _ := claims["nonce"].(string); !same(given, nonce) {
		return errors.New("it belongs to another sign-in")
	}
	if sub, _ := claims["sub"].(string); sub == "" || len(sub) > 255 {
		return errors.New("it does not say who signed in")
	}
	if iat, err := claims.GetIssuedAt(); err != nil || iat == nil || p.o.Now().Sub(iat.Time) > Life+skew {
		return errors.New("it is too old")
	}
	return nil
}
