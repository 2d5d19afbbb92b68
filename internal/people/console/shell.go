package console

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	h "github.com/tidemark/tidemark/internal/base/html"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/people/accounts"
	"github.com/tidemark/tidemark/internal/people/approvalproof"
	"github.com/tidemark/tidemark/internal/people/sight"
	"github.com/tidemark/tidemark/internal/question"
)

// tab is one place in the navigation.
type tab struct{ path, name string }

var tabs = []tab{
	{"/console/", "Questions"}, {"/console/sessions", "Sessions"}, {grantsPath, "Grants"},
	{"/console/policy", "Policy"}, {"/console/tools", "Tools"},
	{"/console/health", "Health"}, {"/console/audit", "Audit"}, {"/console/reports", "Reports"}, {"/console/labels", "Labels"},
	{"/console/writes", "Writes that wait"}, {"/console/servers", "MCP servers"}, {"/console/keys", "Keys"},
}

// page shows a whole page with the navigation around it.
func (c *Console) page(v *visit, status int, title string, body ...h.Part) {
	n := c.waiting(v.r.Context())
	heading := title
	if n > 0 {
		heading = fmt.Sprintf("(%d) %s", n, title)
	}
	head := h.Head{
		Title: heading + " · Tidemark", Styles: []string{c.assets.named["console.css"]}, Modules: []string{c.assets.named["console.js"]},
		Links: c.links(),
	}
	main := h.El("main", append(h.List{h.A("id", "main"), h.A("tabindex", "-1")}, body...)...)
	writePacked(v.w, v.r, status, h.Page(head,
		h.El("a", h.Class("skip"), h.A("href", "#main"), h.T("Skip to the page")),
		h.El("div", h.Class("frame"), c.rail(v, n), h.El("div", h.Class("room"), c.bar(v), c.banners(v), main)),
	))
}

// rail is the navigation.
func (c *Console) rail(v *visit, waiting int) h.HTML {
	var items h.List
	for _, t := range seenTabs(v) {
		current := h.Attr{}
		if v.r.URL.Path == t.path {
			current = h.A("aria-current", "page")
		}
		var count h.Part = h.List(nil)
		if t.name == "Questions" {
			count = h.El("span", h.Class("count"), h.A("id", "waiting"), h.A("data-count", strconv.Itoa(waiting)),
				h.T(countText(waiting)))
		}
		items = append(items, h.El("li", h.El("a", h.A("href", t.path), current, h.T(t.name), count)))
	}
	return h.El("nav", h.Class("rail"), h.A("aria-label", "Pages"), h.El("p", h.Class("brand"), h.T("Tidemark")), h.El("ul", items))
}

func countText(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" %d", n)
}

// bar says who is signed in, and ends it.
func (c *Console) bar(v *visit) h.HTML {
	const out = Path + "/logout"
	who := shownBy(v.By)
	if v.Idle {
		who += ", idle: sign in again to do more than read and deny"
	}
	return h.El("header", h.Class("bar"),
		h.El("p", h.A("id", "live"), h.A("role", "status"), h.Class("live"), h.A("data-now", strconv.FormatInt(c.now().UnixMilli(), 10))),
		h.El("p", h.Class("who"), h.T("Signed in as "+who)), toStop(v),
		h.El("form", h.A("method", "post"), h.A("action", out), c.token(v, out), h.El("button", h.Class("quiet"), h.T("Sign out"))))
}

// shownBy is somebody as people read it: the name, and the role they came in.
func shownBy(by string) string {
	role, name, named := strings.Cut(by, ":")
	if !named || !slices.Contains(accounts.Roles, role) {
		return by
	}
	return name + ", " + role
}

// banners are what everybody must see until it is no longer so.
func (c *Console) banners(v *visit) h.HTML {
	var out h.List
	out = append(out, c.stopBanner(v)...)
	state := c.keys.State()
	if state.Forgotten > 0 && c.now().UnixNano()-state.Forgotten < int64(30*24*3600e9) {
		out = append(out, h.El("p", h.Class("banner bad"),
			h.T("All keys were forgotten from the command line. If that was not you, somebody else can use this machine as you.")))
	}
	if c.alarms != nil && sight.From(v.r.Context()).Whole() {
		for _, o := range c.alarms.Open() {
			out = append(out, h.El("p", h.Class("banner bad"), h.T(o.About+": "+o.Text+". Look with: tidemark doctor")),
				h.El("form", h.A("method", "post"), h.A("action", noticesPath), c.token(v, noticesPath), hidden("what", o.ID),
					h.El("button", h.A("name", "do"), h.A("value", "deny"), h.T("I have seen it"))))
		}
	}
	if c.keys.Required() == approvalproof.None {
		out = append(out, h.El("p", h.Class("banner"),
			h.T("Whoever has the approver's token can approve. "),
			h.El("a", h.A("href", "/console/keys"), h.T("Enrol a passkey")), h.T(" so that only you can.")))
	}
	if len(out) == 0 {
		return h.HTML{}
	}
	return h.El("aside", append(h.List{h.A("aria-label", "Notices")}, out...)...)
}

