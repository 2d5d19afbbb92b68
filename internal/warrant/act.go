package warrant

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/reader"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

// act is the evidence that the user asked for what the tool does.
func (j *judging) act() (Evidence, string) {
	c := j.c
	if c.user.lookOnly() {
		return Nothing, "you said to change nothing"
	}
	if c.spent(j.m, j.args) {
		return Nothing, doneOften + " your message asks for"
	}
	if j.promises != nil { // of the first form, which quotes nothing: the whole message gives it
		j.w.Item = &Item{ID: fmt.Sprintf("m%d", c.user.turn), Giver: "contract"}
		return Said, "it is what your message asks for"
	}
	r, offer := j.request(), j.assented()
	switch {
	case j.w.Deed == Pay && len(j.w.Slots) == 0 && !c.prepared(j.m):
		return Nothing, "it says nothing of what is paid for, and nothing was put together here"
	case j.looks && c.agreed == nil:
		return Said, "it builds, tests or looks"
	case j.said.decides != 0 && !c.user.wants(j.said.decides):
		return Nothing, "I could not find what it decides in your words"
	case r.said == "" && offer != "":
		j.w.Item = &Item{ID: fmt.Sprintf("a%d", c.user.turn), Giver: "assent", Quote: offer}
		return Assented, "you agreed to: " + offer
	case c.agreed != nil && !c.agreed.Delegates && !j.mild():
		return Nothing, "I could not find it in what your message asks for"
	}
	return j.heard(&r)
}

// heard is the evidence for an act that the owner's clauses may ask for by themselves.
func (j *judging) heard(r *request) (Evidence, string) {
	c := j.c
	switch {
	case r.said != "" && c.agreed == nil && !j.plainlyOrdered():
		return Nothing, "I could not tell that your words order it now"
	case r.said != "":
		j.w.Item = &Item{ID: fmt.Sprintf("w%d", c.user.turn), Giver: "words", Quote: r.said}
		return Said, "you asked: " + r.said
	}
	if quote := j.certain(); quote != "" && c.agreed == nil && (j.tied || j.slots == 0) {
		j.w.Item = &Item{ID: fmt.Sprintf("w%d", c.user.turn), Giver: "words", Quote: quote}
		return Said, "you asked: " + quote
	}
	return j.step(r)
}

// plainlyOrdered reports whether the certain reader hears an order for the tool of a call in the messages that count now: for what cannot
// be taken back by the verb, else of its kind and for what the call has.
func (j *judging) plainlyOrdered() bool {
	t := reader.ToolOf(j.c.nameOf(j.m), j.m, j.c.vocabulary)
	var values []string
	for i := range j.has {
		if l := &j.has[i]; l.Quoted && len(l.Text) <= maxNamed {
			values = append(values, l.Text)
		}
	}
	return slices.ContainsFunc(j.c.spoken[max(0, len(j.c.spoken)-maxAsking):], func(text string) bool {
		if j.w.Deed.grave() {
			return reader.Ordered(text, &t, j.c.vocabulary)
		}
		return reader.Bidden(text, &t, values, j.said.choices, j.c.vocabulary)
	})
}

// prepared reports whether an act of ours made something, or changed it, at the place that a tool is of: what is bought without a word of
// what it is was put together before.
func (c *Context) prepared(m *toolinfo.Meaning) bool {
	for name := range c.ago {
		if d := deedOf(c.meaning(name)); d != Read && d != Send && serverOf(name) == serverOf(m.Tool) {
			return true
		}
	}
	return false
}

// certain is the order that the certain reader finds for the tool of a call; empty: there is none. It gives the act alone, and
// only for something that the words hold: what the call is done with is held against them as for any other.
func (j *judging) certain() string {
	for _, it := range j.c.words().Items {
		if it.Tool == j.m.Tool {
			return it.Quote
		}
	}
	return ""
}

// step is the evidence for an act that no clause asks for by itself.
func (j *judging) step(r *request) (Evidence, string) {
	c := j.c
	switch {
	case (r.acts && j.w.Deed != Change || j.w.Deed == Tidy && r.orders && (!r.looks || j.allSaid)) && (r.near || j.tied) && j.mild():
		j.w.Item = &Item{ID: fmt.Sprintf("w%d", c.user.turn), Giver: "words", Quote: r.of}
		return Entailed, "a step of what you asked for"
	case c.user.delegated(), c.agreed != nil && c.agreed.Delegates:
		return Delegated, "your words may leave it to what it reads"
	}
	return Nothing, "I could not find it in your words"
}

