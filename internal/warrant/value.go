package warrant

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/valueindex"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

var (
	constants = list("constants")
	accounts  = list("accounts")
	selves    = list("selves")
	figure    = regexp.MustCompile(`^\d{1,4}$`)
)

// bare reports whether a value is a short number that the user did not say of such a thing.
func (j *judging) bare(v string) bool {
	return figure.MatchString(v) && !j.c.numbered(v, append(arguments.NameWords(j.param), j.c.nameOf(j.m)...))
}

// evidence is what stands behind one value, and why; aim says that something goes there.
func (j *judging) evidence(v string, aim bool) (Evidence, string) {
	c := j.c
	if j.constant(strings.ToLower(v), aim) {
		return Own, "yourself, or a constant"
	}
	f := c.index.Of(v)
	if c.pieceOf(v) && !j.partOfTime() {
		return Nothing, "it is a piece of a number that you said"
	}
	switch {
	case c.turnedDown(v):
		return Nothing, "you turned it down"
	case f.Class == valueindex.User && j.bare(v):
		return Agent, "you said this number, perhaps of something else"
	case f.Class == valueindex.User:
		return Said, "you said it"
	case f.Class == valueindex.System:
		return Own, "the operator said it"
	case c.part(v):
		return Said, "you said it"
	case c.agreedTo(v, &f, aim):
		return Assented, "you agreed to it"
	case j.returned(v, aim):
		return Own, "an earlier act returned it"
	}
	target := strings.Contains(v, "@") || len(valueindex.Targets(v)) > 0
	switch f.Class {
	case valueindex.Anchored:
		if !j.brought(f.Step, aim) {
			return Nothing, "I could not tell that it was read for what you named"
		}
		if c.contested(v, target) {
			return Nothing, "a text that was read has it too"
		}
		if f.Anchor == "" {
			return Picked, "of the record you named"
		}
		return Picked, fmt.Sprintf("of the record you named (%s)", f.Anchor)
	case valueindex.Field:
		return j.field(v, &f, target, aim)
	case valueindex.Text:
		if e, why := j.written(v, &f, target); e > Nothing {
			return e, why
		}
	}
	if e, why := c.path(v); e > Nothing {
		return e, why
	}
	return Nothing, c.where(v, &f)
}

// returned reports whether an earlier act of ours returned a value: where something goes, one that the user's words alone made.
func (j *judging) returned(v string, aim bool) bool {
	if aim {
		return !j.w.Deed.grave() && j.c.newIDs[valueindex.Normal(v)]
	}
	if j.w.Deed.grave() { // what is paid, given or deleted is what the answer named, and it named nothing else
		return j.c.isOwn(v) && j.c.isOwn(aloneMark+v)
	}
	return j.c.isOwn(v)
}

// field is the evidence for a field of a record that was looked up. Of what something goes to, and of what cannot be
// taken back, the record must be the one the user named and none beside it.
func (j *judging) field(v string, f *valueindex.Finding, target, aim bool) (Evidence, string) {
	c, final := j.c, j.w.Deed.final() || j.w.Deed == Execute
	switch {
	case !j.broughtAnywhere(v, f, aim):
		return Nothing, "I could not tell that it was read for what you named"
	case f.Authored && strings.ContainsAny(v, "@."), c.contested(v, target):
		return Nothing, "a text that others may have written has it too: " + text.Quote(c.around(v, f))
	case f.Beside && (aim || final), final && !c.singles(v):
		return Nothing, "of a record beside the one you named"
	case c.recordContested(v), c.index.Spoken(v):
		return Nothing, "a text that others may have written names its record"
	}
	return Picked, "a field of what was looked up"
}

// written is the evidence for a value that stands in a text. The entries of a text have no fields by which one of them could be
// told from its neighbour: of what cannot be taken back, or runs, it must be the one whose words were said in that order.
func (j *judging) written(v string, f *valueindex.Finding, target bool) (Evidence, string) {
	c := j.c
	switch contested := c.contested(v, target); {
	case contested:
	case !target && c.entry(v, f) && j.brought(f.Step, false) && (!j.w.Deed.final() && j.w.Deed != Execute || c.inOrder(v)):
		return Picked, "listed in what was looked up"
	case f.Named:
		return Followed, "it stands in what you pointed at"
	}
	return Nothing, ""
}

