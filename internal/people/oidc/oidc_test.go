package oidc_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/tidemark/tidemark/internal/people/oidc"
	"github.com/tidemark/tidemark/internal/test/oidctest"
)

// CON-29: somebody the provider vouches for gets the highest role that the file gives them.
func TestSomebodyIsSignedIn(t *testing.T) {
	person := func(groups any) map[string]any {
		return map[string]any{"email": "Ada@Example.com", "email_verified": true, "groups": groups, "preferred_username": "ada.l", "team": "root"}
	}
	for name, c := range map[string]struct {
		person   map[string]any
		alg, kid string
		bend     func(*oidctest.Provider)
		change   func(*oidc.Options)
		want     oidc.Who
	}{
		"by RSA":                      {alg: "RS256", kid: "r", want: oidc.Who{Name: "ada@example.com", Role: "approver"}},
		"by RSA with PSS":             {alg: "PS256", kid: "r", want: oidc.Who{Name: "ada@example.com", Role: "approver"}},
		"by a curve":                  {alg: "ES256", kid: "e", want: oidc.Who{Name: "ada@example.com", Role: "approver"}},
		"by Ed25519":                  {alg: "EdDSA", kid: "d", want: oidc.Who{Name: "ada@example.com", Role: "approver"}},
		"in a group that only reads":  {person: person([]string{"staff"}), want: oidc.Who{Name: "ada@example.com", Role: "reader"}},
		"in several, by the highest":  {person: person([]string{"staff", "root", "sec-team"}), want: oidc.Who{Name: "ada@example.com", Role: "admin"}},
		"with a claim of one text":    {person: person("staff"), want: oidc.Who{Name: "ada@example.com", Role: "reader"}},
		"just over, by another clock": {bend: claim("exp", at(-30*time.Second)), want: oidc.Who{Name: "ada@example.com", Role: "approver"}},
		"of a moment ahead":           {bend: claim("iat", at(30*time.Second)), want: oidc.Who{Name: "ada@example.com", Role: "approver"}},
		"for several clients, given to us": {
			bend: func(p *oidctest.Provider) {
				p.Claims = func(c jwt.MapClaims) { c["aud"], c["azp"] = []string{"wiki", oidctest.ClientID}, oidctest.ClientID }
			},
			want: oidc.Who{Name: "ada@example.com", Role: "approver"},
		},
		"by other claims": {
			person: person(nil), change: func(o *oidc.Options) { o.Claim, o.NameFrom = "team", "preferred_username" },
			want: oidc.Who{Name: "ada.l", Role: "admin"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			fake := oidctest.New(t)
			fake.Alg, fake.Kid, fake.Person = c.alg, c.kid, c.person
			if c.bend != nil {
				c.bend(fake)
			}
			w := newWorld(t, fake)
			if c.change != nil {
				w = newWorld(t, fake, c.change)
			}
			who, err := w.arrive(w.travel())
			if err != nil || who != c.want {
				t.Errorf("got %+v, %v; want %+v", who, err, c.want)
			}
		})
	}
}

