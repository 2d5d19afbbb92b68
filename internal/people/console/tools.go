package console

import (
	"net/http"
	"slices"
	"strings"

	"github.com/tidemark/tidemark"
	h "github.com/tidemark/tidemark/internal/base/markup"
	"github.com/tidemark/tidemark/store"
	"github.com/tidemark/tidemark/trust"
)

// toolFigures are what the log says of a tool.
type toolFigures struct{ calls, held, denied int64 }

// toolsPage shows what the monitor takes each tool for, and what became of its calls.
func (c *Console) toolsPage(v *visit) {
	figures, err := c.toolCalls(v)
	if err != nil {
		c.wrong(v, err)
		return
	}
	set := c.monitor.Policy()
	names := set.Tools()
	for name := range figures {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	find := strings.ToLower(v.r.URL.Query().Get("find"))
	var rows h.List
	for _, name := range names {
		if find != "" && !strings.Contains(strings.ToLower(name), find) || len(rows) == 500 {
			continue
		}
		x := tidemark.Explain(set, name, trust.Untrusted, []byte("{}"))
		f := figures[name]
		kinds := []string{}
		for is, text := range map[*bool]string{&x.Source: "source", &x.Sink: "sink", &x.Caution: "cautioned"} {
			if *is {
				kinds = append(kinds, text)
			}
		}
		slices.Sort(kinds)
		act := x.Act
		if act == "" {
			act = "–"
		}
		rows = append(rows, h.El("tr", h.El("th", h.A("scope", "row"), foreign(name)), h.El("td", h.T(act)), h.El("td",
			levelWord(x.Response.String()), h.T(" "+strings.Join(kinds, ", "))),
			h.El("td", h.El("code", h.T(x.Why))), number(f.calls), number(f.held), number(f.denied),
			h.El("td", h.El("a", h.A("href", query("/console/audit", map[string][]string{"kind": {"call.decided"}}, "tool",
				name)), h.T("calls")))))
	}
	body := h.List{
		h.El("h1", h.T("Tools")),
		h.El("p", h.T("What a call of each tool is taken for by its name, and what it brings into the context. "+
			"A host that reports definitions is judged by those; a tool nobody understands is asked about.")),
		h.El("form", h.A("method", "get"), h.A("action", "/console/tools"), h.Class("filters"), field("Find", "find",
			v.r.URL.Query().Get("find")), h.El("button", h.T("Filter"))),
	}
	if len(rows) == 0 {
		body = append(body, h.El("p", h.Class("empty"), h.T("No tool has this in its name.")))
	} else {
		body = append(body, h.El("section", h.Class("rows scroll"), h.A("tabindex", "0"), h.A("aria-label", "Tools"),
			h.El("table", h.El("caption", h.T("Tools of the policy and of the last calls")),
				h.El("thead", h.El("tr", heads("Tool", "Does", "Brings", "Because of", "Calls", "Held", "Denied", "")...)),
				h.El("tbody", rows))))
	}
	c.page(v, http.StatusOK, "Tools", body...)
}

// toolCalls counts the latest calls by tool.
func (c *Console) toolCalls(v *visit) (map[string]toolFigures, error) {
	out := map[string]toolFigures{}
	f := auditFilter{kind: "call.decided"}
	for range 10 {
		rows, next, err := c.records(v.r.Context(), &f, store.MaxLimit)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			d := rows[i].Decided
			if d == nil {
				continue
			}
			t := out[d.Tool]
			t.calls++
			switch d.Effect {
			case "confirm":
				t.held++
			case "deny":
				t.denied++
			}
			out[d.Tool] = t
		}
		if f.before = next; next == 0 {
			break
		}
	}
	return out, nil
}
