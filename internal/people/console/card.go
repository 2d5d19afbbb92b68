package console

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/approval"
	"github.com/tidemark/tidemark/event"
	h "github.com/tidemark/tidemark/internal/base/markup"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/people/consent"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/trust"
)

// seen is the hash of what a card shows: an answer counts for that and nothing else.
func seen(q *tidemark.Question) string {
	shown := *q
	shown.Code, shown.State, shown.By, shown.Note, shown.Answered, shown.Abandoned = "", "", "", "", time.Time{}, false
	raw, err := strictjson.Marshal(&shown)
	if err != nil {
		return "" // nothing that is posted fits
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16])
}

// first is what would happen, in words: the first thing on the page of a question.
func first(q *tidemark.Question) h.HTML {
	if would := q.Would(); would != "" {
		return foreign(would)
	}
	return headline(q)
}

// headline names the call by what is missing, in a list.
func headline(q *tidemark.Question) h.HTML {
	for _, v := range q.Values {
		if v.Lacks && v.Value != "" && v.Path != "" {
			return h.Join(foreign(q.Tool), h.T(" → "), foreign(cut(v.Value, 80)))
		}
	}
	return foreign(q.Tool)
}

// card is one question: the value that nothing stands behind first, then where it stands, what
// is behind the rest, the user's words and the rule; the buttons come after the evidence.
func (c *Console) card(v *visit, q *tidemark.Question, whole bool) h.HTML {
	if !q.Pending() {
		return c.closedCard(q)
	}
	level := "h2"
	if whole {
		level = "h1"
	}
	id, shown := "q-"+q.ID, seen(q)
	var title h.Part
	if whole {
		title = first(q)
	} else {
		title = c.drawn.of("title "+shown, whole, func() h.HTML { return h.El("a", h.A("href", "/console/q/"+q.ID), headline(q)) })
	}
	class := "card"
	if whole {
		class += " whole"
	}
	var gone h.Attr
	if q.Abandoned {
		gone = h.A("data-abandoned", "gone")
	}
	return h.El("article", h.Class(class), h.A("id", id), h.A("aria-labelledby", id+"-t"), h.A("tabindex", "-1"),
		h.A("data-id", q.ID), h.A("data-seen", shown), h.A("data-state", q.State), h.A("data-keys", keysOf(q)),
		h.A("data-expires", strconv.FormatInt(q.Expires.UnixMilli(), 10)), gone,
		h.El("header",
			h.El(level, h.A("id", id+"-t"), title),
			h.El("p", h.Class("meta"), sessionLink(q.Session), h.T(" · step "+strconv.FormatUint(q.Step, 10)+" · "),
				h.El("span", h.Class("left"), h.T(left(q.TimeLeft()))), h.T(" left"),
				h.El("span", h.Class("waits"), h.T(" · nobody waits")), tick(q, whole))),
		abandoned(q, whole),
		c.drawn.of(shown, whole, func() h.HTML {
			return h.Join(h.El("dl", h.Class("evidence"), evidence(q, whole)),
				h.El("details", h.El("summary", h.T("The whole call")), h.El("dl", h.Class("evidence"), callLines(q, whole))))
		}),
		c.answerForm(v, q, shown, whole))
}

// drawn remembers what is the same on everybody's card of a question, by the hash of what it shows (seen): with many open
// pages each question is drawn once.
type drawn struct {
	mu    sync.Mutex
	parts map[string]h.HTML // guarded by mu
}

// maxDrawn bounds what is remembered: more are not on a page.
const maxDrawn = 4 * maxCards

