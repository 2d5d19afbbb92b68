package warrant

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/reader"
	"github.com/tidemark/tidemark/internal/warrant/reckon"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

// A call says more of what it does than the name of its tool: which of the parameters are
// filled, and what is chosen. update_card with a due date is "set the due date"; a rollout
// with the sub-command restart is "restart it".

// said is what the arguments of one call add to the name of its tool.
type said struct {
	nouns   []vocabulary.Word  // words of the parameters that are filled
	choices []vocabulary.Word  // words that are chosen
	decides vocabulary.Classes // grave acts that are chosen
}

// wordsOf are the words of a parameter's name or of a choice. Names come again and again.
func (c *Context) wordsOf(name string) []vocabulary.Word {
	w, ok := c.spelt[name]
	if !ok {
		name = strings.Clone(name) // it is part of what was called with
		w = c.vocabulary.Name(name)
		if len(c.spelt) < 4096 {
			c.spelt[name] = w
		}
	}
	return w
}

const choiceLength = 24 // of the longest text that may be a choice

// grave are the classes of acts that are asked for by their verb.
const grave = vocabulary.Delete | vocabulary.Pay | vocabulary.Grant

// listen takes from the values of a call what they say of it.
func (j *judging) listen(values []arguments.Leaf) {
	c := j.c
	for i := range values {
		l := &values[i]
		p := j.resolve(l)
		name := l.Path[strings.LastIndexByte(l.Path, '.')+1:]
		if !idNames[arguments.LastWord(name)] && len(name) < 40 {
			j.said.nouns = append(j.said.nouns, c.wordsOf(name)...)
		}
		if !l.Quoted || len(l.Text) > choiceLength || strings.ContainsAny(l.Text, " @/.") {
			continue
		}
		if p.Role != toolinfo.Control && !p.Chooses && !p.Decides {
			continue
		}
		for _, w := range c.wordsOf(l.Text) {
			j.said.choices = append(j.said.choices, w)
			a := c.vocabulary.ClassesOf(w)
			mild := w.Gram.Has(vocabulary.Done) || a.Any(vocabulary.Read|vocabulary.Create|vocabulary.Change)
			if !mild && (p.Decides || p.Chooses) {
				j.said.decides |= a & grave
			}
		}
	}
}

// asks is how well a clause asks for this call.
func (j *judging) asks(cl *clause) match {
	out := j.c.matches(cl, j.m)
	for i := range j.said.choices {
		w := &j.said.choices[i]
		for _, id := range w.Acts {
			out.chosen = out.chosen || cl.acts.has(id)
		}
		out.chosen = out.chosen || w.Stem != "" && cl.doing.has(w.Stem)
		if len(w.Stem) > 2 && cl.names(*w) {
			out.soft++
		}
	}
	for i := range j.said.nouns {
		if w := &j.said.nouns[i]; len(w.Stem) > 2 && !w.Gram.Has(vocabulary.Function) && cl.names(*w) {
			out.soft++
		}
	}
	return out
}

// texts are what a call asked for.
func texts(values []arguments.Leaf) []string {
	var out []string
	for i := range values {
		out = append(out, values[i].Text)
	}
	return out
}

// formal are the values of a call that choose nothing of their own: how many, a day, and one of what the schema lists.
func formal(m *toolinfo.Meaning, values []arguments.Leaf) []string {
	is := func(l *arguments.Leaf) bool {
		p, _ := m.Param(l.Path)
		switch {
		case l.Flag, p.Listed != nil && slices.Contains(p.Listed.Values, l.Text):
			return true
		case idNames[arguments.LastWord(l.Path)]:
			return false
		}
		return !l.Quoted || datish.MatchString(l.Text) && len(l.Text) <= 32
	}
	chosen := func(text string) bool {
		return slices.ContainsFunc(values, func(l arguments.Leaf) bool { return l.Text == text && !is(&l) })
	}
	var out []string
	for i := range values {
		if l := &values[i]; is(l) && !chosen(l.Text) {
			out = append(out, l.Text)
		}
	}
	return out
}

// offer is what the messages which count now have for a tool.
type offer struct {
	mandate *mandate.Mandate // of one item, whose values may stand anywhere in them
	parts   []part
	halves  []part              // the same for figures: what is denied, and what gives several to several things, by itself
	listed  []part              // what an order of theirs says behind a colon
	pieces  [][]*mandate.Source // what one order gives to each of several
	denied  [][]string          // the words of what is not to be
	now     *mandate.Mandate    // the item of the messages that count now alone; nil: there are no others
	spared  []string            // what they want left as it is
	orders  []*mandate.Source   // what their orders say besides

	results    *reckon.Results // what their words work out; nil: nobody asked
	hundredths []string        // numbers of theirs with a sign for percent behind them
}

