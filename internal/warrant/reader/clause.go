package reader

import (
	"slices"
	"strings"
	"unicode"

	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

// mood is what a clause does. The zero mood is one that nobody understands, and orders nothing.
type mood uint8

const (
	told    mood = iota // it tells or asks something, or is not understood
	ordered             // it orders something
)

// clause is one thing that the owner says, with its verb.
type clause struct {
	from      *reading
	lang      string
	words     []vocabulary.Word // all of it
	verb      int               // which of them orders; -1: none
	body      int               // where content, or a reason, begins
	mood      mood
	negated   bool
	carried   bool   // only the clause before it is, which makes it unsure and forbids nothing
	condition string // the words that it hangs on
	each      bool
	plain     bool    // it is neither reported nor asked, and hangs on nothing
	hangs     bool    // it is neither reported nor asked, and hangs on something
	wished    bool    // it orders nothing, and says that its speaker wants a thing
	agreed    bool    // it is reported, and the owner says yes to it in the same breath
	leading   bool    // nothing stands before it in its sentence but other orders
	before    *clause // the order before it, of which "it" may speak
	taken     bool    // an order behind it names nothing, and speaks of it
}

// reading is a message while it is read.
type reading struct {
	table *vocabulary.Table
	typed typing
	words []vocabulary.Word
	verbs map[vocabulary.ActID]int // how many tools there are for an act
	own   map[string]bool          // verbs that only the names of tools have
	lang  string                   // of all of it; "": nobody asked yet
}

// language is the one that most of the message is in.
func (r *reading) language() string {
	if r.lang == "" {
		r.lang = languageOf(r.words)
	}
	return r.lang
}

// clauses are all that the message says, in order.
func (r *reading) clauses() []*clause {
	var out []*clause
	var last *clause
	for i := 0; i < len(r.words); {
		k := i
		for k < len(r.words) && r.words[k].Sentence == r.words[i].Sentence && !r.broken(i, k) {
			k++
		}
		list := r.sentence(r.words[i:k])
		if r.retracts(r.words[i:k]) {
			for _, cl := range slices.Concat(out, list) {
				cl.negated = true
			}
		}
		for _, cl := range list {
			if cl.before = last; last != nil && cl.refers() && !cl.named() {
				last.taken = true
			}
			if out = append(out, cl); cl.mood == ordered && !cl.negated {
				last = cl
			}
		}
		i = k
	}
	for _, at := range r.typed.after { // what is given behind a colon may end so as well
		text := r.typed.words[at[0]:at[1]]
		behind := reading{table: r.table, typed: typing{orders: text}, words: r.table.Words(text)}
		for _, cl := range out {
			cl.negated = cl.negated || behind.retracts(behind.words)
		}
	}
	return out
}

// retracts reports whether a sentence takes back what was ordered before: "no, don't", "…, nein, das nicht".
func (r *reading) retracts(list []vocabulary.Word) bool {
	for i := range list {
		if !list[i].Gram.Has(vocabulary.Dissent) || i > 0 && !r.comma(&list[i-1], &list[i]) {
			continue
		}
		if i+1 == len(list) || r.comma(&list[i], &list[i+1]) {
			return true
		}
	}
	return false
}

// comma reports whether a comma stands between two words.
func (r *reading) comma(a, b *vocabulary.Word) bool {
	gap := r.typed.orders[a.End:b.Start]
	if gap == "," && a.Kind == vocabulary.Number && b.Kind == vocabulary.Number {
		return false // 1,999
	}
	return strings.ContainsAny(gap, ",;，；、،–—(") || strings.Contains(gap, " - ")
}

// broken reports whether a word stands in another paragraph than the one a sentence began in.
func (r *reading) broken(i, k int) bool {
	return k > i && strings.Contains(r.typed.orders[r.words[k-1].End:r.words[k].Start], "\n")
}

// sentence takes a sentence apart. What is reported, asked to know or hangs on a condition makes it so for all of it.
func (r *reading) sentence(list []vocabulary.Word) []*clause {
	lang := r.language()
	if len(list) >= 5 {
		lang = languageOf(list)
	}
	s := sentence{reading: r, lang: lang, words: list, asked: r.marked(list)}
	s.survey()
	var out []*clause
	denied, leading := false, true
	for _, at := range s.cuts() {
		cl := s.clause(list[at[0]:at[1]])
		if !leading && !s.parted(at[0]) { // "Paul wants it and …" tells on
			cl.mood = told
		}
		cl.leading = leading
		leading = leading && (cl.mood == ordered || s.says(cl.words) == 0)
		cl.carried = denied && !cl.negated && !ors.has(lang, cl.words[0].Text)
		cl.negated = cl.negated || denied
		denied = cl.negated
		if cl.agreed = s.reported && s.agreed(); s.reported || s.asked && !s.polite {
			cl.mood = told
		}
		cl.plain = !s.reported && !s.asked && !s.condition
		cl.hangs = !s.reported && !s.asked && s.condition
		if s.condition {
			cl.condition = r.span(list)
		}
		out = append(out, cl)
	}
	return out
}

// says is how many words of a list may mean something for an order.
func (s *sentence) says(list []vocabulary.Word) int {
	n := 0
	for i := range list {
		if !s.lead(&list[i]) && !s.asks(&list[i]) {
			n++
		}
	}
	return n
}

// marked reports whether a question mark ends a list of words.
func (r *reading) marked(list []vocabulary.Word) bool {
	rest := strings.TrimLeft(r.typed.orders[list[len(list)-1].End:], " \t)\"'”»\u00a0\u202f")
	c := []rune(firstRunes(rest))
	return len(c) > 0 && strings.ContainsRune("?？؟", c[0])
}

func firstRunes(s string) string {
	if len(s) > 8 {
		s = s[:8]
	}
	return s
}

// span is the text of a list of words.
func (r *reading) span(list []vocabulary.Word) string {
	return strings.TrimSpace(r.typed.words[list[0].Start:list[len(list)-1].End])
}

// text is what the clause says, with the quotation behind it.
func (c *clause) text() string {
	from, to := c.words[0].Start, c.words[len(c.words)-1].End
	for _, q := range c.from.typed.quotes {
		if q[0] >= to && strings.TrimSpace(c.from.typed.words[to:q[0]]) == "" {
			to = q[1]
		}
	}
	return strings.TrimSpace(c.from.typed.words[from:to])
}

// capital reports whether a word is written as names are.
func (c *clause) capital(w *vocabulary.Word) bool {
	for _, r := range c.from.typed.words[w.Start:w.End] {
		return unicode.IsUpper(r)
	}
	return false
}

// sentence is one sentence while it is taken apart.
type sentence struct {
	*reading
	lang                               string
	words                              []vocabulary.Word
	asked, polite, reported, condition bool
}

// survey finds what holds for the whole of it.
func (s *sentence) survey() {
	verb := -1
	for i := range s.words {
		w := &s.words[i]
		if verb < 0 && s.acts(w) && !w.Gram.Has(vocabulary.Done) {
			verb = i
		}
		s.polite = s.polite || w.Gram.Has(vocabulary.Polite) || wishes.has(s.lang, w.Text)
		s.condition = s.condition || w.Gram.Has(vocabulary.Condition) && !w.Gram.Has(vocabulary.Polite) && !s.asksWhen(i) || s.suffixed(w)
		if !w.Gram.Has(vocabulary.Report) {
			continue
		}
		if final[s.lang] {
			s.reported = s.reported || !s.follows(i)
			continue
		}
		s.reported = s.reported || verb < 0 || verb == i
	}
}

// asksWhen reports whether a word asks for a time that is to be told, and puts nothing under a condition: it ends what is said, or the verb
// of being does, as it does in a question within a sentence: "tell Ann when high water is".
func (s *sentence) asksWhen(i int) bool {
	w := &s.words[i]
	if s.lang != "en" || w.Text != "when" || i == 0 {
		return false
	}
	last := i
	for k := i + 1; k < len(s.words) && !s.comma(&s.words[k-1], &s.words[k]) && !s.words[k].Gram.Has(vocabulary.Joining); k++ {
		last = k
	}
	return last == i || last > i+1 && states.has(s.lang, s.words[last].Text)
}

// agreed reports whether a sentence ends with a yes of the owner's to what it tells: "Tor told me to …, that's fine".
func (s *sentence) agreed() bool {
	yes := false
	for i := len(s.words) - 1; i > 0 && i >= len(s.words)-4; i-- {
		w := &s.words[i]
		if w.Gram.Has(vocabulary.Negation) || w.Gram.Has(vocabulary.Question) {
			return false
		}
		if yes = yes || w.Gram.Has(vocabulary.Assent); yes && s.parted(i) {
			return true
		}
	}
	return false
}

// follows reports whether an act comes after a word: what was said before it is then its content.
func (s *sentence) follows(i int) bool {
	for k := i + 1; k < len(s.words); k++ {
		if s.acts(&s.words[k]) && !s.words[k].Gram.Has(vocabulary.Done) {
			return true
		}
	}
	return false
}

// suffixed reports whether a word carries a condition at its end, as Turkish writes it.
func (s *sentence) suffixed(w *vocabulary.Word) bool {
	for end := range hanging[s.lang] {
		if strings.HasSuffix(w.Text, end) {
			return true
		}
	}
	return false
}

// acts reports whether a word may be the verb of an order.
func (s *sentence) acts(w *vocabulary.Word) bool {
	if w.Kind != vocabulary.Plain || w.Gram.Has(vocabulary.Report) || w.Gram.Has(vocabulary.Question) || s.asks(w) {
		return false
	}
	return len(w.Acts) > 0 || w.Gram == 0 && len(w.Things) == 0 && s.own[w.Text]
}

// asks reports whether a word only asks for something politely.
func (s *sentence) asks(w *vocabulary.Word) bool {
	return w.Gram.Has(vocabulary.Polite) || wishes.has(s.lang, w.Text) || forgets.has(s.lang, w.Text)
}

// cuts are where its clauses begin and end: at commas and joining words before a verb, and before what is excluded.
func (s *sentence) cuts() [][2]int {
	var out [][2]int
	from := 0
	for i := 1; i < len(s.words); i++ {
		if s.begins(i) {
			out = append(out, [2]int{from, i})
			from = i
		}
	}
	return append(out, [2]int{from, len(s.words)})
}

// begins reports whether a new clause begins with a word.
func (s *sentence) begins(i int) bool {
	comma := s.parted(i)
	if without.has(s.lang, s.words[i].Text) || buts.has(s.lang, s.words[i].Text) {
		return true
	}
	if final[s.lang] {
		return comma
	}
	joined := s.words[i].Gram.Has(vocabulary.Joining) && !purposes.has(s.lang, s.words[i].Text)
	if !comma && !joined {
		return false
	}
	for k := i; k < len(s.words) && k < i+5; k++ {
		w := &s.words[k]
		switch {
		case s.acts(w):
			return s.imperative(w)
		case w.Gram.Has(vocabulary.Negation):
			return true
		case k == i && joined, s.lead(w), s.asks(w):
		case k == i && comma && w.Gram.Has(vocabulary.Exception):
		case behind[s.lang] && comma:
			return true
		default:
			return false
		}
	}
	return false
}

// parted reports whether a comma, or nothing, stands before a word.
func (s *sentence) parted(i int) bool { return i == 0 || s.comma(&s.words[i-1], &s.words[i]) }

// lead reports whether a word may stand before an order without meaning anything for it.
func (s *sentence) lead(w *vocabulary.Word) bool {
	if leads.has(s.lang, w.Text) || buts.has(s.lang, w.Text) {
		return true
	}
	return w.Gram.Has(vocabulary.Joining) || w.Gram.Has(vocabulary.Assent) || w.Gram.Has(vocabulary.Exception)
}
