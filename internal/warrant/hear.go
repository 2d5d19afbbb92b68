package warrant

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/warrant/mandate"
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
		figure := gap == "," && words[i-1].Kind == vocabulary.Number && words[i].Kind == vocabulary.Number // 1,999
		parted := gap != " " && strings.ContainsAny(gap, ",;，；、") && !figure
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

// whyBefore is what is said of a value that only earlier messages speak for.
const whyBefore = "an earlier message of yours has it, and I could not tell that this one means it"

// saidBefore takes from whom and what an act of weight is done with what speaks for it where only earlier messages do: each message orders
// its own. One that orders the act refers to what was named before by a pronoun, or as the same; then it names no other.
func (j *judging) saidBefore(o *offer, got *mandate.Covered, call *mandate.Call, w world) {
	if o.now == nil || !j.w.Deed.graverThan(Change) || j.goesOnWith(call) {
		return
	}
	now := o.now.Cover(call, w, j.c.records.All())
	missing := func(list []mandate.Missing, v *mandate.Missing) bool {
		return slices.ContainsFunc(list, func(m mandate.Missing) bool { return m.Path == v.Path && m.Value == v.Value })
	}
	aimed := slices.ContainsFunc(call.Values, func(v mandate.Value) bool { // this message says itself whom it reaches
		return v.Role == mandate.Aim && !missing(now.Missing, &mandate.Missing{Path: v.Path, Value: v.Text})
	})
	for i := range now.Missing {
		miss := &now.Missing[i]
		switch miss.Role {
		case mandate.Text, mandate.Measure:
			continue
		}
		if missing(got.Missing, miss) || j.picked(miss) || j.c.saidOtherwise(miss) || j.ours(miss) {
			continue
		}
		if !j.recalled(miss, call, w, aimed) {
			j.unbind(&mandate.Missing{Path: miss.Path, Value: miss.Value, Role: miss.Role, Why: whyBefore})
		}
	}
	for i := range j.w.Slots {
		s := &j.w.Slots[i]
		sum := s.Kind == Measure && s.Has == Said && j.amounts(s.Path) && mandate.Figure(s.Value)
		if sum && !j.c.saidNow(s.Value) && !j.counted(s.Value) && !j.recalledAsSame(call) {
			s.Has, s.Why = Nothing, whyBefore
		}
	}
}

// counting is how many messages give what an act is done with: those that count now, or of them the latest that orders the act and says of
// what.
func (c *Context) counting(t *reader.Tool) int {
	for n := 1; n < len(c.asking); n++ {
		text := c.asking[len(c.asking)-n]
		r := reader.Recalls(text, t, c.vocabulary)
		names := slices.ContainsFunc(r.Names, func(n string) bool { return !strings.Contains(n, " ") }) // a longer quotation is a text
		if (len(r.Words) > 0 || names) && reader.Ordered(text, t, c.vocabulary) {
			return n
		}
	}
	return max(1, len(c.asking))
}

// ours reports whether a value that the messages which count now do not hold is the owner's by itself, or an id of our own acts.
func (j *judging) ours(miss *mandate.Missing) bool {
	return slices.ContainsFunc(j.w.Slots, func(s Slot) bool {
		return s.Path == miss.Path && s.Value == miss.Value && s.Has != Said && s.Has != Picked && j.granted(miss)
	})
}

// goesOnWith reports whether the messages that count now order no act of a call's kind, one before them does, and it was not done yet: then
// they say more of that.
func (j *judging) goesOnWith(call *mandate.Call) bool {
	c := j.c
	t := reader.ToolOf(c.nameOf(j.m), j.m, c.vocabulary)
	first := len(c.spoken) - c.counting(&t)
	for i := len(c.spoken) - 1; i >= max(0, len(c.spoken)-maxAsking); i-- {
		if reader.Ordered(c.spoken[i], &t, c.vocabulary) {
			return i < first && c.times(j.m.Tool, i+1) == 0
		}
	}
	return false
}

// recalled reports whether the order of the messages that count now refers to a value of an earlier one: the latest that names anything
// names it, and does not deny it.
func (j *judging) recalled(miss *mandate.Missing, call *mandate.Call, w world, aimed bool) bool {
	c := j.c
	t := reader.ToolOf(c.nameOf(j.m), j.m, c.vocabulary)
	from := len(c.spoken) - c.counting(&t)
	refers := false
	var last reader.Recall
	for _, text := range c.spoken[from:] {
		r := reader.Recalls(text, &t, c.vocabulary)
		strange := slices.ContainsFunc(r.Names, func(n string) bool { return !mandate.Figure(n) && !within(call, n) })
		if strange && (miss.Role == mandate.Aim || !aimed) {
			return false
		}
		last = r
		one := r.One && c.namesLike(miss.Value, from)
		aim := miss.Role == mandate.Aim
		refers = refers || !one && (r.Thing && !aim || r.Person && aim || r.Thing && onlyAim(miss, call))
	}
	for i := from - 1; i >= max(0, len(c.spoken)-maxAsking); i-- {
		if len(reader.Names(c.spoken[i], c.vocabulary)) == 0 {
			continue
		}
		denied := slices.ContainsFunc(reader.Denied(c.spoken[i], c.vocabulary), func(words string) bool {
			return names(mandate.Phrase(words), miss.Value)
		})
		if denied || !refers && !last.Has(c.spoken[i], c.vocabulary) {
			return false
		}
		held := c.itemOf(&t, append([]string{c.spoken[i]}, c.spoken[from:]...)).Cover(call, w, c.records.All())
		return !slices.ContainsFunc(held.Missing, func(m mandate.Missing) bool { return m.Path == miss.Path && m.Value == miss.Value })
	}
	return false
}