// request is what the user's clauses are to a call.
type request struct {
	said   string // the clause that asks for it
	of     string // the first that orders anything: what it may be a step of
	orders bool   // some clause orders something: after questions nothing is done that was not asked for
	acts   bool   // some clause asks for an act, this one or another
	looks  bool   // some clause asks to be told or shown something: who wanted no more than that gave no act, however small
	near   bool   // some clause speaks of its thing, or an act of ours was done to such a thing
}

func (j *judging) request() request {
	r := request{near: j.m.Thing != "" && j.c.things[j.m.Thing]}
	clauses, spoken := j.c.user.scope(), false
	all := make([]match, len(clauses))
	for i, cl := range clauses {
		all[i] = j.asks(cl)
		spoken = spoken || all[i].nouns > 0
		r.near = r.near || all[i].nouns > 0 || all[i].soft > 0
	}
	j.picks = nil
	strange := !spoken && j.c.named(j.m).thing && (j.w.Deed.grave() || j.w.Deed == Create)
	for i, cl := range clauses {
		if !cl.orders() {
			continue
		}
		r.orders, r.of = true, cmp.Or(r.of, cl.text)
		r.acts = r.acts || cl.classes.Any(acting)
		r.looks = r.looks || cl.classes.Any(vocabulary.Read)
		if strange && j.c.actsOn(cl) && (!j.allSaid || j.w.Deed == Pay && empty[j.c.named(j.m).verb]) {
			continue // it asks to book something, but nobody spoke of this kind of thing
		}
		if all[i].bare = cl.denies; j.fits(all[i]) {
			r.said = cl.text
			j.pick(cl, &all[i])
		}
	}
	return r
}

// pick notes what a clause that asks for a call chooses by its verb: who closes an issue wants its state closed. It speaks of the thing.
func (j *judging) pick(cl *clause, found *match) {
	if !found.chosen || found.nouns == 0 || cl.denies {
		return
	}
	for i := range j.said.choices {
		w := &j.said.choices[i]
		if slices.ContainsFunc(w.Acts, cl.acts.has) && w.Start == 0 {
			j.picks = append(j.picks, w.Text)
		}
	}
}

var (
	circumstances = list("circumstances")
	empty         = list("empty")
)

// picked reports whether a slot is a choice that the words make by a verb, for an act that can be undone.
func (j *judging) picked(miss *mandate.Missing) bool {
	choice := miss.Role == mandate.Object || miss.Role == mandate.Measure
	return choice && !j.w.Deed.grave() && !strings.Contains(miss.Path, ".") && slices.Contains(j.picks, strings.ToLower(miss.Value))
}

// actsOn reports whether a clause speaks of a thing that something could be done to: when, where and for whom it is done are none.
func (c *Context) actsOn(cl *clause) bool {
	return slices.ContainsFunc(cl.things.list, func(id vocabulary.ThingID) bool { return !circumstances[c.vocabulary.Thing(id).Name] })
}

// mild reports whether a call can be undone and holds nothing that speaks against it. To write over what stands somewhere with words
// of the agent's is no step of anything: whoever wants that says so. Who names a page and a file beside it may want the one in the other.
func (j *judging) mild() bool {
	rewrites := j.composes && j.m.Act == toolinfo.Change && !j.workspace && !(j.allSaid && j.slots > 0 && j.c.placed())
	return !j.loose && !j.textual && !rewrites && !j.w.Deed.graverThan(Change) && !j.c.named(j.m).binds
}

// fits reports whether a clause asks for this call: for the act and for what it is done to,
// or for the act alone where the values are the user's.
func (j *judging) fits(found match) bool {
	n, act := j.c.named(j.m), found.verb || found.chosen
	verb := act || found.class
	switch {
	case !verb && (!Send.graverThan(j.w.Deed) || n.binds):
		return false // speaking of somebody, or of a thing by its number, asks for nothing that tells them something or stays
	case found.full, verb && found.nouns > 0:
		return true
	case act && (j.tied || j.slots == 0 && !n.lacks(found)), verb && j.tied && !j.loose:
		return true
	case found.class && j.slots == 0 && j.w.Deed == Pay && !n.moves:
		return true // who buys something checks out, and says nothing of it
	}
	return j.allSaid && j.slots > 0 && (verb || found.speaks())
}
