package warrant

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/tidemark/tidemark/internal/warrant/leaves"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/meaning"
	"github.com/tidemark/tidemark/internal/warrant/reader"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

// A call says more of what it does than the name of its tool: which of the parameters are
// filled, and what is chosen. update_card with a due date is "set the due date"; a rollout
// with the sub-command restart is "restart it".

// said is what the arguments of one call add to the name of its tool.
type said struct {
	nouns   []vocabulary.Word  // words of the parameters that are filled
	choices []vocabulary.Word  // words that are chosen
	decides vocabulary.Classes // grave acts that are chosen
}

// wordsOf are the words of a parameter's name or of a choice. Names come again and again.
func (c *Context) wordsOf(name string) []vocabulary.Word {
	w, ok := c.spelt[name]
	if !ok {
		name = strings.Clone(name) // it is part of what was called with
		w = c.vocabulary.Name(name)
		if len(c.spelt) < 4096 {
			c.spelt[name] = w
		}
	}
	return w
}

const choiceLength = 24 // of the longest text that may be a choice

// grave are the classes of acts that are asked for by their verb.
const grave = vocabulary.Delete | vocabulary.Pay | vocabulary.Grant

// listen takes from the values of a call what they say of it.
func (j *judging) listen(values []leaves.Leaf) {
	c := j.c
	for i := range values {
		l := &values[i]
		p := j.resolve(l)
		name := l.Path[strings.LastIndexByte(l.Path, '.')+1:]
		if !idNames[leaves.LastWord(name)] && len(name) < 40 {
			j.said.nouns = append(j.said.nouns, c.wordsOf(name)...)
		}
		if !l.Quoted || len(l.Text) > choiceLength || strings.ContainsAny(l.Text, " @/.") {
			continue
		}
		if p.Role != meaning.Control && !p.Chooses && !p.Decides {
			continue
		}
		for _, w := range c.wordsOf(l.Text) {
			j.said.choices = append(j.said.choices, w)
			a := c.vocabulary.ClassesOf(w)
			mild := w.Gram.Has(vocabulary.Done) || a.Any(vocabulary.Read|vocabulary.Create|vocabulary.Change)
			if !mild && (p.Decides || p.Chooses) {
				j.said.decides |= a & grave
			}
		}
	}
}

// asks is how well a clause asks for this call.
func (j *judging) asks(cl *clause) match {
	out := j.c.matches(cl, j.m)
	for i := range j.said.choices {
		w := &j.said.choices[i]
		for _, id := range w.Acts {
			out.chosen = out.chosen || cl.acts.has(id)
		}
		out.chosen = out.chosen || w.Stem != "" && cl.doing.has(w.Stem)
		if len(w.Stem) > 2 && cl.names(*w) {
			out.soft++
		}
	}
	for i := range j.said.nouns {
		if w := &j.said.nouns[i]; len(w.Stem) > 2 && !w.Gram.Has(vocabulary.Function) && cl.names(*w) {
			out.soft++
		}
	}
	return out
}

// texts are what a call asked for.
func texts(values []leaves.Leaf) []string {
	var out []string
	for i := range values {
		out = append(out, values[i].Text)
	}
	return out
}

// formal are the values of a call that choose nothing of their own: how many, a day, and one of what the schema lists.
func formal(m *meaning.Meaning, values []leaves.Leaf) []string {
	is := func(l *leaves.Leaf) bool {
		p, _ := m.Param(l.Path)
		switch {
		case l.Flag, p.Listed != nil && slices.Contains(p.Listed.Values, l.Text):
			return true
		case idNames[leaves.LastWord(l.Path)]:
			return false
		}
		return !l.Quoted || datish.MatchString(l.Text) && len(l.Text) <= 32
	}
	chosen := func(text string) bool {
		return slices.ContainsFunc(values, func(l leaves.Leaf) bool { return l.Text == text && !is(&l) })
	}
	var out []string
	for i := range values {
		if l := &values[i]; is(l) && !chosen(l.Text) {
			out = append(out, l.Text)
		}
	}
	return out
}

// offer is what the messages which count now have for a tool.
type offer struct {
	mandate *mandate.Mandate // of one item, whose values may stand anywhere in them
	parts   []part
}

// part is a clause of them.
type part struct {
	reader.Part

	words *mandate.Source
}

// given is what the messages which count now offer for a tool.
func (c *Context) given(t *reader.Tool) *offer {
	said := c.spoken[max(0, len(c.spoken)-maxAsking):]
	it := mandate.Item{Tool: t.Name, Quote: strings.Join(said, "\n"), Worded: true, Args: map[string][]mandate.Source{}}
	var out offer
	for _, text := range said {
		for name, list := range reader.Give(text, t, c.vocabulary) {
			it.Args[name] = append(it.Args[name], list...)
		}
		for _, p := range reader.Parts(text, t, c.vocabulary) {
			out.parts = append(out.parts, part{p, mandate.Phrase(p.Words)})
		}
	}
	it.Index()
	out.mandate = &mandate.Mandate{Items: []mandate.Item{it}, Reads: said}
	return &out
}

