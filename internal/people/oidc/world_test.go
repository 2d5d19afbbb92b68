package oidc_test

import (
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/base/outbound"
	"github.com/tidemark/tidemark/internal/people/oidc"
	"github.com/tidemark/tidemark/internal/test/oidctest"
)

// home is where the provider sends the browser back to.
const home = "http://tidemark.localhost:8417/console/oidc/callback"

// world is our side of a provider, with a clock of its own.
type world struct {
	t    *testing.T
	fake *oidctest.Provider
	ours *oidc.Provider
	late time.Duration // that our clock is ahead
	opts oidc.Options
}

func newWorld(t *testing.T, fake *oidctest.Provider, change ...func(*oidc.Options)) *world {
	t.Helper()
	w := &world{t: t, fake: fake}
	w.opts = oidc.Options{
		Issuer: fake.Issuer, ClientID: oidctest.ClientID, Secret: oidctest.Secret,
		Roles: []oidc.Role{{Name: "admin", Values: []string{"root"}}, {Name: "approver", Values: []string{"sec-team"}},
			{Name: "reader", Values: []string{"staff"}}},
		Now: func() time.Time { return time.Now().Add(w.late) }, Rand: rand.Reader,
	}
	for _, c := range change {
		c(&w.opts)
	}
	var err error
	if w.ours, err = oidc.New(w.opts); err != nil {
		t.Fatal(err)
	}
	return w
}

// trip is a browser that was at the provider and stands before our door again.
type trip struct {
	ticket string
	back   url.Values
}

var browser = &http.Client{CheckRedirect: outbound.Stay}

// travel goes to the provider and back.
func (w *world) travel() trip {
	w.t.Helper()
	start, err := w.ours.Begin(w.t.Context(), home)
	if err != nil {
		w.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, start.URL, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	res, err := browser.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	back, err := res.Location()
	if err != nil {
		w.t.Fatalf("the provider does not send the browser back: %d", res.StatusCode)
	}
	return trip{start.Ticket, back.Query()}
}

func (w *world) arrive(at trip) (oidc.Who, error) {
	w.t.Helper()
	return w.ours.Finish(w.t.Context(), home, at.ticket, at.back)
}

// refused fails the test unless nobody was signed in, for this reason.
func refused(t *testing.T, who oidc.Who, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got %+v, %v; want %v", who, err, want)
	}
	if who.Role != "" {
		t.Errorf("%+v has a role", who)
	}
}
