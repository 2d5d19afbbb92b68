package console

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"sync"
	"time"

	h "github.com/tidemark/tidemark/internal/base/html"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/question"
)

// seen is the hash of what a card shows: an answer counts for that and nothing else.
func seen(q *engine.Question) string {
	shown := *q
	shown.Code, shown.State, shown.By, shown.Note, shown.Answered, shown.Abandoned = "", "", "", "", time.Time{}, false
	raw, err := strictjson.Marshal(&shown)
	if err != nil {
		return "" // nothing that is posted fits
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16])
}

// sentence is what would happen, in words, with what is not from the user marked in it; where nobody looked at what the call
// does, it is what is asked.
func sentenceOf(q *engine.Question) h.HTML {
	would := q.Would()
	if would == "" {
		would = q.Prompt
	}
	front, rest := "", ""
	if after, ok := strings.CutPrefix(would, "Call "+text.Visible(q.Tool)); ok { // a tool's name is nobody's value
		front, would = would[:len(would)-len(after)], after
	}
	if i := strings.LastIndex(would, ", with "+text.Visible(q.Tool)); i >= 0 {
		would, rest = would[:i], would[i:]
	}
	return h.El("bdi", h.Class("prose"), h.T(clean(front)), marks(would, lacking(q, "")), h.T(clean(rest)))
}

// reason is what the first paragraph says after that.
func reason(q *engine.Question) h.Part {
	rest, found := strings.CutPrefix(q.Prompt, q.Would()+". ")
	if !found || q.Would() == "" {
		return h.List(nil)
	}
	return h.El("p", h.Class("reason"), h.El("bdi", h.Class("prose"), h.T(clean(rest))))
}

// headline names a call in a line.
func headline(q *engine.Question) h.HTML {
	if would := q.Would(); would != "" {
		return h.El("bdi", h.Class("prose"), h.T(clean(cut(would, 200))))
	}
	return foreign(q.Tool)
}

// card is one question: what would happen, the call whole, why it is asked and where that comes from, the user's words, and
// what a yes opens; then the answers, which stay in reach.
func (c *Console) card(v *visit, q *engine.Question, whole bool) h.HTML {
	if !q.Pending() {
		return c.closedCard(q)
	}
	level, class := "h2", "card"
	if whole {
		level, class = "h1", "card whole"
	}
	if tall(q) {
		class += " tall"
	}
	id, shown := "q-"+q.ID, seen(q)
	title := h.Part(sentenceOf(q))
	if !whole {
		title = c.htmlCache.of("title "+shown, whole, func() h.HTML { return h.El("a", h.A("href", "/console/q/"+q.ID), sentenceOf(q)) })
	}
	var gone h.Attr
	if q.Abandoned {
		gone = h.A("data-abandoned", "gone")
	}
	form, buttons := c.answerForm(v, q, shown, whole)
	return h.El("article", h.Class(class), h.A("id", id), h.A("aria-labelledby", id+"-t"), h.A("tabindex", "-1"),
		h.A("data-id", q.ID), h.A("data-seen", shown), h.A("data-state", q.State), h.A("data-keys", keysOf(q)),
		h.A("data-expires", strconv.FormatInt(q.Expires.UnixMilli(), 10)), gone,
		h.El("header",
			h.El(level, h.A("id", id+"-t"), title), reason(q),
			h.El("p", h.Class("meta"), sessionLink(q.Session), h.T(" · step "+strconv.FormatUint(q.Step, 10)+" · "),
				h.El("span", h.Class("left"), h.T(left(q.TimeLeft()))), h.T(" left"),
				h.El("span", h.Class("waits"), h.T(" · nobody waits")), tick(q, whole))),
		abandoned(q, whole),
		c.htmlCache.of(shown, whole, func() h.HTML { return h.Join(callOf(q), evidence(q)) }),
		c.agreedRow(q), form, buttons)
}

// htmlCache holds the HTML that is the same on everybody's card of a question, by the hash of what it shows (seen): with many
// open pages each question is rendered once.
type htmlCache struct {
	mu    sync.Mutex
	parts map[string]h.HTML // guarded by mu
}

// maxDrawn bounds what is remembered: more are not on a page.
const maxDrawn = 4 * maxCards

// of returns the part with this hash and renders it where it is not cached. The page of one question says more than the list, and
// is rendered each time.
func (d *htmlCache) of(shown string, whole bool, draw func() h.HTML) h.HTML {
	if whole || strings.HasSuffix(shown, " ") || shown == "" { // what has no hash is known by nothing
		return draw()
	}
	d.mu.Lock()
	part, known := d.parts[shown]
	d.mu.Unlock()
	if known {
		return part
	}
	part = draw()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.parts == nil || len(d.parts) >= maxDrawn {
		d.parts = map[string]h.HTML{}
	}
	d.parts[shown] = part
	return part
}

// abandoned says on the page of a question what it means that nobody waits for it any more. In
// the list a word has to do: nothing there may grow under the pointer.
func abandoned(q *engine.Question, whole bool) h.Part {
	if !q.Abandoned || !whole {
		return h.List(nil)
	}
	return h.El("p", h.Class("quiet"), h.El("strong", h.T("Nobody waits: ")), h.T(question.NobodyWaits+"."))
}

// keysOf says which answers a single key may give: a yes only to what may be approved with others (Question.Apart). The rest
// takes the button, and a second step.
func keysOf(q *engine.Question) string {
	if q.Apart() != "" {
		return "d"
	}
	return "ad"
}

// closedCard is one line in the place of a card that was answered.
func (c *Console) closedCard(q *engine.Question) h.HTML {
	return h.El("article", h.Class("card closed"), h.A("id", "q-"+q.ID), h.A("data-id", q.ID), h.A("data-state", q.State),
		h.A("tabindex", "-1"),
		h.El("p", h.El("strong", h.Class("state "+q.State), h.T(q.State)), h.T(" "), h.El("a", h.A("href", "/console/q/"+q.ID),
			headline(q)),
			h.T(outcome(q))))
}

// outcome says who answered, when and with which words.
func outcome(q *engine.Question) string {
	if q.State == "expired" {
		return ": nobody answered in time. It was not denied, and did not run"
	}
	out := ""
	if q.By != "" {
		out += " by " + clean(q.By)
	}
	if !q.Answered.IsZero() && q.Answered.Unix() > 0 {
		out += ", " + q.Answered.UTC().Format("15:04:05 UTC")
	}
	if q.Note != "" {
		out += ": “" + clean(q.Note) + "”"
	}
	return out
}
