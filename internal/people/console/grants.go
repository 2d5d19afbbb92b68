package console

import (
	"net/http"

	h "github.com/tidemark/tidemark/internal/base/html"
	"github.com/tidemark/tidemark/internal/engine"
)

const grantsPath = Path + "/grants"

// grantsPage lists what answers have opened besides the calls they were about, what lasts longest first; a press takes it back.
func (c *Console) grantsPage(v *visit) {
	lasting, err := c.seenLasting(v.r.Context())
	if err != nil {
		c.wrong(v, err)
		return
	}
	uses, unknown := c.counts.Uses(v.r.Context())
	var list h.List
	for i := range lasting {
		if g := &lasting[i]; unknown == nil && !g.Pair {
			g.Counted(uses[g.ID].Times, uses[g.ID].Last)
		}
		list = append(list, c.grantLine(v, "", &lasting[i]))
	}
	rows, next, err := c.sessions(v.r.Context(), &sessionFilter{after: v.r.URL.Query().Get("after")})
	if err != nil {
		c.wrong(v, err)
		return
	}
	for _, r := range rows {
		if r.view == nil {
			continue
		}
		for i := range r.view.Grants {
			list = append(list, c.grantLine(v, r.Name, &r.view.Grants[i]))
		}
	}
	body := h.List{h.El("h1", h.T("Grants")), h.El("p", h.Class("quiet"),
		h.T("What runs without asking you: what your approvals allow beyond the calls they were about, and what the policy allows."))}
	if unknown != nil {
		c.logger.Error("what was allowed for good cannot be counted", "error", unknown)
		body = append(body, h.El("p", h.Class("banner"),
			h.T("How often permanent grants were used is not known: the log could not be read.")))
	}
	if len(list) == 0 {
		body = append(body, h.El("p", h.Class("empty"), h.T("No grants: every approval was for one call.")))
	} else {
		body = append(body, h.El("ul", append(h.List{h.Class("given")}, list...)...))
	}
	if next != "" {
		body = append(body, h.El("p", h.Class("pages"),
			h.El("a", h.A("href", query(grantsPath, nil, "after", next)), h.T("Of older sessions"))))
	}
	c.page(v, http.StatusOK, "Grants", body...)
}

// grantLine is one of them: what it opens, for how long, how often yet, when it was used, who gave it.
func (c *Console) grantLine(v *visit, session string, g *engine.GrantView) h.HTML {
	kind := "for a while"
	switch {
	case g.Always:
		kind = "always"
	case g.Task:
		kind = "for a task"
	case g.Turn:
		kind = "until the turn ends"
	}
	facts := h.List{h.Class("meta"), h.El("strong", h.T(kind))}
	if session != "" {
		facts = append(facts, h.T(" · in "), sessionLink(session))
	}
	if !g.Until.IsZero() && !g.Turn {
		facts = append(facts, h.T(" · ends "+g.Until.UTC().Format("2006-01-02 15:04 UTC")))
	}
	if g.Calls > 0 {
		facts = append(facts, h.T(" · "+counted(g.Calls, "call")+" left"))
	}
	switch {
	case g.Times == nil: // nobody counted, or it lets nothing through by itself
	case *g.Times == 0:
		facts = append(facts, h.T(" · not used yet"))
	default:
		facts = append(facts, h.T(" · used "+times(*g.Times)+", last "), c.ago(g.Used))
	}
	if g.By != "" {
		facts = append(facts, h.T(" · by "), foreign(g.By))
	}
	opens := h.El("p", h.El("bdi", h.Class("prose"), h.T(clean(cut(g.Opens, maxShown)))))
	if g.File != "" {
		return h.El("li", opens, h.El("p", append(facts, h.T(" · to end it, take its lines out of "), foreign(g.File))...))
	}
	return h.El("li", opens, h.El("p", facts...),
		h.El("form", h.A("method", "post"), h.A("action", sessionActPath), c.token(v, sessionActPath),
			hidden("what", session), hidden("grant", g.ID), hidden("back", "given"),
			h.El("button", h.A("name", "do"), h.A("value", "revoke"), h.T("End it"))))
}

// times says how often something happened.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return counted(n, "time")
}
