package reader

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

// clause reads one clause: its verb, and whether it orders.
func (s *sentence) clause(list []vocabulary.Word) *clause {
	cl := &clause{from: s.reading, lang: s.lang, words: list, verb: -1, body: len(list)}
	switch {
	case final[s.lang]:
		s.atEnd(cl)
	case behind[s.lang]:
		s.anywhere(cl)
	default:
		s.atBegin(cl)
	}
	if cl.verb < 0 {
		if at := s.need(list); at >= 0 {
			cl.verb, cl.wished, cl.body = at, true, len(list)
			cl.negated = s.denied(cl)
			return cl
		}
		cl.verb = s.someVerb(list)
		cl.body = s.content(cl)
		cl.negated = s.denied(cl)
		return cl
	}
	cl.body = s.content(cl)
	cl.negated = s.denied(cl)
	if s.states(cl) || s.answers(cl) {
		cl.mood = told
	}
	for i := range list[:cl.body] {
		cl.each = cl.each || eachs.has(s.lang, list[i].Text)
	}
	return cl
}

// someVerb is the first act of a clause that orders nothing: a ban may name it.
func (s *sentence) someVerb(list []vocabulary.Word) int {
	for i := range list {
		if s.acts(&list[i]) {
			return i
		}
	}
	return -1
}

// atBegin looks for a verb where most languages have it in an order: first, behind words that ask politely or wish,
// or last behind them where the language puts it there.
func (s *sentence) atBegin(cl *clause) {
	list := cl.words
	i, polite := 0, false
	for ; i < len(list); i++ {
		w := &list[i]
		switch {
		case s.asks(w):
			polite = true
			continue
		case s.acts(w) && !w.Gram.Has(vocabulary.Function):
		case s.lead(w), w.Gram.Has(vocabulary.Negation):
			continue
		case polite && s.filler(w), s.wishFollows(list, i):
			continue
		}
		break
	}
	if i < len(list) && s.acts(&list[i]) && s.imperative(&list[i]) {
		cl.verb, cl.mood = i, ordered
		return
	}
	if i < len(list) && closing[s.lang] {
		s.closes(cl, i, polite)
	}
}

// wishFollows reports whether the owner is about to wish for something: "I" in "I would like".
func (s *sentence) wishFollows(list []vocabulary.Word, i int) bool {
	for k := i; k < len(list) && k < i+3; k++ {
		if wishes.has(s.lang, list[k].Text) || k > i && s.wants(&list[k]) {
			return true
		}
		if g := list[k].Gram; !g.Has(vocabulary.Speaker) && !g.Has(vocabulary.Wish) {
			return false
		}
	}
	return false
}

// wants reports whether a word is a wish together with the word that its object begins with: "need a".
func (s *sentence) wants(w *vocabulary.Word) bool {
	return slices.ContainsFunc(w.Acts, func(id vocabulary.ActID) bool { return wanting[s.table.Act(id).Name] })
}

// filler are words between a wish and its verb: "you to", "dass du".
func (s *sentence) filler(w *vocabulary.Word) bool {
	return wished.has(s.lang, w.Text) || w.Gram.Has(vocabulary.Hearer) || w.Gram.Has(vocabulary.Speaker)
}

// closes looks for an infinitive at the end: "Bitte die Rechnung bezahlen".
func (s *sentence) closes(cl *clause, from int, polite bool) {
	list := cl.words
	for k := from; k < len(list); k++ {
		if g := list[k].Gram; k == from && !polite && (g.Has(vocabulary.Speaker) || g.Has(vocabulary.Hearer) || g.Has(vocabulary.Pronoun)) {
			return // it tells what somebody does
		}
	}
	last := len(list) - 1
	for last > from && s.asks(&list[last]) {
		last--
	}
	w := &list[last]
	if !s.acts(w) || w.Gram.Has(vocabulary.Done) || !polite && !strings.HasSuffix(w.Text, "n") {
		return
	}
	cl.verb, cl.mood = last, ordered
}

// imperative reports whether a verb is in a form that orders.
func (s *sentence) imperative(w *vocabulary.Word) bool {
	if w.Gram.Has(vocabulary.Done) {
		return false
	}
	if s.lang == "en" {
		return strings.HasPrefix(w.Stem, w.Text) || w.Text == w.Stem
	}
	for end := range clitics[s.lang] {
		if strings.HasSuffix(w.Text, end) && utf8.RuneCountInString(w.Text) > utf8.RuneCountInString(end)+3 {
			return true // "mándaselo": who it goes to hangs on orders and infinitives alone
		}
	}
	for end := range speaks[s.lang] {
		if strings.HasSuffix(w.Text, end) && utf8.RuneCountInString(w.Text) > 3 {
			return false
		}
	}
	return true
}

