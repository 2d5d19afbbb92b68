// Package oidctest is a provider of OpenID Connect as far as somebody signs in there with a browser:
// it speaks the protocol over a socket, refuses what a real one would, and can be bent into an
// attacker, one step at a time.
package oidctest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// The client that every provider knows.
const (
	ClientID = "tidemark"
	Secret   = "the secret of the client"
)

// The keys of every provider, by their ids: making one takes long.
var keys = sync.OnceValue(func() map[string]crypto.Signer {
	r, err1 := rsa.GenerateKey(rand.Reader, 2048)
	e, err2 := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	_, d, err3 := ed25519.GenerateKey(rand.Reader)
	if err1 != nil || err2 != nil || err3 != nil {
		panic(fmt.Sprint("make keys: ", err1, err2, err3))
	}
	return map[string]crypto.Signer{"r": r, "e": e, "d": d}
})

// Provider is one provider. What bends it is set before anybody signs in; nil bends nothing.
type Provider struct {
	Issuer string

	Metadata func(m map[string]any)           // of what it says of itself
	Keys     func(set []map[string]any) []any // of the keys it lists
	Back     func(q url.Values)               // of what the browser comes back with
	Claims   func(c jwt.MapClaims)            // of what it says of somebody
	Sign     func(c jwt.MapClaims) string     // in place of signing
	Answer   func(a map[string]any)           // of the answer to a code
	Alg, Kid string                           // of the signature; empty: RS256 with r
	Replays  bool                             // a code is taken again and again, with any verifier
	Person   map[string]any                   // who signs in; nil: Ada of the security team
	Asked    func(r *http.Request)            // sees every request

	mu    sync.Mutex
	codes map[string]url.Values // guarded by mu; what each code was asked for with
}

// New starts a provider for a test.
func New(t *testing.T) *Provider {
	t.Helper()
	p := &Provider{codes: map[string]url.Values{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.metadata)
	mux.HandleFunc("GET /keys", p.listKeys)
	mux.HandleFunc("GET /authorize", p.authorize)
	mux.HandleFunc("POST /token", p.token)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.Asked != nil {
			p.Asked(r)
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	p.Issuer = server.URL
	return p
}

func (p *Provider) metadata(w http.ResponseWriter, _ *http.Request) {
	m := map[string]any{
		"issuer": p.Issuer, "authorization_endpoint": p.Issuer + "/authorize", "token_endpoint": p.Issuer + "/token",
		"jwks_uri": p.Issuer + "/keys", "code_challenge_methods_supported": []string{"S256"},
		"authorization_response_iss_parameter_supported": true,
	}
	if p.Metadata != nil {
		p.Metadata(m)
	}
	say(w, m)
}

func (p *Provider) listKeys(w http.ResponseWriter, _ *http.Request) {
	set := []map[string]any{JWK("r"), JWK("e"), JWK("d")}
	if p.Keys != nil {
		say(w, map[string]any{"keys": p.Keys(set)})
		return
	}
	say(w, map[string]any{"keys": set})
}

// authorize signs in whoever comes, and sends them back with a code.
func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	back, err := url.Parse(q.Get("redirect_uri"))
	if err != nil || q.Get("client_id") != ClientID || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" {
		http.Error(w, "this is no request for a code", http.StatusBadRequest)
		return
	}
	code := rand.Text()
	p.mu.Lock()
	p.codes[code] = q
	p.mu.Unlock()
	answer := url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {p.Issuer}}
	if p.Back != nil {
		p.Back(answer)
	}
	back.RawQuery = answer.Encode()
	http.Redirect(w, r, back.String(), http.StatusSeeOther)
}

// token gives an ID token for a code, once, to the client that can say what it set out with.
func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	if id != ClientID || secret != url.QueryEscape(Secret) {
		refuse(w, http.StatusUnauthorized, "invalid_client")
		return
	}
	code := r.PostFormValue("code")
	p.mu.Lock()
	q := p.codes[code]
	if !p.Replays {
		delete(p.codes, code)
	}
	p.mu.Unlock()
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	held := base64.RawURLEncoding.EncodeToString(sum[:]) == q.Get("code_challenge")
	if q == nil || r.PostFormValue("redirect_uri") != q.Get("redirect_uri") || !held && !p.Replays {
		refuse(w, http.StatusBadRequest, "invalid_grant")
		return
	}
	answer := map[string]any{"access_token": "of no use here", "token_type": "Bearer", "id_token": p.idToken(q.Get("nonce"))}
	if p.Answer != nil {
		p.Answer(answer)
	}
	say(w, answer)
}

// idToken says who signed in.
func (p *Provider) idToken(nonce string) string {
	now := time.Now()
	claims := jwt.MapClaims{
		"iss": p.Issuer, "aud": ClientID, "sub": "248289761001", "nonce": nonce, "iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix(),
	}
	person := p.Person
	if person == nil {
		person = Ada()
	}
	maps.Copy(claims, person)
	if p.Claims != nil {
		p.Claims(claims)
	}
	if p.Sign != nil {
		return p.Sign(claims)
	}
	alg, kid := p.Alg, p.Kid
	if alg == "" {
		alg, kid = "RS256", "r"
	}
	return Signed(claims, alg, Key(kid), map[string]any{"kid": kid})
}

// Ada is somebody of the security team.
func Ada() map[string]any {
	return map[string]any{"email": "ada@example.com", "email_verified": true, "groups": []string{"staff", "sec-team"}}
}

// Key is the private key of an id: r (RSA), e (P-256) or d (Ed25519).
func Key(id string) crypto.Signer { return keys()[id] }

// Signed is a token with a header of the caller's.
func Signed(claims jwt.MapClaims, alg string, key any, header map[string]any) string {
	t := jwt.NewWithClaims(jwt.GetSigningMethod(alg), claims)
	maps.Copy(t.Header, header)
	text, err := t.SignedString(key)
	if err != nil {
		panic(fmt.Sprintf("sign with %s: %v", alg, err))
	}
	return text
}

// JWK is the public key of an id as a provider lists it.
func JWK(id string) map[string]any {
	text := base64.RawURLEncoding.EncodeToString
	out := map[string]any{"kid": id, "use": "sig"}
	switch k := Key(id).Public().(type) {
	case *rsa.PublicKey:
		maps.Copy(out, map[string]any{"kty": "RSA", "n": text(k.N.Bytes()), "e": text(big.NewInt(int64(k.E)).Bytes())})
	case *ecdsa.PublicKey:
		raw, err := k.Bytes()
		if err != nil {
			panic(fmt.Sprint("write key: ", err))
		}
		maps.Copy(out, map[string]any{"kty": "EC", "crv": "P-256", "x": text(raw[1:33]), "y": text(raw[33:])})
	case ed25519.PublicKey:
		maps.Copy(out, map[string]any{"kty": "OKP", "crv": "Ed25519", "x": text(k)})
	}
	return out
}

func say(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = strictjson.Write(w, v) // whoever is gone cannot be told
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = strictjson.Write(w, map[string]string{"error": code, "error_description": "the provider's own <b>words</b>"})
}
