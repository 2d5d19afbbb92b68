package console

import (
	"net"
	"net/http"
	"strings"

	"github.com/tidemark/tidemark/internal/base/outbound"
	"github.com/tidemark/tidemark/internal/base/sameorigin"
)

// contentRules let nothing run, load or frame but what we serve ourselves.
const contentRules = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"manifest-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types tidemark"

const permissions = "publickey-credentials-get=(self), publickey-credentials-create=(self), camera=(), microphone=(), geolocation=()"

// headers are on every answer. The referrer stays within the origin: with no-referrer browsers
// would send "null" as the origin of our own forms.
func headers(h http.Header) {
	h.Set("Content-Security-Policy", contentRules)
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Permissions-Policy", permissions)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
}

// serve is the one entrance.
func (c *Console) serve(w http.ResponseWriter, r *http.Request) {
	headers(w.Header())
	if no := c.sameOrigin.Check(r); no != nil {
		c.fail(w, r, no.Status, no.Text)
		return
	}
	switch {
	case r.Header.Get("Authorization") != "":
		c.fail(w, r, http.StatusUnauthorized, "The console takes no bearer token. Sign in with tidemark console; tokens are for /v1.")
	case r.Method == http.MethodPost && !ownPost(r):
		c.fail(w, r, http.StatusForbidden, "This did not come from a page of the console. Nothing was changed.")
	case r.Method == http.MethodGet && numeric(r.Host):
		//nolint:gosec // the same machine by its name
		http.Redirect(w, r, "http://"+named(r.Host)+r.URL.RequestURI(), http.StatusTemporaryRedirect)
	case r.URL.Path == Path:
		http.Redirect(w, r, Path+"/", http.StatusPermanentRedirect)
	default:
		c.dispatch(w, r)
	}
}

// dispatch hands a request to its page; what the router refuses is a page of ours too.
func (c *Console) dispatch(w http.ResponseWriter, r *http.Request) {
	if _, pattern := c.mux.Handler(r); pattern == "" {
		c.fail(w, r, http.StatusNotFound, "There is no such page.")
		return
	}
	c.mux.ServeHTTP(w, r)
}

// ownPost reports whether a post comes from a page of exactly this origin. A browser says so
// in one of two ways; a request that says neither is not from one.
func ownPost(r *http.Request) bool {
	if site := r.Header.Values("Sec-Fetch-Site"); len(site) > 0 {
		return len(site) == 1 && site[0] == "same-origin"
	}
	origin := r.Header.Get("Origin")
	return origin != "" && strings.EqualFold(origin, scheme(r)+"://"+r.Host)
}

// scheme is http on this machine and https everywhere else: there a TLS proxy stands before us.
func scheme(r *http.Request) string {
	if r.TLS != nil || !onThisMachine(r) {
		return "https"
	}
	return "http"
}

func onThisMachine(r *http.Request) bool {
	name := hostName(r.Host)
	return name == sameorigin.ConsoleName || outbound.Local(name)
}

// numeric reports whether the console was reached by an address of this machine: keys are
// bound to names.
func numeric(host string) bool {
	return net.ParseIP(hostName(host)) != nil
}

// named is the same place under its name.
func named(host string) string {
	if _, port, err := net.SplitHostPort(host); err == nil {
		return net.JoinHostPort(sameorigin.ConsoleName, port)
	}
	return sameorigin.ConsoleName
}

func hostName(hostport string) string {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

// cookie is the name and the reach of the session's cookie. Cookies know no ports, so its
// name does.
func cookie(r *http.Request, value string) *http.Cookie {
	if scheme(r) == "https" {
		return &http.Cookie{Name: "__Host-tm", Value: value, Path: "/", HttpOnly: true, Secure: true, SameSite: http.SameSiteStrictMode}
	}
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		port = "80"
	}
	//nolint:gosec // over plain HTTP, on this machine
	return &http.Cookie{Name: "tm-" + port, Value: value, Path: Path, HttpOnly: true, SameSite: http.SameSiteStrictMode}
}

// admit says who comes, or shows them the way in.
func (c *Console) admit(w http.ResponseWriter, r *http.Request) (*visit, bool) {
	given, err := r.Cookie(cookie(r, "").Name)
	if err != nil {
		c.signedOut(w, r)
		return nil, false
	}
	s, ok := c.desk.Session(r.Context(), given.Value)
	switch {
	case !ok:
		c.signedOut(w, r)
		return nil, false
	case !s.Confirmed:
		if isPage(r) {
			http.Redirect(w, r, Path+"/wait", http.StatusSeeOther)
		} else {
			c.fail(w, r, http.StatusUnauthorized, "The digits were not confirmed yet.")
		}
		return nil, false
	}
	return &visit{w: w, r: r, Standing: s}, true
}

// isPage reports whether a browser wants a page to show, and not something for one.
func isPage(r *http.Request) bool {
	return r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Dest") != "empty" && strings.Contains(r.Header.Get("Accept"),
		"text/html")
}

// mayApprove reports whether the session's own role lets it approve.
func (v *visit) mayApprove() bool { return !v.Idle && (v.Role == "approver" || v.Role == "admin") }

// mayRule reports whether its role lets it do what administrators do.
func (v *visit) mayRule() bool { return !v.Idle && v.Role == "admin" }
