package console

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	h "github.com/tidemark/tidemark/internal/base/html"
	"github.com/tidemark/tidemark/internal/people/policyfile"
	"github.com/tidemark/tidemark/internal/reports/report"
)

// toDraft leads from a suggestion to the policy: with the change made, where it is one of the file.
func toDraft(s *report.Suggestion, days int) h.HTML {
	if s.Change == nil {
		return h.El("a", h.A("href", "/console/policy?show=edit"), h.T("Open the policy"))
	}
	to := url.Values{"show": {"edit"}, "suggestion": {s.ID}, "days": {strconv.Itoa(days)}}
	return h.El("a", h.A("href", "/console/policy?"+to.Encode()), h.T("Open it as a draft, with what it would have changed"))
}

// compareFor is how long a page waits for what a text would have changed.
const compareFor = time.Minute

// editPage is the file, or a draft of it that a suggestion wants. Nothing is saved: that takes what it always takes.
func (c *Console) editPage(v *visit) {
	q := v.r.URL.Query()
	id := q.Get("suggestion")
	if id == "" || !c.offices.Policy.Whole() {
		c.showEdit(v, http.StatusOK, draft{})
		return
	}
	d, err := c.suggested(v.r.Context(), id, daysOf(q))
	if err != nil {
		status, text := c.explain(v.r.Context(), err)
		c.showEdit(v, status, draft{note: text})
		return
	}
	c.showEdit(v, http.StatusOK, d)
}

// daysOf is how far a report looks back.
func daysOf(q url.Values) int {
	days, err := strconv.Atoi(q.Get("days"))
	if err != nil || days < 1 || days > 3650 {
		return 30
	}
	return days
}

// suggested is the file with what a suggestion wants, held against what was recorded.
func (c *Console) suggested(ctx context.Context, id string, days int) (d draft, err error) {
	r, err := c.report(ctx, days)
	if err != nil {
		return d, err
	}
	s := r.Suggested(id)
	if s == nil {
		return d, say(http.StatusNotFound, "The report makes no such suggestion, or not any more. This is the policy as it is.")
	}
	p := &c.offices.Policy
	if d.text, err = p.Draft(s); errors.Is(err, policyfile.ErrDraft) {
		return d, say(http.StatusConflict, "Nothing was drafted: %v. This is the policy as it is.", err)
	} else if err != nil {
		return d, err
	}
	ctx, cancel := context.WithTimeout(ctx, compareFor)
	defer cancel()
	found, err := p.Compare(ctx, d.text)
	if err != nil {
		return d, err
	}
	d.found = &found
	d.note = "A draft: " + s.Change.String() + " (" + s.Evidence + "). Nothing is saved yet."
	return d, nil
}