// CON-29: what comes back counts in the browser that set out, in time, once, and of the provider alone.
func TestWhatComesBackIsOfTheBrowserThatSetOut(t *testing.T) {
	for name, c := range map[string]struct {
		bend  func(*oidctest.Provider)
		twist func(w *world, at *trip)
		want  error
	}{
		"the state of another sign-in":  {twist: func(w *world, at *trip) { at.back.Set("state", w.travel().back.Get("state")) }},
		"the code and state of another": {twist: func(w *world, at *trip) { at.back = w.travel().back }},
		"the ticket of another":         {twist: func(w *world, at *trip) { at.ticket = w.travel().ticket }},
		"no state":                      {twist: func(_ *world, at *trip) { at.back.Del("state") }},
		"two states":                    {twist: func(_ *world, at *trip) { at.back.Add("state", "x") }},
		"two codes":                     {twist: func(_ *world, at *trip) { at.back.Add("code", "x") }},
		"no ticket":                     {twist: func(_ *world, at *trip) { at.ticket = "" }},
		"a ticket made up":              {twist: func(_ *world, at *trip) { at.ticket = strings.Repeat("A", len(at.ticket)) }},
		"a ticket with one letter changed": {twist: func(_ *world, at *trip) {
			at.ticket = map[bool]string{true: "B", false: "A"}[at.ticket[0] == 'A'] + at.ticket[1:]
		}},
		"a ticket that ends later": {twist: func(_ *world, at *trip) {
			at.ticket = at.ticket[:len(at.ticket)-9] + "_" + at.ticket[len(at.ticket)-8:]
		}},
		"after ten minutes":      {twist: func(w *world, _ *trip) { w.late = oidc.Life + time.Second }},
		"the word of another":    {bend: func(p *oidctest.Provider) { p.Back = func(q url.Values) { q.Set("iss", "https://evil.example") } }},
		"no word who it is of":   {bend: func(p *oidctest.Provider) { p.Back = func(q url.Values) { q.Del("iss") } }},
		"a person who said no":   {bend: back("error", "access_denied"), want: oidc.ErrRefused},
		"a refusal with a story": {bend: back("error", "<script>"), want: oidc.ErrRefused},
		"no code":                {bend: func(p *oidctest.Provider) { p.Back = func(q url.Values) { q.Del("code") } }, want: oidc.ErrRefused},
		"a code of endless length": {
			bend: back("code", strings.Repeat("x", 9<<10)), want: oidc.ErrRefused,
		},
		"a code made up": {bend: back("code", "x"), want: oidc.ErrProvider},
		"the code of another sign-in": {
			twist: func(w *world, at *trip) { at.back.Set("code", w.travel().back.Get("code")) }, want: oidc.ErrProvider,
		},
		"the code of another sign-in, and a provider that forgets PKCE": {
			bend:  func(p *oidctest.Provider) { p.Replays = true },
			twist: func(w *world, at *trip) { at.back.Set("code", w.travel().back.Get("code")) }, want: oidc.ErrToken,
		},
	} {
		t.Run(name, func(t *testing.T) {
			fake := oidctest.New(t)
			if c.bend != nil {
				c.bend(fake)
			}
			w := newWorld(t, fake)
			at := w.travel()
			if c.twist != nil {
				c.twist(w, &at)
			}
			who, err := w.arrive(at)
			want := c.want
			if want == nil {
				want = oidc.ErrStale
			}
			refused(t, who, err, want)
			if err != nil && strings.ContainsAny(err.Error(), "<>") {
				t.Errorf("words of others: %v", err)
			}
		})
	}
}

func back(key, value string) func(*oidctest.Provider) {
	return func(p *oidctest.Provider) { p.Back = func(q url.Values) { q.Set(key, value) } }
}

// CON-29: the same answer again is nobody's, also where the provider takes a code twice.
func TestAnAnswerCountsOnce(t *testing.T) {
	fake := oidctest.New(t)
	fake.Replays = true
	w := newWorld(t, fake)
	at := w.travel()
	if _, err := w.arrive(at); err != nil {
		t.Fatal(err)
	}
	who, err := w.arrive(at)
	refused(t, who, err, oidc.ErrStale)
	other := newWorld(t, fake) // as after a restart
	who, err = other.arrive(at)
	refused(t, who, err, oidc.ErrStale)
	at = w.travel() // and at another door of ours than the one it set out from
	who, err = w.ours.Finish(t.Context(), "http://localhost:8417/console/oidc/callback", at.ticket, at.back)
	refused(t, who, err, oidc.ErrStale)
}