// atEnd looks for a verb that ends its clause, in a form that orders.
func (s *sentence) atEnd(cl *clause) {
	list := cl.words
	k, polite := len(list)-1, false
	for ; k >= 0; k-- {
		w := &list[k]
		if s.acts(w) {
			break
		}
		if !s.asks(w) && !w.Gram.Has(vocabulary.Function) && !w.Gram.Has(vocabulary.Question) {
			return
		}
		polite = polite || s.asks(w)
		if w.Gram.Has(vocabulary.Question) && s.lang != "tr" {
			return
		}
	}
	if k < 0 || list[k].Gram.Has(vocabulary.Done) {
		return
	}
	if polite || s.ending(&list[k]) {
		cl.verb, cl.mood = k, ordered
	}
}

// ending reports whether a verb ends as orders do.
func (s *sentence) ending(w *vocabulary.Word) bool {
	if s.lang == "tr" { // the bare verb orders
		return w.Text == w.Stem || strings.HasSuffix(w.Text, "ebilir") || strings.HasSuffix(w.Text, "abilir")
	}
	for end := range ends[s.lang] {
		if strings.HasSuffix(w.Text, end) {
			return true
		}
	}
	return false
}

// anywhere looks for a verb behind what is acted on, in a clause that opens as orders do: with the verb, a polite word, a
// wish, a word that puts the object first, or a time.
func (s *sentence) anywhere(cl *clause) {
	list := cl.words
	first := 0
	for first < len(list) && s.lead(&list[first]) {
		first++
	}
	if first == len(list) {
		return
	}
	w := &list[first]
	opens := s.acts(w) || s.asks(w) || w.Gram.Has(vocabulary.Function) && !w.Gram.Has(vocabulary.Speaker) ||
		w.Kind == vocabulary.Number || s.hour(list[first:])
	if !opens {
		return
	}
	for i := first; i < len(list); i++ {
		if !s.acts(&list[i]) {
			continue
		}
		if cl.verb < 0 || len(list[i].Things) == 0 {
			cl.verb, cl.mood = i, ordered
		}
		if len(list[i].Things) == 0 || i == first {
			return
		}
	}
}

// hour reports whether a clause begins with a time of the day.
func (s *sentence) hour(list []vocabulary.Word) bool {
	return len(list) > 1 && utf8.RuneCountInString(list[0].Text) == 1 && strings.ContainsAny(list[1].Text, "点點时時")
}

// content is where the content of a message, or a reason, begins: behind the verb in most languages.
func (s *sentence) content(cl *clause) int {
	if final[s.lang] || cl.verb == len(cl.words)-1 {
		return len(cl.words)
	}
	for i := max(cl.verb+1, 1); i < len(cl.words); i++ {
		w := &cl.words[i]
		if contents.has(s.lang, w.Text) || w.Gram.Has(vocabulary.Report) && !s.acts(w) {
			return i
		}
		if strings.Contains(s.typed.orders[cl.words[i-1].End:w.Start], ",") && s.told(cl.words[i:]) {
			return i
		}
		subject := w.Gram.Has(vocabulary.Speaker) && !w.Gram.Has(vocabulary.Pronoun) && i > cl.verb+1 && s.finite(cl.words[i:])
		if subject {
			return i
		}
		if states.has(s.lang, w.Text) && s.passesOn(cl) {
			return s.subject(cl, i)
		}
	}
	return len(cl.words)
}

// passesOn reports whether the verb of a clause passes something on, in a language that needs no word between it and the text: "tell
// Bob the build is green".
func (s *sentence) passesOn(cl *clause) bool {
	return cl.verb >= 0 && s.lang == "en" && slices.ContainsFunc(cl.words[cl.verb].Acts, func(id vocabulary.ActID) bool {
		return passing[s.table.Act(id).Name]
	})
}

// subject is where the subject of a verb begins that stands behind the one that is told something: with the first word that opens one
// behind a name or a noun.
func (s *sentence) subject(cl *clause, verb int) int {
	_, particle, _ := strings.Cut(cl.words[cl.verb].Stem, " ")
	for i := cl.verb + 2; i < verb; i++ {
		w, before := &cl.words[i], &cl.words[i-1]
		opens := w.Gram.Has(vocabulary.Function) && !toWords.has(s.lang, w.Text) && !ofWords.has(s.lang, w.Text)
		if particle != "" && before.Text == particle || (opens || w.Gram.Has(vocabulary.Speaker)) && !before.Gram.Has(vocabulary.Function) {
			return i
		}
	}
	return verb
}

// told reports whether a list of words soon says how something is: "it is fixed".
func (s *sentence) told(list []vocabulary.Word) bool {
	for i := 0; i < len(list) && i < 3; i++ {
		if states.has(s.lang, list[i].Text) {
			return true
		}
	}
	return false
}

