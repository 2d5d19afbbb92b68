package reader

import (
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

// Two parameters of one kind may change places: from and to, old and new, sell and buy. Which value is whose only the sides of the
// words tell: what stands before the value, or the parameter's own name beside it.

// Slot is a value of a call with its parameter.
type Slot struct {
	Path, Text string
	Kind       toolinfo.Kind
}

// poles are the ends of an act that something stands at.
type poles struct{ from, to, old, new bool }

func (e poles) meets(o poles) bool {
	return e.from && o.from || e.to && o.to || e.old && o.old || e.new && o.new
}

// opposes reports whether something leaves at the one end, and arrives at the other.
func (e poles) opposes(o poles) bool { return (e.from || e.old) && (o.to || o.new) }

// slotEnds are the ends that words of a parameter's name say it is for.
func slotEnds(words []string) poles {
	var e poles
	for _, w := range words {
		e.from, e.to = e.from || goesFrom[w], e.to || goesTo[w]
		e.old, e.new = e.old || goesOut[w], e.new || comesIn[w]
	}
	return e
}

// ownWords are the words of a parameter's name that the other's has not.
func ownWords(a, b string) []string {
	other := slices.Collect(arguments.Words(b))
	return slices.DeleteFunc(slices.Collect(arguments.Words(a)), func(w string) bool { return slices.Contains(other, w) })
}

// noun is what a parameter's name calls its thing: its last word that is neither an id nor a side; empty: it says a side alone.
func noun(path string) string {
	out := ""
	for w := range arguments.Words(path) {
		if slotEnds([]string{w}) == (poles{}) && !formWords[w] {
			out = w
		}
	}
	return out
}

// Rivals reports whether two parameters may take each other's values: they are for the two ends of an act, for one kind of thing or for
// people, or nobody knows what they are for.
func Rivals(a, b *Slot, table *vocabulary.Table) bool {
	p, q := slotEnds(ownWords(a.Path, b.Path)), slotEnds(ownWords(b.Path, a.Path))
	opposite := p.opposes(q) || q.opposes(p)
	x, y := noun(a.Path), noun(b.Path)
	switch {
	case opposite:
		return x == y || x == "" || y == ""
	case a.Kind == toolinfo.Date || b.Kind == toolinfo.Date || number(a.Text) || number(b.Text):
		return false
	case x != "" && x == y:
		return true
	case people[a.Kind] && people[b.Kind]:
		return true
	}
	return alike(a, b) && strange(x, p, table) && strange(y, q, table)
}

// alike reports whether two values look alike, and neither is for anything that tells it from the other.
func alike(a, b *Slot) bool {
	plain := (a.Kind == toolinfo.Plain || a.Kind == toolinfo.ID) && a.Kind == b.Kind
	return plain && strings.ContainsAny(a.Text, digits) == strings.ContainsAny(b.Text, digits)
}

// strange reports whether nobody knows what a parameter of a name is for.
func strange(name string, e poles, table *vocabulary.Table) bool {
	if name == "" && e == (poles{}) {
		return false
	}
	return !slices.ContainsFunc(table.Name(name), func(w vocabulary.Word) bool { return len(w.Things) > 0 })
}

const digits = "0123456789"

func number(text string) bool { return strings.Trim(text, digits+".,-+%") == "" }

var people = map[toolinfo.Kind]bool{toolinfo.Person: true, toolinfo.Email: true, toolinfo.Phone: true}

// Sides is what a message says of which of two values is whose. The zero Sides says nothing.
type Sides struct {
	Both      bool // it has both values
	AsTheyAre bool // some word says that they stand where they belong
	Exchanged bool // some word says that they belong where the other stands
	OneName   bool // they stand side by side, as the parts of one name
}

// SidesOf reads which of two values of a call a message puts where.
func SidesOf(message string, a, b *Slot, table *vocabulary.Table) Sides {
	message = message[:min(len(message), maxMessage)]
	low := strings.ToLower(message)
	if len(low) != len(message) {
		low = message // letters whose small form is longer
	}
	s := sides{table: table, text: message, words: table.Words(message)}
	first, second := s.nearest(occurrences(low, a.Text), occurrences(low, b.Text))
	var out Sides
	if first == nil && second == nil {
		return out
	}
	s.lang, out.Both = languageOf(s.words), first != nil && second != nil
	if out.Both {
		gap := message[min(first[1], second[1]):max(first[0], second[0])]
		out.OneName = strings.TrimSpace(gap) == ""
	}
	p, q := s.end(a.Path, b.Path), s.end(b.Path, a.Path)
	s.other = [][2]int{}
	for _, at := range []*[2]int{first, second} {
		if at != nil {
			s.other = append(s.other, *at)
		}
	}
	m, n := s.mark(first), s.mark(second)
	out.AsTheyAre = m.is(&p, &n) || n.is(&q, &m)
	out.Exchanged = m.is(&q, &n) || n.is(&p, &m)
	return out
}

// occurrences are where a value stands whole in a text.
func occurrences(low, value string) [][2]int {
	value = strings.ToLower(strings.TrimSpace(value))
	var out [][2]int
	for from := 0; value != "" && len(out) < maxSides; {
		i := strings.Index(low[from:], value)
		if i < 0 {
			break
		}
		at := [2]int{from + i, from + i + len(value)}
		if !joined(low, at[0], -1) && !joined(low, at[1], 1) {
			out = append(out, at)
		}
		from = at[1]
	}
	return out
}

// maxSides bounds how often a value is looked for in a message.
const maxSides = 16

// joined reports whether a word goes on over a place in a text: at its left end, or at its right one.
func joined(low string, at, way int) bool {
	if at == 0 || at == len(low) {
		return false
	}
	beyond := low[at]
	if way < 0 {
		beyond = low[at-1]
	}
	sign := func(c byte) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
	}
	if sign(beyond) {
		return true
	}
	// a name goes on behind a dash, a dot or a slash with more of it
	if next := at + 1; way > 0 && next < len(low) {
		return strings.IndexByte("-./@", beyond) >= 0 && sign(low[next])
	}
	return way < 0 && at > 1 && strings.IndexByte("-./@", beyond) >= 0 && sign(low[at-2])
}

