package reader

import (
	"regexp"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
	"github.com/tidemark/tidemark/internal/warrant/wording"
)

// Give is where the values of a tool may come from by what a message says, whichever clause of it asks for the act: the
// literals of its clauses on their sides, and the records that their words name. What is negated gives nothing.
func Give(message string, tool *Tool, table *vocabulary.Table) map[string][]mandate.Source {
	if len(message) > maxMessage {
		message = message[:maxMessage]
	}
	t := typed(message)
	tools := []Tool{*tool}
	text := reading{table: table, typed: t, words: table.Words(t.orders), verbs: verbs(tools), own: ownVerbs(tools)}
	out := text.offers(tool)
	add := func(name string, list ...mandate.Source) { out[name] = append(out[name], list...) }
	pairs, numbers, behind := pairsIn(t.orders), grouped.FindAllString(t.words, -1), text.behind()
	for i := range tool.Params {
		p := &tool.Params[i]
		var said []string
		if p.Role != toolinfo.Command && p.Role != toolinfo.Credential {
			said = slices.Clone(behind)
		}
		if p.Role != toolinfo.Content && p.Role != toolinfo.Command && p.Role != toolinfo.Credential {
			said = append(said, numbers...)
		}
		if !tool.strict(rootOf(p)) && p.Role != toolinfo.Content && p.Role != toolinfo.Command && p.Role != toolinfo.Credential {
			add(rootOf(p), mandate.Source{How: mandate.Calc, What: []string{t.words}, Wide: true})
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
// stays is not what goes: where some clauses order the tool's own act of something that they name, the others offer nothing for what is
// acted on, nor for where it goes. Where none does, the clauses that order something count, and the others only as far as they plainly
// say a parameter, or where no order names anything.
func (r *reading) offers(tool *Tool) map[string][]mandate.Source {
	list := r.clauses()
	own := r.ownOrders(list, tool)
	names := slices.ContainsFunc(list, func(cl *clause) bool { return cl.mood == ordered && !cl.negated && cl.named() })
	o := order{tool, map[string][]mandate.Source{}}
	for _, cl := range list {
		kept := cl.kept()
		if cl.negated || kept == nil {
			continue
		}
		orders := cl.mood == ordered || !names
		for name, given := range bind(kept, tool) {
			another := len(own) > 0 && cl.mood == ordered && !own[cl] && tool.acted(name)
			if !another && (orders || !tool.strict(name)) {
				o.args[name] = append(o.args[name], given...)
			}
		}
		if !orders && cl.plain {
			o.detail(cl)
		}
	}
	return o.args
}

// ownOrders are the clauses of those that name something which order the act of a tool best, with what they refer to: by its verb and
// thing, by its verb, or by being no look.
func (r *reading) ownOrders(list []*clause, tool *Tool) map[*clause]bool {
	best, out := 1, map[*clause]bool{}
	for _, cl := range list {
		if cl.mood != ordered || cl.negated || cl.reads(r.table) {
			continue
		}
		if tool.grave() == 0 && (cl.refers() || !cl.named()) && out[cl.before] { // "… and make it public"
			out[cl] = true
			continue
		}
		if !cl.named() {
			continue
		}
		n := r.suits(cl, tool)
		if n > best {
			best, out = n, map[*clause]bool{}
		}
		if n < best {
			continue
		}
		out[cl] = true
		if cl.refers() && cl.before != nil {
			out[cl.before] = true
		}
	}
	return out
}

// Ordered reports whether some clause of a message orders the act of a tool by its verb, or wishes for something, with no condition, and
// not for another time: who asks whether it was done, or to be reminded of it, orders it not.
func Ordered(message string, tool *Tool, table *vocabulary.Table) bool {
	t := typed(message[:min(len(message), maxMessage)])
	tools := []Tool{*tool}
	r := reading{table: table, typed: t, words: table.Words(t.orders), verbs: verbs(tools), own: ownVerbs(tools)}
	list := r.clauses()
	return slices.ContainsFunc(list, func(cl *clause) bool {
		if cl.negated || cl.condition != "" || cl.takenBack(list) || tool.grave() != 0 && (!cl.opens() || cl.trails()) {
			return false
		}
		late := (final[cl.lang] || behind[cl.lang]) && cl.verb >= 0 // of these the forms that order are known too little
		if cl.mood != ordered && !late {
			return cl.wished && cl.plain
		}
		return (cl.mood == ordered || cl.plain) && r.names(cl, tool)
	})
}

// takenBack reports whether what a wish begins goes on with a "but", or with a question: "I want to delete it, what do you think?".
func (c *clause) takenBack(list []*clause) bool {
	wishes := func(w vocabulary.Word) bool { return w.Gram.Has(vocabulary.Speaker) || wishes.has(c.lang, w.Text) }
	if c.verb < 0 || !c.wished && !slices.ContainsFunc(c.words[:c.verb], wishes) {
		return false
	}
	asks := func(w vocabulary.Word) bool { return buts.has(c.lang, w.Text) || w.Gram.Has(vocabulary.Question) }
	if slices.ContainsFunc(c.words[c.verb:], asks) {
		return true
	}
	return slices.ContainsFunc(list, func(other *clause) bool {
		return other.words[0].Start > c.words[0].Start && (asks(other.words[0]) || c.from.marked(other.words))
	})
}

// Bidden reports whether some clause of a message orders an act of the kind that a tool does, now and under no condition, and names nothing
// by address that a call with some values does not have; what it chooses may be its act. Who wants to be shown or told something, bids
// nothing.
func Bidden(message string, tool *Tool, values []string, chosen []vocabulary.Word, table *vocabulary.Table) bool {
	t := typed(message[:min(len(message), maxMessage)])
	tools := []Tool{*tool}
	r := reading{table: table, typed: t, words: table.Words(t.orders), verbs: verbs(tools), own: ownVerbs(tools)}
	all := r.clauses()
	return slices.ContainsFunc(all, func(cl *clause) bool {
		known := cl.condition == "" || cl.hangs && cl.ofReading()
		if cl.negated || !known || cl.verb < 0 || cl.takenBack(all) || cl.reads(table) && !tool.sharesVerb(&cl.words[cl.verb], table) {
			return false
		}
		begins := cl.wished || onlyJoins(cl.words[:cl.verb]) || final[cl.lang] || behind[cl.lang]
		if cl.mood != ordered && !((cl.plain || cl.hangs) && begins) && !cl.agreed {
			return false
		}
		return r.akin(cl, tool, chosen) && !cl.ofOthers(values)
	})
}

// ofReading reports whether what a clause hangs on is of something that was named before it, or of what the agent does: "if it is fixed",
// "once you have read it". Whether it is so, the agent reads; that somebody agrees, or that something comes about, it is told by others.
func (c *clause) ofReading() bool {
	words := c.from.words
	at := slices.IndexFunc(words, func(w vocabulary.Word) bool {
		return w.Sentence == c.words[0].Sentence && w.Gram.Has(vocabulary.Condition) && !w.Gram.Has(vocabulary.Polite)
	})
	for i := at + 1; at >= 0 && i < len(words) && i <= at+3 && words[i].Sentence == words[at].Sentence; i++ {
		if refers(&words[i]) || words[i].Gram.Has(vocabulary.Hearer) {
			return true
		}
	}
	return false
}

// akin reports whether the verb of a clause is of the kind of what a tool does, is what a call of it chooses, or says little by itself.
func (r *reading) akin(cl *clause, tool *Tool, chosen []vocabulary.Word) bool {
	verb := &cl.words[cl.verb]
	if slices.ContainsFunc(chosen, func(w vocabulary.Word) bool {
		return slices.ContainsFunc(w.Acts, func(id vocabulary.ActID) bool { return slices.Contains(verb.Acts, id) })
	}) {
		return true
	}
	deferring := func(id vocabulary.ActID) bool { return defers[r.table.Act(id).Name] }
	if slices.ContainsFunc(verb.Acts, deferring) && !tool.sharesVerb(verb, r.table) {
		return false
	}
	says := func(id vocabulary.ActID) bool { return !generic[r.table.Act(id).Name] }
	return r.table.ClassesOf(*verb).Any(tool.kin()) || r.own[verb.Text] || !slices.ContainsFunc(verb.Acts, says) || r.names(cl, tool)
}

// kin are the classes of verbs that may mean what a tool does.
func (t *Tool) kin() vocabulary.Classes {
	const stays = vocabulary.Create | vocabulary.Change | vocabulary.Tidy
	const tells = vocabulary.Send | vocabulary.Publish | vocabulary.Create
	switch t.Act {
	case toolinfo.Send:
		return tells
	case toolinfo.Change:
		return stays
	}
	return stays | tells
}

// ofOthers reports whether a clause names whom it reaches by addresses, and a call has none at all. Whether it has the right one is told of
// where it goes.
func (c *clause) ofOthers(values []string) bool {
	reaches := slices.ContainsFunc(c.literals(), func(l literal) bool { return l.word.Kind == vocabulary.Email })
	return reaches && !slices.ContainsFunc(values, func(v string) bool { return strings.Contains(v, "@") })
}

// names reports whether the verb of a clause is for what a tool does, whatever its object is.
func (r *reading) names(cl *clause, tool *Tool) bool {
	verb := &cl.words[cl.verb]
	gives := func(id vocabulary.ActID) bool { return moneyed[r.table.Act(id).Name] }
	return r.suits(cl, tool) > 1 || r.table.ClassesOf(*verb).Any(tool.grave()) || tool.sharesVerb(verb, r.table) ||
		tool.Act == toolinfo.Pay && slices.ContainsFunc(verb.Acts, gives)
}

// sharesVerb reports whether a verb is the one of a tool's name, or stands for it.
func (t *Tool) sharesVerb(verb *vocabulary.Word, table *vocabulary.Table) bool {
	return t.verb != "" && t.verb == verb.Text || slices.ContainsFunc(verb.Acts, func(id vocabulary.ActID) bool {
		return slices.ContainsFunc(t.acts, func(own vocabulary.ActID) bool {
			return own == id || same[table.Act(id).Name][table.Act(own).Name]
		})
	})
}

// suits is how well a clause orders the act of a tool, in steps.
func (r *reading) suits(cl *clause, tool *Tool) int {
	things := cl.things(r.table)
	v := cl.means(tool, &things, r.table)
	switch n := fit(cl, tool, r.table); {
	case n >= verySame:
		return 5
	case v.very:
		return 4
	case n > 0:
		return 3
	case v.near, v.told, v.paid, v.alone:
		return 2
	}
	return 1
}

// acted reports whether a parameter says what an act is done to, or whom it reaches.
func (t *Tool) acted(name string) bool {
	for i := range t.Params {
		p := &t.Params[i]
		if rootOf(p) == name && (p.Role == toolinfo.Target || p.Role == toolinfo.Selector || p.Role == toolinfo.Unclear) {
			return true
		}
	}
	return false
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
		acted := p.Role == toolinfo.Selector || p.Role == toolinfo.Unclear
		if rootOf(p) == name && (p.Role == toolinfo.Target || t.grave() != 0 && acted) {
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
func (d *pair) half(p *toolinfo.Param) []string {
	if p.Role != toolinfo.Selector && p.Role != toolinfo.Unclear && p.Role != toolinfo.Target {
		return nil
	}
	words := slices.Collect(arguments.Words(p.Path))
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

// Contents are the texts that the orders of a message give for a call with some values: behind the verb, behind a colon, in quotation
// marks. Where one of several orders names a value of the call, the others speak of something else.
func Contents(message string, values []string, table *vocabulary.Table) []wording.Content {
	var all, named []wording.Content
	some := false
	eachContent(typed(message[:min(len(message), maxMessage)]), table, func(cl *clause, content string) {
		if cl.looks(table) {
			return
		}
		list := cl.contents(content)
		names := slices.ContainsFunc(cl.literals(), func(l literal) bool { return !l.given && slices.Contains(values, l.text) })
		if all = append(all, list...); names {
			named, some = append(named, list...), true
		}
	})
	if some {
		return named
	}
	return all
}

// contents are the texts that an order gives, with what it says before each.
func (c *clause) contents(behind string) []wording.Content {
	t := &c.from.typed
	from := c.words[0].Start
	var out []wording.Content
	if behind != "" {
		out = append(out, wording.Content{Text: behind, Before: t.orders[from:c.words[c.body].Start]})
	}
	for _, q := range t.quotes {
		before := c.from.table.Words(t.orders[from:max(from, q[0])])
		text := len(before) > 0 && wording.Texts(&before[len(before)-1])
		if tells := c.from.table.ClassesOf(c.words[c.verb]).Any(vocabulary.Send | vocabulary.Publish); c.holds(q) && (text || tells) {
			text := strings.Trim(t.words[q[0]:q[1]], "\"'`‘’“”„«»「」 ")
			out = append(out, wording.Content{Text: text, Before: t.orders[from:max(from, q[0])], Quoted: true})
		}
	}
	for _, q := range t.after {
		if text := strings.TrimSpace(t.words[q[0]:q[1]]); c.holds(q) && text != "" {
			out = append(out, wording.Content{Text: text, Before: t.orders[from:max(from, q[0])], Behind: true})
		}
	}
	return out
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