// inText reports whether a value stands in what others wrote.
func (c *Context) inText(v string) bool {
	return c.lost || len(v) >= 3 && c.index.Of(v).Class == valueindex.Text
}

// key is the evidence for a credential: the user's own word, a field of their records, or
// the code a service sent after our act asked for it.
func (j *judging) key(v string) (Evidence, string) {
	e, why := j.evidence(v, false)
	if e >= Picked {
		return e, why
	}
	c := j.c
	f := c.index.Of(v)
	code := len(v) <= 12 && strings.ContainsAny(v, "0123456789")
	if code && f.Class == valueindex.Text && f.Step > c.actedAt && c.actedAt > 0 && j.elsewhere(&f) {
		return Entailed, "the code that came after the act that asked for it"
	}
	if e == Followed {
		return Nothing, why // good enough to be read, not to be given away
	}
	return e, why
}

// elsewhere reports whether a finding was brought by another server than the one that is called, or by another tool where
// nobody says whose tools they are.
func (j *judging) elsewhere(f *valueindex.Finding) bool {
	server := serverOf(j.m.Tool)
	return f.Tool != j.m.Tool && (server == "" || serverOf(f.Tool) != server)
}

// part reports whether a value is a long number that the user wrote in other groups, or a whole part of a name with parts that they
// said: acme of acme/site, orders of shop.orders.
func (c *Context) part(v string) bool {
	return c.saidDigits(v) || c.saidParts[strings.ToLower(v)]
}

// grouped is a long number, in groups or in one.
var grouped = regexp.MustCompile(`\d(?:[ -]?\d){7,}`)

// saidDigits reports whether a value is a long number that the user wrote in other groups.
func (c *Context) saidDigits(v string) bool {
	if grouped.FindString(v) != v || v == "" {
		return false
	}
	return c.saidNumbers[squeezed(v)]
}

// note remembers what the user said in the forms that values are looked up in.
func (c *Context) note(words string) {
	c.spoken = append(c.spoken, words)
	words = strings.ToLower(words)
	c.said = append(c.said, words)
	c.saidWords = append(c.saidWords, tokens(words))
	c.noteParts(words)
	for _, n := range grouped.FindAllString(words, -1) {
		if c.saidNumbers == nil {
			c.saidNumbers = map[string]bool{}
		}
		c.saidNumbers[squeezed(n)] = true
	}
}

// noteParts remembers the parts of names in some words. Addresses have none.
func (c *Context) noteParts(words string) {
	for w := range strings.FieldsSeq(words) {
		if w = strings.Trim(w, ".,;:!?()\"'“”„«»‘’"); !strings.ContainsAny(w, "/.") || strings.Contains(w, "@") || startsURL(w) {
			continue
		}
		for s := range strings.FieldsFuncSeq(w, func(r rune) bool { return r == '/' || r == '.' }) {
			if c.saidParts == nil {
				c.saidParts = map[string]bool{}
			}
			c.saidParts[s] = true
		}
	}
}

// ofSaidParts reports whether a value is put together of two things that the owner said, whole: acme/site of "site of acme".
func (c *Context) ofSaidParts(value string) bool {
	e, _ := c.path(value)
	return e == Said
}

// path is the evidence for a path put together of a folder and a file.
func (c *Context) path(v string) (Evidence, string) {
	i := strings.LastIndexByte(v, '/')
	if i <= 0 || startsURL(v) {
		return Nothing, ""
	}
	dir, base := v[:i], v[i+1:]
	if !c.index.Said(dir) && !c.index.Said(strings.TrimPrefix(dir, "/")) && !c.part(dir) && !c.isOwn(dir) {
		return Nothing, ""
	}
	f := c.index.Of(base)
	switch {
	case f.Class == valueindex.User || c.part(base):
		return Said, "the folder and the name are yours"
	case c.contested(v, false) && !c.user.delegated(): // as a whole
		return Nothing, "a text that was read has it too"
	case f.Class > valueindex.Unseen && !c.contested(base, false):
		return Picked, "a file of the folder you named"
	case f.Class == valueindex.Unseen && !c.lost:
		return Picked, "in the folder you named"
	}
	return Nothing, ""
}

