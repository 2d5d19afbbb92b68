package reader

import (
	"slices"

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
}

// Parts are the clauses of a message beside a tool. What is negated is none of them.
func Parts(message string, tool *Tool, table *vocabulary.Table) []Part {
	t := typed(message[:min(len(message), maxMessage)])
	text := reading{table: table, typed: t, words: table.Words(t.orders)}
	var out []Part
	for _, cl := range text.clauses() {
		if cl.negated {
			continue
		}
		if before, behind, ok := cl.conditioned(); ok {
			out = append(out, before.part(tool, table, cl.reads(table)), behind.part(tool, table, true))
			continue
		}
		out = append(out, cl.part(tool, table, cl.mood == told && !cl.plain || cl.verb >= 0 && cl.reads(table)))
	}
	return out
}

func (c *clause) part(tool *Tool, table *vocabulary.Table, apart bool) Part {
	p := Part{Words: c.text(), Apart: apart, Refers: c.refers(), Params: c.spelled(tool)}
	p.Things, p.Names = c.strange(tool, table)
	return p
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

// strange are the words of a clause for what a tool is not for, and its names. A pronoun may speak of the call whatever stands beside it. A
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
