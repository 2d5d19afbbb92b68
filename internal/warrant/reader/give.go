package reader

import (
	"regexp"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/leaves"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/meaning"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

// Give is where the values of a tool may come from by what a message says, whichever clause of it asks for the act: the
// literals of its clauses on their sides, and the records that their words name. What is negated gives nothing.
func Give(message string, tool *Tool, table *vocabulary.Table) map[string][]mandate.Source {
	if len(message) > maxMessage {
		message = message[:maxMessage]
	}
	t := typed(message)
	text := reading{table: table, typed: t, words: table.Words(t.orders)}
	out := text.offers(tool)
	add := func(name string, list ...mandate.Source) { out[name] = append(out[name], list...) }
	pairs, numbers, behind := pairsIn(t.orders), grouped.FindAllString(t.words, -1), text.behind()
	for i := range tool.Params {
		p := &tool.Params[i]
		var said []string
		if p.Role != meaning.Command && p.Role != meaning.Credential {
			said = slices.Clone(behind)
		}
		if p.Role != meaning.Content && p.Role != meaning.Command && p.Role != meaning.Credential {
			said = append(said, numbers...)
		}
		if !tool.strict(rootOf(p)) && p.Role != meaning.Content && p.Role != meaning.Command && p.Role != meaning.Credential {
			add(rootOf(p), mandate.Source{How: mandate.Calc, What: []string{t.words}})
		}
		for _, pair := range pairs {
			said = append(said, pair.half(p)...)
		}
		if len(said) > 0 {
			add(rootOf(p), mandate.Source{How: mandate.Said, What: said})
		}
	}
	return out
}

// offers are the sources that the clauses of a message have for a tool. Who is only spoken of is not who is written to, and what
// stays is not what goes: for these the clauses that order something count, and the others only as far as they plainly say a
// parameter, or where no order names anything.
func (r *reading) offers(tool *Tool) map[string][]mandate.Source {
	list := r.clauses()
	names := slices.ContainsFunc(list, func(cl *clause) bool { return cl.mood == ordered && !cl.negated && cl.named() })
	o := order{tool, map[string][]mandate.Source{}}
	for _, cl := range list {
		if cl.negated {
			continue
		}
		orders := cl.mood == ordered || !names
		for name, given := range bind(cl, tool) {
			if orders || !tool.strict(name) {
				o.args[name] = append(o.args[name], given...)
			}
		}
		if !orders && cl.plain {
			o.detail(cl)
		}
	}
	return o.args
}

// named reports whether a clause names somebody or something: an address, a number, a quotation, a name.
func (c *clause) named() bool {
	return slices.ContainsFunc(c.literals(), func(l literal) bool {
		return l.quote || l.word.Kind != vocabulary.Plain || c.capital(&l.word) || strings.ContainsAny(l.text, "-_./0123456789")
	})
}

// strict reports whether a parameter says whom an act reaches, or what is done that cannot be taken back.
func (t *Tool) strict(name string) bool {
	for i := range t.Params {
		p := &t.Params[i]
		acted := p.Role == meaning.Selector || p.Role == meaning.Unclear
		if rootOf(p) == name && (p.Role == meaning.Target || t.grave() != 0 && acted) {
			return true
		}
	}
	return false
}

// grouped is a long number, in groups or in one.
var grouped = regexp.MustCompile(`\+?\d(?:[ -]?\d){6,}`)

// behind are the words in a row that stand behind a colon, in its line: "transfer money: 20 EUR to DE89…".
func (r *reading) behind() []string {
	var out []string
	for _, at := range r.typed.after {
		line := r.typed.words[at[0]:at[1]]
		list := r.table.Words(line)
		for i := range list {
			for k := i; k < len(list) && k < i+runLength; k++ {
				if !list[i].Gram.Has(vocabulary.Function) && !list[k].Gram.Has(vocabulary.Function) {
					out = append(out, line[list[i].Start:list[k].End])
				}
			}
		}
	}
	return out
}

// pair is a name of two parts, as places that hold things of many people have them: acme/site.
type pair struct{ whose, what string }

var slashed = regexp.MustCompile(`(?:^|[\s("'])([\pL\pN][\pL\pN_.-]*)/([\pL\pN][\pL\pN_.-]*)(?:[\s)"',;:!?]|\.(?:\s|$)|$)`)

func pairsIn(text string) []pair {
	var out []pair
	for _, m := range slashed.FindAllStringSubmatch(text, -1) {
		out = append(out, pair{m[1], m[2]})
	}
	return out
}

// half is the part of a pair that a parameter may be: the first only for one that says whose it is, and the second for no such.
// So the two cannot change places.
func (d *pair) half(p *meaning.Param) []string {
	if p.Role != meaning.Selector && p.Role != meaning.Unclear && p.Role != meaning.Target {
		return nil
	}
	words := slices.Collect(leaves.Words(p.Path))
	if len(words) == 0 {
		return nil
	}
	switch last := strings.ToLower(words[len(words)-1]); {
	case holders[last]:
		return []string{d.whose}
	case held[last]:
		return []string{d.what}
	}
	return nil
}

// Tells reports whether a message gives a text to pass on: behind the verb of an order, behind a colon or in quotation marks.
func Tells(message string, table *vocabulary.Table) bool {
	t := typed(message[:min(len(message), maxMessage)])
	given := len(t.after) > 0 || len(t.quotes) > 0
	if !given {
		eachContent(t, table, func(_ *clause, content string) { given = given || content != "" })
	}
	return given
}

// Told are the contents that the orders of a message give for a call with some values: "the shop opens at 11" of "tell everybody that
// the shop opens at 11". Where one of several orders names a value of the call, the others speak of something else.
func Told(message string, values []string, table *vocabulary.Table) []string {
	var all, named []string
	some := false
	eachContent(typed(message[:min(len(message), maxMessage)]), table, func(cl *clause, content string) {
		names := slices.ContainsFunc(cl.literals(), func(l literal) bool { return slices.Contains(values, l.text) })
		if some = some || names; content == "" {
			return
		}
		if all = append(all, content); names {
			named = append(named, content)
		}
	})
	if some {
		return named
	}
	return all
}

// eachContent visits the orders of a message with the content that each gives; empty: none.
func eachContent(t typing, table *vocabulary.Table, visit func(cl *clause, content string)) {
	text := reading{table: table, typed: t, words: table.Words(t.orders)}
	for _, cl := range text.clauses() {
		if cl.mood != ordered || cl.negated || cl.verb < 0 {
			continue
		}
		content := ""
		if cl.body > cl.verb && cl.body < len(cl.words) {
			content = t.orders[cl.words[cl.body].Start:cl.words[len(cl.words)-1].End]
		}
		visit(cl, content)
	}
}
