package reader

import (
	"slices"

	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

// need is where the word stands by which somebody says that they want a thing, and no more: "we need flour", "il nous faut du pain"; -1:
// they do not. Whoever wants to do something, wants somebody else to, or asks, has said what: a verb, a question, another person.
func (s *sentence) need(list []vocabulary.Word) int {
	if s.asked || final[s.lang] || behind[s.lang] {
		return -1
	}
	at, more := -1, false // behind the thing that is wished for it may be told what it is for
	for i := range list {
		w := &list[i]
		more = more || at >= 0 && i > at+1 && s.comma(&list[i-1], w)
		switch {
		case more:
			if w.Gram&notWished != 0 {
				return -1
			}
		case at < 0 && (s.wants(w) || needing.has(s.lang, w.Text) && (i > 0 || speaking[w.Text])):
			at = i
		case at < 0 && (w.Gram.Has(vocabulary.Speaker) || needers.has(s.lang, w.Text) || s.lead(w)):
		case at < 0, s.tellsMore(w, i-at):
			return -1
		}
	}
	return at
}

// notWished is what a plain wish has none of.
const notWished = vocabulary.Negation | vocabulary.Question | vocabulary.Hearer | vocabulary.Report | vocabulary.Condition

// tellsMore reports whether a word behind a wish says that it is for more than a thing. Right behind it stands what is wished for.
func (s *sentence) tellsMore(w *vocabulary.Word, behind int) bool {
	g := w.Gram
	switch {
	case g&notWished != 0, states.has(s.lang, w.Text):
		return true
	case len(w.Acts) > 0 && len(w.Things) == 0 && !g.Has(vocabulary.Function):
		return true
	}
	return behind == 1 && (wished.has(s.lang, w.Text) || infinitives[w.Text] || g.Has(vocabulary.Pronoun) && !g.Has(vocabulary.Function))
}

// wishedFor are the tools by which somebody gets the thing that a clause wishes for, those that fit best.
func wishedFor(cl *clause, tools []Tool, table *vocabulary.Table) []*Tool {
	things := cl.direct(table)
	var out []*Tool
	best := 0
	for i := range tools {
		t := &tools[i]
		if t.Act == toolinfo.Read || t.grave() != 0 && (t.grave() != vocabulary.Pay || !cl.leading) || !t.gets(table) {
			continue
		}
		hit := 0
		for k := range t.nouns {
			if things.means(&t.nouns[k], table) {
				hit += 4
			} else {
				hit--
			}
		}
		switch {
		case hit <= 0 || hit < best:
		case hit > best:
			best, out = hit, []*Tool{t}
		default:
			out = append(out, t)
		}
	}
	if len(out) > maxTied {
		return nil
	}
	return out
}

// gets reports whether a tool's verb is one by which people get what they wish for.
func (t *Tool) gets(table *vocabulary.Table) bool {
	return slices.ContainsFunc(t.acts, func(id vocabulary.ActID) bool {
		for want := range wanting {
			if same[want][table.Act(id).Name] {
				return true
			}
		}
		return false
	})
}

// direct are the things that stand in a clause for themselves: behind no preposition, and before no other noun, of which they only say what
// kind it is: who needs a taxi receipt needs no taxi.
func (c *clause) direct(table *vocabulary.Table) objects {
	out := objects{map[string]bool{}, map[string]bool{}}
	for i := c.verb + 1; i < c.body; i++ {
		w := &c.words[i]
		if w.Kind != vocabulary.Plain || w.Gram.Has(vocabulary.Function) || c.placed(i) || c.describesNext(i) {
			continue
		}
		if len(w.Things) > 0 {
			out.stems[w.Stem] = true
		}
		for _, id := range w.Things {
			out.things[table.Thing(id).Name] = true
		}
	}
	return out
}

// placed reports whether a preposition stands before a word, with or without an article. Some languages have one between a wish and what is
// wished for.
func (c *clause) placed(i int) bool {
	for k := i - 1; k > c.verb && c.words[k].Gram.Has(vocabulary.Function); k-- {
		w := &c.words[k]
		if !articles.has(c.lang, w.Text) && !(k == c.verb+1 && partitive[w.Text]) {
			return true
		}
	}
	return false
}

// describesNext reports whether the next word is a noun that a word only says the kind of. A name, a number, or a word of grammar is none.
func (c *clause) describesNext(i int) bool {
	if i+1 >= c.body || c.from.comma(&c.words[i], &c.words[i+1]) {
		return false
	}
	next := &c.words[i+1]
	return next.Kind == vocabulary.Plain && next.Gram == 0 && !c.capital(next) && c.lang == "en"
}
