package warrant

import (
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/reader"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

// clause is one thing the user says.
type clause struct {
	text     string
	turn     int
	words    int
	question bool // it asks for an answer
	told     bool // it tells something, and asks for nothing
	denies   bool // it says that something is not to be, or is not so
	stems    few[string]
	things   few[vocabulary.ThingID]
	doing    few[string]           // stems of words that may be verbs
	acts     few[vocabulary.ActID] // that it asks for
	refused  few[vocabulary.ActID] // that it forbids
	classes  vocabulary.Classes
	forbids  vocabulary.Classes
}

var (
	following = list("following")
	states    = list("states")
	articles  = list("articles")
	others    = list("others")
	subjects  = list("subjects")
)

// mark is what a word does to the words around it. A word is looked up once for all of them.
type mark uint8

const (
	forgets mark = 1 << iota
	lightly
	article
	answers
	courtesy
)

var marks = func() map[string]mark {
	out := map[string]mark{}
	for name, m := range map[string]mark{
		"forgets": forgets, "lights": lightly, "articles": article, "answers": answers, "courtesies": courtesy,
	} {
		for w := range list(name) {
			out[w] |= m
		}
	}
	return out
}()

// forward reports whether a word negates what comes after it, and nothing before.
func forward(w *vocabulary.Word) bool {
	return w.Gram.Has(vocabulary.Negation) && following[strings.ReplaceAll(w.Text, " ", "_")]
}

// add reads a clause, word by word; a negation may be carried over from the one before. It
// reports whether one is still open at its end.
func (h *heard) add(text string, words []vocabulary.Word, question, told, negated bool) bool {
	c := clause{
		text: strings.TrimSpace(text[words[0].Start:words[len(words)-1].End]), turn: h.turn, words: len(words),
		question: question, told: told,
	}
	c.stems.list, c.doing.list = make([]string, 0, len(words)+2), make([]string, 0, len(words))
	whole := slices.ContainsFunc(words, func(w vocabulary.Word) bool { // lösche sie nicht, ne supprime pas
		return w.Gram.Has(vocabulary.Negation) && !forward(&w)
	})
	c.denies = whole || negated
	prev, behind, light := "", false, false // the word before, whether it is an article; what governs the words to come
	conditional := false                    // it tells when, and what is not so then forbids nothing
	for i := range words {
		w := &words[i]
		c.mentions(h, w)
		conditional = conditional || w.Gram.Has(vocabulary.Condition)
		if forward(w) {
			negated, prev, behind = !states[prev] && !conditional, w.Text, articles[w.Text]
			c.denies = true
			continue
		}
		text, stem := marksOf(w)
		next := ""
		if i+1 < len(words) {
			next = words[i+1].Text
		}
		object := i > 0 && len(words[i-1].Acts) > 0 && len(w.Things) > 0 // look at invoice 7
		noun := (behind || object) && !light
		answer := courteous(w, text, stem, next)
		prev, behind = w.Text, text&article != 0 || behind && describes(w)
		if !noun && !answer && !tells(w) {
			if stem&forgets != 0 {
				negated, c.denies = false, whole
				continue
			}
			c.wants(h.vocabulary, w, negated || whole)
		}
		light = (text|stem)&lightly != 0 || light && behind
	}
	h.clauses = append(h.clauses, c)
	return negated
}

// tells reports whether a clause tells something and orders nothing: what somebody else said, wants or does ("Tor says I should pay it",
// "a note: pay it", "they always pay it"), or what the owner did or may do. An order begins with its verb, or with words that ask or wish
// for it: a subject before it tells. Where a verb may stand last, what is acted on stands before it, and only a word that reports tells.
func (h *heard) tells(text string, words []vocabulary.Word) bool {
	for len(words) > 1 && words[0].Gram&(vocabulary.Joining|vocabulary.Assent|vocabulary.Exception) != 0 {
		words = words[1:]
	}
	late, subject := reader.VerbLate(words), articles[words[0].Text] || words[0].Gram.Has(vocabulary.Pronoun)
	for i := range words {
		w := &words[i]
		switch g := w.Gram; {
		case g&(vocabulary.Polite|vocabulary.Hearer) != 0:
			return false
		case g.Has(vocabulary.Report):
			return (i > 0 || len(w.Acts) == 0) && !reader.VerbLast(words)
		case late:
		case len(w.Acts) > 0 && !(i > 0 && articles[words[i-1].Text]):
			return subject || over(w) || colon(text, words, i)
		case subjectAt(words, i) || i > 0 && h.inflected(w) || colon(text, words, i):
			return true
		}
	}
	return subject && !late && slices.ContainsFunc(words, toDo)
}

// toDo reports whether a word may stand before a verb that nobody orders with: "the rules require us to …".
func toDo(w vocabulary.Word) bool { return w.Text == "to" }

// colon reports whether a word stands behind a colon: what is before it says whose words they are.
func colon(text string, words []vocabulary.Word, i int) bool {
	return i > 0 && strings.HasPrefix(text[words[i-1].End:words[i].Start], ": ")
}

// subjectAt reports whether a word is the subject of what a clause tells: somebody else who begins it, or the owner who wishes for nothing.
// "If I am free book a table" says when.
func subjectAt(words []vocabulary.Word, i int) bool {
	w := words[i].Text
	return i == 0 && others[w] || subjects[w] && !wishes(words[i:]) && !words[0].Gram.Has(vocabulary.Condition)
}

// over reports whether a verb is in a form that says that something is over, as far as its end tells.
func over(w *vocabulary.Word) bool { return w.Text != w.Stem && strings.HasSuffix(w.Text, "ed") }

// orders reports whether a clause may ask for an act.
func (c *clause) orders() bool { return !c.question && !c.told }

// wishes reports whether the owner, with whom words begin, wishes for something.
func wishes(words []vocabulary.Word) bool {
	return slices.ContainsFunc(words[:min(len(words), 4)], func(w vocabulary.Word) bool { return w.Gram.Has(vocabulary.Wish) })
}

// inflected reports whether a word is a verb that nobody orders with: one that is over, or what somebody wants or says.
func (h *heard) inflected(w *vocabulary.Word) bool {
	if w.Gram != 0 || len(w.Things) > 0 || w.Kind != vocabulary.Plain || w.Text == w.Stem {
		return false
	}
	if over(w) {
		return true
	}
	base := h.vocabulary.Words(w.Stem)
	return len(base) == 1 && base[0].Gram&(vocabulary.Wish|vocabulary.Report) != 0
}

// describes reports whether a word may stand between an article and its noun: "the newest email" asks for no email.
func describes(w *vocabulary.Word) bool {
	return w.Kind == vocabulary.Plain && len(w.Acts) == 0 && len(w.Things) == 0 && w.Gram&^vocabulary.Selection == 0
}

// tells reports whether a word says what was done, or what somebody else says, and is no order.
func tells(w *vocabulary.Word) bool {
	return w.Gram.Has(vocabulary.Done) || w.Gram.Has(vocabulary.Report) && w.Text != w.Stem
}

// courteous reports whether a word asks the agent for an answer or thanks it, and for nothing to
// be done: "send me the figures", "thank you", where "thank Ilse" wants something.
func courteous(w *vocabulary.Word, text, stem mark, next string) bool {
	return stem&answers != 0 && (next == "me" || next == "us") || text&courtesy != 0 || w.Text == "thank" && next == "you"
}

// marksOf are the marks of a word as it stands, and of its stem.
func marksOf(w *vocabulary.Word) (text, stem mark) {
	text = marks[w.Text]
	if stem = text; w.Stem != w.Text {
		stem = marks[w.Stem]
	}
	return text, stem
}

// mentions notes what a word names, for its clause and for all that was said.
func (c *clause) mentions(h *heard, w *vocabulary.Word) {
	name := func(s string) {
		if c.stems.add(s) {
			h.stems[s] = true
		}
	}
	name(w.Stem)
	pieces(w, name)
	for _, id := range w.Things {
		c.things.add(id)
	}
}

// pieces are the stems of what a word is made of, as values are compared. Most words are
// small letters and nothing else, and need no taking apart.
func pieces(w *vocabulary.Word, each func(string)) {
	if strings.IndexFunc(w.Text, func(r rune) bool { return r < 'a' || r > 'z' }) < 0 {
		each(stem(w.Text))
		return
	}
	for _, part := range tokens(w.Text) {
		each(stem(part))
	}
}

// wants notes the acts that a word asks for, or forbids.
func (c *clause) wants(t *vocabulary.Table, w *vocabulary.Word, negated bool) {
	if !negated {
		c.doing.add(w.Stem)
	}
	for _, id := range w.Acts {
		if negated {
			c.refused.add(id)
			c.forbids |= t.Act(id).Classes
			continue
		}
		c.acts.add(id)
		c.classes |= t.Act(id).Classes
	}
}

// has reports whether a clause has a word, or one of the same family.
func (c *clause) has(s string) bool { return c.stems.has(s) || kin(&c.stems, s) }

// few is a set that is small as a rule: a clause has a handful of words, and a map for each of
// them costs more than hearing it. The zero few is empty.
type few[T comparable] struct {
	list  []T
	known map[T]bool // of what is in the list, where that is long
}

// fewest is up to which size a list is searched.
const fewest = 24

func (f *few[T]) has(v T) bool {
	if f.known != nil {
		return f.known[v]
	}
	return slices.Contains(f.list, v)
}

// add puts something in, and reports whether it was not there.
func (f *few[T]) add(v T) bool {
	if f.has(v) {
		return false
	}
	if f.list = append(f.list, v); f.known != nil {
		f.known[v] = true
	} else if len(f.list) > fewest {
		f.known = make(map[T]bool, 2*len(f.list))
		for _, v := range f.list {
			f.known[v] = true
		}
	}
	return true
}
