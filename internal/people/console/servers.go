package console

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	h "github.com/tidemark/tidemark/internal/base/markup"
	"github.com/tidemark/tidemark/internal/mcp/pins"
)

const serversPath = Path + "/servers"

// serversPage is what is hidden of MCP servers, with how it differs from what was accepted.
func (c *Console) serversPage(v *visit) {
	body := h.List{h.El("h1", h.T("MCP servers")), h.El("p", h.T("What servers say of their tools goes into the prompts of agents. "+
		"What became another text than the one that was accepted is hidden from agents until a person has looked at it."))}
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
		h.T(fmt.Sprintf("accepted: %d · hidden: %d", s.Accepted, len(s.Held))))}
	review, err := c.pins.Review(v.r.Context(), s.Name+"@"+s.ID, "")
	if err != nil {
		return h.HTML{}, err
	}
	for _, i := range review.Items {
		parts = append(parts, h.El("h3", foreign(i.Name)), h.El("p", h.T("Hidden because "), foreign(i.Why)))
		for _, w := range i.Warnings {
			parts = append(parts, h.El("p", h.Class("problem"), h.T("Look closely: "), foreign(w)))
		}
		parts = append(parts, definitionDiff(i.Diff))
		if i.Usable {
			what := i.Seen + " " + i.Name + " " + s.Name + "@" + s.ID
			parts = append(parts, c.actForm(v, serversPath, what, h.El("div", h.Class("buttons"), act("accept", "Accept this definition"))))
		} else {
			parts = append(parts, h.El("p", h.T("It cannot be accepted.")))
		}
	}
	return h.El("article", parts...), nil
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
