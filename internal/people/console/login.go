package console

import (
	"errors"
	"net/http"
	"regexp"
	"strings"

	h "github.com/tidemark/tidemark/internal/base/html"
	"github.com/tidemark/tidemark/internal/people/signin"
)

// wanted are ids of questions.
var wanted = regexp.MustCompile(`^[a-z0-9-]{1,80}$`)

// wantedCookie remembers which question somebody came for who has to sign in first: a notice led them there.
func wantedCookie(r *http.Request, id string) *http.Cookie {
	w := cookie(r, id) //nolint:gosec // cookie sets the rest
	w.Name, w.MaxAge, w.SameSite = w.Name+"-to", 600, http.SameSiteLaxMode
	return w
}

// onTo leads somebody who just signed in to the question they came for.
func (c *Console) onTo(v *visit) bool {
	given, err := v.r.Cookie(wantedCookie(v.r, "").Name)
	if err != nil {
		return false
	}
	gone := wantedCookie(v.r, "") //nolint:gosec // likewise
	gone.MaxAge = -1
	http.SetCookie(v.w, gone)
	if !wanted.MatchString(given.Value) {
		return false
	}
	http.Redirect(v.w, v.r, Path+"/q/"+given.Value, http.StatusSeeOther) //nolint:gosec // an id and nothing else, of a page of ours
	return true
}

// signedOut shows the way in.
func (c *Console) signedOut(w http.ResponseWriter, r *http.Request) {
	if isPage(r) {
		if id, ok := strings.CutPrefix(r.URL.Path, Path+"/q/"); ok && wanted.MatchString(id) {
			http.SetCookie(w, wantedCookie(r, id))
		}
		http.Redirect(w, r, Path+"/login", http.StatusSeeOther)
		return
	}
	c.fail(w, r, http.StatusUnauthorized, "Signed out. Run: tidemark console")
}

// loginPage takes the code, typed or, by script, from behind the # of the address, which no
// server and no log ever sees.
func (c *Console) loginPage(w http.ResponseWriter, _ *http.Request) {
	c.showLogin(w, http.StatusOK, "")
}

func (c *Console) showLogin(w http.ResponseWriter, status int, problem string) {
	note := h.Part(h.List(nil))
	if problem != "" {
		note = h.El("p", h.Class("bad"), h.A("role", "alert"), h.T(problem))
	}
	c.bare(w, status, h.Head{Title: "Sign in"},
		h.El("h1", h.T("Sign in to Tidemark")), note,
		h.El("p", h.T("Run "), h.El("code", h.T("tidemark console")),
			h.T(" on the machine of the server. It opens this page, or shows a code to type here. "+
				"If you have a token of your own, you can type that.")),
		h.El("form", h.A("method", "post"), h.A("action", Path+"/login"), h.A("id", "login"), h.A("autocomplete", "off"),
			h.El("label", h.A("for", "code"), h.T("Code, or your token")),
			h.El("input", h.A("id", "code"), h.A("name", "code"), h.Flag("required", true), h.A("autocomplete", "off"),
				h.A("autocapitalize", "characters"), h.A("spellcheck", "false"), h.A("maxlength", "80")),
			h.El("button", h.Class("main"), h.T("Sign in"))),
		c.otherWay())
}

func (c *Console) login(w http.ResponseWriter, r *http.Request) {
	if !c.readForm(w, r) {
		return
	}
	code := strings.TrimSpace(r.PostForm.Get("code"))
	if p, ok := c.people.Find(code); ok {
		if c.signedIn(w, r, p.By(), p.Role, "with their token") {
			http.Redirect(w, r, Path+"/", http.StatusSeeOther)
		}
		return
	}
	value, err := c.desk.Enter(r.Context(), code)
	switch {
	case errors.Is(err, signin.ErrNoLink):
		c.showLogin(w, http.StatusForbidden, signin.ErrNoLink.Error())
		return
	case errors.Is(err, signin.ErrBusy):
		c.showLogin(w, http.StatusTooManyRequests, err.Error())
		return
	case err != nil:
		status, text := c.explain(r.Context(), err)
		c.showLogin(w, status, text)
		return
	}
	http.SetCookie(w, cookie(r, value))
	http.Redirect(w, r, Path+"/wait", http.StatusSeeOther)
}

// signedIn begins the session of somebody who has shown who they are, or says why not.
func (c *Console) signedIn(w http.ResponseWriter, r *http.Request, by, role, how string) bool {
	value, err := c.desk.Admit(r.Context(), by, role, how)
	if err != nil {
		status, text := http.StatusTooManyRequests, err.Error()
		if !errors.Is(err, signin.ErrBusy) {
			status, text = c.explain(r.Context(), err)
		}
		c.showLogin(w, status, text)
		return false
	}
	http.SetCookie(w, cookie(r, value))
	return true
}

// waitPage shows the digits until whoever asked for the link has compared them.
func (c *Console) waitPage(w http.ResponseWriter, r *http.Request) {
	given, err := r.Cookie(cookie(r, "").Name)
	if err != nil {
		c.signedOut(w, r)
		return
	}
	s, ok := c.desk.Session(r.Context(), given.Value)
	switch {
	case !ok:
		c.showLogin(w, http.StatusForbidden, "Not signed in: the digits did not match, or nobody compared them in time.")
	case s.Confirmed:
		http.Redirect(w, r, Path+"/", http.StatusSeeOther)
	default:
		c.bare(w, http.StatusOK, h.Head{Title: "Compare the digits", Again: "1"},
			h.El("h1", h.T("Compare the digits")),
			h.El("p", h.Class("digits"), h.A("id", "digits"), h.T(s.Digits)),
			h.El("p", h.T("The terminal asks whether this page shows these digits. "+
				"If it shows others, say no: somebody else used your link.")))
	}
}

// logout ends a session: this one, or another of the list.
func (c *Console) logout(v *visit) {
	id := v.r.PostForm.Get("session")
	if id == "" {
		id = v.ID
	}
	if id != v.ID && !v.mayApprove() {
		c.wrong(v, say(http.StatusForbidden, "Ending the session of somebody else takes the role approver or admin."))
		return
	}
	if err := c.desk.End(v.r.Context(), id, v.by()); err != nil {
		c.wrong(v, err)
		return
	}
	if id == v.ID {
		gone := cookie(v.r, "") //nolint:gosec // cookie sets the rest
		gone.MaxAge = -1
		http.SetCookie(v.w, gone)
		v.w.Header().Set("Clear-Site-Data", `"cache"`)
	}
	http.Redirect(v.w, v.r, Path+"/", http.StatusSeeOther)
}
