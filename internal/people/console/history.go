package console

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	h "github.com/tidemark/tidemark/internal/base/html"
	"github.com/tidemark/tidemark/internal/reports/definitions"
)

const historyPath = Path + "/tools/history"

// described is, by tool, the history that changed last.
func (c *Console) described(ctx context.Context) (map[string]definitions.History, error) {
	all, err := c.history.All(ctx, definitions.Filter{})
	out := make(map[string]definitions.History, len(all))
	for _, x := range all {
		if _, later := out[x.Tool]; !later {
			out[x.Tool] = x
		}
	}
	return out, err
}

// describedAt says since when a tool is described as it is.
func (c *Console) describedAt(name string, changed map[string]definitions.History) h.Part {
	x, known := changed[name]
	if !known {
		return h.T("by nobody")
	}
	return h.El("a", h.A("href", toolHistory(&x)), c.lastChange(&x))
}

// toolHistory is the address of what became of a definition.
func toolHistory(x *definitions.History) string {
	to := url.Values{"tool": {x.Tool}}
	if x.Server != "" {
		to.Set("server", x.Server+"@"+x.On)
	}
	return historyPath + "?" + to.Encode()
}

func (c *Console) lastChange(x *definitions.History) h.Part {
	if x.Changed.IsZero() {
		return h.List{h.T("first "), c.ago(x.First)}
	}
	return h.List{h.T("changed "), c.ago(x.Changed)}
}

// historyPage is how definitions became what they are: all of them in a line each, or one tool with its versions.
func (c *Console) historyPage(v *visit) {
	q := v.r.URL.Query()
	f := definitions.Filter{Tool: q.Get("tool"), Server: q.Get("server"), Find: q.Get("find")}
	read := c.history.All
	if f.Tool != "" {
		read = c.history.Of
	}
	all, err := read(v.r.Context(), f)
	if err != nil {
		c.wrong(v, err)
		return
	}
	body := h.List{h.El("p", h.El("a", h.A("href", "/console/tools"), h.T("‹ all tools"))), h.El("h1", h.T("How tools are described"))}
	switch {
	case len(all) == 0:
		body = append(body, h.El("p", h.Class("empty"), h.T("Nobody has described such a tool yet: an MCP server behind Tidemark does, "+
			"and a host that sends definitions. Until then tools are taken for what their names say.")))
	case f.Tool == "":
		body = append(body, h.El("p", h.T("The latest change comes first. A text sent by several hosts is listed once, under the first.")),
			h.El("form", h.A("method", "get"), h.A("action", historyPath), h.Class("filters"), field("Find", "find", f.Find),
				hidden("server", f.Server), h.El("button", h.T("Filter"))), c.historyRows(all))
	default:
		left := maxDiffs
		for i := range all {
			body = append(body, c.historyOf(&all[i], &left))
		}
	}
	c.page(v, http.StatusOK, "How tools are described", body...)
}

// whose says who describes a tool.
func whose(x *definitions.History) h.Part {
	switch {
	case x.Server != "":
		return h.List{h.T("MCP server "), foreign(x.Server)}
	case x.Agent != "":
		return h.List{h.T("host of "), foreign(x.Agent)}
	}
	return h.T("a host")
}

func (c *Console) historyRows(all []definitions.History) h.HTML {
	var rows h.List
	for i := range all {
		x := &all[i]
		if i == 500 {
			rows = append(rows, h.El("tr", h.El("td", h.A("colspan", "4"), h.T(fmt.Sprintf("and %d more: find them by name", len(all)-i)))))
			break
		}
		rows = append(rows, h.El("tr", h.El("th", h.A("scope", "row"), h.El("a", h.A("href", toolHistory(x)), foreign(x.Tool))),
			h.El("td", whose(x)), h.El("td", c.ago(x.First)), h.El("td", changedAt(c, x)), number(int64(x.Seen))))
	}
	return h.El("section", h.Class("rows scroll"), h.A("tabindex", "0"), h.A("aria-label", "Definitions"), h.El("table",
		h.El("caption", h.T("Definitions")),
		h.El("thead", h.El("tr", heads("Tool", "Described by", "First", "Changed", "Texts")...)), h.El("tbody", rows)))
}

func changedAt(c *Console, x *definitions.History) h.Part {
	if x.Changed.IsZero() {
		return h.T("never")
	}
	return c.ago(x.Changed)
}

// maxDiffs bounds what all versions on a page may show together.
const maxDiffs = 80_000

// historyOf is one tool with its versions, the newest first.
func (c *Console) historyOf(x *definitions.History, left *int) h.HTML {
	parts := h.List{h.El("h2", foreign(x.Tool)), h.El("p", h.Class("meta"), whose(x), h.T(" · first "), c.ago(x.First),
		h.T(" · changed "), changedAt(c, x), h.T(fmt.Sprintf(" · texts: %d", x.Seen)))}
	for i := range x.Versions {
		parts = append(parts, c.textOf(&x.Versions[i], left))
	}
	if n := x.Seen - len(x.Versions); n > 0 {
		parts = append(parts, h.El("p", h.Class("quiet"), h.T(fmt.Sprintf("%d older texts are not shown here; the log has them.", n))))
	}
	return h.El("section", parts...)
}

func (c *Console) textOf(v *definitions.Version, left *int) h.HTML {
	parts := h.List{h.Class("card"), h.El("h3", h.T("Seen "), h.El("time", h.A("datetime", v.Seen.Format(time.RFC3339)),
		h.T(v.Seen.Format("2006-01-02 15:04:05 UTC")))), h.El("p", c.stateOf(v))}
	if v.Why != "" {
		parts = append(parts, h.El("p", h.Class("quiet"), h.T("It was hidden because "), foreign(v.Why)))
	}
	if *left -= len(v.Diff); *left < 0 {
		return h.El("article", append(parts, h.El("p", h.Class("quiet"),
			h.T("The change is too long for this page: tidemark tools history shows it.")))...)
	}
	return h.El("article", append(parts, definitionDiff(v.Diff))...)
}

// stateOf says what people did about a version.
func (c *Console) stateOf(v *definitions.Version) h.Part {
	switch v.State {
	case "first":
		return h.T("Accepted without asking: it was the first time that the server was used.")
	case "hidden":
		return h.El("strong", h.Class("confirm-word"), h.T("Hidden from agents: nobody has answered."))
	case "accepted", "denied":
		word := map[string]h.HTML{
			"accepted": h.El("strong", h.Class("allow-word"), h.T("Accepted")),
			"denied":   h.El("strong", h.Class("deny-word"), h.T("Kept hidden")),
		}[v.State]
		out := h.List{word, h.T(" by "), foreign(v.By), h.T(", "), foreign(v.Via), h.T(", "), c.ago(v.Answered), h.T(". ")}
		return append(out, quotedIf(v.Note))
	}
	return h.T("Sent by the host: a host's descriptions need no acceptance, and calls are judged by them.")
}
