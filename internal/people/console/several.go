package console

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	h "github.com/tidemark/tidemark/internal/base/html"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/people/approvalproof"
	"github.com/tidemark/tidemark/internal/question"
)

// A few questions of one conversation may be answered at once (decision 42): every one is shown whole first, and where
// a passkey is required one touch signs the list of them all.

const severalPath = Path + "/several"

// tick lets a question be answered with others, in the list.
func tick(q *engine.Question, whole bool) h.Part {
	if whole || q.Apart() != "" {
		return h.List(nil)
	}
	return h.El("label", h.Class("tick"), h.T(" · "), h.El("input", h.A("type", "checkbox"), h.A("name", "id"), h.A("value", q.ID),
		h.A("form", "several"), h.A("autocomplete", "off")), h.T(" with others"))
}

// severalForm leads to those that were ticked.
func severalForm() h.HTML {
	return h.El("form", h.A("id", "several"), h.A("method", "get"), h.A("action", severalPath), h.El("p",
		h.El("button", h.T("Answer those ticked together…")), h.El("span", h.Class("quiet"),
			h.T(fmt.Sprintf(" At most %d of one conversation. You see each of them whole first.", question.MaxTogether)))))
}

// several are the questions a form or an address names, in the order in which they are signed.
func (c *Console) several(ctx context.Context, ids []string) ([]engine.Question, error) {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	if len(ids) == 0 {
		return nil, say(http.StatusBadRequest, "No question was ticked. Tick those that you want to answer together.")
	}
	if len(ids) > question.MaxTogether {
		return nil, say(http.StatusConflict, "At most %d questions are answered together.", question.MaxTogether)
	}
	list := make([]engine.Question, len(ids))
	for i, id := range ids {
		q, err := c.find(ctx, id)
		if err != nil {
			return nil, err
		}
		list[i] = q
	}
	return list, question.Together(list)
}

func (c *Console) severalPage(v *visit) {
	list, err := c.several(v.r.Context(), v.r.URL.Query()["id"])
	if err != nil {
		c.wrong(v, err)
		return
	}
	c.showSeveral(v, http.StatusOK, list, "")
}

// showSeveral shows each question whole, and below them the two answers for all.
func (c *Console) showSeveral(v *visit, status int, list []engine.Question, note string) {
	body := h.List{
		h.El("p", h.El("a", h.A("href", "/console/"), h.T("‹ all questions"))),
		h.El("h1", h.T(fmt.Sprintf("Questions of one conversation: %d", len(list)))),
		h.El("p", sessionLink(list[0].Session), h.T(". Read each of them: the answer below is for all, and is given to all or to none.")),
	}
	if note != "" {
		body = append(body, h.El("p", h.Class("banner bad"), h.A("role", "alert"), h.T(clean(note))))
	}
	cards := h.List{h.Class("list")}
	for i := range list {
		cards = append(cards, severalCard(&list[i], i+1))
	}
	c.page(v, status, "Questions", append(body, h.El("div", cards...), c.severalAnswers(v, list))...)
}

// severalCard is a question without its own answers.
func severalCard(q *engine.Question, n int) h.HTML {
	id := "q-" + q.ID
	return h.El("article", h.Class("card"), h.A("id", id), h.A("aria-labelledby", id+"-t"),
		h.El("header", h.El("h2", h.A("id", id+"-t"), h.T(fmt.Sprintf("%d. ", n)),
			h.El("a", h.A("href", "/console/q/"+q.ID), sentenceOf(q))),
			h.El("p", h.Class("meta"), h.T(fmt.Sprintf("step %d · %s left", q.Step, left(q.TimeLeft()))))),
		callOf(q), evidence(q))
}

