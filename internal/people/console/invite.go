package console

import (
	"fmt"
	"strings"

	h "github.com/tidemark/tidemark/internal/base/html"
	"github.com/tidemark/tidemark/internal/people/accounts"
	"github.com/tidemark/tidemark/internal/people/approvalproof"
)

// keyless reports whether somebody signed in under a name has no key where approving takes one. Who came without a name may have one in
// their pocket.
func (c *Console) keyless(v *visit) bool {
	_, name, ok := strings.Cut(v.By, ":")
	if !ok || name == "" || c.keys.Required() != approvalproof.Passkey {
		return false
	}
	state := c.keys.State()
	return !state.HasKey(v.By)
}

// askWhom says to somebody without a key how they get one.
func (c *Console) askWhom(v *visit) h.HTML {
	state := c.keys.State()
	text := "Approving takes a passkey, and you have none. "
	switch i := c.keys.InvitationOf(v.By); {
	case i != nil && i.Lacks == 0:
		return h.El("p", h.Class("quiet"), h.T(text+"You are invited by "+names(i.By)+": "),
			h.El("a", h.A("href", keysPath), h.T("enrol yours")), h.T("."))
	case i != nil:
		text += "You are invited by " + names(i.By) + ", and it takes one more who has a key."
	case len(state.Holders()) == 0:
		text += "None is enrolled: enrol the first on the page Keys."
	default:
		text += "Ask " + names(state.Holders()) + " to invite you, on the page Keys."
	}
	return h.El("p", h.Class("quiet"), h.T(text))
}

// names are people as a person reads them: without their roles.
func names(who []string) string {
	out := make([]string, len(who))
	for i, w := range who {
		if _, name, ok := strings.Cut(w, ":"); ok && name != "" {
			w = name
		}
		out[i] = w
	}
	return strings.Join(out, " or ")
}

// firstKeyWarning says before the first key what changes with it, and for whom.
func (c *Console) firstKeyWarning() h.HTML {
	text := "Once a passkey exists, every approval needs one, wherever it is given. "
	if others := c.approvers(); len(others) > 0 {
		text += "These have a token and no key, and will only read and deny until you invite them here: " +
			strings.Join(others, ", ") + ". "
	}
	return h.El("p", h.Class("confirm-word"), h.T(text+
		"Make recovery codes on this page right afterwards, and keep them on paper: they are the way back if this key is lost."))
}

// approvers are those who have a token and may approve, as the log names them.
func (c *Console) approvers() []string {
	var out []string
	if c.people == nil {
		return nil
	}
	for _, p := range c.people.List() {
		if p.Role != accounts.AgentRole && p.Role != "reader" {
			out = append(out, p.By())
		}
	}
	return out
}

// inviteSection lets key holders invite, shows who is invited, and makes recovery codes.
func (c *Console) inviteSection(v *visit, state approvalproof.State) h.Part {
	if len(state.Keys) == 0 {
		return h.List(nil)
	}
	body := h.List{h.El("h2", h.T("Invite somebody to enrol a key"))}
	var open []string
	for _, who := range c.approvers() {
		if !state.HasKey(who) {
			open = append(open, who)
		}
	}
	for _, who := range open {
		if i := c.keys.InvitationOf(who); i != nil {
			text := fmt.Sprintf("%s is invited by %s until %s.", who, names(i.By), i.Until.Local().Format("2 January 15:04"))
			if i.Lacks > 0 {
				text = fmt.Sprintf("%s is invited by %s; it takes one more who has a key.", who, names(i.By))
			}
			body = append(body, h.El("p", h.T(text)))
		}
		body = append(body, c.keyForm(v, "invite", who, "Invite "+who+" for 24 hours"))
	}
	if len(open) == 0 {
		body = append(body, h.El("p", h.Class("quiet"),
			h.T("Everybody who has a token and may approve has a key. For others make a token below first.")))
	}
	body = append(body, h.El("details", h.El("summary", h.T("Somebody who signs in at a provider…")),
		c.proveForm(v, "invite", field("Role and name", "what", "", h.A("placeholder", "approver:ada@example.com"),
			h.Flag("required", true)), h.El("button", h.T("Invite for 24 hours")))))
	codes := h.List{h.El("h2", h.T("If a key is lost"))}
	if n := state.CodesOf(v.By); n > 0 {
		codes = append(codes, h.El("p", h.T(fmt.Sprintf("You have %d recovery codes left. New ones take their place.", n))))
	} else {
		codes = append(codes, h.El("p", h.T("A recovery code enrols one new key of yours, with your own token. Without codes, another "+
			"who has a key invites you again.")))
	}
	return h.El("section", append(append(body, codes...), c.keyForm(v, "codes", "", "Make recovery codes"))...)
}

// keyForm is one button that a key signs for.
func (c *Console) keyForm(v *visit, do, what, text string) h.HTML {
	return c.proveForm(v, do, hidden("what", what), h.El("button", h.T(text)))
}

func (c *Console) proveForm(v *visit, do string, parts ...h.Part) h.HTML {
	all := h.List{
		h.A("method", "post"), h.A("action", keysPath), h.A("data-form", "prove"), h.A("data-proof", string(approvalproof.Passkey)),
		h.A("data-url", keysPath+"/challenge"), h.A("data-token", v.Token(keysPath+"/challenge")),
		c.token(v, keysPath), hidden("do", do),
	}
	return h.El("form", append(append(all, parts...), h.El("p", h.Class("problem"), h.A("role", "alert")))...)
}

// enrolOpen says what a further key is asked for: nothing where an invitation stands, a code where the key is lost, else a key.
func (c *Console) enrolOpen(v *visit, state approvalproof.State) (parts h.List, ok bool) {
	role, name, _ := strings.Cut(v.By, ":")
	asked := h.A("data-proof", string(approvalproof.Passkey))
	if name == "" || role != "approver" && role != "admin" {
		return h.List{asked, h.El("p", h.Class("quiet"), h.T("A key that is enrolled is asked first."))}, true
	}
	i := c.keys.InvitationOf(v.By)
	code := h.El("label", h.T("Or, if your key is lost, a recovery code "),
		h.El("input", h.A("name", "code"), h.A("autocomplete", "off"), h.A("maxlength", "60")))
	switch {
	case i != nil && i.Lacks == 0:
		return h.List{h.El("p", h.T("You are invited by "+names(i.By)+" until "+i.Until.Local().Format("2 January 15:04")+"."))}, true
	case state.HasKey(v.By):
		return h.List{asked, h.El("p", h.Class("quiet"), h.T("Your key is asked first.")), code}, true
	case state.CodesOf(v.By) > 0:
		return h.List{c.askWhom(v), code}, true
	}
	return h.List{c.askWhom(v)}, false
}
