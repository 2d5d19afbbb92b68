package console

import (
	"net/http"
	"slices"
	"strings"

	h "github.com/tidemark/tidemark/internal/base/html"
	"github.com/tidemark/tidemark/internal/reports/toolusage"
)

// toolsPage shows what the monitor takes each tool for, and what became of its calls.
func (c *Console) toolsPage(v *visit) {
	all, err := toolusage.Of(v.r.Context(), c.monitor.Policy(), c.log,
		toolusage.Known{Definitions: c.history, Lasting: c.monitor.Lasting})
	if err != nil {
		c.wrong(v, err)
		return
	}
	changed, err := c.described(v.r.Context())
	if err != nil {
		c.wrong(v, err)
		return
	}
	find := strings.ToLower(v.r.URL.Query().Get("find"))
	var rows h.List
	for i := range all {
		x := &all[i]
		if find != "" && !strings.Contains(strings.ToLower(x.Name), find) || len(rows) == 500 {
			continue
		}
		kinds := []string{}
		for is, text := range map[*bool]string{&x.Source: "source", &x.Sink: "sink", &x.Caution: "cautioned"} {
			if *is {
				kinds = append(kinds, text)
			}
		}
		slices.Sort(kinds)
		if slices.ContainsFunc(x.Definitions, toolusage.Definition.OnlyReads) {
			kinds = append(kinds, "said to only read")
		}
		act := x.Does()
		if act == "" {
			act = "–"
		}
		rows = append(rows, h.El("tr", h.El("th", h.A("scope", "row"), foreign(x.Name)), h.El("td", h.T(act)), h.El("td",
			levelWord(x.Response), h.T(" "+strings.Join(kinds, ", "))),
			h.El("td", h.El("code", h.T(x.Because))), h.El("td", c.describedAt(x.Name, changed)), number(x.Calls),
			number(x.Held), number(x.Denied),
			h.El("td", h.El("a", h.A("href", query("/console/audit", map[string][]string{"kind": {"call.decided"}}, "tool",
				x.Name)), h.T("calls")))))
	}
	body := h.List{
		h.El("h1", h.T("Tools")),
		h.El("p", h.T("What a call of each tool is taken for by its definition, or by its name "+
			"where nobody described it, and what it brings into the context. "+
			"A tool nobody understands is asked about.")),
		h.El("form", h.A("method", "get"), h.A("action", "/console/tools"), h.Class("filters"), field("Find", "find",
			v.r.URL.Query().Get("find")), h.El("button", h.T("Filter"))),
		h.El("p", h.El("a", h.A("href", historyPath), h.T("All definitions, and how they changed"))),
	}
	if len(rows) == 0 {
		body = append(body, h.El("p", h.Class("empty"), h.T("No tool has this in its name.")))
	} else {
		body = append(body, h.El("section", h.Class("rows scroll"), h.A("tabindex", "0"), h.A("aria-label", "Tools"),
			h.El("table", h.El("caption", h.T("Tools of the policy and of the last calls")),
				h.El("thead", h.El("tr", heads("Tool", "Does", "Brings", "Because of", "Described", "Calls", "Asked", "Denied", "See")...)),
				h.El("tbody", rows))))
	}
	c.page(v, http.StatusOK, "Tools", body...)
}