func (c *Console) severalAnswers(v *visit, list []engine.Question) h.HTML {
	shown := func() h.List {
		out := h.List{h.A("method", "post"), h.A("action", severalPath), c.token(v, severalPath), h.Class("answer")}
		for i := range list {
			out = append(out, hidden("id", list[i].ID), hidden("seen", seen(&list[i])))
		}
		return append(out, h.El("label", h.Class("note"), h.T("Note, for the agent and the log "),
			h.El("input", h.A("name", "note"), h.A("maxlength", "500"), h.A("autocomplete", "off"))))
	}
	deny := h.El("form", append(shown(), h.El("div", h.Class("buttons"), h.El("button", h.A("name", "do"), h.A("value", "deny"),
		h.Class("deny"), h.T(fmt.Sprintf("Deny all %d", len(list))))))...)
	want := c.keys.Required()
	if want == approvalproof.None && !v.mayApprove() {
		return h.El("section", deny, h.El("p", h.Class("quiet"),
			h.T("Approving takes the approver's token or an enrolled passkey: this session can only read and deny.")))
	}
	if c.keyless(v) {
		return h.El("section", deny, c.askWhom(v))
	}
	const challenge = severalPath + "/challenge"
	text := fmt.Sprintf("Approve all %d, once each", len(list))
	parts := append(shown(), h.A("data-form", "prove"), h.A("data-proof", string(want)), h.A("data-url", challenge), h.A("data-token",
		v.Token(challenge)))
	switch want {
	case approvalproof.Passkey:
		text += ", with one touch"
		parts = append(parts, h.El("noscript", h.El("p", h.T("A passkey needs JavaScript; denying does not."))))
	case approvalproof.Typed:
		parts = append(parts, h.El("label", h.Class("note"), h.T("Secret, to approve "),
			h.El("input", h.A("type", "password"), h.A("name", "secret"), h.A("autocomplete", "off"))))
	}
	return h.El("section", deny, h.El("form", append(parts, h.El("div", h.Class("buttons"), h.El("button", h.A("name", "do"),
		h.A("value", "approve"), h.Class("approve"), h.T(text))), h.El("p", h.Class("problem"), h.A("role", "alert")))...))
}

// severalVote reads the answer: it counts for what the page showed, all of it.
func (c *Console) severalVote(v *visit) (list []engine.Question, vote engine.Vote, err error) {
	f := v.r.PostForm
	if f.Get("do") != "approve" && f.Get("do") != "deny" {
		return nil, vote, say(http.StatusBadRequest, "Say approve or deny.")
	}
	if list, err = c.several(v.r.Context(), f["id"]); err != nil {
		return nil, vote, err
	}
	shown := seenOf(f)
	vote = engine.Vote{
		Session: list[0].Session, Approve: f.Get("do") == "approve", By: v.by(), Via: "console", Reason: strings.TrimSpace(f.Get("note")),
		Secret: f.Get("secret"),
	}
	for i := range list {
		vote.IDs = append(vote.IDs, list[i].ID)
		if shown[list[i].ID] != seen(&list[i]) {
			err = say(http.StatusConflict, "Nothing was changed: a question has changed since you saw it. Read them again.")
		}
	}
	return list, vote, err
}

// seenOf is what a form says was shown, by question.
func seenOf(f url.Values) map[string]string {
	out := map[string]string{}
	for i, id := range f["id"] {
		if i < len(f["seen"]) {
			out[id] = f["seen"][i]
		}
	}
	return out
}

// challengeSeveral hands out what a key is to sign for exactly this answer to all of these questions.
func (c *Console) challengeSeveral(v *visit) {
	list, vote, err := c.severalVote(v)
	if err != nil {
		c.wrong(v, err)
		return
	}
	asked := make([]engine.Asked, len(list))
	for i := range list {
		asked[i] = engine.Asked{ID: list[i].ID, Digest: list[i].Digest}
	}
	said, err := vote.Said(asked)
	if err != nil {
		c.wrong(v, err)
		return
	}
	c.ceremony(v, said)
}

// answerSeveral takes one vote about several questions.
func (c *Console) answerSeveral(v *visit) {
	ctx := v.r.Context()
	list, vote, err := c.severalVote(v)
	notice := ""
	if err == nil {
		notice, err = c.voteFor(ctx, v, vote)
	}
	switch {
	case err == nil:
		c.page(v, http.StatusOK, "Questions", h.El("h1", h.T("Questions")), h.El("p", h.Class("banner"), h.A("role", "status"),
			h.T(clean(notice))), h.El("p", h.El("a", h.A("href", "/console/"), h.T("‹ all questions"))))
	case list == nil:
		c.wrong(v, err)
	default:
		status, text := c.explain(ctx, err)
		c.showSeveral(v, status, list, text)
	}
}
