package reader

import (
	"slices"

	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

// Part is a clause of a message, as the choices of a call are held against it: "closed" of "read the closed issues" closes none.
type Part struct {
	Words string // all of it
	Apart bool   // it asks for a look at something, asks, or hangs on something
	// Things are words for what it speaks of, where the tool is for none of that. Words for what is chosen may be among them, and others
	// that the call has.
	Things []string
	// Names are its ids, numbers, quotations and names. Where the call has one, the clause speaks of what the call is about.
	Names []string
	// Refers says that a pronoun of it may stand for what was named before, and Params which parameters it has a word of.
	Refers bool
	Params []string
	Sets   bool // it orders what the tool does, or that something is to be so: a switch of which it speaks is to be on
	Lifts  bool // it orders that something end
	Noted  bool // it has no verb: "with force"
	Verb   string
	// Content are its words that mean something.
	Content []string
	// Orders says that it orders something else than a look, Denied that it is negated, or stands behind a denial.
	Orders, Denied bool
}

// Parts are the clauses of a message beside a tool. What is negated is none of them.
func Parts(message string, tool *Tool, table *vocabulary.Table) []Part {
	t := typed(message[:min(len(message), maxMessage)])
	text := reading{table: table, typed: t, words: table.Words(t.orders)}
	var out []Part
	for _, cl := range text.clauses() {
		if !cl.negated {
			out = append(out, cl.parts(tool, table)...)
		}
	}
	return out
}

// Halves are the clauses of a message beside a tool, negated ones as well, and those that give several numbers to several things taken
// apart.
func Halves(message string, tool *Tool, table *vocabulary.Table) []Part {
	t := typed(message[:min(len(message), maxMessage)])
	text := reading{table: table, typed: t, words: table.Words(t.orders)}
	var out []Part
	for _, whole := range text.clauses() {
		list := whole.halves()
		if len(list) == 1 && !whole.negated {
			out = append(out, whole.parts(tool, table)...)
			continue
		}
		looks := whole.looks(table)
		for _, cl := range list {
			p := cl.part(tool, table, whole.mood == told && !whole.plain || looks)
			p.Orders, p.Denied = whole.mood == ordered && !looks, cl.negated
			out = append(out, p)
		}
	}
	return out
}

// parts are a clause, and what it hangs on.
func (c *clause) parts(tool *Tool, table *vocabulary.Table) []Part {
	if before, behind, ok := c.conditioned(); ok {
		return []Part{before.part(tool, table, c.reads(table)), behind.part(tool, table, true)}
	}
	p := c.part(tool, table, c.mood == told && !c.plain || c.looks(table))
	p.Orders = c.mood == ordered && !c.looks(table)
	return []Part{p}
}

// looks reports whether the verb of a clause, if it has one, only asks for a look.
func (c *clause) looks(table *vocabulary.Table) bool { return c.verb >= 0 && c.reads(table) }

// halves takes a clause apart that gives several numbers to several things, and one that denies a number behind another: "Ann 40
// and Paul 400", "40, not 400".
func (c *clause) halves() []*clause {
	var out []*clause
	rest := *c
	for i := 1; i < len(rest.words); i++ {
		w := &rest.words[i]
		comma := c.from.comma(&rest.words[i-1], w)
		denies := w.Kind == vocabulary.Plain && w.Gram.Has(vocabulary.Negation)
		if !comma && !denies && !w.Gram.Has(vocabulary.Joining) {
			continue
		}
		before, behind := rest.words[:i], rest.words[i:]
		if !numbers(before) || !numbers(behind) || !denies && !(c.counts(before) && c.counts(behind)) {
			continue
		}
		first := rest
		first.words, first.body = before, min(rest.body, i)
		rest.words, rest.body, rest.verb = behind, max(0, rest.body-i), max(-1, rest.verb-i)
		if first.verb >= i {
			first.unverbed() // it stands in the other half
		}
		if rest.verb < 0 {
			rest.unverbed()
		}
		rest.negated = c.negated || denies
		out, i = append(out, &first), 0
	}
	return append(out, &rest)
}

// Pieces are what an order of a message gives to each of several: "the contract to Ann" and "the list to Paul". Each group is of one
// clause, and each of its parts says itself what goes and where. A clause that gives one thing has none.
func Pieces(message string, tool *Tool, table *vocabulary.Table) [][]string {
	t := typed(message[:min(len(message), maxMessage)])
	text := reading{table: table, typed: t, words: table.Words(t.orders)}
	var out [][]string
	for _, cl := range text.clauses() {
		if list := cl.pieces(); len(list) > 1 && !cl.negated {
			out = append(out, list)
		}
	}
	return out
}

// pieces takes a clause apart at the joining words on both sides of which something is named and said where it goes.
func (c *clause) pieces() []string {
	var out []string
	from := 0
	for i := 1; i < len(c.words); i++ {
		if c.words[i].Gram.Has(vocabulary.Joining) && c.sided(from, i) && c.sided(i, len(c.words)) {
			out = append(out, c.from.span(c.words[from:i]))
			from = i
		}
	}
	return append(out, c.from.span(c.words[from:]))
}

// sided reports whether some words of a clause name something, and behind it a side with something on it.
func (c *clause) sided(from, to int) bool {
	named, side := false, false
	for i := from; i < to; i++ {
		w := &c.words[i]
		if i == c.verb || w.Kind == vocabulary.Plain && w.Gram.Has(vocabulary.Joining) {
			continue
		}
		leads := toWords.has(c.lang, w.Text) || ofWords.has(c.lang, w.Text)
		switch {
		case leads && named:
			side = true
		case leads, w.Kind == vocabulary.Plain && w.Gram != 0:
		case side:
			return true
		default:
			named = true
		}
	}
	return false
}

// unverbed makes a half of a clause one that orders and notes nothing by itself.
func (c *clause) unverbed() { c.verb, c.mood, c.plain = -1, told, false }

// numbers reports whether words hold a number or a day.
func numbers(list []vocabulary.Word) bool {
	return slices.ContainsFunc(list, func(w vocabulary.Word) bool { return w.Kind == vocabulary.Number || mandate.Weekday(w.Text) })
}

// counts reports whether words say beside their numbers of whom or what they are.
func (c *clause) counts(list []vocabulary.Word) bool {
	return slices.ContainsFunc(list, func(w vocabulary.Word) bool {
		if w.Kind != vocabulary.Plain {
			return w.Kind != vocabulary.Number
		}
		return w.Gram == 0 && (len(w.Acts) == 0 || c.capital(&w)) && !mandate.Currency(w.Text) &&
			!mandate.Month(w.Text) && !mandate.Weekday(w.Text)
	})
}

func (c *clause) part(tool *Tool, table *vocabulary.Table, apart bool) Part {
	p := Part{Words: c.text(), Apart: apart, Refers: c.refers(), Params: c.spelled(tool)}
	p.Things, p.Names = c.strange(tool, table)
	p.Sets, p.Noted, p.Lifts = c.sets(tool, table), c.noted(), c.verb >= 0 && c.lifts(table)
	if c.mood == ordered && c.verb >= 0 && !c.unsure() {
		p.Verb = c.words[c.verb].Text
	}
	for i := range c.words {
		if w := &c.words[i]; (w.Kind != vocabulary.Plain || w.Gram == 0 || w.Gram.Has(vocabulary.Done)) && !sets.has(c.lang, w.Text) {
			p.Content = append(p.Content, w.Text)
		}
	}
	return p
}

// sets reports whether a clause orders what a tool does, or that something be so.
func (c *clause) sets(t *Tool, table *vocabulary.Table) bool {
	if c.mood != ordered || c.verb < 0 || c.negated || c.hangs || c.unsure() || c.lifts(table) {
		return false
	}
	verb := &c.words[c.verb]
	if acts := table.ClassesOf(*verb); t.verb == verb.Text || acts&t.classes(table)&^vocabulary.Read != 0 {
		return true
	}
	be := func(id vocabulary.ActID) bool { return setting[table.Act(id).Name] }
	return slices.ContainsFunc(verb.Acts, be) || sets.has(c.lang, verb.Text)
}

// classes are what a tool does by the verb of its name.
func (t *Tool) classes(table *vocabulary.Table) vocabulary.Classes {
	var out vocabulary.Classes
	for _, id := range t.acts {
		out |= table.Act(id).Classes
	}
	return out
}

// noted reports whether a clause has no verb, and nothing that makes it sure of nothing.
func (c *clause) noted() bool {
	return c.verb < 0 && c.plain && !c.negated && !c.unsure() && !slices.ContainsFunc(c.words, func(w vocabulary.Word) bool {
		return len(w.Acts) > 0 && !w.Gram.Has(vocabulary.Done) || states.has(c.lang, w.Text) || c.from.own[w.Text]
	})
}

// unsure reports whether a word of a clause denies something, or puts one thing in the place of another.
func (c *clause) unsure() bool {
	return slices.ContainsFunc(c.words, func(w vocabulary.Word) bool {
		const unsure = vocabulary.Negation | vocabulary.Exception | vocabulary.Condition
		denies := w.Gram&unsure != 0 || withouts[w.Text] || mandate.Negates(w.Text)
		ends := elses.has(c.lang, w.Text) || stops.has(c.lang, w.Text) || instead.has(c.lang, w.Text)
		return w.Kind == vocabulary.Plain && (denies || ends)
	})
}

// Listed are the clauses that stand behind the colon of an order for a tool: "turn it on" of "update the bucket: turn it on".
func Listed(message string, tool *Tool, table *vocabulary.Table) []Part {
	t := typed(message[:min(len(message), maxMessage)])
	text := reading{table: table, typed: t, words: table.Words(t.orders)}
	var out []Part
	for _, cl := range text.clauses() {
		if !cl.sets(tool, table) {
			continue
		}
		for _, at := range t.after {
			line := t.words[at[0]:at[1]]
			if !cl.holds(at) || line == "" {
				continue
			}
			behind := reading{table: table, typed: typing{orders: line, words: line}, words: table.Words(line)}
			for _, said := range behind.clauses() {
				if !said.negated {
					out = append(out, said.part(tool, table, false))
				}
			}
		}
	}
	return out
}

// Denied are what the clauses of a message say that is not to be: "not public" of "publish it, but not public", "the alarm" of "turn off
// the alarm". What is reported, asked or hangs on something denies nothing.
func Denied(message string, table *vocabulary.Table) []string {
	t := typed(message[:min(len(message), maxMessage)])
	text := reading{table: table, typed: t, words: table.Words(t.orders)}
	var out []string
	for _, cl := range text.clauses() {
		switch {
		case !cl.plain || cl.carried:
		case cl.negated, cl.mood == ordered && cl.lifts(table):
			out = append(out, cl.text())
		}
	}
	return out
}

// lifts reports whether what a clause orders is that something end.
func (c *clause) lifts(table *vocabulary.Table) bool {
	return slices.ContainsFunc(c.words[c.verb].Acts, func(id vocabulary.ActID) bool { return lifting[table.Act(id).Name] })
}

// conditioned takes a clause apart that says what to do, and behind it when: "close it" of "close it if it is fixed".
func (c *clause) conditioned() (before, behind *clause, ok bool) {
	if !c.hangs || c.mood != told || c.verb != 0 && !(c.verb > 0 && onlyJoins(c.words[:c.verb])) {
		return nil, nil, false
	}
	at := slices.IndexFunc(c.words, func(w vocabulary.Word) bool { return w.Kind == vocabulary.Plain && w.Gram.Has(vocabulary.Condition) })
	if at <= c.verb {
		return nil, nil, false
	}
	first, rest := *c, *c
	first.words, first.body = c.words[:at], min(c.body, at)
	rest.words, rest.body, rest.verb = c.words[at:], len(c.words)-at, -1
	return &first, &rest, true
}

// onlyJoins reports whether words only begin a clause: "and", "then".
func onlyJoins(list []vocabulary.Word) bool {
	return !slices.ContainsFunc(list, func(w vocabulary.Word) bool {
		return w.Kind != vocabulary.Plain || !w.Gram.Has(vocabulary.Joining) && !w.Gram.Has(vocabulary.Polite)
	})
}

// strange are the words of a clause for what a tool is not for, and its names. A pronoun may speak of the
// call whatever stands beside it. A
// word of a parameter, or for what the tool is for, does unless a name is that of another.
func (c *clause) strange(t *Tool, table *vocabulary.Table) (strange, names []string) {
	things := objects{c.own(table), map[string]bool{}}
	if c.verb >= 0 {
		things = c.things(table)
	}
	own := slices.ContainsFunc(t.nouns, func(w vocabulary.Word) bool { return things.means(&w, table) })
	for i := range c.words[:c.body] {
		w := &c.words[i]
		switch {
		case i == c.verb:
		case refers(w):
			return nil, nil
		case w.Kind == vocabulary.Plain && w.Gram != 0:
		case c.spellsAny(i, t):
			own = true
		case w.Kind != vocabulary.Plain || c.capital(w) && !c.noun(i):
			names = append(names, c.from.typed.words[w.Start:w.End])
		default:
			strange = append(strange, w.Text)
		}
	}
	if own {
		return nil, names
	}
	return strange, names
}

// refers reports whether a word stands for what was named before.
func refers(w *vocabulary.Word) bool {
	return w.Kind == vocabulary.Plain && w.Gram.Has(vocabulary.Pronoun) && !w.Gram.Has(vocabulary.Function)
}

func (c *clause) refers() bool {
	return slices.ContainsFunc(c.words, func(w vocabulary.Word) bool { return refers(&w) })
}

// spelled are the parameters that a clause has a word of.
func (c *clause) spelled(t *Tool) []string {
	var out []string
	for k := range t.Params {
		for i := range c.words {
			if c.spells(i, &t.Params[k]) {
				out = append(out, t.Params[k].Path)
				break
			}
		}
	}
	return out
}

// noun reports whether a word with a capital is a German noun, which no name is behind an article.
func (c *clause) noun(i int) bool {
	return c.lang == "de" && i > 0 && c.words[i-1].Kind == vocabulary.Plain && c.words[i-1].Gram.Has(vocabulary.Function)
}

// spellsAny reports whether a word of a clause is one of the name of some parameter.
func (c *clause) spellsAny(i int, t *Tool) bool {
	for k := range t.Params {
		if c.spells(i, &t.Params[k]) {
			return true
		}
	}
	return false
}

// exception is where a clause begins to say what it does not mean; -1: nowhere.
func (c *clause) exception() int {
	for i := range c.words {
		two := ""
		if i+1 < len(c.words) {
			two = c.words[i].Text + "_" + c.words[i+1].Text
		}
		if i != c.verb && (excepts.has(c.lang, c.words[i].Text) || excepts.has(c.lang, two) || excepts.has("en", c.words[i].Text)) {
			return i
		}
	}
	return -1
}

// kept is a clause without what it excepts; nil: nothing is left that could be told from that.
func (c *clause) kept() *clause {
	at := c.exception()
	if at < 0 {
		return c
	}
	out := *c
	switch {
	case final[c.lang]: // what is excepted stands before the word
		out.words, out.verb, out.body = c.words[at+1:], c.verb-at-1, c.body-at-1
		if out.verb < 0 || out.body <= 0 {
			return nil
		}
	case at <= c.verb || c.verb < 0:
		return nil
	default:
		out.body = min(c.body, at)
	}
	return &out
}
