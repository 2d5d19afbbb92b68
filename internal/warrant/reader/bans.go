package reader

import (
	"slices"
	"strings"
	"unicode"

	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

// banNames are the words of a mandate for the classes that a ban may name.
var banNames = []struct {
	class vocabulary.Classes
	name  string
}{
	{vocabulary.Pay, "pay"},
	{vocabulary.Delete, "delete"},
	{vocabulary.Send, "send"},
	{vocabulary.Publish, "send"},
	{vocabulary.Grant, "grant"},
	{vocabulary.Execute, "run"},
	{vocabulary.Create, "create"},
	{vocabulary.Change, "change"},
	{vocabulary.Tidy, "change"},
}

// bans are what a clause forbids. What it names narrows a ban; without a name it holds for all but what the clauses of its message
// order by name, where it says itself that it is about others.
func (c *clause) bans(table *vocabulary.Table, all []*clause) []mandate.Ban {
	if !c.negated || c.carried {
		return nil
	}
	var out []mandate.Ban
	seen := map[string]bool{}
	for _, i := range c.forbidden() {
		for _, b := range banNames {
			if table.ClassesOf(c.words[i]).Any(b.class) && !seen[b.name] && !c.limits(b.class, table) {
				seen[b.name] = true
				out = append(out, mandate.Ban{Act: b.name, What: c.narrowed(), Spares: c.spares(b.class, table, all)})
			}
		}
	}
	return out
}

// asksFirst reports whether a clause wants its speaker to be asked before anything is done.
func (c *clause) asksFirst(table *vocabulary.Table) bool {
	asks, whom, first := false, false, false
	for i := range c.words {
		w := &c.words[i]
		ask := slices.ContainsFunc(w.Acts, func(id vocabulary.ActID) bool { return table.Act(id).Name == "ask" })
		asks = asks || ask
		joined := ask && w.Text != w.Stem && (strings.HasSuffix(w.Text, "me") || strings.HasSuffix(w.Text, "mi")) // pregúntame
		whom = whom || joined || answered.has(c.lang, w.Text)
		first = first || earlier.has(c.lang, w.Text)
	}
	return asks && whom && first && !c.negated
}

// spares are the literals of the orders for the same kind of act that a ban leaves be, where it says that it is about others: "mail it
// to ann@…, and to nobody else" does not forbid that mail.
func (c *clause) spares(class vocabulary.Classes, table *vocabulary.Table, all []*clause) []string {
	if !slices.ContainsFunc(c.words, func(w vocabulary.Word) bool { return elses.has(c.lang, w.Text) }) {
		return nil
	}
	var out []string
	for _, order := range all {
		if order.mood != ordered || order.negated || !order.plain || !table.ClassesOf(order.words[order.verb]).Any(class) {
			continue
		}
		for _, l := range order.literals() {
			if l.quote || l.word.Kind != vocabulary.Plain {
				out = append(out, l.text)
			}
		}
	}
	return out
}

// limits reports whether a clause says how what is ordered before it is done, and so forbids nothing else that can be undone: "send a
// notice without including details". Beside a look it forbids: "read it without changing anything".
func (c *clause) limits(class vocabulary.Classes, table *vocabulary.Table) bool {
	return class.Any(vocabulary.Create|vocabulary.Change|vocabulary.Tidy) && without.has(c.lang, c.words[0].Text) &&
		c.before != nil && !c.before.reads(table)
}

// reach is how many words a negation may stand before what it is for.
const reach = 3

// forbidden are the acts of a clause that its negations are for: the next one, the one before where a language negates
// behind it, and the verb of a clause that was taken back.
func (c *clause) forbidden() []int {
	var out []int
	found := false
	for n := range c.words[:c.body] {
		if !c.words[n].Gram.Has(vocabulary.Negation) {
			continue
		}
		if found = true; c.describes(n) {
			continue
		}
		for k := n + 1; k < c.body && k <= n+reach && !final[c.lang]; k++ {
			if w := &c.words[k]; len(w.Acts) > 0 && !w.Gram.Has(vocabulary.Done) && !c.attribute(k) {
				out = append(out, k)
				break
			}
		}
		switch {
		case final[c.lang]:
			out = append(out, c.endsAt(n)...)
		case after[c.lang] && c.verb >= 0 && c.verb < n:
			out = append(out, c.verb)
		}
	}
	if !found && c.verb >= 0 {
		out = append(out, c.verb)
	}
	return out
}

// describes reports whether a negation tells who or what is meant, and forbids nothing: "all who have not paid".
func (c *clause) describes(n int) bool {
	w := &c.words[n]
	switch {
	case tellsNot.has(c.lang, w.Text) || n > 0 && tellsNot.has(c.lang, c.words[n-1].Text):
		return true
	case c.lang == "tr": // ödeme is a payment, and "do not pay" only at the end
		return len(w.Acts) > 0 && n < c.verb
	case c.lang == "ja": // …ていない人に tells how somebody is; no other form of it is taken for that
		before := c.from.typed.orders[:w.End]
		return n < c.verb && (strings.HasSuffix(before, "ていない") || strings.HasSuffix(before, "でいない"))
	}
	for k := c.verb + 2; c.verb >= 0 && k < n; k++ { // right behind the verb it is an article: "lösch die Datei nicht"
		if relative.has(c.lang, c.words[k].Text) {
			return c.verbal(n + 1)
		}
	}
	return false
}

// verbal reports whether nothing but a verb stands between a word and the next comma: "bezahlt haben", "har betalat", "antworten". What
// goes on longer is another thought.
func (c *clause) verbal(at int) bool {
	for at < c.body && c.words[at].Gram.Has(vocabulary.Negation) { // noch nicht
		at++
	}
	end := at
	for end < c.body && (end == at || !c.from.comma(&c.words[end-1], &c.words[end])) {
		end++
	}
	tail := c.words[at:end]
	stated := slices.ContainsFunc(tail, func(w vocabulary.Word) bool { return states.has(c.lang, w.Text) })
	return len(tail) == 1 && len(tail[0].Acts) > 0 || len(tail) == 2 && stated
}

// endsAt is the act that a negation at the end of a clause is for: the word that has it, or one right before.
func (c *clause) endsAt(n int) []int {
	for k := n; k >= 0 && k > n-reach; k-- {
		if len(c.words[k].Acts) > 0 {
			return []int{k}
		}
	}
	return nil
}

// attribute reports whether an act describes something: 没有联系过的客户.
func (c *clause) attribute(k int) bool {
	for i := k + 1; i < len(c.words) && i <= k+2 && behind[c.lang]; i++ {
		if ofThings[c.words[i].Text] {
			return true
		}
	}
	return false
}

// narrowed is the one thing that a clause names.
func (c *clause) narrowed() string {
	for _, l := range c.literals() {
		if l.word.Kind != vocabulary.Plain || l.name && l.word.Text != "" && c.capital(&l.word) && l.word.Start > c.words[0].Start {
			return l.text
		}
	}
	return ""
}

// looking are the phrases that forbid every act as they are looked for: whole words, or parts of words in languages that join them.
var looking = func() []string {
	var out []string
	for code, set := range looks {
		for phrase := range set {
			if phrase = strings.ReplaceAll(phrase, "_", " "); !behind[code] && !final[code] {
				phrase = " " + phrase + " "
			}
			out = append(out, phrase)
		}
	}
	slices.Sort(out)
	return out
}()

// ForbidsAll reports whether a message forbids every act, in any language: it only wants a look, or says stop and no more.
func ForbidsAll(text string) bool {
	plain := vocabulary.Spelling(text)
	low := " " + strings.Join(strings.FieldsFunc(plain, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && r != '\'' && r != '-'
	}), " ") + " "
	if slices.ContainsFunc(looking, func(phrase string) bool { return strings.Contains(low, phrase) }) {
		return true
	}
	for _, set := range stops {
		if set[strings.ReplaceAll(strings.TrimSpace(low), " ", "_")] {
			return true
		}
	}
	return false
}