// finite reports whether a list of words begins with a subject and its verb: "I am", "we have".
func (s *sentence) finite(list []vocabulary.Word) bool {
	return len(list) > 1 && (states.has(s.lang, list[1].Text) || list[1].Gram.Has(vocabulary.Negation))
}

// denied reports whether a clause negates what it orders.
func (s *sentence) denied(cl *clause) bool {
	for i := range cl.words[:cl.body] {
		if cl.words[i].Gram.Has(vocabulary.Negation) && !s.forgotten(cl.words[i:]) && !cl.describes(i) {
			return true
		}
	}
	return s.lang == "tr" && cl.verb >= 0 && negatedVerb(cl.words[cl.verb].Text, cl.words[cl.verb].Stem)
}

// forgotten reports whether a negation orders all the more: "don't forget to".
func (s *sentence) forgotten(list []vocabulary.Word) bool {
	for i := 0; i < len(list) && i < 3; i++ {
		if forgets.has(s.lang, list[i].Text) {
			return true
		}
	}
	return false
}

// negatedVerb reports whether a Turkish verb is negated at its end.
func negatedVerb(text, stem string) bool {
	rest := strings.TrimPrefix(text, stem)
	return rest != text && (strings.HasPrefix(rest, "me") || strings.HasPrefix(rest, "ma")) && !strings.HasPrefix(rest, "mek") &&
		!strings.HasPrefix(rest, "mak")
}

// states reports whether a clause tells how things are: it has a verb of being, or something done, in front of its content.
func (s *sentence) states(cl *clause) bool {
	for i := range cl.words[:cl.body] {
		w := &cl.words[i]
		if i == cl.verb || s.asks(w) {
			continue
		}
		describes := i+1 < cl.body && cl.mayBeThing(&cl.words[i+1]) // "the saved payee"
		done := w.Gram.Has(vocabulary.Done) && len(w.Acts) > 0 && len(w.Things) == 0 && !describes
		if done || states.has(s.lang, w.Text) && (i > cl.verb || behind[s.lang]) {
			return true
		}
	}
	return false
}

// mayBeThing reports whether a word may be a thing: it is one, or one that nobody knows and no name.
func (c *clause) mayBeThing(w *vocabulary.Word) bool {
	return len(w.Things) > 0 || w.Kind == vocabulary.Plain && w.Gram == 0 && len(w.Acts) == 0 && !c.capital(w)
}

// answers reports whether a clause only asks for an answer: "tell me", "send us".
func (s *sentence) answers(cl *clause) bool {
	if cl.verb+1 >= len(cl.words) {
		return false
	}
	if !answered.has(s.lang, cl.words[cl.verb+1].Text) {
		return false
	}
	return s.table.ClassesOf(cl.words[cl.verb]).Any(vocabulary.Send) && !s.table.ClassesOf(cl.words[cl.verb]).Any(vocabulary.Create)
}

// opens reports whether what stands before an order in its sentence is known to put it under no condition: other orders, or a phrase that
// begins with a place, a reason or nothing: "given her approval, …" is none of them.
func (c *clause) opens() bool {
	if c.leading {
		return true
	}
	r := c.from
	i := slices.IndexFunc(r.words, func(w vocabulary.Word) bool { return w.Sentence == c.words[0].Sentence })
	w := &r.words[i]
	name := w.Kind != vocabulary.Plain || w.Gram == 0 && len(w.Acts) == 0 && !(c.lang == "en" && strings.HasSuffix(w.Text, "ing"))
	begins := toWords.has(c.lang, w.Text) || ofWords.has(c.lang, w.Text) || contents.has(c.lang, w.Text)
	return name || begins || leads.has(c.lang, w.Text) || w.Gram&(vocabulary.Polite|vocabulary.Assent) != 0
}

// trails reports whether an order goes on with something that may put it under a condition: what somebody does behind a word that is none
// for a reason, or a word that nobody knows behind a comma with more behind it: "only after I have called", "provided she agrees".
func (c *clause) trails() bool {
	for i := c.verb + 1; i >= 1 && i+1 < len(c.words); i++ {
		w, next := &c.words[i], &c.words[i+1]
		subject := subjects.has(c.lang, next.Text) && i+2 < len(c.words)
		if w.Gram.Has(vocabulary.Function) && subject && !contents.has(c.lang, w.Text) {
			return true
		}
		strange := w.Kind == vocabulary.Plain && w.Gram&^vocabulary.Done == 0 && len(w.Things) == 0 && !c.capital(w)
		somebody := subjects.has(c.lang, next.Text) || contents.has(c.lang, next.Text) || next.Kind == vocabulary.Plain && c.capital(next)
		if strange && somebody && c.from.comma(&c.words[i-1], w) && !c.from.comma(w, next) && i+2 < len(c.words) {
			return true
		}
	}
	return false
}