// of is the part with this hash, which is drawn where nobody has. The page of one question says more than the list, and
// is drawn each time.
func (d *drawn) of(shown string, whole bool, draw func() h.HTML) h.HTML {
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
func abandoned(q *tidemark.Question, whole bool) h.Part {
	if !q.Abandoned || !whole {
		return h.List(nil)
	}
	return h.El("p", h.Class("quiet"), h.El("strong", h.T("Nobody waits: ")), h.T(tidemark.NobodyWaits+"."))
}

// keysOf says which answers a single key may give: what is dangerous, or was blocked by the
// auditor, takes the button on the question's own page.
func keysOf(q *tidemark.Question) string {
	if q.Kind == policy.KindDanger || q.Kind == policy.KindIntentBlock {
		return "d"
	}
	return "ad"
}

func row(name, class string, parts ...h.Part) h.HTML {
	return h.El("div", h.Class(class), h.El("dt", h.T(name)), h.El("dd", parts...))
}

// evidence are the lines every surface shows, in the order a person needs them.
func evidence(q *tidemark.Question, whole bool) h.List {
	var out h.List
	var rest h.List
	for _, v := range q.Values {
		switch {
		case v.Lacks:
			out = append(out, row("Missing", "not-yours", value(v)))
		case v.Has != "none":
			rest = append(rest, h.El("p", value(v)))
		}
	}
	held := sources(q)
	if len(out) == 0 { // then it is what was read that is asked about
		out, held = held, nil
	}
	if len(rest) > 0 {
		out = append(out, row("Behind the rest", "yours", rest...))
	}
	if whole && q.Item != nil && q.Item.ID != "" {
		out = append(out, row("You asked", "said", foreign(tidemark.NameItem(q.Item))))
	}
	out = append(out, row("You said", "said", words(q)))
	for _, l := range q.Lines() {
		if l.Name == "Not read" {
			out = append(out, row(l.Name, "rule", h.T(l.Text)))
		}
	}
	out = append(out, row("Would happen", "would", foreign(q.Prompt)))
	out = append(out, held...)
	if o := q.Opinion; o != nil {
		out = append(out, row("Auditor", "auditor", foreign(strings.Trim(o.Answer+": "+o.Reason, ": "))))
	}
	return append(out, row("Rule", "rule", h.El("code", h.T(clean(q.Rule))), h.T(" "), foreign(q.Reason),
		h.T(" (the context is "+q.Level+")")))
}

// value is one slot, with where it stands and the value marked in what is around it.
func value(v event.Shown) h.HTML {
	if v.Path == "" {
		return h.Join(h.T(v.Slot+", "), marked(v.Why, v.Value))
	}
	look := h.Part(h.List(nil))
	if wire := spelled(v.Value); wire != "" {
		look = h.El("strong", h.Class("look"), h.T(" written "+wire))
	}
	return h.Join(
		h.El("span", h.Class("slot"), foreign(v.Path), h.T(" = ")), h.El("strong", h.Class("value"), foreign(v.Value)), look,
		h.El("span", h.Class("why"), marked(v.Why, v.Value), h.El("span", foreign(beside(v)))))
}

// beside is where a value comes from and what it could be taken for, as every surface says it.
func beside(v event.Shown) string {
	return strings.TrimPrefix(tidemark.Whence(v), tidemark.Whence(event.Shown{Path: v.Path, Value: v.Value, Why: v.Why}))
}

func words(q *tidemark.Question) h.Part {
	if len(q.Words) == 0 {
		return h.El("em", h.T("nothing that was kept"))
	}
	var out h.List
	list := q.Words
	if n := len(list) - 3; n > 0 {
		out = append(out, h.El("p", h.Class("quiet"), h.T(fmt.Sprintf("%d earlier messages", n))))
		list = list[n:]
	}
	for _, w := range list {
		out = append(out, h.El("p", quoted(w.Text)))
	}
	return out
}

// sources are what made the context distrusted, with the beginning of each.
func sources(q *tidemark.Question) h.List {
	var items h.List
	for i, s := range q.Sources {
		if i == 4 {
			items = append(items, h.El("p", h.Class("quiet"), h.T(fmt.Sprintf("and %d more", len(q.Sources)-i))))
			break
		}
		name := strings.ReplaceAll(s.Kind, "_", " ")
		if s.Tool != "" {
			name = fmt.Sprintf("%s at step %d", s.Tool, s.Step)
		}
		line := h.List{h.El("b", h.Class("level "+s.Level.String()), h.T(s.Level.String())), h.T(" "), foreign(name)}
		if s.Detail != "" {
			line = append(line, h.T(" "), foreign(s.Detail))
		}
		if s.Excerpt != "" {
			line = append(line, h.T(" "), quoted(s.Excerpt))
		}
		if s.Author != "" {
			line = append(line, h.T(" by "), foreign(s.Author))
		}
		if s.Readers != "" && s.Readers != trust.Everybody {
			line = append(line, h.T(", which "), foreign(s.Readers), h.T(" may read"))
		}
		items = append(items, h.El("p", line...))
	}
	if len(items) == 0 {
		return nil
	}
	return h.List{row("Context holds", "holds", items...)}
}

// callLines are the call itself; on its own page with what approving it would allow.
func callLines(q *tidemark.Question, whole bool) h.List {
	out := h.List{row("Tool", "", foreign(q.Tool))}
	for _, leaf := range strictjson.Flat(q.Args) {
		out = append(out, row(clean(cut(leaf.Path, 100)), "arg", h.El("span", h.Class("pre"), foreign(leaf.Text))))
	}
	if !whole {
		return out
	}
	out = append(out, row("Approving allows", "", foreign(q.Allows)))
	if q.Task != "" {
		out = append(out, row("for this task", "", foreign(q.Task)))
	}
	if q.Always != "" {
		out = append(out, row("always", "", foreign(q.Always)))
	}
	return append(out, row("Digest", "", h.El("code", h.T(q.Digest))))
}

// closedCard is one line in the place of a card that was answered.
func (c *Console) closedCard(q *tidemark.Question) h.HTML {
	return h.El("article", h.Class("card closed"), h.A("id", "q-"+q.ID), h.A("data-id", q.ID), h.A("data-state", q.State),
		h.A("tabindex", "-1"),
		h.El("p", h.El("strong", h.Class("state "+q.State), h.T(q.State)), h.T(" "), h.El("a", h.A("href", "/console/q/"+q.ID),
			headline(q)),
			h.T(outcome(q))))
}

// outcome says who answered, when and with which words.
func outcome(q *tidemark.Question) string {
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

// answerForm is deny, and approve where the session or a proof may.
func (c *Console) answerForm(v *visit, q *tidemark.Question, shown string, whole bool) h.HTML {
	path := "/console/q/" + q.ID
	want := c.keys.Required()
	parts := h.List{
		h.A("method", "post"), h.A("action", path), h.Class("answer"), h.A("data-form", "answer"),
		c.token(v, path), hidden("seen", shown),
		h.El("label", h.Class("note"), h.T("Note, for the agent and the log "),
			h.El("input", h.A("name", "note"), h.A("maxlength", "500"), h.A("autocomplete", "off"))),
	}
	if want == consent.Passkey {
		parts = append(parts, h.A("data-proof", string(want)), h.A("data-url", path+"/challenge"), h.A("data-token",
			v.Token(path+"/challenge")))
	}
	if n := c.hurry.often(c.now()); n > fewApprovals {
		parts = append(parts, h.El("p", h.Class("confirm-word"),
			h.T(fmt.Sprintf("%d calls were approved here in the last ten minutes. "+
				"A rule that asks so often may be the thing to change.", n))))
	}
	if want == consent.Typed {
		parts = append(parts, h.El("label", h.Class("note"), h.T("Secret, to approve "),
			h.El("input", h.A("type", "password"), h.A("name", "secret"), h.A("autocomplete", "off"))))
	}
	buttons := h.List{h.Class("buttons"), h.El("button", h.A("name", "do"), h.A("value", "deny"), h.Class("deny"),
		h.A("aria-keyshortcuts", "d"), h.T("Deny"))}
	switch {
	case want == consent.None && !v.mayApprove():
		buttons = append(buttons, h.El("p", h.Class("quiet"),
			h.T("Approving takes the approver's token or an enrolled passkey: this session reads and denies.")))
	default:
		text := "Approve once"
		if want == consent.Passkey {
			text += " with passkey"
		}
		buttons = append(buttons, h.El("button", h.A("name", "do"), h.A("value", "approve"), h.Class("approve"),
			h.A("aria-keyshortcuts", "a"), h.T(text)))
		for _, more := range []struct{ do, what, opens string }{
			{"task", "for this task", q.Task}, {"always", "always", q.Always},
			{"reads", "and that the tool only reads", q.Reads},
		} {
			if whole && more.opens != "" {
				buttons = append(buttons, h.El("button", h.A("name", "do"), h.A("value", more.do), h.Class("approve"),
					h.T("Approve "+more.what+strings.TrimPrefix(text, "Approve once"))))
				parts = append(parts, h.El("p", h.Class("quiet"), h.T("Approved "+more.what+": "), foreign(more.opens)))
			}
		}
		if want == consent.Passkey {
			buttons = append(buttons, h.El("noscript", h.El("p", h.T("A passkey needs JavaScript; denying does not."))))
		}
		if whole {
			parts = append(parts, similar(q))
		}
	}
	parts = append(parts, h.El("div", buttons...), h.El("p", h.Class("problem"), h.A("role", "alert")))
	return h.El("form", parts...)
}

// similar opens further calls for some minutes: the target stays as it is unless it is freed
// by name.
func similar(q *tidemark.Question) h.HTML {
	if q.Kind == policy.KindDanger {
		return h.El("p", h.Class("quiet"), h.T("It is dangerous by itself: it is asked about each time."))
	}
	rows := h.List{
		h.El("summary", h.T("Approve similar calls too…")),
		h.El("label", h.T("For so many minutes (0: this call only) "),
			h.El("input", h.A("type", "number"), h.A("name", "minutes"), h.A("value", "0"), h.A("min", "0"), h.A("max", "1440"))),
		h.El("label", h.T("At most so many calls (0: as many as come) "), h.El("input", h.A("type", "number"),
			h.A("name", "calls"), h.A("value", "5"), h.A("min", "0"), h.A("max", strconv.Itoa(approval.MaxCalls)))),
		h.El("p", h.T("Opens "), foreign(q.Opens),
			h.T(". Everything else stays as it is in this call. To free an argument, say what it may be (* stands for anything):")),
	}
	for i, leaf := range strictjson.Flat(q.Args) {
		if i == 12 {
			break
		}
		rows = append(rows, h.El("label", foreign(cut(leaf.Path, 60)), h.T(" may be "),
			h.El("input", h.A("name", "where."+leaf.Path), h.A("placeholder", "as it is"), h.A("maxlength", "200"),
				h.A("autocomplete", "off"))))
	}
	return h.El("details", append(rows, h.Class("similar"))...)
}
