package console

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	h "github.com/tidemark/tidemark/internal/base/html"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/people/sight"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/trust"
)

// The bounds of a list: rows of a page, and how many sessions are looked at for them.
const (
	pageRows = 100
	maxLooks = 1000
)

// sessionFilter is which sessions a person wants to see.
type sessionFilter struct {
	prefix, agent, mark string
	asking              bool
	after               string
}

func filterOf(q url.Values) sessionFilter {
	return sessionFilter{prefix: q.Get("find"), agent: q.Get("agent"), mark: q.Get("mark"), asking: q.Get("asking") != "",
		after: q.Get("after")}
}

func (f *sessionFilter) query(after string) string {
	q := url.Values{}
	for name, value := range map[string]string{"find": f.prefix, "agent": f.agent, "mark": f.mark, "after": after} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if f.asking {
		q.Set("asking", "1")
	}
	return "/console/sessions?" + q.Encode()
}

// fits reports whether a session is among those; one that cannot be read always is.
func (f *sessionFilter) fits(v *engine.View) bool {
	if v == nil {
		return true
	}
	if f.agent != "" && v.Agent != f.agent || f.asking && pending(v) == 0 {
		return false
	}
	if f.mark == "" {
		return true
	}
	level, err := trust.ParseLevel(f.mark)
	return err == nil && v.Taint.Level <= level
}

func pending(v *engine.View) int {
	n := 0
	for i := range v.Questions {
		if v.Questions[i].Pending() {
			n++
		}
	}
	return n
}

type sessionRow struct {
	store.Session
	view *engine.View
}

// sessions reads a page of those that fit, newest first, and where the next one begins.
func (c *Console) sessions(ctx context.Context, f *sessionFilter) (rows []sessionRow, next string, err error) {
	after := f.after
	all := sight.From(ctx)
	for looked := 0; looked < maxLooks || !all.Whole(); { // where something is hidden no page begins after it: its name would be told
		page, err := c.log.Sessions(ctx, store.SessionQuery{Limit: pageRows, After: after, Prefix: f.prefix})
		if err != nil {
			return nil, "", err
		}
		for _, s := range page {
			after = s.Name
			looked++
			v, err := c.monitor.View(ctx, s.Name)
			row := sessionRow{s, &v}
			if err != nil {
				if ctx.Err() != nil {
					return nil, "", err
				}
				c.logger.LogAttrs(ctx, slog.LevelError, "session cannot be read", slog.String("session", s.Name),
					slog.String("error", err.Error()))
				row.view = nil
			}
			if f.fits(row.view) && (all.Whole() || row.view != nil && all.Agent(row.view.Agent)) {
				if rows = append(rows, row); len(rows) == pageRows {
					return rows, after, nil
				}
			}
		}
		if len(page) < pageRows {
			return rows, "", nil
		}
	}
	return rows, after, nil
}

func (c *Console) sessionsPage(v *visit) {
	f := filterOf(v.r.URL.Query())
	rows, next, err := c.sessions(v.r.Context(), &f)
	if err != nil {
		c.wrong(v, err)
		return
	}
	always, err := c.lastingGrants(v)
	if err != nil {
		c.wrong(v, err)
		return
	}
	levels := []string{""}
	for _, l := range trust.Levels() {
		levels = append(levels, l.String())
	}
	body := h.List{
		h.El("h1", h.T("Sessions")),
		h.El("form", h.A("method", "get"), h.A("action", "/console/sessions"), h.Class("filters"),
			field("Name begins with", "find", f.prefix), field("Agent", "agent", f.agent), choice("Trust at or below", "mark", f.mark,
				levels...),
			h.El("label", h.T("Only with questions "), h.El("input", h.A("type", "checkbox"), h.A("name", "asking"),
				h.A("value", "1"), h.Flag("checked", f.asking))),
			h.El("button", h.T("Filter"))),
		c.sessionTable(rows),
	}
	pages := h.List{h.Class("pages")}
	if f.after != "" {
		pages = append(pages, h.El("a", h.A("href", f.query("")), h.T("Newest")))
	}
	if next != "" {
		pages = append(pages, h.El("a", h.A("href", f.query(next)), h.T("Older")))
	}
	c.page(v, http.StatusOK, "Sessions", append(body, h.El("p", pages...), always)...)
}

// lastingGrants are what holds in every session, each with a way to end it.
func (c *Console) lastingGrants(v *visit) (h.HTML, error) {
	list, err := c.seenLasting(v.r.Context())
	if err != nil || len(list) == 0 {
		return h.HTML{}, err
	}
	parts := h.List{h.El("h2", h.T("Always allowed"))}
	for _, g := range list {
		parts = append(parts, h.El("p", h.El("code", h.T(g.ID)), h.T(" "), foreign(g.Opens), h.T(", by "), foreign(g.By),
			h.T(" on "+g.Given.UTC().Format("2006-01-02")+" "),
			c.actForm(v, "/console/session/act", "", hidden("grant", g.ID), act("revoke", "End it"))))
	}
	return h.El("section", parts...), nil
}

func (c *Console) sessionTable(rows []sessionRow) h.HTML {
	if len(rows) == 0 {
		return h.El("div", h.Class("empty"), h.El("p", h.T("No session matches. An agent that never shows up here is not connected: ")),
			h.El("p", h.El("code", h.T("tidemark install")), h.T(" connects one, "), h.El("a", h.A("href", "/console/health"),
				h.T("Health")), h.T(" says which are.")))
	}
	var lines h.List
	for _, r := range rows {
		last := time.Unix(0, r.LastTime)
		if r.view == nil {
			lines = append(lines, h.El("tr", h.El("td", levelWord("untrusted")), h.El("th", h.A("scope", "row"),
				sessionLink(r.Name)), h.El("td", c.ago(last)),
				h.El("td", h.A("colspan", "5"), h.El("strong", h.Class("bad"),
					h.T("Its log cannot be read: its calls are refused. Run: tidemark log verify")))))
			continue
		}
		s := r.view
		lines = append(lines, h.El("tr", h.El("td", levelWord(s.Taint.Level.String())), h.El("th", h.A("scope", "row"),
			sessionLink(r.Name)),
			h.El("td", c.ago(last)), h.El("td", foreign(s.Agent)), number(int64(s.Turns)), number(s.Steps), number(s.Denied),
			number(int64(pending(s)))))
	}
	return h.El("section", h.Class("rows scroll"), h.A("tabindex", "0"), h.A("aria-label", "Sessions"), h.El("table",
		h.El("caption", h.T(strconv.Itoa(len(rows))+" sessions, those begun last first")),
		h.El("thead", h.El("tr", heads("Mark", "Session", "Last act", "Agent", "Turns", "Calls", "Stopped", "Waiting")...)),
		h.El("tbody", lines)))
}

func number(n int64) h.HTML { return h.El("td", h.Class("n"), h.T(strconv.FormatInt(n, 10))) }

// query is an address with one thing changed.
func query(path string, q url.Values, name, value string) string {
	next := url.Values{}
	for k, v := range q {
		next[k] = v
	}
	if next.Set(name, value); value == "" {
		next.Del(name)
	}
	return strings.TrimSuffix(path+"?"+next.Encode(), "?")
}
