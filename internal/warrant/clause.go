package warrant

import (
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

// clause is one thing the user says.
type clause struct {
	text     string
	turn     int
	words    int
	question bool // it asks for an answer
	stems    map[string]bool
	things   map[vocabulary.ThingID]bool
	doing    map[string]bool           // stems of words that may be verbs
	acts     map[vocabulary.ActID]bool // that it asks for
	refused  map[vocabulary.ActID]bool // that it forbids
	classes  vocabulary.Classes
	forbids  vocabulary.Classes
}

var (
	following = list("following")
	forgets   = list("forgets")
	lights    = list("lights")
	states    = list("states")
	articles  = list("articles")
	answers   = list("answers")
)

// forward reports whether a word negates what comes after it, and nothing before.
func forward(w *vocabulary.Word) bool {
	return w.Gram.Has(vocabulary.Negation) && following[strings.ReplaceAll(w.Text, " ", "_")]
}

// add reads a clause, word by word; a negation may be carried over from the one before. It
// reports whether one is still open at its end.
func (h *heard) add(text string, words []vocabulary.Word, question, negated bool) bool {
	c := clause{
		text: strings.TrimSpace(text[words[0].Start:words[len(words)-1].End]), turn: h.turn, words: len(words), question: question,
		stems: map[string]bool{}, things: map[vocabulary.ThingID]bool{}, doing: map[string]bool{},
		acts: map[vocabulary.ActID]bool{}, refused: map[vocabulary.ActID]bool{},
	}
	whole := slices.ContainsFunc(words, func(w vocabulary.Word) bool { // lösche sie nicht, ne supprime pas
		return w.Gram.Has(vocabulary.Negation) && !forward(&w)
	})
	prev, light := "", false // the word before; what governs the words to come
	conditional := false     // it tells when, and what is not so then forbids nothing
	for i := range words {
		w := &words[i]
		c.mentions(w)
		conditional = conditional || w.Gram.Has(vocabulary.Condition)
		if forward(w) {
			negated, prev = !states[prev] && !conditional, w.Text
			continue
		}
		next := ""
		if i+1 < len(words) {
			next = words[i+1].Text
		}
		object := i > 0 && len(words[i-1].Acts) > 0 && len(w.Things) > 0 // look at invoice 7
		noun := (articles[prev] || object) && !light
		answer := courteous(w, next)
		prev = w.Text
		if !noun && !answer && !w.Gram.Has(vocabulary.Done) {
			if forgets[w.Stem] {
				negated = false
				continue
			}
			c.wants(h.vocabulary, w, negated || whole)
		}
		light = lights[w.Text] || lights[w.Stem] || light && articles[w.Text]
	}
	h.clauses = append(h.clauses, c)
	return negated
}

var courtesies = list("courtesies")

// courteous reports whether a word asks the agent for an answer or thanks it, and for nothing to
// be done: "send me the figures", "thank you", where "thank Ilse" wants something.
func courteous(w *vocabulary.Word, next string) bool {
	return answers[w.Stem] && (next == "me" || next == "us") || courtesies[w.Text] || w.Text == "thank" && next == "you"
}

// mentions notes what a word names.
func (c *clause) mentions(w *vocabulary.Word) {
	c.stems[w.Stem] = true
	pieces(w, func(s string) { c.stems[s] = true })
	for _, id := range w.Things {
		c.things[id] = true
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
		c.doing[w.Stem] = true
	}
	for _, id := range w.Acts {
		if negated {
			c.refused[id] = true
			c.forbids |= t.Act(id).Classes
			continue
		}
		c.acts[id] = true
		c.classes |= t.Act(id).Classes
	}
}

// has reports whether a clause has a word, or one of the same family.
func (c *clause) has(s string) bool { return c.stems[s] || kin(c.stems, s) }