// sides is a message while it is asked for them.
type sides struct {
	table *vocabulary.Table
	text  string
	words []vocabulary.Word
	lang  string
	other [][2]int // where the values stand
}

// nearest are the two occurrences that stand closest; nil: there is none.
func (s *sides) nearest(a, b [][2]int) (first, second *[2]int) {
	best := -1
	for i := range a {
		for k := range b {
			if gap := max(a[i][0], b[k][0]) - min(a[i][1], b[k][1]); gap >= 0 && (best < 0 || gap < best) {
				best, first, second = gap, &a[i], &b[k]
			}
		}
	}
	switch {
	case best >= 0:
	case len(a) > 0 && len(b) == 0:
		first = &a[0]
	case len(b) > 0 && len(a) == 0:
		second = &b[0]
	}
	return first, second
}

// end is what a parameter is called beside another: its own words, and the ends that they say.
type end struct {
	poles

	words []vocabulary.Word
}

func (s *sides) end(path, other string) end {
	own := ownWords(path, other)
	e := end{poles: slotEnds(own)}
	for _, w := range own {
		if !sideWord(w) {
			e.words = append(e.words, s.table.Name(w)...)
		}
	}
	return e
}

// sideWord reports whether a word says a side in a sentence of its own.
func sideWord(w string) bool {
	return w == "from" || w == "to" || w == "into" || w == "with" || w == "by"
}

// mark is what stands beside a value.
type mark struct {
	poles

	bare  bool // it only stands behind the verb
	there bool
	names []vocabulary.Word
}

// is reports whether what stands beside a value says a parameter. To stand behind the verb says something only where the other value's
// side is told.
func (m *mark) is(e *end, other *mark) bool {
	if !m.there {
		return false
	}
	if m.meets(e.poles) && (!m.bare || other.there && !other.bare && other.poles != (poles{})) {
		return true
	}
	return slices.ContainsFunc(e.words, func(w vocabulary.Word) bool {
		return slices.ContainsFunc(m.names, func(n vocabulary.Word) bool { return sameWord(&w, &n) })
	})
}

// sameWord reports whether two words are one, or mean one act or thing.
func sameWord(a, b *vocabulary.Word) bool {
	return a.Text == b.Text || a.Stem != "" && a.Stem == b.Stem ||
		slices.ContainsFunc(a.Acts, func(id vocabulary.ActID) bool { return slices.Contains(b.Acts, id) }) ||
		slices.ContainsFunc(a.Things, func(id vocabulary.ThingID) bool { return slices.Contains(b.Things, id) })
}

// maxBeside is how many words beside a value are looked at.
const maxBeside = 5

