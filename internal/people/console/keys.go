package console

import (
	"net/http"
	"strings"

	h "github.com/tidemark/tidemark/internal/base/html"
	"github.com/tidemark/tidemark/internal/people/approvalproof"
)

const keysPath = Path + "/keys"

// keysPage shows by what a person proves that it is they, and who is signed in.
func (c *Console) keysPage(v *visit) { c.showKeys(v, http.StatusOK, "") }

func (c *Console) showKeys(v *visit, status int, note string) {
	state, want := c.keys.State(), c.keys.Required()
	body := h.List{h.El("h1", h.T("Keys and sign-ins"))}
	if note != "" {
		body = append(body, h.El("p", h.Class("banner"), h.A("role", "status"), h.T(clean(note))))
	}
	body = append(body, h.El("p", h.T(wantText(want))), c.keyTable(v, &state), c.enrolForm(v, state),
		c.inviteSection(v, state))
	if len(state.Keys) == 0 {
		body = append(body, c.secretForm(v, state))
	}
	c.page(v, status, "Keys", append(body, c.peopleSection(v), c.pushSection(v), c.signInTable(v))...)
}

func wantText(w approvalproof.Want) string {
	switch w {
	case approvalproof.Passkey:
		return "Approving takes a passkey, at every door: console, command line, API and chat. Denying never does."
	case approvalproof.Typed:
		return "Approving takes the typed secret. It is worth something only where the server runs as another user than the agents."
	}
	return "Approving takes the approver's token and nothing else. With a passkey a stolen token approves nothing."
}

func (c *Console) keyTable(v *visit, state *approvalproof.State) h.HTML {
	keys := state.Keys
	if len(keys) == 0 {
		return h.El("p", h.Class("empty"), h.T("No passkey is enrolled."))
	}
	var rows h.List
	for _, k := range keys {
		rows = append(rows, h.El("tr",
			h.El("th", h.A("scope", "row"), foreign(k.Name)), h.El("td", h.T(shownBy(state.OwnerOf(k.ID)))), h.El("td", h.T(k.Site)),
			h.El("td", h.T(k.Role)),
			h.El("td", h.El("form", h.A("method", "post"), h.A("action", keysPath), h.A("data-form", "prove"), h.A("data-proof",
				string(approvalproof.Passkey)),
				h.A("data-url", keysPath+"/challenge"), h.A("data-token", v.Token(keysPath+"/challenge")),
				c.token(v, keysPath), hidden("what", k.ID), hidden("do", "remove"), h.El("button", h.T("Remove"))))))
	}
	return scroll("Passkeys", h.El("table", h.El("caption", h.T("Passkeys")),
		h.El("thead", h.El("tr", heads("Name", "Whose", "Site", "Role", "")...)), h.El("tbody", rows)))
}

// scroll is a box of its own for what may be wider than a phone.
func scroll(name string, inner h.Part) h.HTML {
	return h.El("div", h.Class("scroll"), h.A("tabindex", "0"), h.A("role", "region"), h.A("aria-label", name), inner)
}

// heads are the names of columns; one without a name is of buttons.
func heads(names ...string) h.List {
	var out h.List
	for _, n := range names {
		if n == "" {
			out = append(out, h.El("td"))
			continue
		}
		out = append(out, h.El("th", h.A("scope", "col"), h.T(n)))
	}
	return out
}

func (c *Console) enrolForm(v *visit, state approvalproof.State) h.HTML {
	if len(state.Keys) == 0 && !v.mayApprove() {
		return h.El("p", h.Class("quiet"),
			h.T("The first key is for whoever may approve: sign in with tidemark console --role approver."))
	}
	parts := h.List{
		h.A("method", "post"), h.A("action", keysPath), h.A("data-form", "enrol"), h.A("data-url", keysPath+"/challenge"),
		h.A("data-token", v.Token(keysPath+"/challenge")), h.A("data-rp", hostName(v.r.Host)), h.Class("stack"),
		c.token(v, keysPath), hidden("do", "enrol"),
		h.El("label", h.T("Name of the key "), h.El("input", h.A("name", "what"), h.Flag("required", true), h.A("maxlength",
			"60"), h.A("autocomplete", "off"))),
	}
	if len(state.Keys) > 0 {
		more, ok := c.enrolOpen(v, state)
		if !ok {
			return h.El("section", append(h.List{h.El("h2", h.T("Enrol a passkey"))}, more...)...)
		}
		parts = append(parts, more...)
	} else {
		parts = append(parts, c.firstKeyWarning())
	}
	if len(state.Keys) == 0 && state.Secret != "" {
		parts = append(parts, h.El("label", h.T("The typed secret "), h.El("input", h.A("type", "password"), h.A("name",
			"secret"), h.A("autocomplete", "off"))))
	}
	parts = append(parts, h.El("button", h.Class("main"), h.T("Enrol a passkey")), h.El("p", h.Class("problem"), h.A("role", "alert")),
		h.El("noscript", h.El("p", h.T("A passkey needs JavaScript."))))
	return h.El("section", h.El("h2", h.T("Enrol a passkey")), h.El("form", parts...))
}

