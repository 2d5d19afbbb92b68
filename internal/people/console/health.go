package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	h "github.com/tidemark/tidemark/internal/base/html"
	"github.com/tidemark/tidemark/internal/people/approvalproof"
	"github.com/tidemark/tidemark/internal/reports/report"
	"github.com/tidemark/tidemark/internal/reports/tally"
)

// grades, what matters most first. What is off was not wanted, and what is absent is not there.
var grades = []string{"broken", "open", "limit", "good", "off", "absent"}

// healthPage says what works, tried and not assumed, the worst first.
func (c *Console) healthPage(v *visit) {
	var list []Finding
	note := h.Part(h.List(nil))
	if c.offices.Status != nil {
		list = append(list, c.offices.Status(v.r.Context())...)
	}
	if c.offices.Doctor != nil && v.r.URL.Query().Get("try") != "" {
		ctx, cancel := context.WithTimeout(v.r.Context(), 60*time.Second)
		defer cancel()
		found, err := c.offices.Doctor(ctx)
		if err != nil {
			note = h.El("p", h.Class("banner bad"), h.T("The examination did not finish: "), foreign(err.Error()))
		}
		list = append(list, found...)
	} else {
		note = h.El("p", h.El("a", h.Class("button"), h.A("href", "/console/health?try=1"),
			h.T("Examine server, doors and agents now")), h.T(" (some seconds; a call that must be blocked is tried at each door)"))
	}
	list = append(list, c.approvalFinding())
	slices.SortStableFunc(list, func(a, b Finding) int { return cmp.Compare(gradeAt(a.Grade), gradeAt(b.Grade)) })
	var rows h.List
	for _, f := range list {
		rows = append(rows, h.El("tr", h.El("td", h.El("strong", h.Class(gradeClass(f.Grade)), h.T(f.Grade))), h.El("th",
			h.A("scope", "row"), h.T(clean(f.Name))),
			h.El("td", h.T(clean(f.Text))), h.El("td", h.T(clean(f.Fix)))))
	}
	c.page(v, http.StatusOK, "Health", h.El("h1", h.T("Health")), note,
		h.El("div", h.Class("scroll"), h.A("tabindex", "0"), h.A("role", "region"), h.A("aria-label", "Findings"), h.El("table",
			h.El("caption", h.T("The worst first")),
			h.El("thead", h.El("tr", heads("Grade", "What", "Found", "To mend it")...)), h.El("tbody", rows))))
}

// approvalFinding says who could approve.
func (c *Console) approvalFinding() Finding {
	switch c.keys.Required() {
	case approvalproof.Passkey:
		if len(c.keys.State().Keys) == 0 {
			return Finding{"broken", "approvals", "a passkey is required and none is enrolled: nothing can be approved",
				"enrol one on the page Keys"}
		}
		return Finding{"good", "approvals", fmt.Sprintf("take one of %d passkeys, at every door", len(c.keys.State().Keys)), ""}
	case approvalproof.Typed:
		return Finding{"limit", "approvals",
			"take a typed secret, whose hash lies in the log: worth something only where the server runs as another user",
			"enrol a passkey"}
	}
	return Finding{"open", "approvals", "can be given by any program that gets hold of the approver's token",
		"enrol a passkey on the page Keys"}
}

func gradeAt(grade string) int {
	if i := slices.Index(grades, grade); i >= 0 {
		return i
	}
	return -1 // what nobody knows comes first
}

func gradeClass(grade string) string {
	switch grade {
	case "good":
		return "allow-word"
	case "broken":
		return "deny-word"
	}
	return "confirm-word"
}

// reportsPage is the learning report.
func (c *Console) reportsPage(v *visit) {
	days := daysOf(v.r.URL.Query())
	r, err := c.report(v.r.Context(), days)
	if err != nil {
		c.wrong(v, err)
		return
	}
	t := r.Totals
	figure := func(name string, n int) h.HTML {
		return h.El("div", h.El("dt", h.T(name)), h.El("dd", h.T(strconv.Itoa(n))))
	}
	body := h.List{
		h.El("h1", h.T("Reports")),
		h.El("form", h.A("method", "get"), h.A("action", "/console/reports"), h.Class("filters"),
			field("Days back", "days", strconv.Itoa(days), h.A("type", "number"), h.A("min", "1"), h.A("max", "3650")),
			h.El("button", h.T("Show"))),
		h.El("dl", h.Class("figures"), figure("Calls", t.Calls), figure("Asked", t.Asked), figure("Yes", t.Yes), figure("No", t.No),
			figure("Expired", t.Expired), figure("Denied", t.Denied), figure("Waiting", t.Pending)),
	}
	if t.Asked < 10 {
		body = append(body, h.El("p", h.Class("empty"), h.T("Fewer than ten questions: too few to say anything about a rule.")))
	}
	c.page(v, http.StatusOK, "Reports", append(body, questionRows(r.Questions), suggestions(r.Suggestions, days))...)
}

func (c *Console) report(ctx context.Context, days int) (report.Report, error) {
	r, err := c.counts.Report(ctx, report.Options{Since: c.now().Add(-time.Duration(days) * 24 * time.Hour)}, nil)
	if broken := (*tally.UnreadableError)(nil); errors.As(err, &broken) {
		return r, say(http.StatusConflict, "Record %d cannot be read, so nothing is counted. Verify the log on the page Audit.", broken.ID)
	}
	return r, err
}

func questionRows(rows []report.Row) h.HTML {
	if len(rows) == 0 {
		return h.HTML{}
	}
	var lines h.List
	for i, r := range rows {
		if i == pageRows {
			break
		}
		lines = append(lines, h.El("tr", h.El("th", h.A("scope", "row"), h.El("code", h.T(clean(r.Rule)))), h.El("td", foreign(r.Tool)),
			number(int64(r.Asked)), number(int64(r.Yes)), number(int64(r.No)), number(int64(r.Expired)), number(int64(r.Denied)),
			h.El("td", h.Class("n"), h.T(fmt.Sprintf("%.0f s", float64(r.MedianMs)/1000))),
			h.El("td", h.El("meter", h.A("min", "0"), h.A("max", "1"), h.A("value", fmt.Sprintf("%.2f", r.YesShare)),
				h.A("aria-label", "share of yes"), h.T(fmt.Sprintf("%.0f %%", 100*r.YesShare))))))
	}
	return h.El("section", h.Class("rows scroll"), h.A("tabindex", "0"), h.A("aria-label", "Rules"), h.El("table",
		h.El("caption", h.T("Rules, those that ask most first")),
		h.El("thead", h.El("tr", heads("Rule", "Tool", "Asked", "Yes", "No", "Expired", "Denied", "Median answer",
			"Share of yes")...)), h.El("tbody", lines)))
}

func suggestions(list []report.Suggestion, days int) h.HTML {
	if len(list) == 0 {
		return h.HTML{}
	}
	out := h.List{h.El("h2", h.T("To reconsider"))}
	for _, s := range list {
		widens := h.Part(h.List(nil))
		if s.Widens {
			widens = h.El("strong", h.Class("confirm-word"), h.T(" The agent could do more."))
		}
		out = append(out, h.El("div", h.Class("card"), h.El("p", foreign(s.Text), widens), h.El("p", h.Class("quiet"),
			foreign(s.Evidence)),
			h.El("p", toDraft(&s, days))))
	}
	return h.El("section", out...)
}