// CON-29: with two providers, what the one gave is nothing to the other.
func TestProvidersAreNotMixedUp(t *testing.T) {
	honest, evil := oidctest.New(t), oidctest.New(t)
	w := newWorld(t, honest)
	at := w.travel()
	// The attacker answers in the place of the honest one, with a code of its own.
	at.back.Set("iss", evil.Issuer)
	who, err := w.arrive(at)
	refused(t, who, err, oidc.ErrStale)
	// And once more with the honest name: the code is the attacker's, so the honest one refuses it.
	at.back.Set("iss", honest.Issuer)
	at.back.Set("code", newWorld(t, evil).travel().back.Get("code"))
	who, err = w.arrive(at)
	refused(t, who, err, oidc.ErrProvider)
}

// CON-29: a provider that says what it must not is not used, and the error says what to do about it.
func TestAProviderThatCannotBeUsed(t *testing.T) {
	set := func(key string, value any) func(*oidctest.Provider) {
		return func(p *oidctest.Provider) { p.Metadata = func(m map[string]any) { m[key] = value } }
	}
	for name, c := range map[string]struct {
		bend func(*oidctest.Provider)
		want string
	}{
		"another issuer":                {set("issuer", "https://evil.example"), "console.oidc.issuer"},
		"the issuer with a slash":       {func(p *oidctest.Provider) { p.Metadata = func(m map[string]any) { m["issuer"] = p.Issuer + "/" } }, "exactly"},
		"no PKCE but plain":             {set("code_challenge_methods_supported", []string{"plain"}), "S256"},
		"no place for tokens":           {set("token_endpoint", ""), "token_endpoint"},
		"tokens in the clear":           {set("token_endpoint", "http://sso.example/token"), "token_endpoint: plain http"},
		"a sign-in that is a script":    {set("authorization_endpoint", "javascript:alert(1)"), "authorization_endpoint"},
		"keys with a password":          {set("jwks_uri", "https://a:b@sso.example/keys"), "jwks_uri"},
		"an issuer that is no text":     {set("issuer", 7), "not the JSON"},
		"a page where there is no JSON": {func(p *oidctest.Provider) { p.Issuer += "/elsewhere" }, "status 404"},
	} {
		t.Run(name, func(t *testing.T) {
			fake := oidctest.New(t)
			c.bend(fake)
			w := newWorld(t, fake)
			start, err := w.ours.Begin(t.Context(), home)
			if !errors.Is(err, oidc.ErrProvider) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %+v, %v; want %s", start, err, c.want)
			}
			if err := w.ours.Check(t.Context()); err == nil {
				t.Error("the status says that it is well")
			}
		})
	}
}

// CON-29: an address that the provider names and that is not its own must be a public one.
func TestAProviderLeadsToNoPrivateAddress(t *testing.T) {
	inside := oidctest.New(t)
	inside.Asked = func(r *http.Request) { t.Errorf("asked for %s", r.URL.Path) }
	for _, key := range []string{"token_endpoint", "jwks_uri"} {
		for _, address := range []string{inside.Issuer + "/keys", "https://10.0.0.1/keys", "https://169.254.169.254/keys"} {
			fake := oidctest.New(t)
			fake.Metadata = func(m map[string]any) { m[key] = address }
			w := newWorld(t, fake)
			who, err := w.arrive(w.travel())
			refused(t, who, err, oidc.ErrProvider)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	fake := oidctest.New(t)
	good := newWorld(t, fake).opts
	for name, change := range map[string]func(*oidc.Options){
		"no client":                 func(o *oidc.Options) { o.ClientID = "" },
		"no roles":                  func(o *oidc.Options) { o.Roles = nil },
		"no clock":                  func(o *oidc.Options) { o.Now = nil },
		"an issuer in the clear":    func(o *oidc.Options) { o.Issuer = "http://sso.example" },
		"an issuer with a question": func(o *oidc.Options) { o.Issuer = "https://sso.example/?x" },
	} {
		o := good
		change(&o)
		if _, err := oidc.New(o); err == nil {
			t.Errorf("%s: it is taken", name)
		}
	}
}