// token is the hidden field of a form for a path.
func (c *Console) token(v *visit, path string) h.HTML { return hidden("token", v.Token(path)) }

func hidden(name, value string) h.HTML {
	return h.El("input", h.A("type", "hidden"), h.A("name", name), h.A("value", value))
}

// waiting is how many questions are open.
func (c *Console) waiting(ctx context.Context) int {
	list, err := c.questions(ctx)
	if err != nil {
		return 0 // the page itself says what is wrong
	}
	return waitingIn(list)
}

func write(w http.ResponseWriter, status int, page h.HTML) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(page.String())) // a browser that is gone cannot be told
}

// writePacked is write for a page that may be long.
func writePacked(w http.ResponseWriter, r *http.Request, status int, page h.HTML) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	pack(w, r, status, []byte(page.String()))
}

// pack sends a body packed to whoever takes it so. What is secret in it is masked: see signin.Session.Token.
func pack(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	w.Header().Set("Vary", "Accept-Encoding")
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.WriteHeader(status)
		_, _ = w.Write(body) // a browser that is gone cannot be told
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	w.WriteHeader(status)
	z, _ := packers.Get().(*gzip.Writer)
	defer packers.Put(z)
	z.Reset(w)
	_, _ = z.Write(body) // a browser that is gone cannot be told
	_ = z.Close()
}

// packers are large, and used for a moment.
var packers = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed) // the level is a good one
	return z
}}

// bare is a page without navigation, for whoever is not signed in.
func (c *Console) bare(w http.ResponseWriter, status int, head h.Head, body ...h.Part) {
	head.Title += " · Tidemark"
	head.Styles = []string{c.assets.named["console.css"]}
	head.Modules, head.Links = []string{c.assets.named["console.js"]}, c.links()
	main := h.El("main", append(h.List{h.Class("bare"), h.A("id", "main")}, body...)...)
	write(w, status, h.Page(head, main))
}

// fail says what is wrong in a sentence. A script gets the sentence alone.
func (c *Console) fail(w http.ResponseWriter, r *http.Request, status int, text string) {
	if !isPage(r) && r.Header.Get("Sec-Fetch-Dest") == "empty" {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(text)) // a browser that is gone cannot be told
		return
	}
	c.bare(w, status, h.Head{Title: http.StatusText(status)},
		h.El("h1", h.T(http.StatusText(status))), h.El("p", h.T(clean(text))),
		h.El("p", h.El("a", h.A("href", "/console/"), h.T("To the questions"))))
}

// wrong shows an error of the inside as the sentence it is worth.
func (c *Console) wrong(v *visit, err error) {
	status, text := c.explain(v.r.Context(), err)
	if v.r.Header.Get("Sec-Fetch-Dest") == "empty" {
		c.fail(v.w, v.r, status, text)
		return
	}
	c.page(v, status, http.StatusText(status), h.El("h1", h.T(http.StatusText(status))), h.El("p", h.Class("bad"), h.T(clean(text))))
}

// explain is the one table from errors to what a person is told.
func (c *Console) explain(ctx context.Context, err error) (status int, text string) {
	var answer *engine.AnswerError
	var said *sentence
	switch {
	case errors.As(err, &said):
		return said.status, said.text
	case errors.Is(err, engine.ErrProof):
		return http.StatusForbidden, "Not done: " + err.Error() + "."
	case errors.As(err, &answer):
		return http.StatusConflict, "Nothing was approved: " + answer.Err.Error() + "."
	case errors.Is(err, question.ErrApart):
		return http.StatusConflict, "Nothing was approved: " + err.Error() + "."
	case errors.Is(err, engine.ErrNotFound):
		return http.StatusNotFound, "There is no such thing here, or it ended long ago."
	case errors.Is(ctx.Err(), context.Canceled) && (errors.Is(err, context.Canceled) || errors.Is(err, engine.ErrUnavailable)):
		c.logger.LogAttrs(ctx, slog.LevelInfo, "console: the browser hung up", slog.String("error", err.Error()))
		return http.StatusServiceUnavailable, "Nothing was done: the browser did not wait."
	case errors.Is(err, engine.ErrUnavailable):
		c.logger.LogAttrs(ctx, slog.LevelError, "console: log", slog.String("error", err.Error()))
		return http.StatusServiceUnavailable,
			"The log cannot be read or written, so nothing was done and no call runs. Run: tidemark doctor"
	}
	c.logger.LogAttrs(ctx, slog.LevelError, "console", slog.String("error", err.Error()))
	return http.StatusInternalServerError, "Something went wrong inside; the server's log says what."
}

// sentence is an error that is fit to be read as it is.
type sentence struct {
	status int
	text   string
}

func (s *sentence) Error() string { return s.text }

func say(status int, format string, args ...any) error {
	return &sentence{status, fmt.Sprintf(format, args...)}
}

// sessionLink leads to a session.
func sessionLink(key string) h.HTML {
	return h.El("a", h.A("href", "/console/session?key="+url.QueryEscape(key)), foreign(key))
}