// maxNamed is how many bytes of a value may name what a call is about. A longer one is a text, which may hold any word.
const maxNamed = 80

// chosenElsewhere takes from the choices of a call what speaks for them, where the owner says them of something else alone: "read the
// closed issues, then label 7" closes none, and "close the door" no issue. Where a mistake can be undone, only choices that are acts,
// or say who gets a thing, are held so: "I prefer cities" may choose for the journey that is ordered before it.
func (j *judging) chosenElsewhere(o *offer, call *mandate.Call) {
	for i := range call.Values {
		v := &call.Values[i]
		chooses := len(v.Choices) > 0 || v.Role == mandate.Measure && choice.MatchString(v.Text)
		if !chooses || v.Flag || j.bound(v.Path) || !call.Grave && v.Role != mandate.Aim && !j.c.isAct(v.Text) {
			continue
		}
		if o.elsewhere(v.Text, call) {
			j.unbind(&mandate.Missing{Path: v.Path, Value: v.Text, Role: v.Role, Why: "your words say it of something else"})
		}
	}
}

// isAct reports whether a choice has a word for something that is done: "closed", "archived".
func (c *Context) isAct(value string) bool {
	return slices.ContainsFunc(c.wordsOf(value), func(w vocabulary.Word) bool { return len(w.Acts) > 0 || w.Gram.Has(vocabulary.Done) })
}

// isID reports whether a name is an id: a clause that has those of others alone speaks of none that the call has.
func isID(name string) bool {
	return idLike.MatchString(name) && strings.ContainsAny(name, "0123456789") && strings.ContainsFunc(name, unicode.IsLetter)
}

// elsewhere reports whether only clauses that speak of something else say a choice. What the call has besides is not something else.
func (o *offer) elsewhere(value string, call *mandate.Call) bool {
	has := func(word string) bool {
		said := mandate.Phrase(word)
		return slices.ContainsFunc(call.Values, func(v mandate.Value) bool {
			return len(v.Text) <= maxNamed && (mandate.Phrase(v.Text).Chooses(word) || said.Chooses(v.Text))
		})
	}
	other := func(word string) bool { return !mandate.Phrase(word).Chooses(value) && !has(word) }
	apart := false
	for i := range o.parts {
		p := &o.parts[i]
		if !p.words.Chooses(value) {
			continue
		}
		if !p.Apart && (slices.ContainsFunc(p.Names, has) || !slices.ContainsFunc(p.Things, other) && !slices.ContainsFunc(p.Names, isID)) {
			return false
		}
		apart = true
	}
	return apart
}

// summedElsewhere takes from the sums of a call what speaks for them, where the owner says the number of something else: the clause that
// names whom the call is for has a number of its own.
func (j *judging) summedElsewhere(o *offer, call *mandate.Call) {
	for i := range call.Values {
		v := &call.Values[i]
		if v.Role == mandate.Measure && v.Sum && !j.bound(v.Path) && o.sumOfOthers(v, call) {
			j.unbind(&mandate.Missing{Path: v.Path, Value: v.Text, Role: v.Role, Why: "your words say it of something else"})
		}
	}
}

func (o *offer) sumOfOthers(v *mandate.Value, call *mandate.Call) bool {
	sum := plainSum(v.Text)
	stated, other := false, false
	for i := range o.parts {
		p := &o.parts[i]
		figures := figuresIn.FindAllString(p.Words, -1)
		says := slices.ContainsFunc(figures, func(f string) bool { return plainSum(f) == sum })
		switch {
		case says && (p.Refers || slices.Contains(p.Params, v.Path) || p.isFor(call)):
			return false
		case says:
			stated = true
		case p.isFor(call):
			other = other || slices.ContainsFunc(figures, func(f string) bool { return !stands(f, call) })
		}
	}
	return stated && other
}

// isFor reports whether a clause names somebody or something that a call goes to.
func (p *part) isFor(call *mandate.Call) bool {
	return slices.ContainsFunc(call.Values, func(v mandate.Value) bool {
		return v.Role == mandate.Aim && len(v.Text) <= maxNamed && p.words.Chooses(v.Text)
	})
}

// stands reports whether a figure stands in some value of a call.
func stands(figure string, call *mandate.Call) bool {
	return slices.ContainsFunc(call.Values, func(v mandate.Value) bool { return strings.Contains(v.Text, figure) })
}

var figuresIn = regexp.MustCompile(`\d+(?:[.,]\d+)*`)

// plainSum is a number without what groups it, and without cents that are none: 1,200.00 is 1200.
func plainSum(text string) string {
	text = strings.ReplaceAll(text, ",", ".")
	if at := strings.LastIndexByte(text, '.'); at >= 0 && len(text)-at <= len(".00") {
		whole, cents := strings.ReplaceAll(text[:at], ".", ""), strings.TrimRight(text[at+1:], "0")
		if cents == "" {
			return whole
		}
		return whole + "." + cents
	}
	return strings.ReplaceAll(text, ".", "")
}
