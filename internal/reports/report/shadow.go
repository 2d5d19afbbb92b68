package report

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/tidemark/tidemark/internal/event"
)

// ShadowRow is one tool about which a candidate policy answered differently (BEY-05).
type ShadowRow struct {
	Tool   string `json:"tool"`
	Live   string `json:"live"`   // what the policy in force said
	Shadow string `json:"shadow"` // what the candidate would have said
	Rule   string `json:"rule"`   // of the candidate
	Calls  int    `json:"calls"`
}

type shadowKey struct{ tool, live, shadow, rule string }

// shadow counts the candidate's answer. What came after the policy (approvals, the
// auditor, the verifier) is taken out of the comparison as far as the record tells.
func (p *part) shadow(d *event.Decided) {
	s := d.Shadow
	if s == nil {
		return
	}
	p.totals.Shadowed++
	live := d.Effect
	if d.Spent != "" || d.Opinion != nil && d.Opinion.Kind != "caution" && d.Runs() {
		live = "confirm" // it was held until somebody said yes
	}
	if live == s.Effect {
		return
	}
	p.totals.Differ++
	p.shadows.at(shadowKey{d.Tool, live, s.Effect, s.Rule}).Calls++
}

func shadowRows(list []*ShadowRow) []ShadowRow {
	out := []ShadowRow{}
	for _, r := range list {
		out = append(out, *r)
	}
	slices.SortFunc(out, func(x, y ShadowRow) int {
		return cmp.Or(cmp.Compare(y.Calls, x.Calls), cmp.Compare(x.Tool, y.Tool), cmp.Compare(x.Rule, y.Rule),
			cmp.Compare(x.Shadow, y.Shadow), cmp.Compare(x.Live, y.Live))
	})
	return out
}

func (p *page) shadow(rows []ShadowRow, t Totals) {
	if t.Shadowed == 0 {
		return
	}
	p.title("Candidate policy, which never acts")
	p.wrap("Compared   ", plural(t.Shadowed, "call")+", "+plural(t.Differ, "call")+" answered differently")
	if len(rows) == 0 {
		return
	}
	head := []cell{
		{text: "tool", grows: true}, {text: "in force"}, {text: "candidate"},
		{text: "by its rule", grows: true}, {text: "calls"},
	}
	var table [][]cell
	for _, r := range rows {
		table = append(table, []cell{{text: r.Tool}, {text: r.Live}, {text: r.Shadow}, {text: r.Rule}, count("", r.Calls)})
	}
	p.table(head, table)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
