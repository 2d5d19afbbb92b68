package warrant

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/warrant/reader"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

// acting are the classes of words that ask for more than an answer.
const acting = vocabulary.Tidy | vocabulary.Create | vocabulary.Change | vocabulary.Delete | vocabulary.Send |
	vocabulary.Publish | vocabulary.Pay | vocabulary.Grant | vocabulary.Execute

// heard is what the user said, by clause.
type heard struct {
	vocabulary *vocabulary.Table
	clauses    []clause
	turn       int
	stems      map[string]bool
	looks      int // the turn in which they forbade every act; 0: never
	delegates  int // the turn in which they delegated; 0: never
	prices     int // the turn in which they named a sum of money; 0: never
}

var (
	withSign   = regexp.MustCompile(`\p{Sc}\s?\d|\d\s?\p{Sc}|\b\d+[.,]\d\d\b`)
	withUnit   = regexp.MustCompile(`\d\s?(\pL+)`)
	currencies = list("currencies")
)

// money reports whether a message, in small letters, names a sum with its currency, or with cents.
func money(low string) bool {
	if !strings.ContainsAny(low, "0123456789") {
		return false
	}
	unit := func(m []string) bool {
		_, n := utf8.DecodeRuneInString(m[1])
		return currencies[m[1]] || currencies[m[1][:n]] // the second where no blank follows
	}
	return withSign.MatchString(low) || slices.ContainsFunc(withUnit.FindAllStringSubmatch(low, -1), unit)
}

var reckons = list("reckons")

// reckoned reports whether a message leaves a sum to be worked out.
func reckoned(low string) bool { return anyOf(tokens(low), reckons) }

// priced reports whether the user has just named a sum of money.
func (h *heard) priced() bool { return h.turn > 0 && h.prices == h.turn }

// hear adds a message: a turn of its own.
func (h *heard) hear(u *reader.Utterance) {
	h.turn++
	text := u.Asks
	words := h.vocabulary.Words(text)
	for i := 0; i < len(words); {
		k := i
		for k < len(words) && words[k].Sentence == words[i].Sentence {
			k++
		}
		h.sentence(text, words[i:k])
		if !slices.ContainsFunc(words[i:k], func(w vocabulary.Word) bool { return !w.Gram.Has(vocabulary.Dissent) }) {
			h.takeBack()
		}
		i = k
	}
	for i := range words {
		w := &words[i]
		if w.Gram.Has(vocabulary.Delegation) {
			h.delegates = h.turn
		}
	}
	if u.Words != u.Asks {
		for _, w := range tokens(u.Words) {
			h.stems[stem(w)] = true
		}
	}
	low := strings.ToLower(text)
	if reader.ForbidsAll(text) {
		h.looks = h.turn
	}
	if money(low) && !strings.Contains(low, "%") && !reckoned(low) {
		h.prices = h.turn
	}
}

// takeBack makes what this message said so far ask for nothing: "mail it? No."
func (h *heard) takeBack() {
	for i := range h.clauses {
		if h.clauses[i].turn == h.turn {
			h.clauses[i].question = true
		}
	}
}

// sentence takes a sentence apart where a new request may begin.
func (h *heard) sentence(text string, words []vocabulary.Word) {
	question, from, carried, told := h.asks(text, words), 0, false, false // do not delete or send anything
	before := len(h.clauses)
	for i := 1; i < len(words); i++ {
		gap := text[words[i-1].End:words[i].Start]
		parted := gap != " " && strings.ContainsAny(gap, ",;，；、")
		if parted || words[i].Gram.Has(vocabulary.Joining) {
			told = told || h.tells(text, words[from:i])
			open := h.add(text, words[from:i], question, told, carried)
			carried, from = open && ors[words[i].Text], i
			told = told && !parted // "Paul wants it and …" tells on
		}
	}
	agreed := from > 0 && !slices.ContainsFunc(words[from:], func(w vocabulary.Word) bool { return !w.Gram.Has(vocabulary.Assent) })
	for i := len(h.clauses) - 1; agreed && i >= before; i-- {
		h.clauses[i].told = false // "they send a code, that's fine"
	}
	h.add(text, words[from:], question, told || h.tells(text, words[from:]), carried)
}

var (
	askers = list("askers")
	ors    = list("ors")
)

// asks reports whether a sentence asks for an answer and not for an act.
func (h *heard) asks(text string, words []vocabulary.Word) bool {
	for _, w := range words {
		if w.Gram.Has(vocabulary.Polite) || w.Gram.Has(vocabulary.Wish) {
			return false
		}
	}
	end := strings.TrimLeft(text[words[len(words)-1].End:], " \t)\"'”»")
	marked := strings.HasPrefix(end, "?") || strings.HasPrefix(end, "？")
	for i, w := range words {
		if w.Gram.Has(vocabulary.Condition) && !marked {
			continue // when that is done, …
		}
		if w.Gram.Has(vocabulary.Question) && (i == 0 || i == 1 && len(words[0].Acts) == 0 || marked) {
			return true
		}
	}
	first := words[0]
	return marked && (!h.vocabulary.ClassesOf(first).Any(acting) || askers[first.Text])
}

// scope are the clauses that count now, latest first: those of this turn, and of the turns
// before while this one only says yes or goes on.
func (h *heard) scope() []*clause {
	var out []*clause
	turn := h.turn
	for i := len(h.clauses) - 1; i >= 0; i-- {
		cl := &h.clauses[i]
		if cl.turn < turn {
			if h.speaks(turn) {
				break
			}
			turn = cl.turn
		}
		out = append(out, cl)
	}
	return out
}

// speaks reports whether a turn has a request of its own: "yes, please do that" has none, and
// "the second one, my address is …" answers what the agent asked about the one before.
func (h *heard) speaks(turn int) bool {
	words, asks := 0, false
	for i := range h.clauses {
		if cl := &h.clauses[i]; cl.turn == turn {
			if cl.question {
				return true // what is asked for now is an answer
			}
			words += cl.words
			asks = asks || cl.classes != 0 || cl.forbids != 0
		}
	}
	return words > 6 && asks
}

// onlyAsks reports whether the user wants nothing but an answer.
func (h *heard) onlyAsks() bool {
	scope := h.scope()
	for _, cl := range scope {
		if cl.classes.Any(acting) || !cl.question {
			return false
		}
	}
	return len(scope) > 0
}

// lookOnly reports whether the user has just forbidden every act.
func (h *heard) lookOnly() bool { return h.turn > 0 && h.looks == h.turn }

// delegated reports whether the user has just told the agent to do what it reads.
func (h *heard) delegated() bool { return h.turn > 0 && h.delegates == h.turn }

var goingOn = list("goingon")

// maxGoingOn is how many words a message may have that only thanks.
const maxGoingOn = 8

// GoesOn reports whether a message of the user's only thanks, or says to go on: then the task is the one of before. Any
// other word, sign or number ends it.
func GoesOn(text string) bool {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(" \t\n,.!:;)", r) })
	for _, w := range words {
		if !goingOn[w] {
			return false
		}
	}
	return len(words) > 0 && len(words) <= maxGoingOn
}
