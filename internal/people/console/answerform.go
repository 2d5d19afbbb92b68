package console

import (
	"fmt"
	"strconv"

	"github.com/tidemark/tidemark/internal/approval"
	h "github.com/tidemark/tidemark/internal/base/html"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/people/approvalproof"
	"github.com/tidemark/tidemark/policy"
)

// answerForm is what goes with an answer, and the answers: deny, and approve where the session or a proof may. The buttons
// stand beside the form, so that they stay in reach.
func (c *Console) answerForm(v *visit, q *engine.Question, shown string, whole bool) (form, buttons h.HTML) {
	path, id := "/console/q/"+q.ID, "f-"+q.ID
	want := c.keys.Required()
	parts := h.List{
		h.A("method", "post"), h.A("action", path), h.Class("answer"), h.A("data-form", "answer"), h.A("id", id),
		c.token(v, path), hidden("seen", shown),
		h.El("label", h.Class("note"), h.T("Note, for the agent and the log "),
			h.El("input", h.A("name", "note"), h.A("maxlength", "500"), h.A("autocomplete", "off"))),
	}
	if v.sure {
		parts = append(parts, hidden("sure", "yes"))
	}
	if want == approvalproof.Passkey {
		parts = append(parts, h.A("data-proof", string(want)), h.A("data-url", path+"/challenge"), h.A("data-token",
			v.Token(path+"/challenge")), h.El("noscript", h.El("p", h.T("A passkey needs JavaScript; denying does not."))))
	}
	if n := c.hurry.often(c.now()); n > fewApprovals {
		parts = append(parts, h.El("p", h.Class("confirm-word"),
			h.T(fmt.Sprintf("%d calls were approved here in the last ten minutes. "+
				"A rule that asks so often may be the thing to change.", n))))
	}
	if want == approvalproof.Typed {
		parts = append(parts, h.El("label", h.Class("note"), h.T("Secret, to approve "),
			h.El("input", h.A("type", "password"), h.A("name", "secret"), h.A("autocomplete", "off"))))
	}
	list := h.List{h.Class("buttons"), h.El("p", h.Class("problem"), h.A("role", "alert")),
		h.El("button", h.A("form", id), h.A("name", "do"), h.A("value", "deny"), h.Class("deny"),
			h.A("aria-keyshortcuts", "d"), h.T("Deny"))}
	if want == approvalproof.None && !v.mayApprove() {
		return h.El("form", parts...), h.El("div", append(list, h.El("p", h.Class("quiet"),
			h.T("Approving takes the approver's token or an enrolled passkey: this session can only read and deny.")))...)
	}
	if off := c.offFor(v, q); off != nil {
		return h.El("form", parts...), h.El("div", append(list, off...)...)
	}
	by := ""
	if want == approvalproof.Passkey {
		by = " with passkey"
	}
	first := "Approve once" + by
	if v.sure {
		first = "Yes, approve once"
	}
	list = append(list, h.El("button", h.A("form", id), h.A("name", "do"), h.A("value", "approve"), h.Class("approve"),
		h.A("aria-keyshortcuts", "a"), h.T(first)))
	if whole {
		parts = append(parts, wider(q, by))
	}
	return h.El("form", parts...), h.El("div", list...)
}

// offFor is the button of somebody who may not approve this, with the reason; nil: they may.
func (c *Console) offFor(v *visit, q *engine.Question) h.List {
	switch {
	case c.mayNot(v, q) != "":
		return h.List{offButton(c.mayNot(v, q))}
	case c.keyless(v):
		return h.List{h.El("button", h.Class("approve"), h.Flag("disabled", true), h.T("Approve once with passkey")), c.askWhom(v)}
	}
	return nil
}

// wider are the answers that open more than this call. What each opens stands above.
func wider(q *engine.Question, by string) h.Part {
	rows := h.List{h.Class("similar"), h.El("summary", h.T("Approve more than this call…"))}
	for _, more := range []struct{ do, what, opens string }{
		{"task", "for this task", q.Task}, {"always", "always", q.Always}, {"reads", "and that the tool only reads", q.Reads},
	} {
		if more.opens != "" {
			rows = append(rows, h.El("p", h.El("button", h.A("name", "do"), h.A("value", more.do), h.Class("approve"),
				h.T("Approve "+more.what+by))))
		}
	}
	return h.El("details", append(rows, similar(q))...)
}

// similar opens further calls for some minutes: the target stays as it is unless it is freed
// by name.
func similar(q *engine.Question) h.HTML {
	if q.Kind == policy.KindDanger {
		return h.El("p", h.Class("quiet"), h.T("Dangerous calls cannot be approved in advance."))
	}
	rows := h.List{
		h.El("p", h.T("Or similar calls for a while, with the button Approve once:")),
		h.El("label", h.T("For this many minutes (0: this call only) "),
			h.El("input", h.A("type", "number"), h.A("name", "minutes"), h.A("value", "0"), h.A("min", "0"), h.A("max", "1440"))),
		h.El("label", h.T("At most this many calls (0: no limit) "), h.El("input", h.A("type", "number"),
			h.A("name", "calls"), h.A("value", "5"), h.A("min", "0"), h.A("max", strconv.Itoa(approval.MaxCalls)))),
		h.El("p", h.T("Opens "), foreign(q.Opens),
			h.T(". All other arguments stay as in this call. To let one vary, say what it may be (* stands for anything):")),
	}
	for i, leaf := range strictjson.Flat(q.Args) {
		if i == 12 {
			break
		}
		rows = append(rows, h.El("label", foreign(cut(leaf.Path, 60)), h.T(" may be "),
			h.El("input", h.A("name", "where."+leaf.Path), h.A("placeholder", "as it is"), h.A("maxlength", "200"),
				h.A("autocomplete", "off"))))
	}
	return h.El("div", rows...)
}
