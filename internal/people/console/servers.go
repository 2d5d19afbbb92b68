package console

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/tidemark/tidemark/internal/base/alarm"
	h "github.com/tidemark/tidemark/internal/base/html"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/people/sight"
	"github.com/tidemark/tidemark/internal/pins"
)

const (
	serversPath = Path + "/servers"
	noticesPath = Path + "/definitions"
)

// serversPage is what is hidden of MCP servers, with how it differs from what was accepted.
func (c *Console) serversPage(v *visit) {
	body := h.List{h.El("h1", h.T("MCP servers")), h.El("p", h.T("What servers say of their tools goes into the prompts of agents. "+
		"A description that has changed is hidden from agents until a person accepts it."))}
	all, err := c.knownServers(v)
	if err != nil {
		c.wrong(v, err)
		return
	}
	var cards h.List
	for _, s := range all {
		card, err := c.serverCard(v, s)
		if err != nil {
			c.wrong(v, err)
			return
		}
		cards = append(cards, card)
	}
	if len(cards) == 0 {
		body = append(body, h.El("p", h.Class("empty"), h.T("No MCP server was used through Tidemark yet.")))
	} else {
		body = append(body, h.El("div", append(h.List{h.Class("list")}, cards...)...))
	}
	c.page(v, http.StatusOK, "MCP servers", body...)
}

func (c *Console) knownServers(v *visit) ([]pins.ServerView, error) {
	if c.pins == nil {
		return nil, nil
	}
	return c.pins.Servers(v.r.Context())
}

func (c *Console) serverCard(v *visit, s pins.ServerView) (h.HTML, error) {
	parts := h.List{h.Class("card"), h.El("h2", foreign(s.Name)), h.El("p", h.Class("meta"), foreign(s.At), h.T(" · "),
		h.T(fmt.Sprintf("accepted: %d · hidden: %d · ", s.Accepted, len(s.Held))),
		h.El("a", h.A("href", query(historyPath, nil, "server", s.Name+"@"+s.ID)), h.T("history")))}
	review, err := c.pins.Review(v.r.Context(), s.Name+"@"+s.ID, "")
	if err != nil {
		return h.HTML{}, err
	}
	for _, i := range review.Items {
		parts = append(append(parts, h.El("h3", foreign(i.Name))), hiddenDefinition(&i)...)
		if i.Usable {
			what := i.Seen + " " + i.Name + " " + s.Name + "@" + s.ID
			parts = append(parts, c.actForm(v, serversPath, what, h.El("div", h.Class("buttons"), act("accept", "Accept this definition"))))
		} else {
			parts = append(parts, h.El("p", h.T("It cannot be accepted.")))
		}
	}
	return h.El("article", parts...), nil
}

// hiddenDefinition is why a definition is hidden, and how it differs from what was accepted.
func hiddenDefinition(i *pins.HeldView) h.List {
	out := h.List{h.El("p", h.T("Hidden because "), foreign(i.Why))}
	for _, w := range i.Warnings {
		out = append(out, h.El("p", h.Class("problem"), h.T("Look closely: "), foreign(w)))
	}
	return append(out, definitionDiff(i.Diff))
}

// notices are the open questions about definitions, for the page with the others. They stand below those
// about calls, for which somebody waits.
func (c *Console) notices(v *visit) (h.Part, error) {
	if c.pins == nil || !sight.From(v.r.Context()).Whole() {
		return h.List(nil), nil
	}
	list, err := c.pins.Notices(v.r.Context())
	if err != nil || len(list) == 0 {
		return h.List(nil), err
	}
	cards := h.List{h.Class("list")}
	for i := range list {
		n := &list[i]
		title := h.El("h3", h.A("id", "q-"+n.ID), foreign(n.Server), h.T(": "), foreign(n.Name))
		parts := append(h.List{h.Class("card"), h.A("aria-labelledby", "q-"+n.ID), title}, hiddenDefinition(&n.HeldView)...)
		cards = append(cards, h.El("article", append(parts,
			c.actForm(v, noticesPath, n.ID, h.El("div", h.Class("buttons"), act("accept", "Accept this definition"))),
			h.El("form", h.A("method", "post"), h.A("action", noticesPath), c.token(v, noticesPath), hidden("what", n.ID),
				h.El("div", h.Class("buttons"), act("deny", "Keep it hidden"))))...))
	}
	return h.El("section", h.A("aria-labelledby", "definitions"),
		h.El("h2", h.A("id", "definitions"), h.T("Definitions of MCP servers")),
		h.El("p", h.T("Agents do not see these until a person has accepted them.")), h.El("div", cards...)), nil
}

// answerNotice takes an answer about a definition. Accepting takes the role and the proof that any other approval
// takes; keeping it hidden takes neither, as denying a call does not.
func (c *Console) answerNotice(v *visit) {
	do, err := v.r.PostForm.Get("do"), error(nil)
	if id := v.r.PostForm.Get("what"); c.alarms != nil && alarm.Is(id) { // gone already is as good
		c.alarms.Seen(id)
		http.Redirect(v.w, v.r, Path+"/", http.StatusSeeOther)
		return
	}
	switch {
	case c.pins == nil || do != "accept" && do != "deny":
		err = say(http.StatusBadRequest, "Nothing was changed: say accept or deny.")
	case do == "accept":
		err = c.proven(v, "approver")
	}
	if err == nil {
		_, err = c.pins.Say(v.r.Context(), pins.Said{ID: v.r.PostForm.Get("what"), Accept: do == "accept", By: v.by(), Via: "console"})
	}
	switch {
	case errors.Is(err, engine.ErrNotFound), errors.Is(err, pins.ErrUnfit):
		err = say(http.StatusConflict, "Nothing was changed: %v.", err)
		fallthrough
	case err != nil:
		c.wrong(v, err)
	default:
		http.Redirect(v.w, v.r, Path+"/", http.StatusSeeOther)
	}
}

// definitionDiff is a unified diff with its lines marked.
func definitionDiff(text string) h.HTML {
	out := h.List{h.Class("diff"), h.A("tabindex", "0"), h.A("aria-label", "What is different")}
	head := strings.HasPrefix(text, "--- ") // two lines with names; further ones that look so are text
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case head && strings.HasPrefix(line, "--- "):
		case head && strings.HasPrefix(line, "+++ "):
			head = false
		case strings.HasPrefix(line, "@@"):
		case strings.HasPrefix(line, "+"):
			out = append(out, h.El("ins", h.T(clean(line))))
		case strings.HasPrefix(line, "-"):
			out = append(out, h.El("del", h.T(clean(line))))
		default:
			out = append(out, h.El("span", h.T(clean(line))))
		}
	}
	return h.El("pre", out...)
}

func (c *Console) acceptDefinition(v *visit) {
	seen, rest, _ := strings.Cut(v.r.PostForm.Get("what"), " ")
	name, server, _ := strings.Cut(rest, " ")
	err := c.proven(v, "approver")
	switch {
	case err != nil:
	case c.pins == nil || v.r.PostForm.Get("do") != "accept":
		err = say(http.StatusBadRequest, "Nothing was changed: say which definition is accepted.")
	default:
		_, err = c.pins.Accept(v.r.Context(), pins.Acceptance{Server: server, Tool: name, Seen: seen, By: v.by(), Via: "console"})
		if errors.Is(err, pins.ErrSeen) || errors.Is(err, pins.ErrUnfit) {
			err = say(http.StatusConflict, "Nothing was changed: %v.", err)
		}
	}
	if err != nil {
		c.wrong(v, err)
		return
	}
	http.Redirect(v.w, v.r, serversPath, http.StatusSeeOther)
}
