package console

import (
	"errors"
	"net/http"
	"net/url"

	h "github.com/tidemark/tidemark/internal/base/html"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/store"
)

// labelsPage is what was written while tainted.
func (c *Console) labelsPage(v *visit) {
	all, err := c.monitor.Labels(v.r.Context())
	if err != nil {
		c.wrong(v, err)
		return
	}
	q := v.r.URL.Query()
	var rows h.List
	next := ""
	for _, l := range all {
		if after := q.Get("after"); after != "" && l.Key <= after {
			continue
		}
		if len(rows) == pageRows {
			break
		}
		next = l.Key
		from := h.List{}
		for i, s := range l.Sources {
			if i < 2 {
				from = append(from, h.El("p", foreign(s.Tool+" "+s.Detail), h.T(" "), quotedIf(s.Excerpt)))
			}
		}
		rows = append(rows, h.El("tr", h.El("th", h.A("scope", "row"), foreign(l.Key)), h.El("td", levelWord(l.Level.String())),
			h.El("td", sessionLink(l.Session)), h.El("td", foreign(l.Tool)), h.El("td", from), h.El("td", c.actForm(v,
				"/console/labels", l.Key, act("vouch", "Vouch for it")))))
	}
	body := h.List{h.El("h1", h.T("Labels")), h.El("p",
		h.T("What agents wrote while their context was tainted. Whoever reads it back is tainted by it, until a person vouches for it."))}
	if len(rows) == 0 {
		c.page(v, http.StatusOK, "Labels", append(body, h.El("p", h.Class("empty"),
			h.T("Nothing was written from a tainted context.")))...)
		return
	}
	body = append(body, h.El("section", h.Class("rows scroll"), h.A("tabindex", "0"), h.A("aria-label", "Labels"), h.El("table",
		h.El("caption", h.T("By key")),
		h.El("thead", h.El("tr", heads("What", "Level", "Written in", "With", "Because of", "")...)), h.El("tbody", rows))))
	if len(rows) == pageRows {
		body = append(body, h.El("p", h.El("a", h.A("href", query("/console/labels", q, "after", next)), h.T("More"))))
	}
	c.page(v, http.StatusOK, "Labels", body...)
}

func (c *Console) clearLabel(v *visit) {
	err := c.proven(v, "admin")
	if err == nil {
		err = c.monitor.ClearLabel(v.r.Context(), v.r.PostForm.Get("what"), v.by(), "console")
	}
	if err != nil {
		c.wrong(v, err)
		return
	}
	http.Redirect(v.w, v.r, "/console/labels", http.StatusSeeOther)
}

// writesPage is the writes to memory that were kept for a person.
func (c *Console) writesPage(v *visit) {
	ctx := v.r.Context()
	page, err := c.log.Sessions(ctx, store.SessionQuery{Limit: pageRows, After: v.r.URL.Query().Get("after")})
	if err != nil {
		c.wrong(v, err)
		return
	}
	var cards h.List
	for _, s := range page {
		view, err := c.monitor.View(ctx, s.Name)
		if err != nil {
			continue // the list of sessions says so
		}
		for _, w := range view.Writes {
			cards = append(cards, c.writeCard(v, s.Name, w))
		}
	}
	body := h.List{h.El("h1", h.T("Writes that wait")), h.El("p",
		h.T("Writes to the files an agent reads back as its memory, stopped in a tainted context and kept whole."))}
	if len(cards) == 0 {
		body = append(body, h.El("p", h.Class("empty"), h.T("No write waits in these sessions.")))
	} else {
		body = append(body, h.El("div", append(h.List{h.Class("list")}, cards...)...))
	}
	if len(page) == pageRows {
		body = append(body, h.El("p", h.El("a", h.A("href", query("/console/writes", url.Values{}, "after",
			page[len(page)-1].Name)), h.T("Older sessions"))))
	}
	c.page(v, http.StatusOK, "Writes that wait", body...)
}

func (c *Console) writeCard(v *visit, session string, w engine.WriteView) h.HTML {
	parts := h.List{h.Class("card"), h.El("h2", foreign(w.Path)),
		h.El("p", h.Class("meta"), h.El("strong", h.T(w.Status)), h.T(" · "), foreign(w.Tool), h.T(" in "),
			sessionLink(session), h.T(" · "), c.ago(w.Time))}
	if args, err := c.writeArgs(v, session, w.ID); err == nil {
		lines := h.List{h.Class("evidence")}
		for _, leaf := range strictjson.Flat(args) {
			lines = append(lines, row(clean(cut(leaf.Path, 100)), "arg", h.El("span", h.Class("pre"), foreign(leaf.Text))))
		}
		parts = append(parts, h.El("details", h.El("summary", h.T("What it would write")), h.El("dl", lines...)))
	}
	if w.Status == "held" {
		parts = append(parts, c.actForm(v, "/console/writes", w.ID, hidden("session", session),
			h.El("div", h.Class("buttons"), act("discard", "Discard"), act("release", "Release once"))))
	}
	return h.El("article", parts...)
}

var errGone = errors.New("the write is not in the log")

// writeArgs is the whole call of a write.
func (c *Console) writeArgs(v *visit, session, id string) (string, error) {
	for e, err := range c.monitor.Events(v.r.Context(), session) {
		if err != nil {
			return "", err
		}
		if d := e.Decided; d != nil && d.Write != nil && d.Write.ID == id {
			return d.Write.Args, nil
		}
	}
	return "", errGone
}

func (c *Console) reviewWrite(v *visit) {
	f := v.r.PostForm
	release := f.Get("do") == "release"
	var err error
	if release {
		err = c.proven(v, "approver")
	} else if f.Get("do") != "discard" {
		err = say(http.StatusBadRequest, "Nothing was changed: say release or discard.")
	}
	if err == nil {
		_, err = c.monitor.Review(v.r.Context(), f.Get("session"), f.Get("what"), release, v.by(), "console")
	}
	if err != nil {
		c.wrong(v, err)
		return
	}
	http.Redirect(v.w, v.r, "/console/writes", http.StatusSeeOther)
}
