package warrant

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
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
		return Nothing, "it does not say what is paid for, and no cart was filled"
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
	case r.said != "" && c.agreed == nil && j.leftBehind(j.asCall(j.has)):
		return Nothing, whyLeft
	case r.said != "" && c.agreed == nil && !j.plainlyOrdered():
		return Nothing, "I could not tell that your words order it now"
	case r.said != "":
		j.w.Item = &Item{ID: fmt.Sprintf("w%d", c.user.turn), Giver: "words", Quote: r.said}
		return Said, "you asked: " + r.said
	}
	if quote := j.certain(); quote != "" && !r.part && c.agreed == nil && (j.tied || j.slots == 0) {
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
	part   bool   // some clause orders it for a part of its thing
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
		part := j.ofPart(cl)
		r.part = r.part || part
		if all[i].bare = cl.denies; j.fits(all[i]) && !part {
			r.said = cl.text
			j.pick(cl, &all[i])
		}
	}
	return r
}

// namesObject reports whether a clause says the id or the name of what a call is done to.
func (j *judging) namesObject(cl *clause) bool {
	said := mandate.Phrase(cl.text)
	return slices.ContainsFunc(j.has, func(l arguments.Leaf) bool {
		p := j.resolve(&l)
		acted := p.Role == toolinfo.Selector && p.Object || idNames[arguments.LastWord(l.Path)]
		return acted && !l.Flag && l.Text != "" && len(l.Text) <= maxNamed && names(said, l.Text)
	})
}

