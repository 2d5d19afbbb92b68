package reader

import (
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

// Recall is how the orders of a message speak of what earlier messages named. The zero Recall speaks of nothing.
type Recall struct {
	Thing, Person bool     // with a pronoun in the place of what is acted on or of who is reached, or as the same one
	One           bool     // of one thing alone
	Names         []string // what they name themselves, word by word
	Words         []string // all that they speak of: stems of nouns, of which the tool itself has none
}

// Recalls is how the orders of a message that suit a tool best speak of what was named before.
func Recalls(message string, tool *Tool, table *vocabulary.Table) Recall {
	t := typed(message[:min(len(message), maxMessage)])
	tools := []Tool{*tool}
	r := reading{table: table, typed: t, words: table.Words(t.orders), verbs: verbs(tools), own: ownVerbs(tools)}
	var own []*clause
	best := 0
	for _, cl := range r.clauses() {
		ordering := cl.mood == ordered && cl.verb >= 0 || cl.wished && cl.plain
		if !ordering || cl.negated || cl.looks(table) {
			continue
		}
		n := 1
		if cl.verb >= 0 {
			n = r.suits(cl, tool)
		}
		if n > best {
			best, own = n, nil
		}
		if n == best {
			own = append(own, cl)
		}
	}
	var out Recall
	for _, cl := range own {
		cl.recalls(tool, &out)
	}
	return out
}

// recalls notes how a clause speaks of what was named before. A pronoun does where nothing else stands between the verb and it, or behind
// a word that leads to somebody; one that stands before a noun says whose that is, or which.
func (c *clause) recalls(tool *Tool, out *Recall) {
	led, content := false, false
	for i := range c.words[:c.body] {
		w := &c.words[i]
		free, leads := !content, led
		led = toWords.has(c.lang, w.Text)
		if i == c.verb {
			out.Thing = out.Thing || c.lang == "es" && enclitic(w.Text)
			continue
		}
		switch {
		case sames.has(c.lang, w.Text) && c.ofKind(i+1, tool):
			out.Thing, out.Person = true, true
		case w.Kind == vocabulary.Plain && w.Gram.Has(vocabulary.Pronoun):
			c.pronoun(i, free, leads, tool, out)
		case w.Kind == vocabulary.Plain && w.Gram != 0:
		default:
			content = true
			c.speaksOf(i, tool, out)
		}
	}
	for _, q := range c.from.typed.quotes {
		if c.holds(q) {
			out.Names = append(out.Names, strings.Trim(c.from.typed.words[q[0]:q[1]], `"'‘’“”„«»「」 `))
		}
	}
}

// pronoun notes what a pronoun may stand for: free says that nothing stands between the verb and it, leads that it is behind a word that
// leads to somebody.
func (c *clause) pronoun(i int, free, leads bool, tool *Tool, out *Recall) {
	w, alone := &c.words[i], c.standsAlone(i+1)
	person := persons.has(c.lang, w.Text)
	switch {
	case person && alone && (free || leads):
		out.Person = true
		out.Thing = out.Thing || free
	case !person && free && refers(w) && (alone || c.ofKind(i+1, tool)):
		out.Thing = true
	case leads && alone && refers(w):
		out.Person = true // "pay 40 into it"
	}
	out.One = out.One || ones.has(c.lang, w.Text)
}

// speaksOf notes a word that means something: of what it speaks, and whether it names it.
func (c *clause) speaksOf(i int, tool *Tool, out *Recall) {
	w := &c.words[i]
	plain := w.Kind == vocabulary.Plain
	if plain && !c.ofKind(i, tool) && !mandate.Currency(w.Text) && len(mandate.Counts(w.Text)) == 0 {
		out.Words = append(out.Words, w.Stem)
	}
	name := !plain || c.lang != "de" && c.capital(w) || strings.ContainsAny(w.Text, "-_./@0123456789")
	if name && !c.spellsAny(i, tool) && !mandate.Currency(w.Text) && !mandate.Month(w.Text) && !mandate.Weekday(w.Text) {
		out.Names = append(out.Names, c.from.typed.words[w.Start:w.End])
	}
}

// standsAlone reports whether no noun stands at a place: what is before it is no word for whose something is.
func (c *clause) standsAlone(at int) bool {
	if at >= c.body {
		return true
	}
	w := &c.words[at]
	return w.Kind != vocabulary.Plain || w.Gram != 0 || at == c.verb || at > 0 && c.from.comma(&c.words[at-1], w)
}

// ofKind reports whether nothing stands at a place, or a word for what a tool is for, its parameters, or what may be anything of the kind.
func (c *clause) ofKind(at int, tool *Tool) bool {
	if c.standsAlone(at) {
		return true
	}
	w := &c.words[at]
	if c.spellsAny(at, tool) || kinds.has(c.lang, w.Text) || kinds.has(c.lang, w.Stem) {
		return true
	}
	return slices.ContainsFunc(tool.nouns, func(n vocabulary.Word) bool {
		return n.Stem == w.Stem || slices.ContainsFunc(n.Things, func(id vocabulary.ThingID) bool { return slices.Contains(w.Things, id) })
	})
}

// enclitic reports whether a Spanish verb carries what it is done to: bórralo, envíaselo. The accent tells it from others.
func enclitic(verb string) bool {
	return strings.ContainsAny(verb, "áéíóú") && slices.ContainsFunc([]string{"lo", "la", "los", "las"}, func(end string) bool {
		return strings.HasSuffix(verb, end)
	})
}

// Has reports whether a text has all words that the orders speak of; one at least.
func (r *Recall) Has(text string, table *vocabulary.Table) bool {
	said := map[string]bool{}
	for _, w := range table.Words(text) {
		said[w.Stem] = true
	}
	return len(r.Words) > 0 && !slices.ContainsFunc(r.Words, func(w string) bool { return !said[w] })
}

// Names are what a message names as it is, in whatever clause: addresses, numbers, quotations, names.
func Names(message string, table *vocabulary.Table) []string {
	t := typed(message[:min(len(message), maxMessage)])
	r := reading{table: table, typed: t, words: table.Words(t.orders)}
	var out []string
	for _, cl := range r.clauses() {
		for _, l := range cl.literals() {
			plain := !l.quote && !l.given && l.word.Kind == vocabulary.Plain && !cl.capital(&l.word)
			if !plain || strings.ContainsAny(l.text, "-_./@0123456789") {
				out = append(out, l.text)
			}
		}
	}
	return out
}

// Spares are what a message wants left as it is: what it denies, what it excepts from all, and what it says is to stay. Orders are its
// orders, with what they refer to, without these.
func Spares(message string, tool *Tool, table *vocabulary.Table) (spared, orders []string) {
	t := typed(message[:min(len(message), maxMessage)])
	tools := []Tool{*tool}
	r := reading{table: table, typed: t, words: table.Words(t.orders), verbs: verbs(tools), own: ownVerbs(tools)}
	list := r.clauses()
	var staying []string
	for i, cl := range list {
		if cl.negated && !cl.carried {
			spared = append(spared, cl.text())
			continue
		}
		from, to, sure := cl.leaves(tool)
		if from < 0 && i > 0 {
			from, to, sure = cl.exceptsAll(list[i-1])
		}
		rest := cl.text()
		if from >= 0 {
			what := cl.between(from, to)
			rest = strings.Replace(rest, what, " ", 1)
			if sure {
				spared = append(spared, what)
			} else {
				staying = append(staying, what)
				continue
			}
		}
		if cl.mood == ordered && !cl.looks(table) || cl.wished && cl.plain {
			orders = append(orders, rest)
			if i > 0 && cl.refers() {
				orders = append(orders, list[i-1].text())
			}
		}
	}
	if len(orders) > 0 { // who orders nothing else may mean that it is to be kept so
		spared = append(spared, staying...)
	}
	return spared, orders
}

// between is what some words of a clause say, with a quotation at its end.
func (c *clause) between(from, to int) string {
	if to < len(c.words) {
		return c.from.span(c.words[from:to])
	}
	whole := c.text()
	return whole[min(len(whole), c.words[from].Start-c.words[0].Start):]
}

// leaves is what a clause wants left as it is, and whether that is all that its words may mean; -1: nothing.
func (c *clause) leaves(tool *Tool) (from, to int, sure bool) {
	switch at := c.exception(); {
	case at >= 0 && final[c.lang]:
		return 0, max(at, 1), true
	case at >= 0 && at+1 < len(c.words):
		return at + 1, c.ends(at + 1), true
	}
	for i := range c.words {
		if from, to, sure := c.leavesAt(i, tool); from >= 0 {
			return from, to, sure
		}
	}
	return -1, 0, false
}

// leavesAt is the same for what a word of a clause says.
func (c *clause) leavesAt(i int, tool *Tool) (from, to int, sure bool) {
	w, opens := &c.words[i], i+1 < len(c.words)
	rests := func() bool {
		return slices.ContainsFunc(c.words[i+1:], func(o vocabulary.Word) bool { return resting.has(c.lang, o.Text) })
	}
	switch {
	case opens && i > 0 && afterAll.has(c.lang, w.Text) && mandate.Many(c.from.span(c.words[:i])):
		return i + 1, c.ends(i + 1), true
	case len(w.Stem) > 2 && strings.Contains(tool.Name, w.Stem): // it is what the tool does
	case opens && (sparing.has(c.lang, w.Text) || leaving.has(c.lang, w.Text) && rests()):
		return i + 1, c.ends(i + 1), true
	case opens && keeping.has(c.lang, w.Text) && (i == 0 || c.words[i-1].Gram != 0):
		return i + 1, c.ends(i + 1), false
	case i > 0 && remaining.has(c.lang, w.Text):
		return 0, i, false
	}
	return -1, 0, false
}

// ends is where what is excepted ends: before a condition, before the next verb, with the body of its clause.
func (c *clause) ends(from int) int {
	for k := from + 1; k < len(c.words); k++ {
		w := &c.words[k]
		verb := w.Kind == vocabulary.Plain && len(w.Acts) > 0 && len(w.Things) == 0 && !w.Gram.Has(vocabulary.Done) && !c.capital(w)
		if verb || w.Kind == vocabulary.Plain && w.Gram.Has(vocabulary.Condition) || k >= c.body && c.body > from {
			return k
		}
	}
	return len(c.words)
}

// exceptsAll is what a clause excepts from all that the one before it speaks of: "all files" "but f-88".
func (c *clause) exceptsAll(before *clause) (from, to int, sure bool) {
	excepts := len(c.words) > 1 && (buts.has(c.lang, c.words[0].Text) || buts.has("en", c.words[0].Text))
	if !excepts || before.negated || !mandate.Many(before.text()) {
		return -1, 0, false
	}
	first := 1
	for first+1 < len(c.words) && c.words[first].Kind == vocabulary.Plain && c.words[first].Gram.Has(vocabulary.Function) {
		first++
	}
	if w := &c.words[first]; len(w.Acts) > 0 && len(w.Things) == 0 && !c.capital(w) {
		return -1, 0, false // what is to be done besides
	}
	return 1, c.ends(1), true
}
