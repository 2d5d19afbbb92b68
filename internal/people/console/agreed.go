package console

import (
	"fmt"
	"strings"

	h "github.com/tidemark/tidemark/internal/base/html"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/people/quorum"
)

// ApproverRules say whose approval a question takes.
type ApproverRules interface {
	engine.ApproverRules
	Needs(c engine.QuestionInfo, agreed []string) quorum.Needs
}

// agreedRow says how many people a question takes, who has agreed and who may, before anybody presses anything; nothing where one person
// decides, whoever it is.
func (c *Console) agreedRow(q *engine.Question) h.Part {
	if c.approverRules == nil {
		return h.List(nil)
	}
	n := c.approverRules.Needs(q.Info(c.now()), q.Agreed)
	if n.People <= 1 && n.Anyone {
		return h.List(nil)
	}
	text := "One person must agree"
	if n.People > 1 {
		text = fmt.Sprintf("%d people must agree", n.People)
	}
	left := max(n.People-len(n.Agreed), 0)
	if len(n.Agreed) > 0 {
		text += ": " + strings.Join(n.Agreed, " ✓, ") + " ✓"
	}
	switch {
	case left == 0:
	case len(n.May) == 0 && !n.Anyone:
		text += "; nobody else may approve it: deny it, or change approvals.rules"
	case len(n.May) == 0:
	case len(n.Agreed) > 0:
		text += fmt.Sprintf("; %d more of %s", left, strings.Join(n.May, ", "))
	default:
		text += ": " + strings.Join(n.May, ", ")
	}
	return h.El("p", h.Class("agreed"), h.A("role", "status"), foreign(text+"."))
}

// mayNot is why the approval of whoever is signed in would not count; "": it would, or it cannot be told before a key is touched.
func (c *Console) mayNot(v *visit, q *engine.Question) string {
	role, _, _ := strings.Cut(v.By, ":")
	if c.approverRules == nil || role != "approver" && role != "admin" {
		return ""
	}
	if _, err := c.approverRules.Allows(q.Info(c.now()), v.By, q.Agreed); err != nil {
		return strings.TrimPrefix(err.Error(), engine.ErrApprover.Error()+": ")
	}
	return ""
}

// offButton is approve for somebody who may not, with the reason.
func offButton(reason string) h.Part {
	return h.List{
		h.El("button", h.Class("approve"), h.Flag("disabled", true), h.T("Approve once")),
		h.El("p", h.Class("quiet"), h.T("You cannot approve this: "), foreign(reason), h.T(".")),
	}
}