// pick notes what a clause that asks for a call chooses by its verb: who closes an issue wants its state closed. It speaks of the thing.
func (j *judging) pick(cl *clause, found *match) {
	if !found.chosen || cl.denies || found.nouns == 0 && !j.namesObject(cl) {
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

// calledOtherwise takes from the name that a call gives to something what speaks for it, where the order says a name: one that stands in no
// value of the call, though the agent has another; or, where something that stands is called anew, one that the agent says more than.
func (j *judging) calledOtherwise(o *offer, call *mandate.Call) {
	if d := j.w.Deed; d != Tidy && d != Create && d != Change {
		return
	}
	for i := range call.Values {
		v := &call.Values[i]
		if v.Flag || !mandate.Names(v.Path) || len(v.Text) > maxNamed || j.bound(v.Path) {
			continue
		}
		list, anew := o.namesOrdered(j.m.Tool)
		if len(list) == 0 || names(mandate.Phrase(strings.Join(j.c.asking, "\n")), v.Text) {
			continue
		}
		part := func(n string) bool { return strings.Contains(strings.ToLower(v.Text), strings.ToLower(n)) }
		left := func(n string) bool { return !within(call, n) }
		if slices.ContainsFunc(anew, left) || j.m.Act == toolinfo.Change && slices.ContainsFunc(list, part) {
			j.unbind(&mandate.Missing{Path: v.Path, Value: v.Text, Role: v.Role, Why: "you said what it is called, and it is another name"})
		}
	}
}

// namesOrdered are the names that the clauses have which order a call now, without numbers and days, and those of them that stand behind
// a word for what its tool is for: "an event Planning".
func (o *offer) namesOrdered(tool string) (list, anew []string) {
	kinds := arguments.NameWords(tool)
	for i := range o.halves {
		p := &o.halves[i]
		if !p.Orders || p.Denied || p.Apart || !p.now {
			continue
		}
		for _, n := range p.Names {
			low := strings.ToLower(n)
			day := mandate.MomentsIn(n)
			if !strings.ContainsAny(n, "0123456789@") && !day.Any() && !mandate.Weekday(low) && !mandate.Month(low) && len(n) <= maxNamed {
				list = append(list, n)
				before, _, _ := strings.Cut(p.Words, n)
				if w := tokens(before); len(w) > 0 && slices.Contains(kinds, w[len(w)-1]) {
					anew = append(anew, n)
				}
			}
		}
	}
	return list, anew
}

// narrowed is the parameter by which a call that cannot be taken back would do less, where the clause that orders it speaks of that by its
// name and the call leaves it out: who is to leave the team Blue leaves no other one. Empty: there is none.
func (j *judging) narrowed(o *offer, call *mandate.Call) string {
	if !j.w.Deed.grave() {
		return ""
	}
	for i := range j.m.Params {
		p := &j.m.Params[i]
		words := arguments.NameWords(p.Path)
		has := func(v mandate.Value) bool { return arguments.Root(v.Path) == arguments.Root(p.Path) && v.Text != "" }
		holds := p.Role == toolinfo.Selector || p.Role == toolinfo.Target || p.Role == toolinfo.Unclear
		if !holds || p.Kind == toolinfo.Date || len(words) != 1 || slices.Contains(arguments.NameWords(j.m.Tool), words[0]) ||
			slices.ContainsFunc(call.Values, has) {
			continue
		}
		for k := range o.halves {
			q := &o.halves[k]
			if q.Orders && q.now && !q.Denied && slices.Contains(tokens(q.Words), words[0]) && j.fitsWords(q.Words) {
				return p.Path
			}
		}
	}
	return ""
}

// fitsWords reports whether some clause that asks for a call holds these words, or is held by them.
func (j *judging) fitsWords(words string) bool {
	return slices.ContainsFunc(j.c.user.scope(), func(cl *clause) bool {
		return cl.orders() && !cl.denies && (strings.Contains(words, cl.text) || strings.Contains(cl.text, words)) && j.fits(j.asks(cl))
	})
}

// containsOnly takes from what is acted on for good what speaks for it, where the clause that orders it names something else that the call
// has nowhere: what it lies in is not meant.
func (j *judging) containsOnly(o *offer, call *mandate.Call) {
	if !j.w.Deed.final() {
		return
	}
	var own []*part
	for i := range o.halves {
		p := &o.halves[i]
		if p.Orders && p.now && !p.Denied && !p.Apart && j.fitsWords(p.Words) {
			own = append(own, p)
		}
	}
	for i := range call.Values {
		v := &call.Values[i]
		thing := (v.Role == mandate.Object || v.Role == mandate.Place) && plainValue(v) && !j.bound(v.Path)
		looked := !slices.ContainsFunc(o.halves, func(p part) bool { return !p.Apart && names(p.words, v.Text) })
		missed := len(own) > 0 && looked && !slices.ContainsFunc(own, func(p *part) bool { return p.mayMean(v, call) })
		if thing && missed && j.c.index.Said(v.Text) {
			j.unbind(&mandate.Missing{Path: v.Path, Value: v.Text, Role: v.Role, Why: whyOfOthers})
		}
	}
}

// mayMean reports whether a clause may order something of a value: it names it or a day, or nothing by an id or a path that the call lacks.
func (p *part) mayMean(v *mandate.Value, call *mandate.Call) bool {
	lacks := func(n string) bool {
		return strings.ContainsAny(n, "0123456789./_-") && !mandate.Figure(n) && !within(call, n)
	}
	day := mandate.MomentsIn(p.Words)
	split := func(r rune) bool { return strings.ContainsRune(" ,;:!?\"'()\n", r) }
	said := slices.Concat(p.Names, strings.FieldsFunc(p.Words, split))
	return names(p.words, v.Text) || day.Any() || !slices.ContainsFunc(said, lacks)
}

// ofPart reports whether a clause orders an act of a part of what a tool acts on: the word for that stands behind one that says whose
// part it is, and before that is another thing. Who deletes the attachment of a mail deletes no mail.
func (j *judging) ofPart(cl *clause) bool {
	if !j.w.Deed.grave() && j.m.Act != toolinfo.Change || len(j.m.Thing) == 0 {
		return false
	}
	words := j.c.vocabulary.Words(cl.text)
	kinds := arguments.NameWords(j.m.Tool)
	kind := func(w *vocabulary.Word) bool { return slices.Contains(kinds, w.Text) || slices.Contains(kinds, w.Stem) }
	verb := slices.IndexFunc(words, func(w vocabulary.Word) bool { return len(w.Acts) > 0 && kind(&w) })
	if verb < 0 {
		return false
	}
	head, behind := -1, false
	for i := verb + 1; i < len(words); i++ {
		w := &words[i]
		switch {
		case kind(w):
			return head >= 0 && behind
		case partWords[w.Text]:
			behind = head >= 0
		case head < 0 && w.Kind == vocabulary.Plain && w.Gram == 0 && (len(w.Things) > 0 || articles[words[i-1].Text]):
			head = i
		case head < 0 && (w.Kind != vocabulary.Plain || w.Gram == 0):
			return false // a name, or what nobody knows
		}
	}
	return false
}

var partWords = list("part_words")
