package console

import (
	"errors"
	"net/http"
	"slices"

	h "github.com/tidemark/tidemark/internal/base/html"
	"github.com/tidemark/tidemark/internal/people/accounts"
)

const peoplePath = Path + "/people"

// peopleSection lists those who have a token of their own, and makes one.
func (c *Console) peopleSection(v *visit) h.Part {
	if c.people == nil {
		return h.List(nil)
	}
	var rows h.List
	for _, p := range c.people.List() {
		rows = append(rows, h.El("tr", h.El("th", h.A("scope", "row"), h.T(p.Name)), h.El("td", h.T(p.Role)), h.El("td", c.ago(p.Made)),
			h.El("td", h.El("form", h.A("method", "post"), h.A("action", peoplePath), c.token(v, peoplePath), hidden("do", "revoke"),
				hidden("what", p.Name), h.El("button", h.T("Revoke"))))))
	}
	list := h.Part(h.El("p", h.Class("empty"), h.T("Nobody has one: the log says in which role something was done, and not who did it.")))
	if len(rows) > 0 {
		list = scroll("People", h.El("table", h.El("caption", h.T("Tokens of their own")),
			h.El("thead", h.El("tr", heads("Name", "Role", "Since", "")...)), h.El("tbody", rows)))
	}
	buttons := h.List{h.Class("buttons")}
	for _, role := range accounts.Roles { // the button says the role: it is part of what a key signs
		buttons = append(buttons, act(role, "Token for "+map[string]string{"reader": "a reader", "approver": "an approver",
			"admin": "an administrator"}[role]))
	}
	form := c.actForm(v, peoplePath, "people", field("Name", "text", "", h.A("maxlength", "32"), h.Flag("required", true)),
		h.El("div", buttons...))
	return h.El("section", h.El("h2", h.T("People")), list, form)
}

// changePeople makes a token, which takes an administrator and where keys are enrolled a proof, or
// takes one away, which takes an administrator.
func (c *Console) changePeople(v *visit) {
	note, err := c.changedPeople(v)
	status := http.StatusOK
	if err != nil {
		status, note = c.explainPeople(v, err)
	}
	c.showKeys(v, status, note)
}

func (c *Console) changedPeople(v *visit) (note string, err error) {
	f, ctx := v.r.PostForm, v.r.Context()
	if c.people == nil {
		return "", say(http.StatusNotFound, "This server keeps no tokens of people.")
	}
	switch do := f.Get("do"); {
	case slices.Contains(accounts.Roles, do):
		if err := c.proven(v, "admin"); err != nil {
			return "", err
		}
		token, err := c.people.Add(ctx, accounts.Actor{By: v.by(), Via: "console"}, f.Get("text"), do)
		if err != nil {
			return "", err
		}
		return "The token of " + f.Get("text") + ", shown once: " + token, nil
	case do == "revoke":
		if !v.mayRule() {
			return "", say(http.StatusForbidden,
				"Nothing was changed: this takes the role admin. Sign in with tidemark console --role admin.")
		}
		p, err := c.people.Revoke(ctx, accounts.Actor{By: v.by(), Via: "console"}, f.Get("what"))
		if err == nil {
			err = c.desk.EndOf(ctx, p.By(), v.by())
		}
		return "The token of " + f.Get("what") + " is worth nothing any more.", err
	}
	return "", say(http.StatusBadRequest, "Nothing was changed: say what to do.")
}

func (c *Console) explainPeople(v *visit, err error) (int, string) {
	switch {
	case errors.Is(err, accounts.ErrBad):
		return http.StatusBadRequest, "Nothing was changed: " + err.Error() + "."
	case errors.Is(err, accounts.ErrTaken), errors.Is(err, accounts.ErrNobody):
		return http.StatusConflict, "Nothing was changed: " + err.Error() + "."
	}
	return c.explain(v.r.Context(), err)
}
