package console

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"

	h "github.com/tidemark/tidemark/internal/base/html"
	"github.com/tidemark/tidemark/internal/people/accounts"
	"github.com/tidemark/tidemark/internal/people/oidc"
)

// Where a sign-in at the provider begins, and where the provider sends the browser back to.
const (
	providerPath = Path + "/oidc"
	callbackPath = providerPath + "/callback"
)

// otherWay leads to the provider, where there is one. It is a link: the content rules let a form go
// nowhere but here, not even by a redirect.
func (c *Console) otherWay() h.Part {
	if c.oidc == nil {
		return h.List(nil)
	}
	return h.El("p", h.T("Or "), h.El("a", h.A("id", "provider"), h.A("href", providerPath), h.T("sign in at "+c.oidc.Name())))
}

// callback is the address the provider knows, under the name the browser came by.
func callback(r *http.Request) string {
	return scheme(r) + "://" + strings.ToLower(r.Host) + callbackPath
}

// ticketCookie ties a sign-in to this browser. It comes back from another site, so it is Lax; it opens
// nothing by itself.
func ticketCookie(r *http.Request, value string) *http.Cookie {
	t := &http.Cookie{ //nolint:gosec // Lax, for it comes back from another site
		Name: "__Host-tm-oidc", Value: value, Path: "/", HttpOnly: true, Secure: true, SameSite: http.SameSiteLaxMode,
		MaxAge: int(oidc.Life.Seconds()),
	}
	if scheme(r) == "https" {
		return t
	}
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		port = "80"
	}
	t.Name, t.Path, t.Secure = "tm-oidc-"+port, providerPath, false
	return t
}

// toProvider sends the browser to the provider; from a page of another site nobody sets out.
func (c *Console) toProvider(w http.ResponseWriter, r *http.Request) {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		c.showLogin(w, http.StatusForbidden, "Begin here: another page has sent you.")
		return
	}
	start, err := c.oidc.Begin(r.Context(), callback(r))
	if err != nil {
		c.notSignedIn(w, r, err)
		return
	}
	http.SetCookie(w, ticketCookie(r, start.Ticket))
	http.Redirect(w, r, start.URL, http.StatusSeeOther)
}

// fromProvider takes what the browser came back with. The session's cookie is sent to nobody who
// comes from another site, so a page of ours leads on.
func (c *Console) fromProvider(w http.ResponseWriter, r *http.Request) {
	given, err := r.Cookie(ticketCookie(r, "").Name)
	if err != nil {
		c.notSignedIn(w, r, oidc.ErrStale)
		return
	}
	who, err := c.oidc.Finish(r.Context(), callback(r), given.Value, r.URL.Query())
	if err != nil {
		c.notSignedIn(w, r, err)
		return
	}
	if c.people.Named(who.Name) { // a name is one person's, and nobody knows whether it is the same
		c.notSignedIn(w, r, say(http.StatusForbidden, "Somebody has a token under the name %s. Revoke it, or sign in with it.", who.Name))
		return
	}
	if !c.signedIn(w, r, accounts.By(who.Role, who.Name), who.Role, "by "+c.oidc.Name()) {
		return
	}
	gone := ticketCookie(r, "") //nolint:gosec // as it was set
	gone.MaxAge = -1
	http.SetCookie(w, gone)
	c.bare(w, http.StatusOK, h.Head{Title: "Signed in", Again: "0;url=" + Path + "/"},
		h.El("h1", h.T("Signed in")), h.El("p", h.El("a", h.A("href", Path+"/"), h.T("To the questions"))))
}

// notSignedIn says why, and records it where the provider had vouched for somebody. What anybody
// can bring about is not recorded: the log is not for everybody to fill.
func (c *Console) notSignedIn(w http.ResponseWriter, r *http.Request, err error) {
	ctx := r.Context()
	c.logger.LogAttrs(ctx, slog.LevelWarn, "console: sign-in by provider", slog.String("error", err.Error()))
	status, text := http.StatusForbidden, "Not signed in: "+err.Error()+"."
	var said *sentence
	switch {
	case errors.Is(err, oidc.ErrStale), errors.Is(err, oidc.ErrRefused):
		c.showLogin(w, status, text)
		return
	case errors.Is(err, oidc.ErrBusy):
		c.showLogin(w, http.StatusTooManyRequests, text)
		return
	case errors.Is(err, oidc.ErrToken), errors.Is(err, oidc.ErrNoRole):
	case errors.As(err, &said):
		text = "Not signed in. " + said.text
	default:
		c.showLogin(w, http.StatusBadGateway, "Not signed in: the provider cannot be used; the server's log and tidemark status say why.")
		return
	}
	if err := c.desk.Refuse(ctx, "by "+c.oidc.Name()+": "+err.Error()); err != nil {
		status, text = c.explain(ctx, err)
	}
	c.showLogin(w, status, text)
}