// part is a clause of them.
type part struct {
	reader.Part

	words   *mandate.Source
	now     bool            // it is of a message that counts now
	later   bool            // and that goes on with the one before it
	sums    []string        // its numbers that are sums
	counts  []string        // those that say how much or how many
	all     []string        // all of them
	days    mandate.Moments // its days and times
	content []string        // its words for things
}

// given is what the messages which count now offer for a tool.
func (c *Context) given(t *reader.Tool) *offer {
	said := c.spoken[max(0, len(c.spoken)-maxAsking):]
	from := len(said) - max(1, len(c.asking))
	var out offer
	for i, text := range said {
		for _, p := range reader.Parts(text, t, c.vocabulary) {
			out.parts = append(out.parts, part{Part: p, words: mandate.Phrase(p.Words)})
		}
		for _, p := range reader.Halves(text, t, c.vocabulary) {
			out.halves = append(out.halves, c.partOf(p, i >= from, i > from))
		}
		for _, p := range reader.Listed(text, t, c.vocabulary) {
			out.listed = append(out.listed, part{Part: p, words: mandate.Phrase(p.Words)})
		}
		for _, list := range reader.Pieces(text, t, c.vocabulary) {
			var pieces []*mandate.Source
			for _, words := range list {
				pieces = append(pieces, mandate.Phrase(words))
			}
			out.pieces = append(out.pieces, pieces)
		}
		for _, words := range reader.Denied(text, c.vocabulary) {
			out.denied = append(out.denied, tokens(words))
		}
	}
	for _, text := range c.asking {
		for _, m := range hundredth.FindAllStringSubmatch(text, -1) {
			out.hundredths = append(out.hundredths, m[1])
		}
		spared, orders := reader.Spares(text, t, c.vocabulary)
		out.spared = append(out.spared, spared...)
		for _, words := range orders {
			out.orders = append(out.orders, mandate.Phrase(words))
		}
	}
	out.mandate = c.itemOf(t, said)
	if n := c.counting(t); n < len(said) {
		out.now = c.itemOf(t, said[len(said)-n:])
	}
	return &out
}

var hundredth = regexp.MustCompile(`(\d+(?:[.,]\d+)?)\s?%`)

// itemOf is a mandate of one item: of all that some messages say for a tool.
func (c *Context) itemOf(t *reader.Tool, said []string) *mandate.Mandate {
	it := mandate.Item{Tool: t.Name, Quote: strings.Join(said, "\n"), Worded: true, Args: map[string][]mandate.Source{}}
	for _, text := range said {
		for name, list := range reader.Give(text, t, c.vocabulary) {
			it.Args[name] = append(it.Args[name], list...)
		}
	}
	it.Index()
	return &mandate.Mandate{Items: []mandate.Item{it}, Reads: said}
}

// sparedByName takes from the values of a call what speaks for them where the owner wants them left as they are, and no order of theirs
// names them besides: by the value itself, or by what its record is called.
func (j *judging) sparedByName(o *offer, call *mandate.Call) {
	for i := range call.Values {
		v := &call.Values[i]
		if len(o.spared) == 0 || v.Flag || v.Role == mandate.Text || len(v.Text) > maxNamed || j.bound(v.Path) {
			continue
		}
		ordered := slices.ContainsFunc(o.orders, func(s *mandate.Source) bool { return names(s, v.Text) })
		thing := v.Role == mandate.Object || v.Role == mandate.Aim
		if !ordered && slices.ContainsFunc(o.spared, func(words string) bool {
			return names(mandate.Phrase(words), v.Text) || thing && j.c.records.All().Excepts(v.Text, words)
		}) {
			j.unbind(&mandate.Missing{Path: v.Path, Value: v.Text, Role: v.Role, Why: "your words leave it out"})
		}
	}
}

// maxNamed is how many bytes of a value may name what a call is about. A longer one is a text, which may hold any word.
const maxNamed = 80

// chosenElsewhere takes from the choices of a call what speaks for them, where the owner says them of something else alone: "read the
// closed issues, then label 7" closes none, and "close the door" no issue. Where a mistake can be undone, only choices that are acts,
// or say who gets a thing, are held so: "I prefer cities" may choose for the journey that is ordered before it.
func (j *judging) chosenElsewhere(o *offer, call *mandate.Call) {
	for i := range call.Values {
		v := &call.Values[i]
		chooses := len(v.Choices) > 0 || v.Role == mandate.Measure || j.decides(v)
		plain := len(v.Choices) > 0 || len(v.Text) <= choiceLength && oneWord.MatchString(v.Text)
		if !chooses || !plain || v.Flag || j.bound(v.Path) || !call.Grave && v.Role != mandate.Aim && !j.decides(v) && !j.c.isAct(v.Text) {
			continue
		}
		if o.elsewhere(v.Text, call) {
			j.unbind(&mandate.Missing{Path: v.Path, Value: v.Text, Role: v.Role, Why: "your words say it of something else"})
		}
	}
}