func (c *Console) secretForm(v *visit, state approvalproof.State) h.HTML {
	before := h.Part(h.List(nil))
	if state.Secret != "" {
		before = h.El("label", h.T("The one before "), h.El("input", h.A("type", "password"), h.A("name", "before"),
			h.A("autocomplete", "off")))
	}
	return h.El("section", h.El("h2", h.T("Or a secret to type")),
		h.El("p", h.T("For browsers without script and machines without a key. The server keeps its hash.")),
		h.El("form", h.A("method", "post"), h.A("action", keysPath), h.Class("stack"), c.token(v, keysPath), hidden("do",
			"secret"), before,
			h.El("label", h.T("Secret, 12 characters or more "), h.El("input", h.A("type", "password"), h.A("name", "secret"),
				h.A("minlength", "12"), h.A("autocomplete", "new-password"))),
			h.El("button", h.T("Set the secret"))))
}

// signInTable lists the browsers that are signed in.
func (c *Console) signInTable(v *visit) h.HTML {
	const out = Path + "/logout"
	list, err := c.desk.Sessions(v.r.Context())
	if err != nil {
		_, text := c.explain(v.r.Context(), err)
		return h.El("p", h.Class("bad"), h.A("role", "alert"), h.T("Who is signed in cannot be listed now: "+text))
	}
	var rows h.List
	for _, s := range list {
		name := s.ID
		if s.ID == v.ID {
			name += " (this one)"
		}
		rows = append(rows, h.El("tr", h.El("th", h.A("scope", "row"), h.T(name)), h.El("td", h.T(shownBy(s.By))), h.El("td",
			c.ago(s.Began)), h.El("td", c.ago(s.Seen)),
			h.El("td", h.El("form", h.A("method", "post"), h.A("action", out), c.token(v, out), hidden("session", s.ID),
				h.El("button", h.T("End"))))))
	}
	return scroll("Signed in", h.El("table", h.El("caption", h.T("Signed in")),
		h.El("thead", h.El("tr", heads("Session", "Who", "Since", "Last seen", "")...)), h.El("tbody", rows)))
}

// keyChallenge is what a key signs: for a new one nothing but that it is new, for a change of
// keys exactly that change.
func (c *Console) keyChallenge(v *visit) {
	f := v.r.PostForm
	said := ""
	if f.Get("proving") != "" {
		said = approvalproof.SaidEnrol(f.Get("do"), strings.TrimSpace(f.Get("what")))
	}
	c.ceremony(v, said)
}

func (c *Console) changeKeys(v *visit) {
	f, ctx := v.r.PostForm, v.r.Context()
	what := strings.TrimSpace(f.Get("what"))
	given, err := readProof(f.Get("proof"))
	if err != nil {
		c.wrong(v, err)
		return
	}
	note := ""
	switch f.Get("do") {
	case "enrol":
		role := v.Role
		if v.Idle {
			role = "reader"
		}
		err = c.keys.Enrol(ctx, approvalproof.New{
			Nonce: f.Get("nonce"), Raw: []byte(f.Get("credential")), Name: what, Role: role, By: v.By, Proof: given,
			Secret: f.Get("secret"), Code: f.Get("code"),
		}, hostName(v.r.Host))
		note = "The key is enrolled. From now on approving takes a key."
	case "invite":
		err = c.keys.Invite(ctx, what, given)
		note = what + " is invited to enrol a key, for 24 hours, signed in with their own token."
	case "codes":
		var codes []string
		codes, note, err = c.keys.NewCodes(ctx, given)
		note = "The recovery codes of " + note + ", shown once; write them down, each counts once: " + strings.Join(codes, " ")
	case "remove":
		err = c.keys.Remove(ctx, what, v.by(), given)
		note = "The key is removed."
	case "secret":
		if !v.mayApprove() {
			err = say(http.StatusForbidden, "Nothing was changed: a session that was not used for a while sets no secret. Sign in again.")
			break
		}
		err = c.keys.SetSecret(ctx, v.Role, v.By, f.Get("before"), f.Get("secret"))
		note = "The secret is set. From now on approving takes it."
	default:
		err = say(http.StatusBadRequest, "Nothing was changed: say what to do.")
	}
	if err != nil {
		status, text := c.explainKey(v, err)
		if v.r.Header.Get("Sec-Fetch-Dest") == "empty" {
			c.fail(v.w, v.r, status, text)
			return
		}
		c.showKeys(v, status, text)
		return
	}
	c.showKeys(v, http.StatusOK, note)
}
