package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/tidemark/tidemark/internal/base/alarm"
	h "github.com/tidemark/tidemark/internal/base/html"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/people/sight"
	"github.com/tidemark/tidemark/internal/pins"
	"github.com/tidemark/tidemark/internal/waiting"
)

// questionsPage is what waits, oldest first.
func (c *Console) questionsPage(v *visit) {
	if c.onTo(v) {
		return
	}
	list, err := c.open(v.r.Context())
	if err != nil {
		c.wrong(v, err)
		return
	}
	definitions, err := c.notices(v)
	if err != nil {
		c.wrong(v, err)
		return
	}
	c.page(v, http.StatusOK, "Questions",
		h.El("h1", h.T("Questions")),
		h.El("p", h.Class("quiet"), h.A("id", "keys-help"),
			h.T("Keys in the list: j and k move, d denies, a approves, o opens. "),
			h.El("label", h.El("input", h.A("type", "checkbox"), h.A("id", "keys"), h.Flag("checked", true)), h.T(" use keys"))),
		h.El("div", h.A("id", "floods"), h.A("aria-live", "polite"), c.floods(v, list)),
		h.El("div", h.A("id", "list"), h.Class("list"), h.A("data-page", "questions"), h.A("aria-live", "off"), c.cards(v, window(list))),
		more(len(list)), severalForm(), definitions)
}

// open are the questions that wait.
func (c *Console) open(ctx context.Context) ([]engine.Question, error) {
	list, err := c.questions(ctx)
	if err != nil {
		return nil, err
	}
	out := list[:0]
	for _, q := range list {
		if q.Pending() {
			out = append(out, q)
		}
	}
	return out, nil
}

// maxCards is how many questions the list shows at once. Nobody reads more, and a browser has to hold them.
const maxCards = 50

// window are the questions that the list shows: the oldest that wait, and of a flood the first few.
func window(list []engine.Question) []engine.Question { return waiting.Window(list, maxCards) }

// more says how many are not shown yet.
func more(waiting int) h.HTML {
	return h.El("p", h.Class("quiet"), h.A("id", "more"), h.A("data-count", strconv.Itoa(maxCards)), h.Flag("hidden", waiting <= maxCards),
		h.T(fmt.Sprintf("The %d oldest of %d. The next ones appear as these are answered.", maxCards, waiting)))
}

func (c *Console) cards(v *visit, list []engine.Question) h.HTML {
	if len(list) == 0 {
		return c.nothingHeld(v)
	}
	var out h.List
	for i := range list {
		out = append(out, c.card(v, &list[i], false))
	}
	return h.Join(out)
}

// nothingHeld is the empty list.
func (c *Console) nothingHeld(v *visit) h.HTML {
	at := h.Part(h.List(nil))
	if head, err := c.log.Head(v.r.Context()); err == nil {
		at = h.El("p", h.Class("quiet"), h.T(fmt.Sprintf("%d records in the log, policy %s.", head.Records,
			c.monitor.Policy().Version())))
	}
	return h.El("div", h.Class("empty"), h.A("id", "empty"),
		h.El("p", h.T("Nothing waits for an answer. A question appears here by itself.")), at,
		h.El("p", h.T("To see one: "), h.El("code", h.T("tidemark demo")), h.T(", or "),
			h.El("a", h.A("href", "/console/policy"), h.T("try a call")), h.T(".")))
}

// find is a question by its id, open or closed of late.
func (c *Console) find(ctx context.Context, id string) (engine.Question, error) {
	if session, ok := c.monitor.Find(ctx, id); ok {
		q, err := c.monitor.Question(ctx, session, id)
		if !errors.Is(err, engine.ErrNotFound) && (err != nil || sight.From(ctx).Agent(q.Agent)) {
			return q, err
		}
	}
	return engine.Question{}, say(http.StatusNotFound,
		"No question has this id, or it was answered long ago. The audit page has all of them.")
}

func (c *Console) questionPage(v *visit) {
	if id := v.r.PathValue("id"); pins.IsNotice(id) { // they stand with the others
		http.Redirect(v.w, v.r, Path+"/#definitions", http.StatusSeeOther)
		return
	}
	if alarm.Is(v.r.PathValue("id")) { // on every page
		http.Redirect(v.w, v.r, Path+"/", http.StatusSeeOther)
		return
	}
	q, err := c.find(v.r.Context(), v.r.PathValue("id"))
	if err != nil {
		c.wrong(v, err)
		return
	}
	c.showQuestion(v, &q, http.StatusOK, "")
}

// showQuestion is one question on its own page, with what just happened to it.
func (c *Console) showQuestion(v *visit, q *engine.Question, status int, note string) {
	said := h.Part(h.List(nil))
	if note != "" {
		class := "banner"
		if status >= http.StatusBadRequest {
			class += " bad"
		}
		said = h.El("p", h.Class(class), h.A("role", "status"), h.T(clean(note)))
	}
	body := h.List{h.El("p", h.El("a", h.A("href", "/console/"), h.T("‹ all questions"))), said}
	if q.Pending() {
		body = append(body, h.El("div", h.A("id", "list"), h.A("data-page", "question"), c.card(v, q, true)))
	} else {
		body = append(body, h.El("h1", headline(q)), callOf(q), evidence(q),
			h.El("div", h.A("id", "list"), h.Class("done"), h.A("data-page", "closed"), c.closedCard(q)))
	}
	c.page(v, status, "Question", body...)
}
