package console

import (
	"net/http"
	"slices"
	"strings"

	h "github.com/tidemark/tidemark/internal/base/html"
	"github.com/tidemark/tidemark/internal/reports/toolusage"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/trust"
)

// deeds are what a call can do, and slots what of it needs evidence, by their names in files, each with its words.
var (
	deeds = [][2]string{
		{"read", "look at something"}, {"tidy", "something small of yours"}, {"create", "make something"}, {"change", "change something"},
		{"delete", "remove something"}, {"send", "send to somebody"}, {"pay", "move money"}, {"grant", "give access, or decide"},
		{"execute", "run something"}, {"unknown", "not understood"},
	}
	slots = [][2]string{
		{"act", "that it is done"}, {"aim", "to whom"}, {"object", "to what"}, {"measure", "how much"}, {"key", "secret"},
		{"order", "command"}, {"cargo", "what leaves"}, {"place", "where it lands"},
	}
	// evidences are the cells in words.
	evidences = map[string]string{
		"none": "–", "ask": "always asks", "said": "said by you", "assented": "you said yes to it", "own": "yours",
		"picked":   "from what you picked",
		"followed": "from what you pointed at", "entailed": "a step it takes", "delegated": "you delegated it", "agent": "the agent's own",
	}
)

// policyTable is what the policy is: what each act needs to run unasked, what the file says besides, and what that comes to for the
// tools that were really called here.
func (c *Console) policyTable(v *visit) {
	set := c.monitor.Policy()
	tools, err := toolusage.Of(v.r.Context(), set, c.log, toolusage.Known{Definitions: c.history, Lasting: c.monitor.Lasting})
	if err != nil {
		c.wrong(v, err)
		return
	}
	seen := slices.DeleteFunc(slices.Clone(tools), func(t toolusage.Tool) bool { return t.Calls == 0 })
	c.policyFrame(v, http.StatusOK, c.why(v.r.URL.Query()), needsTable(set), ownRules(set, tools), c.seenTools(seen))
}

// needsTable is the acts and what they need.
func needsTable(set *policy.Set) h.HTML {
	head := h.List{h.El("th", h.A("scope", "col"), h.T("Act"))}
	for _, s := range slots {
		head = append(head, h.El("th", h.A("scope", "col"), h.T(s[1]), h.El("br"), h.El("code", h.T(s[0]))))
	}
	var rows h.List
	some := false
	for _, d := range deeds {
		cells := h.List{h.El("th", h.A("scope", "row"), h.Class("whole"), h.El("code", h.T(d[0])), h.El("br"), h.T(d[1]))}
		for _, s := range slots {
			need := set.Needs(d[0], s[0])
			class := ""
			if need != "none" {
				class, some = "confirm-word", true
			}
			cells = append(cells, h.El("td", h.El("span", h.Class(class), h.A("title", need), h.T(evidences[need]))))
		}
		rows = append(rows, h.El("tr", cells...))
	}
	if !some {
		return h.El("p", h.T("This policy goes by the level of the context alone: see "),
			h.El("a", h.A("href", "/console/policy?show=levels"), h.T("the table of levels")), h.T("."))
	}
	return h.El("section", h.El("h2", h.T("What a call needs to run without asking")),
		h.El("p", h.T("Once the agent has read what others wrote, a call runs without asking if each of these has at least this evidence; "+
			"what lacks it is asked about. “–” needs none.")),
		tableOf("Acts and what they need", head, rows))
}

// tableOf is a table in a box of its own.
func tableOf(name string, head, rows h.List) h.HTML {
	return h.El("div", h.Class("rows scroll"), h.A("tabindex", "0"), h.A("role", "region"), h.A("aria-label", name), h.El("table",
		h.El("caption", h.T(name)), h.El("thead", h.El("tr", head...)), h.El("tbody", rows)))
}

// ownRule is a rule of the file, and the tools that it can speak about.
type ownRule struct {
	policy.Reason
	tools []string
}

// ownRules are what the file itself says, beside the table.
func ownRules(set *policy.Set, tools []toolusage.Tool) h.HTML {
	var all []ownRule
	names := []string{"(any other)"}
	for i := range tools {
		names = append(names, tools[i].Name)
	}
	for _, name := range names {
		for _, r := range set.May(name, trust.Untrusted) {
			if !strings.HasPrefix(r.Rule, "rules") && !strings.HasPrefix(r.Rule, "trustRules") && !strings.HasPrefix(r.Rule, "agents.") {
				continue
			}
			at := slices.IndexFunc(all, func(o ownRule) bool { return o.Rule == r.Rule })
			if at < 0 {
				all, at = append(all, ownRule{Reason: r}), len(all)
			}
			all[at].tools = append(all[at].tools, name)
		}
	}
	for _, m := range set.Standing() {
		r := policy.Reason{Rule: m.Rule, Effect: policy.Allow, Text: m.Text}
		all = append(all, ownRule{Reason: r, tools: m.Tools})
	}
	if len(all) == 0 {
		return h.El("section", h.El("h2", h.T("Rules of your own")), h.El("p", h.Class("empty"), h.T("The file has none.")))
	}
	var rows h.List
	for _, r := range all {
		about := strings.Join(r.tools[:min(len(r.tools), 8)], ", ")
		if len(r.tools) == len(names) {
			about = "every tool"
		} else if n := len(r.tools) - 8; n > 0 {
			about += ", and " + counted(n, "other")
		}
		rows = append(rows, h.El("tr", h.El("th", h.A("scope", "row"), h.El("code", h.T(clean(r.Rule)))),
			h.El("td", effectWord(r.Effect.String())), h.El("td", foreign(r.Text)), h.El("td", foreign(about))))
	}
	return h.El("section", h.El("h2", h.T("Rules of your own")),
		tableOf("Rules of your own", heads("Rule", "Then", "Because", "Speaks about"), rows))
}

// seenTools are the tools that were called here, and what became of it.
func (c *Console) seenTools(seen []toolusage.Tool) h.HTML {
	if len(seen) == 0 {
		return h.El("section", h.El("h2", h.T("Tools seen here")), h.El("p", h.Class("empty"), h.T("Nothing was called yet.")))
	}
	slices.SortStableFunc(seen, func(a, b toolusage.Tool) int { return int(b.Calls - a.Calls) })
	var rows h.List
	for i := range seen[:min(len(seen), 200)] {
		x := &seen[i]
		rows = append(rows, h.El("tr", h.El("th", h.A("scope", "row"), h.El("a", h.A("href", query("/console/policy",
			map[string][]string{"level": {"untrusted"}}, "tool", x.Name)+"#why"), foreign(x.Name))), h.El("td", h.T(x.Does())),
			number(x.Calls), number(x.Held), number(x.Denied)))
	}
	return h.El("section", h.El("h2", h.T("Tools seen here")),
		tableOf("Tools seen here, by their latest calls", heads("Tool", "Does", "Calls", "Asked", "Denied"), rows))
}