// decides reports whether a parameter says how a thing is to stand, or who may do what with it: a role, a state, a mode.
func (j *judging) decides(v *mandate.Value) bool {
	p := j.resolve(&arguments.Leaf{Path: v.Path, Text: v.Text, Quoted: true})
	return v.Decides || p.Decides || conditions[arguments.LastWord(v.Path)]
}

var conditions = list("conditions")

// oneWord is a choice of one word, in whatever letters.
var oneWord = regexp.MustCompile(`^[\pL\pM]+(?:[_-][\pL\pM]+)*$`)

// isAct reports whether a choice has a word for something that is done: "closed", "archived".
func (c *Context) isAct(value string) bool {
	return slices.ContainsFunc(c.wordsOf(value), func(w vocabulary.Word) bool { return len(w.Acts) > 0 || w.Gram.Has(vocabulary.Done) })
}

// isID reports whether a name is an id: a clause that has those of others alone speaks of none that the call has.
func isID(name string) bool {
	return idLike.MatchString(name) && strings.ContainsAny(name, "0123456789") && strings.ContainsFunc(name, unicode.IsLetter)
}

// elsewhere reports whether only clauses that speak of something else say a choice. What the call has besides is not something else.
func (o *offer) elsewhere(value string, call *mandate.Call) bool {
	has := func(word string) bool {
		said := mandate.Phrase(word)
		return slices.ContainsFunc(call.Values, func(v mandate.Value) bool {
			return len(v.Text) <= maxNamed && v.Text != value && (mandate.Phrase(v.Text).Chooses(word) || said.Chooses(v.Text))
		})
	}
	other := func(word string) bool { return !mandate.Phrase(word).Chooses(value) && !has(word) }
	apart := false
	for i := range o.parts {
		p := &o.parts[i]
		if !p.words.Chooses(value) {
			continue
		}
		if !p.Apart && (slices.ContainsFunc(p.Names, has) || !slices.ContainsFunc(p.Things, other) && !slices.ContainsFunc(p.Names, isID)) {
			return false
		}
		apart = true
	}
	return apart
}

// crossed takes from a value of a call what speaks for it where one order gives several things to several, and what the call puts together
// stands apart there: who wants the contract sent to Ann and the list to Paul sends Paul no contract.
func (j *judging) crossed(o *offer, call *mandate.Call) {
	for _, pieces := range o.pieces {
		for i := range call.Values {
			a := &call.Values[i]
			for k := range call.Values {
				if b := &call.Values[k]; k != i && parted(pieces, a, b) {
					j.unbind(&mandate.Missing{Path: a.Path, Value: a.Text, Role: a.Role, Why: whyOfOthers})
					break
				}
			}
		}
	}
}

// parted reports whether the pieces of an order name two values of a call, and none of them both.
func parted(pieces []*mandate.Source, a, b *mandate.Value) bool {
	if a.Flag || b.Flag || len(a.Text) > maxNamed || len(b.Text) > maxNamed {
		return false
	}
	first, second := false, false
	for _, p := range pieces {
		one, other := names(p, a.Text), names(p, b.Text)
		if one && other {
			return false
		}
		first, second = first || one, second || other
	}
	return first && second
}

// maxSided bounds how many values of a call are asked whether they stand in each other's places.
const maxSided = 24

// exchanged takes from two values of a call what speaks for them, where their parameters could take either and the words do not say which
// is whose, or say it the other way round: what goes from giro to savings does not come from savings.
func (j *judging) exchanged(call *mandate.Call) {
	var list []int
	for i := range call.Values {
		v := &call.Values[i]
		named := v.Role == mandate.Aim || v.Role == mandate.Object || v.Role == mandate.Measure || v.Role == mandate.Text
		if named && !v.Flag && v.Text != "" && len(v.Text) <= maxNamed && len(list) < maxSided && !j.bound(v.Path) {
			list = append(list, i)
		}
	}
	for n, i := range list {
		for _, k := range list[n+1:] {
			if why := j.changedPlaces(&call.Values[i], &call.Values[k]); why != "" {
				for _, v := range []*mandate.Value{&call.Values[i], &call.Values[k]} {
					j.unbind(&mandate.Missing{Path: v.Path, Value: v.Text, Role: v.Role, Why: why})
				}
			}
		}
	}
}

