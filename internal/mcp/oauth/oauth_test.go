package oauth_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/mcp/oauth"
)

func TestAPersonSignsInAndTheGatewayRenews(t *testing.T) {
	a := serve(t)
	r := open(t, a)
	var shown []string
	found, signedIn, err := r.Visit(t.Context(), a.URL+"/mcp", oauth.Person{Show: a.browser(&shown), Keep: true})
	if err != nil || !signedIn || !slices.Equal(found.Tools, []string{"look"}) || found.Version != "2026-07-28" {
		t.Fatalf("got %+v, %v, %v", found, signedIn, err)
	}
	raw, err := os.ReadFile(r.file)
	if err != nil || !strings.Contains(string(raw), `"`+a.URL+`": {`) || !strings.Contains(string(raw), `"`+a.URL+`/mcp": {`) {
		t.Errorf("kept: %s, %v; want it under its issuer and its server", raw, err)
	}
	if info, err := os.Stat(r.file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info, err)
	}
	rt, err := r.Transport(a.URL+"/mcp", a.Client().Transport)
	if err != nil {
		t.Fatal(err)
	}
	ask := func() int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.URL+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"x"}`))
		if err != nil {
			t.Fatal(err)
		}
		res, err := rt.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		return res.StatusCode
	}
	if got := ask(); got != http.StatusOK || a.asked["/token"] != 1 {
		t.Errorf("with the kept token: %d, tokens %d", got, a.asked["/token"])
	}
	r.now = r.now.Add(2 * time.Hour) // it is over: it is renewed before it is used
	if got := ask(); got != http.StatusOK || a.asked["/token"] != 2 {
		t.Errorf("after its end: %d, tokens %d", got, a.asked["/token"])
	}
	r.now = time.Now()
	a.mu.Lock()
	a.access = "revoked meanwhile"
	a.mu.Unlock()
	if got := ask(); got != http.StatusOK || a.asked["/token"] != 3 {
		t.Errorf("after it was revoked: %d, tokens %d", got, a.asked["/token"])
	}
	a.mu.Lock()
	a.access, a.refresh = "revoked", "revoked too"
	a.mu.Unlock()
	if got := ask(); got != http.StatusUnauthorized {
		t.Errorf("after both were revoked: %d, want the client to be told", got)
	}
	if _, err := r.Token(t.Context(), a.URL+"/mcp", "access-3"); err == nil || strings.Contains(err.Error(), "SECRET") || strings.Contains(err.Error(), "access-") {
		t.Errorf("got %v, want an error without what the other side wrote", err)
	}
	if had, err := r.Forget(t.Context(), a.URL+"/mcp"); err != nil || !had {
		t.Errorf("forget: %v, %v", had, err)
	}
	if _, err := r.Token(t.Context(), a.URL+"/mcp", ""); !errors.Is(err, oauth.ErrLogin) {
		t.Errorf("got %v, want to be told to sign in", err)
	}
}

// The gateway, and whoever signs in beside it, are processes of their own. A refresh token is good once: who comes second
// finds what the first got.
func TestOneOfManyProcessesRenews(t *testing.T) {
	a := serve(t)
	r := open(t, a)
	var shown []string
	if _, _, err := r.Visit(t.Context(), a.URL+"/mcp", oauth.Person{Show: a.browser(&shown), Keep: true}); err != nil {
		t.Fatal(err)
	}
	stale, err := r.Token(t.Context(), a.URL+"/mcp", "")
	if err != nil {
		t.Fatal(err)
	}
	a.mu.Lock()
	before := a.asked["/token"]
	a.mu.Unlock()
	got := make([]string, 8)
	var all sync.WaitGroup
	for i := range got {
		all.Go(func() {
			k := oauth.Open(r.file, time.Now, a.pool())
			token, err := k.Token(t.Context(), a.URL+"/mcp", stale)
			if err != nil {
				t.Errorf("process %d: %v", i, err)
			}
			got[i] = token
		})
	}
	all.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	if n := a.asked["/token"] - before; n != 1 || len(slices.Compact(got)) != 1 || got[0] == stale {
		t.Errorf("%d renewals, tokens %v", n, slices.Compact(got))
	}
}

// MCP-31
func TestNobodyElsesCredentialGoesToAServerAndItsOwnNowhereElse(t *testing.T) {
	a := serve(t)
	r := open(t, a)
	var shown []string
	if _, _, err := r.Visit(t.Context(), a.URL+"/mcp", oauth.Person{Show: a.browser(&shown), Keep: true}); err != nil {
		t.Fatal(err)
	}
	elsewhere := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere++ }))
	defer other.Close()
	rt, err := r.Transport(a.URL+"/mcp", a.Client().Transport)
	if err != nil {
		t.Fatal(err)
	}
	before := len(a.seen)
	for name, change := range map[string]func(*http.Request){
		"a client's token": func(q *http.Request) { q.Header.Set("Authorization", "Bearer the-clients-own") },
		"a cookie":         func(q *http.Request) { q.Header.Set("Cookie", "s=1") },
		"another host":     func(q *http.Request) { q.URL, _ = url.Parse(other.URL) },
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.URL+"/mcp", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		change(req)
		if res, err := rt.RoundTrip(req); err == nil {
			_ = res.Body.Close()
			t.Errorf("%s: it was sent", name)
		}
	}
	if len(a.seen) != before || elsewhere != 0 {
		t.Errorf("%d requests reached the server and %d another, want none", len(a.seen)-before, elsewhere)
	}
	if _, err := r.Transport("http://hub.example/mcp", a.Client().Transport); err == nil {
		t.Error("a token would go over a network in the clear")
	}
}

// MCP-30
func TestAddressesThatAServerNamesDoNotLeadInside(t *testing.T) {
	inside := 0
	secret := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { inside++ }))
	defer secret.Close()
	port := secret.URL[strings.LastIndex(secret.URL, ":"):]
	for _, there := range []string{
		secret.URL, "http://localhost" + port, "https://127.0.0.1" + port, "https://[::ffff:127.0.0.1]" + port, "https://169.254.169.254", "http://10.0.0.1", "https://10.0.0.1",
	} {
		// A server out there, as far as the client can tell: only it is asked by this transport.
		out := func(r *http.Request) (*http.Response, error) {
			h := http.Header{"Www-Authenticate": {`Bearer resource_metadata="` + there + `/.well-known/oauth-protected-resource"`}}
			return &http.Response{StatusCode: http.StatusUnauthorized, Header: h, Body: http.NoBody, Request: r}, nil
		}
		a := serve(t)
		r := open(t, a)
		r.AskBy(roundTrip(out))
		shown := 0
		_, _, err := r.Visit(t.Context(), "https://192.0.2.1/mcp", oauth.Person{Show: func(string) error { shown++; return nil }, Keep: true})
		if err == nil || shown != 0 {
			t.Errorf("%s: got %v, shown %d", there, err, shown)
		}
	}
	if inside != 0 {
		t.Errorf("%d requests came inside, want none", inside)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// MCP-30
func TestDocumentsThatLieAreNotFollowed(t *testing.T) {
	for name, c := range map[string]struct {
		change, resource func(a *authority, doc map[string]any)
		wrong            url.Values
		shows            bool
	}{
		"an issuer inside":         {resource: func(_ *authority, d map[string]any) { d["authorization_servers"] = []string{"https://169.254.169.254"} }},
		"another issuer":           {change: func(_ *authority, d map[string]any) { d["issuer"] = "https://other.example" }},
		"another resource":         {resource: func(_ *authority, d map[string]any) { d["resource"] = "https://other.example/mcp" }},
		"a script to sign in at":   {change: func(_ *authority, d map[string]any) { d["authorization_endpoint"] = "javascript:alert(1)" }},
		"a file to sign in at":     {change: func(_ *authority, d map[string]any) { d["authorization_endpoint"] = "file:///etc/passwd" }},
		"plain http to sign in at": {change: func(_ *authority, d map[string]any) { d["authorization_endpoint"] = "http://other.example/authorize" }},
		"tokens inside":            {change: func(_ *authority, d map[string]any) { d["token_endpoint"] = "https://10.0.0.1/token" }},
		"registration inside":      {change: func(_ *authority, d map[string]any) { d["registration_endpoint"] = "https://169.254.169.254/register" }},
		"another state":            {wrong: url.Values{"state": {"x"}}, shows: true},
		"another issuer in answer": {wrong: url.Values{"iss": {"https://other.example"}}, shows: true},
		"no issuer in answer":      {wrong: url.Values{"iss": {""}}, shows: true},
		"a refusal":                {wrong: url.Values{"error": {"access_denied"}}, shows: true},
	} {
		t.Run(name, func(t *testing.T) {
			a := serve(t)
			if c.change != nil {
				a.change = func(d map[string]any) { c.change(a, d) }
			}
			if c.resource != nil {
				a.resource = func(d map[string]any) { c.resource(a, d) }
			}
			a.wrong = c.wrong
			r := open(t, a)
			var shown []string
			_, _, err := r.Visit(t.Context(), a.URL+"/mcp", oauth.Person{Show: a.browser(&shown), Keep: true})
			if err == nil || (len(shown) > 0) != c.shows {
				t.Errorf("got %v, shown %v", err, shown)
			}
			if _, err := os.Stat(r.file); err == nil {
				t.Error("something was kept")
			}
		})
	}
}

func TestTokensThatOthersCouldReadAreNotUsed(t *testing.T) {
	a := serve(t)
	r := open(t, a)
	var shown []string
	if _, _, err := r.Visit(t.Context(), a.URL+"/mcp", oauth.Person{Show: a.browser(&shown), Keep: true}); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(r.file, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Token(t.Context(), a.URL+"/mcp", ""); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("got %v, want to be told what to do", err)
	}
}

func TestAVisitThatKeepsNothingKeepsNothing(t *testing.T) {
	a := serve(t)
	r := open(t, a)
	if _, signedIn, err := r.Visit(t.Context(), a.URL+"/mcp", oauth.Person{}); err != nil || !signedIn {
		t.Fatalf("without a browser: %v, %v", signedIn, err)
	}
	if _, err := os.Stat(r.file); err == nil {
		t.Error("something was kept")
	}
}