// mark reads what stands beside a value.
func (s *sides) mark(at *[2]int) mark {
	if at == nil {
		return mark{}
	}
	m := mark{there: true}
	first := slices.IndexFunc(s.words, func(w vocabulary.Word) bool { return w.End > at[0] })
	if first < 0 {
		return m
	}
	last := first
	for last < len(s.words) && s.words[last].Start < at[1] {
		last++
	}
	if final[s.lang] && last < len(s.words) && s.put(&m, &s.words[last], s.verb(first)) {
		return m
	}
	end := at[0]
	for k := first - 1; k >= 0 && k >= first-maxBeside; k-- {
		w := &s.words[k]
		if strings.ContainsAny(s.text[w.End:max(w.End, end)], ",;:!?()\n") || s.isValue(w) || s.put(&m, w, s.verb(first)) {
			return s.behind(m, last)
		}
		if w.Gram.Has(vocabulary.Joining) {
			break
		}
		m.names = append(m.names, *w)
		if end = w.Start; len(w.Acts) > 0 && (len(w.Things) == 0 || k == 0) {
			m.poles, m.bare = s.object(w), true
			break
		}
	}
	return s.behind(m, last)
}

// behind adds the word that stands behind a value as what it is: "Ann the lead", "Ann as lead".
func (s *sides) behind(m mark, from int) mark {
	if m.poles != (poles{}) && !m.bare {
		return m
	}
	for k := from; k < len(s.words) && k < from+2; k++ {
		w := &s.words[k]
		before := s.text[s.words[k-1].End:max(s.words[k-1].End, w.Start)]
		if strings.TrimSpace(before) != "" || s.isValue(w) || w.Gram.Has(vocabulary.Joining) {
			return m
		}
		if w.Gram.Has(vocabulary.Function) {
			if articles.has(s.lang, w.Text) || asWords.has(s.lang, w.Text) {
				continue
			}
			return m
		}
		m.names = append(m.names, *w)
		return m
	}
	return m
}

func (s *sides) isValue(w *vocabulary.Word) bool {
	return slices.ContainsFunc(s.other, func(at [2]int) bool { return w.Start < at[1] && w.End > at[0] })
}

// put gives a value the end that a word leads to, and reports whether it is one that leads somewhere.
func (s *sides) put(m *mark, w, verb *vocabulary.Word) bool {
	replaces, over := s.replaces(verb)
	switch {
	case secondWords.has(s.lang, w.Text):
		switch {
		case over:
			m.poles = poles{from: true, new: true}
		case replaces:
			m.poles = poles{new: true}
		case toWords.has(s.lang, w.Text) && !withWords.has(s.lang, w.Text):
			m.poles = poles{to: true, new: true}
		}
		return true
	case asWords.has(s.lang, w.Text), toWords.has(s.lang, w.Text):
		if m.poles = (poles{to: true, new: true}); replaces {
			m.poles = poles{new: true}
		}
		return true
	case ofWords.has(s.lang, w.Text), w.Text == "of":
		switch {
		case over:
			m.poles = poles{from: true, new: true}
		case replaces:
			m.poles = poles{old: true}
		default:
			m.poles = poles{from: true, old: true}
		}
		return true
	}
	return false
}

// object is the end that what stands right behind a verb is at.
func (s *sides) object(verb *vocabulary.Word) poles {
	switch replaces, over := s.replaces(verb); {
	case over:
		return poles{to: true, old: true}
	case replaces:
		return poles{old: true}
	}
	return poles{from: true, old: true}
}

// verb is the act that stands last before a word, or first behind it; nil: there is none.
func (s *sides) verb(at int) *vocabulary.Word {
	act := func(w *vocabulary.Word) bool { return len(w.Acts) > 0 && !w.Gram.Has(vocabulary.Function) }
	for k := at - 1; k >= 0; k-- {
		if act(&s.words[k]) && len(s.words[k].Things) == 0 {
			return &s.words[k]
		}
	}
	for k := range s.words {
		if act(&s.words[k]) {
			return &s.words[k]
		}
	}
	return nil
}

// replaces reports whether a verb puts one thing in the place of another; over says that it writes over what it names.
func (s *sides) replaces(verb *vocabulary.Word) (replaces, over bool) {
	if verb == nil {
		return false, false
	}
	over = slices.ContainsFunc(overWords, func(w string) bool { return strings.HasPrefix(verb.Text, w) })
	replaces = slices.ContainsFunc(verb.Acts, func(id vocabulary.ActID) bool { return replacing[s.table.Act(id).Name] })
	return replaces || over, over
}