var (
	numbered = list("numbered")
	counted  = list("counted")
)

// numbered reports whether the user called something by a short number: "PR 42", "#42", or
// "thread 61" where the tool or its parameter is one for threads.
func (c *Context) numbered(v string, called []string) bool {
	for _, said := range c.said {
		for from := 0; ; {
			i := strings.Index(said[from:], v)
			if i < 0 {
				break
			}
			at := from + i
			if at > 0 && said[at-1] == '#' {
				return true
			}
			words := tokens(said[:at])
			for _, w := range words[max(0, len(words)-3):] {
				if numbered[w] || numbered[stem(w)] || counted[w] {
					return true
				}
			}
			if len(words) > 0 && slices.Contains(called, stem(last(words))) {
				return true
			}
			from = at + 1
		}
	}
	return false
}

// where says where a value stands, for people.
func (c *Context) where(v string, f *valueindex.Finding) string {
	from := "a message"
	if f.Tool != "" {
		from = fmt.Sprintf("%s at step %d", f.Tool, f.Step)
	}
	switch f.Class {
	case valueindex.Unseen:
		return "I found it nowhere in what was said or read"
	case valueindex.Text:
		return "it stands in the text of " + from + ": " + text.Quote(c.around(v, f))
	}
	return field(f.Path) + " of " + from
}

// field is a field of a result in words: "field from of entry 4", where its path is "[3].from". Others chose the names.
func field(path string) string {
	var at []string
	name := path
	for {
		open := strings.IndexByte(name, '[')
		end := strings.IndexByte(name, ']')
		if open < 0 || end < open {
			break
		}
		n, err := strconv.Atoi(name[open+1 : end])
		if err != nil {
			break
		}
		entry := fmt.Sprintf("entry %d", n+1)
		if list := strings.Trim(name[:open], "."); list != "" {
			entry += " of " + text.Shown(list)
		}
		at, name = append(at, entry), strings.TrimPrefix(name[end+1:], ".")
	}
	slices.Reverse(at)
	if name != "" {
		at = append([]string{"field " + text.Shown(name)}, at...)
	}
	return strings.Join(at, " of ")
}

// around is the text around a value as far as a reason quotes it, which goes to chats, to the log and to the agent: of what nobody else
// may read no figure but the value's own. The words stay: they may be what misled the agent.
func (c *Context) around(v string, f *valueindex.Finding) string {
	if f.Tool == "" {
		return f.Excerpt
	}
	return c.shortened(f.Excerpt, v, f.Step)
}

// shortened is a piece of a result as a reason quotes it: of what nobody else may read the figures but a value's own are cut.
func (c *Context) shortened(piece, v string, step uint64) string {
	if set := c.readers[step]; set.Public || len(set.People) > 0 {
		return piece
	}
	return nearby.ReplaceAllStringFunc(piece, func(figure string) string {
		if strings.Contains(v, figure) || strings.Contains(figure, v) {
			return figure
		}
		return figure[:1] + "…"
	})
}

// nearby is a number of three digits and more, however it is grouped.
var nearby = regexp.MustCompile(`[0-9](?:[ .,'/-]?[0-9]){2,}`)

// Whence is where a value comes from, for the eyes of whoever is asked. What others wrote in it is quoted.
type Whence struct {
	From  string      // which result or text; empty: it stands nowhere
	Yours bool        // it stands in the user's own words
	Title string      // what its record calls itself
	Facts string      // what its record says of it besides
	Set   mandate.Set // the list that it is one of
}

