package reader

import (
	"unicode"

	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

func isCurrency(r rune) bool { return unicode.Is(unicode.Sc, r) }

// givesMoney reports whether a clause gives somebody money by a verb that may mean anything that is given, or done.
func (c *clause) givesMoney(act *vocabulary.Act, t *Tool, things *objects, table *vocabulary.Table) bool {
	if moneyed[act.Name] && (things.thing("money") || c.barely(t)) {
		return true
	}
	return light[act.Name] && c.takes(paying, table)
}

// takes reports whether a verb that says nothing by itself has one of some things for its object, right behind it: "make a payment". The
// thing stands for itself: who makes a payment plan pays nothing.
func (c *clause) takes(of map[string]bool, table *vocabulary.Table) bool {
	if final[c.lang] || behind[c.lang] {
		return false
	}
	for i := c.verb + 1; i < c.body; i++ {
		w := &c.words[i]
		for _, id := range w.Things {
			if of[table.Thing(id).Name] {
				return c.alone(i)
			}
		}
		const between = vocabulary.Function | vocabulary.Pronoun | vocabulary.Speaker | vocabulary.Quantity
		if w.Kind == vocabulary.Plain && !c.capital(w) && w.Gram&between == 0 {
			return false
		}
	}
	return false
}

// alone reports whether no other noun stands right behind one: a sum, a name or a word of grammar does.
func (c *clause) alone(i int) bool {
	if i+1 >= c.body {
		return true
	}
	next := &c.words[i+1]
	return next.Kind != vocabulary.Plain || next.Gram.Has(vocabulary.Function) || c.capital(next) || c.from.comma(&c.words[i], next)
}

// barely reports whether a clause gives somebody a number and nothing else: "send Ann 35 for the seeds". That is money where the tool takes
// a sum and the agent has none that sends anything but money.
func (c *clause) barely(t *Tool) bool {
	sum := false
	for i := range t.Params {
		sum = sum || t.Params[i].Role == toolinfo.Amount
	}
	for _, id := range c.words[c.verb].Acts {
		sum = sum && c.from.verbs[id] == 0
	}
	if !sum || final[c.lang] || behind[c.lang] || len(c.from.typed.quotes) > 0 {
		return false
	}
	i, name := c.verb+1, 0
	for ; i < c.body && (c.capital(&c.words[i]) || c.words[i].Kind == vocabulary.Email) && len(c.words[i].Things) == 0; i++ {
		name++
	}
	if name == 0 || i >= c.body || c.words[i].Kind != vocabulary.Number {
		return false
	}
	return i+1 == c.body || c.words[i+1].Gram.Has(vocabulary.Function) || c.from.comma(&c.words[i], &c.words[i+1])
}

// pays reports whether a tool gives somebody money by a verb of its name.
func (t *Tool) pays(own vocabulary.ActID, table *vocabulary.Table) bool {
	act := table.Act(own)
	return act.Classes.Any(vocabulary.Pay) && !act.Classes.Any(vocabulary.Create) || generic[act.Name] && t.makes(paying, table)
}