// recalledAsSame reports whether the order of the messages that count now says that something is as before, and names nothing else.
func (j *judging) recalledAsSame(call *mandate.Call) bool {
	t := reader.ToolOf(j.c.nameOf(j.m), j.m, j.c.vocabulary)
	r := reader.Recalls(j.c.spoken[len(j.c.spoken)-1], &t, j.c.vocabulary)
	return r.Thing && !slices.ContainsFunc(r.Names, func(name string) bool { return !within(call, name) })
}

// onlyAim reports whether a call is done to nothing but whom it reaches: then a pronoun for a thing is for that.
func onlyAim(miss *mandate.Missing, call *mandate.Call) bool {
	return miss.Role == mandate.Aim && !slices.ContainsFunc(call.Values, func(v mandate.Value) bool {
		return v.Path != miss.Path && (v.Role == mandate.Object || v.Role == mandate.Aim || v.Role == mandate.Text)
	})
}

// within reports whether some value of a call holds a name.
func within(call *mandate.Call, name string) bool {
	return slices.ContainsFunc(call.Values, func(v mandate.Value) bool {
		return strings.Contains(strings.ToLower(v.Text), strings.ToLower(name))
	})
}

// namesLike reports whether the latest message before some that names anything names something else of a value's form as well.
func (c *Context) namesLike(value string, from int) bool {
	for i := from - 1; i >= 0; i-- {
		list := reader.Names(c.spoken[i], c.vocabulary)
		if len(list) > 0 {
			return slices.ContainsFunc(list, func(n string) bool { return n != value && nameForm(n) == nameForm(value) })
		}
	}
	return false
}

// nameForm is the form of a name: which of its signs are letters and which are figures.
func nameForm(name string) string {
	var b strings.Builder
	last := rune(0)
	for _, r := range name {
		switch {
		case r >= '0' && r <= '9':
			r = '0'
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= utf8.RuneSelf:
			r = 'a'
		}
		if r != last {
			b.WriteRune(r)
		}
		last = r
	}
	return b.String()
}

// singles reports whether what the user asks for singles out the record of a value, or there is no other of its kind.
func (c *Context) singles(v string) bool {
	return c.records.All().Singled(v, c.scoped())
}

// scoped are the words that count now.
func (c *Context) scoped() string {
	var words []string
	for _, cl := range c.user.scope() {
		words = append(words, cl.text)
	}
	return strings.Join(words, " ")
}

// whyLeft is what is said of an act that only an earlier message orders.
const whyLeft = "a later message of yours may have changed that"

// leftBehind reports whether a message of the owner's came after the one that orders a call, and does not go on with it: whatever it says,
// it may take the order back or put it off, and nobody but a model tells one from the other by its words.
func (j *judging) leftBehind(call *mandate.Call) bool {
	c := j.c
	if len(c.asking) < 2 {
		return false
	}
	t := reader.ToolOf(c.nameOf(j.m), j.m, c.vocabulary)
	for i := len(c.asking) - 1; i > 0; i-- {
		if j.deniesAny(c.asking[i], call) {
			return true
		}
		r := reader.Recalls(c.asking[i], &t, c.vocabulary) // "hold on" orders nothing of anything
		speaks := r.Thing || r.Person || len(r.Names) > 0 || len(r.Words) > 0
		bids := reader.Bidden(c.asking[i], &t, nil, j.said.choices, c.vocabulary) || reader.Ordered(c.asking[i], &t, c.vocabulary)
		if speaks && bids {
			return false
		}
		if !j.goesAlong(c.asking[i], call) {
			return true
		}
	}
	return false
}

// goesAlong reports whether a message goes on with what was ordered before it: it says yes, or gives or chooses a value of the
// call.
func (j *judging) goesAlong(text string, call *mandate.Call) bool {
	c := j.c
	if GoesOn(text) || agrees(c.vocabulary.Words(text)) {
		return true
	}
	said := mandate.Phrase(text)
	return slices.ContainsFunc(call.Values, func(v mandate.Value) bool {
		return plainValue(&v) && (names(said, v.Text) || v.Role != mandate.Text && c.records.All().Chosen(v.Text, text))
	})
}

// deniesAny reports whether a message denies a value of a call: "not 50".
func (j *judging) deniesAny(text string, call *mandate.Call) bool {
	return slices.ContainsFunc(reader.Denied(text, j.c.vocabulary), func(words string) bool {
		denied := mandate.Phrase(words)
		return slices.ContainsFunc(call.Values, func(v mandate.Value) bool { return plainValue(&v) && names(denied, v.Text) })
	})
}

func plainValue(v *mandate.Value) bool { return !v.Flag && len(v.Text) <= maxNamed }

// agrees reports whether a message says yes and nothing else.
func agrees(words []vocabulary.Word) bool {
	const light = vocabulary.Assent | vocabulary.Polite | vocabulary.Function | vocabulary.Pronoun | vocabulary.Joining | vocabulary.Hearer
	yes := false
	for i := range words {
		w := &words[i]
		yes = yes || w.Gram.Has(vocabulary.Assent)
		if w.Gram&(vocabulary.Negation|vocabulary.Dissent|vocabulary.Condition) != 0 ||
			w.Gram&light == 0 && !goingOn[strings.ToLower(w.Text)] && !empty[w.Text] {
			return false
		}
	}
	return yes
}