// changedPlaces is why two values of a call may stand in each other's places; empty: they do not.
func (j *judging) changedPlaces(a, b *mandate.Value) string {
	slot := func(v *mandate.Value) *reader.Slot {
		p := j.resolve(&arguments.Leaf{Path: v.Path, Text: v.Text, Quoted: true})
		return &reader.Slot{Path: v.Path[strings.LastIndexByte(v.Path, '.')+1:], Text: v.Text, Kind: p.Kind}
	}
	in := func(path string) string { return path[:strings.LastIndexByte(path, '.')+1] }
	if arguments.Root(a.Path) == arguments.Root(b.Path) && in(a.Path) == "" || in(a.Path) != in(b.Path) ||
		strings.EqualFold(a.Text, b.Text) {
		return ""
	}
	x, y := slot(a), slot(b)
	if !reader.Rivals(x, y, j.c.vocabulary) {
		return ""
	}
	var all reader.Sides
	for _, text := range j.c.asking {
		s := reader.SidesOf(text, x, y, j.c.vocabulary)
		all.Both, all.OneName = all.Both || s.Both, all.OneName || s.OneName
		all.AsTheyAre, all.Exchanged = all.AsTheyAre || s.AsTheyAre, all.Exchanged || s.Exchanged
	}
	switch {
	case all.Exchanged:
		return whyOfOthers
	case all.Both && !all.AsTheyAre && !all.OneName:
		return "I could not tell from your words which of the two it is"
	}
	return ""
}

// names reports whether some words have all of a value.
func names(s *mandate.Source, value string) bool {
	words := strings.Fields(value)
	return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !s.Chooses(w) })
}

// filedElsewhere takes from the files that go with a call what speaks for them, where the words do not order them: a clause that orders
// names another, only one that looks or tells names this, or nothing names it and the words limit what goes.
func (j *judging) filedElsewhere(call *mandate.Call) {
	if !j.w.Deed.graverThan(Change) || j.w.Deed == Delete { // what is deleted goes nowhere
		return
	}
	for i := range call.Values {
		v := &call.Values[i]
		if v.Flag || !fileName.MatchString(v.Text) || len(v.Text) > maxNamed || knownTLD(v.Text) || j.bound(v.Path) {
			continue
		}
		if why := j.fileOfOthers(path.Base(v.Text)); why != "" {
			j.unbind(&mandate.Missing{Path: v.Path, Value: v.Text, Role: v.Role, Why: why})
		}
	}
}

// fileName is the name of a file with its ending, and a path to it.
var fileName = regexp.MustCompile(`^[^@:?\n]*[^@:?\s/]\.[a-zA-Z][a-zA-Z0-9]{0,4}$`)

// fileOfOthers is why the words do not order a file; empty: they may.
func (j *judging) fileOfOthers(name string) string {
	other, apart, told, limited := false, false, false, false
	h := &j.c.user
	fitting := slices.ContainsFunc(h.scope(), func(cl *clause) bool { return cl.orders() && !cl.denies && j.fits(j.asks(cl)) })
	for _, cl := range h.scope() {
		says := strings.Contains(strings.ToLower(cl.text), strings.ToLower(name))
		asks := cl.orders() && !cl.denies
		orders := asks && j.mayName(cl, fitting)
		switch limited = limited || h.limits(cl); {
		case says && orders:
			return ""
		case says:
			told = true
			apart = apart || asks && fitting
		case orders:
			other = other || slices.ContainsFunc(strings.Fields(cl.text), isFile)
		}
	}
	return whyNotFile(apart || told && other, other && !told, limited && !told)
}

// mayName reports whether a clause that orders something may name what goes along: it orders this, or no act of its own, or, where no
// clause orders this, any act that is no look.
func (j *judging) mayName(cl *clause, fitting bool) bool {
	return cl.classes == 0 || j.fits(j.asks(cl)) || cl.classes.Any(acting) && !fitting
}

// whyNotFile is what is said of a file that the words do not order.
func whyNotFile(elsewhere, another, limited bool) string {
	switch {
	case elsewhere:
		return "your words say it of something else"
	case another:
		return "you named another file"
	case limited:
		return "your words limit what goes, and I could not find it there"
	}
	return ""
}

// isFile reports whether a word of the owner's is the name of a file.
func isFile(word string) bool {
	word = strings.Trim(word, ".,;:!?()\"'")
	return fileName.MatchString(word) && !knownTLD(word)
}

// limits reports whether a clause denies or limits something.
func (h *heard) limits(cl *clause) bool {
	excepts := func(w vocabulary.Word) bool { return w.Gram.Has(vocabulary.Exception) }
	return cl.denies || slices.ContainsFunc(h.vocabulary.Words(cl.text), excepts)
}
