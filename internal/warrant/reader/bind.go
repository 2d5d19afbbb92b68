package reader

import (
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

// literal is something that a clause names as it is: an address, a path, a number, a name.
type literal struct {
	text  string
	word  vocabulary.Word // its first
	side  side
	name  bool // it is written as names are
	quote bool
	given bool // it stands behind a colon
	start int  // of a quotation: where it stands
}

// side is where a literal stands to the verb: what is acted on, where it goes, where it comes from.
type side uint8

const (
	object side = iota
	toward
	away
	unplaced // nothing says
)

// bind puts what a clause names into the parameters of a tool.
func bind(cl *clause, t *Tool) map[string][]mandate.Source {
	b := binding{clause: cl, list: cl.literals(), phrase: cl.phrase()}
	b.tool = t
	for i := range t.Params {
		b.sided = b.sided || t.sideOf(&t.Params[i]) != object
	}
	out := map[string][]mandate.Source{}
	for i := range t.Params {
		p := &t.Params[i]
		for _, s := range b.sources(p) {
			if len(s.What) > 0 || s.Of != "" && s.How != mandate.Person || s.How == mandate.Write {
				s.Wide = cl.wide()
				out[rootOf(p)] = append(out[rootOf(p)], s)
			}
		}
	}
	return out
}

// wide reports whether a clause orders no act: it tells something, or orders a look of which no order behind it speaks. One that
// begins with a verb, and that nobody understands, may order one.
func (c *clause) wide() bool {
	switch {
	case c.wished && !c.negated:
		return false
	case c.verb >= 0 && c.reads(c.from.table):
		return !c.taken
	}
	return c.mood != ordered && (c.verb < 0 || !c.plain || !onlyJoins(c.words[:c.verb]))
}

// rootOf is the name of a parameter as items name it.
func rootOf(p *toolinfo.Param) string {
	root, _, _ := strings.Cut(strings.ReplaceAll(p.Path, "[]", ""), ".")
	return root
}

// binding is a clause while it is put into parameters.
type binding struct {
	*clause
	list   []literal
	phrase string
	tool   *Tool
	sided  bool // some parameter says where it goes, or where it comes from
}

// sources are where the value of a parameter may come from.
func (b *binding) sources(p *toolinfo.Param) []mandate.Source {
	side := b.tool.sideOf(p)
	said := mandate.Source{How: mandate.Said, What: b.said(p, side)}
	switch {
	case p.Role == toolinfo.Command:
		return nil
	case p.Role == toolinfo.Credential:
		return []mandate.Source{{How: mandate.Said, What: b.keys(p)}}
	case p.Kind == toolinfo.Date:
		return []mandate.Source{said, {How: mandate.Calc, What: []string{b.phrase}}}
	case p.Role == toolinfo.Content:
		return b.worded(p, said)
	case p.Role == toolinfo.Amount || p.Kind == toolinfo.Money:
		if b.figures() {
			return []mandate.Source{said}
		}
		return []mandate.Source{said, {How: mandate.From, Of: b.phrase}}
	case p.Role == toolinfo.Target:
		out := []mandate.Source{said, {How: mandate.Person, What: b.people(side), Of: "contacts"}}
		return append(out, mandate.Source{How: mandate.From, Of: b.phrase})
	}
	return []mandate.Source{said, {How: mandate.From, Of: b.phrase}}
}

// keys are the literals of a clause that names a secret; a word of its own is none.
func (b *binding) keys(p *toolinfo.Param) []string {
	var out []string
	for i := range b.list {
		if l := &b.list[i]; b.names(p) && (l.quote || l.word.Kind != vocabulary.Plain) {
			out = append(out, l.text)
		}
	}
	return out
}

// people are the names on a side.
func (b *binding) people(want side) []string {
	var out []string
	for i := range b.list {
		if l := &b.list[i]; l.name && (l.side == want || !b.has(want)) {
			out = append(out, l.text)
		}
	}
	return out
}

// has reports whether some literal stands on a side.
func (b *binding) has(s side) bool {
	return slices.ContainsFunc(b.list, func(l literal) bool { return l.side == s })
}

// runLength is how many words a value that was said may have.
const runLength = 7

// said are the words in a row that a parameter may be: those of its side, where the tool tells sides apart.
func (b *binding) said(p *toolinfo.Param, want side) []string {
	var out []string
	for i := range b.list {
		l := &b.list[i]
		if l.quote || l.given || l.word.Kind == vocabulary.Email && p.Role == toolinfo.Target {
			out = append(out, l.text)
		}
	}
	apart := (b.sided || want != object) && b.has(want)
	if final[b.lang] {
		return b.before(append(out, b.runs(want, false)...), want, apart)
	}
	return append(out, b.runs(want, apart)...)
}

// runs are the words in a row, of one side if that is told apart. None begins or ends with a word that means nothing.
func (b *binding) runs(want side, apart bool) []string {
	var out []string
	at, from := object, 0
	for i := 0; i < b.body; i++ {
		w := &b.words[i]
		if i == b.verb {
			from = i + 1
			continue
		}
		if was := at; !final[b.lang] {
			if at = b.moves(w, at); at != was || toWords.has(b.lang, w.Text) {
				from = i + 1
			}
		}
		if apart && at != want || w.Gram.Has(vocabulary.Function) {
			continue
		}
		for k := max(from, i-runLength+1); k <= i; k++ {
			if !b.words[k].Gram.Has(vocabulary.Function) {
				out = append(out, b.from.span(b.words[k:i+1]))
			}
		}
	}
	return out
}

// before keeps what stands before a word of a side, in languages that say it so.
func (b *binding) before(all []string, want side, apart bool) []string {
	if !apart {
		return all
	}
	var out []string
	for i := range b.list {
		if b.list[i].side == want || b.list[i].quote {
			out = append(out, b.list[i].text)
		}
	}
	return out
}

// worded are the sources of a text: the agent words it, unless the clause names the text and gives it word for word.
func (b *binding) worded(p *toolinfo.Param, said mandate.Source) []mandate.Source {
	for i := range b.list {
		switch l := &b.list[i]; {
		case l.quote && b.names(p) && b.nearest(l.start, p):
			said.Verbatim = append(said.Verbatim, l.text)
		case !l.quote && l.word.Kind != vocabulary.Plain:
			said.For = append(said.For, l.text)
		}
	}
	if len(said.Verbatim) > 0 {
		return []mandate.Source{said}
	}
	return []mandate.Source{said, {How: mandate.Write, Of: b.phrase, For: said.For}}
}

// nearest reports whether a quotation is for a parameter: of the texts that the tool takes, the word for this one stands last before it.
// Where the clause has no such word before it, it is for any that it names.
func (b *binding) nearest(quote int, p *toolinfo.Param) bool {
	for i := len(b.words) - 1; i >= 0; i-- {
		if b.words[i].End > quote {
			continue
		}
		for k := range b.tool.Params {
			if other := &b.tool.Params[k]; other.Role == toolinfo.Content && b.spells(i, other) {
				return rootOf(other) == rootOf(p)
			}
		}
	}
	return true
}

// figures reports whether a clause names numbers.
func (b *binding) figures() bool {
	return slices.ContainsFunc(b.list, func(l literal) bool { return l.word.Kind == vocabulary.Number })
}

// sideOf is which side of an act a parameter is for, by the tool's name and its own: in add_user_to_channel the user is what is
// acted on.
func (t *Tool) sideOf(p *toolinfo.Param) side {
	if at := t.placed(p); at != unplaced {
		return at
	}
	for w := range arguments.Words(p.Path) {
		switch {
		case toSlots[w]:
			return toward
		case fromSlots[w]:
			return away
		}
	}
	if p.Role == toolinfo.Target {
		return toward
	}
	return object
}

// phrase is what a clause says of its object, without its verb and its content.
func (c *clause) phrase() string {
	from, to := c.verb+1, c.body
	if final[c.lang] || behind[c.lang] || c.verb >= c.body-1 {
		from, to = 0, c.body
	}
	if from >= to {
		return ""
	}
	return c.from.span(c.words[from:to])
}

// literals are all that a clause names as it is.
func (c *clause) literals() []literal {
	var out []literal
	at := object
	for i := 0; i < c.body; i++ {
		w := &c.words[i]
		if i != c.verb && !final[c.lang] {
			at = c.moves(w, at)
		}
		if i == c.verb || !c.literal(w) {
			continue
		}
		k := i + 1
		for k < c.body && k != c.verb && c.joins(&c.words[k-1], &c.words[k]) {
			k++
		}
		l := literal{text: c.from.span(c.words[i:k]), word: *w, side: at, name: w.Kind == vocabulary.Plain}
		if final[c.lang] && k < c.body {
			l.side = c.moves(&c.words[k], object)
		}
		out = append(out, l)
		i = k - 1
	}
	for _, q := range c.from.typed.quotes {
		if c.holds(q) {
			out = append(out, literal{text: strings.Trim(c.from.typed.words[q[0]:q[1]], `"'‘’“”„«»「」 `), quote: true, start: q[0]})
		}
	}
	for _, q := range c.from.typed.after {
		if c.holds(q) {
			out = append(out, literal{text: strings.TrimSpace(c.from.typed.words[q[0]:q[1]]), given: true})
		}
	}
	return out
}

// holds reports whether a span stands in a clause, or right behind it.
func (c *clause) holds(at [2]int) bool {
	from, to := c.words[0].Start, c.words[len(c.words)-1].End
	return at[0] >= from && at[0] <= to || at[0] > to && strings.Trim(c.from.typed.orders[to:at[0]], " :.,'\"") == ""
}

// moves is the side that a word leads to.
func (c *clause) moves(w *vocabulary.Word, at side) side {
	switch {
	case toWords.has(c.lang, w.Text):
		return toward
	case ofWords.has(c.lang, w.Text):
		return away
	}
	return at
}

// literal reports whether a word names something as it is.
func (c *clause) literal(w *vocabulary.Word) bool {
	if w.Kind != vocabulary.Plain {
		return true
	}
	if w.Gram != 0 || len(w.Acts) > 0 && !c.capital(w) {
		return false
	}
	return len(w.Things) == 0 || c.capital(w)
}

// joins reports whether two words are one name: nothing stands between them, and both are names.
func (c *clause) joins(a, b *vocabulary.Word) bool {
	if a.Kind != vocabulary.Plain || b.Kind != vocabulary.Plain || !c.literal(b) {
		return false
	}
	gap := c.from.typed.orders[a.End:b.Start]
	return gap == "" || gap == " " || gap == "-" || gap == "'" || gap == "’"
}