// Whence says where a value comes from. It judges nothing.
func (c *Context) Whence(value string) Whence {
	c.listen()
	c.index.Bound(leastAsked, c.gone)
	defer c.index.Release()
	f := c.index.Of(value)
	all := c.records.All()
	out := Whence{Title: all.Title(value), Set: all.SetOf(value)}
	if facts, step := all.Facts(value); len(facts) > 0 {
		out.Facts = c.shortened(strings.Join(facts, ", "), value, step)
	}
	switch f.Class {
	case valueindex.Unseen:
		return out
	case valueindex.User:
		out.Yours = true
		return out
	case valueindex.System:
		out.From = "the operator"
		return out
	}
	out.From = "a message"
	if f.Tool != "" {
		out.From = fmt.Sprintf("%s at step %d", f.Tool, f.Step)
	}
	if f.Class == valueindex.Text {
		out.From = "the text of " + out.From
	} else if f.Path != "" {
		out.From = field(f.Path) + " of " + out.From
	}
	if who := c.records.All().Author(value, f.Step); who != "" {
		out.From += ", written by " + text.Shown(who)
	}
	return out
}

// Among reports whether a value is one of a list.
func (c *Context) Among(s mandate.Set, value string) bool { return c.records.All().Holds(s, value) }

// constant reports whether a value is a word of the interface and names nobody and nothing of its own. Words
// for oneself count only where the user speaks of themselves, and elsewhere than as an aim only behind a
// parameter for an account; for what cannot be taken back no constant says which thing is meant.
func (j *judging) constant(low string, aim bool) bool {
	if aim {
		return accounts[low] && j.c.user.speaksOfSelf()
	}
	return j.usual(low) && !j.w.Deed.graverThan(Change) && (!accounts[low] || j.c.user.speaksOfSelf())
}

// usual reports whether a value is what an interface calls the one that everybody has, of the kind that its parameter is for.
func (j *judging) usual(low string) bool {
	for w := range arguments.Words(j.param) {
		if constants[stem(w)+"="+low] {
			return true
		}
	}
	return false
}

// speaksOfSelf reports whether the user's own words name themselves.
func (h *heard) speaksOfSelf() bool {
	for w := range selves {
		if h.stems[w] {
			return true
		}
	}
	return false
}

// A sum that the user names is the sum: a field of whatever record with another number is none. Which of the numbers of a message are
// sums is told by what stands beside them, and where that leaves none nothing is known.

var saidFigure = regexp.MustCompile(`\d[\d.,]*`)

// otherSum is the sum that the user named where a value is another one: more than it where it is paid. Cents count where a record
// has them as a sum.
func (j *judging) otherSum(value, param string) string {
	got, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return ""
	}
	other := ""
	for _, text := range j.c.asking {
		for _, s := range j.c.sums(text) {
			n, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64)
			switch {
			case err != nil, got == n, got < n && j.w.Deed == Pay, mandate.Says(s, value):
				return ""
			case got == 100*n && j.c.records.All().HasSum(value, param):
				return ""
			}
			other = s
		}
	}
	return other
}

// sums are the numbers of a message that say how much: with a currency, or with nothing behind them that they count. Numbers of
// days, times, ids and things are none.
func (c *Context) sums(text string) []string {
	var out []string
	words := c.vocabulary.Words(text)
	for _, at := range saidFigure.FindAllStringIndex(text, -1) {
		number := strings.TrimRight(text[at[0]:at[1]], ".,")
		if c.isSum(text, at[0], at[0]+len(number), words) {
			out = append(out, number)
		}
	}
	return out
}

func (c *Context) isSum(text string, start, end int, words []vocabulary.Word) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:start])
	after, _ := utf8.DecodeRuneInString(text[end:])
	switch {
	case strings.ContainsRune(currencySigns, before) && start > 0, strings.ContainsRune(currencySigns, after) && end < len(text):
		return true
	case start > 0 && !unicode.IsSpace(before), unicode.IsLetter(after), strings.ContainsRune(":/-%_#@", after) && end < len(text):
		return false
	}
	var prev, next *vocabulary.Word
	for i := range words {
		switch w := &words[i]; {
		case w.End <= start:
			prev = w
		case w.Start >= end && next == nil:
			next = w
		}
	}
	if prev != nil && (numbered[prev.Text] || numbered[prev.Stem] || counted[prev.Text] || mandate.Month(prev.Text)) {
		return false
	}
	if next == nil || strings.ContainsAny(text[end:next.Start], ",;.!?()") {
		return true
	}
	return mandate.Currency(next.Text) || next.Gram != 0 && !mandate.Month(next.Text)
}

const currencySigns = "$€£¥₹₩元円"
