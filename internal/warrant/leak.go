package warrant

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/reader"
	"github.com/tidemark/tidemark/internal/warrant/sql"
	"github.com/tidemark/tidemark/internal/warrant/valueindex"
	"github.com/tidemark/tidemark/tool"
)

// Secrets tells how the secrets in a text are found; each may come in several pieces.
func (c *Context) Secrets(find func(text string) []string) { c.secret = find }

// disclosed judges a text that leaves with a call, a look's included, by the keys and codes in
// it. Those the user gave, or asked for by their name, may go where the call goes.
func (j *judging) disclosed(l *arguments.Leaf) {
	c := j.c
	if !c.argued || !l.Quoted || len(l.Text) < 8 || harmlessWord(l.Text) || c.index.Said(l.Text) {
		return
	}
	if c.secret != nil {
		if found := c.unsaid(c.secret(l.Text)); found != "" {
			leak := Slot{Kind: Cargo, Path: l.Path, Value: found, Why: "a secret that I could not find in your words", Secret: true}
			j.w.Slots = append(j.w.Slots, leak)
			return
		}
	}
	if j.w.Deed == Read {
		j.coded(l)
		j.recited(l)
	}
	if code := c.packedIn(l.Text); code != "" {
		j.w.add(Cargo, l.Path, code, Nothing, "a long code of unknown origin: it may hide data")
	}
}

// packedIn is a code in a text that nobody gave the agent, in one piece or in several that follow one
// another; empty: none.
func (c *Context) packedIn(text string) string {
	var whole mixture
	for piece := range strings.FieldsFuncSeq(text, func(r rune) bool { return !codeSign(r) }) {
		if !mixed(piece) || c.index.Said(piece) || c.isOwn(piece) || c.index.Of(piece).Class != valueindex.Unseen {
			whole = mixture{}
			continue
		}
		if whole.add(piece); whole.packed() {
			return piece
		}
	}
	return ""
}

// codeSign reports whether codes are written with a character.
func codeSign(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("+/=_-", r)
}

// mixed reports whether a word is none that people write: it has letters and digits, or capitals among
// small letters.
func mixed(word string) bool {
	digits, letters, turns := 0, 0, 0
	for i := range len(word) {
		switch b := word[i]; {
		case b >= '0' && b <= '9':
			digits++
		case b >= 'A' && b <= 'Z':
			if letters++; i > 0 && word[i-1] >= 'a' && word[i-1] <= 'z' {
				turns++
			}
		default:
			letters++
		}
	}
	return len(word) >= 6 && letters > 0 && (digits > 1 || turns > 1)
}

const codeLength = 4 // of the shortest number worth keeping: a PIN

// coded judges the numbers among the words that a look is given: what is looked for by words needs none
// that the user did not say, and a code goes a long way in one. A number alone is what is
// looked up, and a year is a year.
func (j *judging) coded(l *arguments.Leaf) {
	c := j.c
	if !strings.ContainsAny(strings.TrimSpace(l.Text), " \t\n") || datish.MatchString(l.Text) {
		return
	}
	for _, t := range tokens(l.Text) {
		if len(t) < codeLength || !strings.ContainsAny(t, "0123456789") || year.MatchString(t) || c.user.stems[stem(t)] || c.isOwn(t) {
			continue
		}
		if e, _ := j.evidence(t, false); e < Followed {
			j.w.add(Cargo, l.Path, t, Nothing, "the search holds a number that is not in your words")
			return
		}
	}
}

const (
	codeWords = 3   // figures written as words, one after another, of the shortest code
	recital   = 6   // words in a row that are nobody's by chance
	mostRuns  = 400 // of a text that are looked for
)

// numerals are figures as words, each with its digit: 0 is '0'.
var numerals = func() map[string]byte {
	out := map[string]byte{}
	for _, line := range lists.Lines("digits") {
		for i, w := range line {
			out[w] = '0' + byte(i)
		}
	}
	return out
}()

// recited judges what a look is given as words: a code in words that the user did not say, and whole runs of what was
// read and is the user's alone. What stands on a page that anybody may read is no secret.
func (j *judging) recited(l *arguments.Leaf) {
	c, words := j.c, tokens(l.Text)
	from := 0
	for i, w := range words {
		if numerals[w] == 0 {
			from = i + 1
			continue
		}
		if code := strings.Join(words[from:i+1], " "); i+1-from >= codeWords && !c.index.Said(code) {
			j.w.add(Cargo, l.Path, code, Nothing, "the search holds figures that you did not say")
			return
		}
	}
	if sql.Reads(l.Text) {
		return // it is what the database is asked
	}
	private := func(step uint64) bool { return !c.readers[step].Public }
	fields := strings.Fields(l.Text)
	for i := 0; i+recital <= len(fields) && i < mostRuns; i++ {
		run := strings.Join(fields[i:i+recital], " ")
		if !c.index.Said(run) && c.index.Of(run).Class > valueindex.Unseen && c.index.Stands(run, private) {
			j.w.add(Cargo, l.Path, run, Nothing, "it carries along what was read elsewhere")
			return
		}
	}
}

// taken judges the words that a look takes along to another server: what stands only in something secret that was read leaves with it,
// from one word on.
func (j *judging) taken(l *arguments.Leaf) {
	c := j.c
	if !c.argued || !l.Quoted || c.index.Said(l.Text) || len(c.guarded) == 0 || sql.Reads(l.Text) {
		return
	}
	secret := func(step uint64) bool { return c.guarded[step] != "" }
	open := func(step uint64) bool { return c.guarded[step] == "" }
	for _, t := range tokens(l.Text) {
		if len(t) < 4 || !distinctive(t) || c.user.stems[stem(t)] || c.isOwn(t) || c.index.Said(t) {
			continue
		}
		if c.index.Stands(t, secret) && !c.index.Stands(t, open) {
			j.w.add(Cargo, l.Path, t, Nothing, "it is from something secret that was read, and this lookup would send it")
			return
		}
	}
}

var year = regexp.MustCompile(`^(?:19|20)\d\d$`)

// harmlessWord reports whether a text is too short to be a secret, without any digit: no piece of it
// is secretive or packed, so nobody needs to look for one.
func harmlessWord(text string) bool {
	if len(text) >= secretLength {
		return false
	}
	for i := range len(text) {
		if b := text[i]; b >= '0' && b <= '9' || b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

const secretLength = 20 // of the shortest secret without a digit

// unsaid is the first of some pieces of secrets that the user neither said nor speaks of nor
// wants passed on.
func (c *Context) unsaid(pieces []string) string {
	var alone string // the piece itself; those that follow have what it stands in
	known := true
	for _, p := range pieces {
		if alone == "" || !strings.Contains(p, alone) {
			if !known {
				break
			}
			alone, known = p, !secretive(p) || c.speaksOf(kindOf(p))
		}
		known = known || c.index.Said(p) || c.isOwn(p) || c.says(copies) && c.index.Of(p).Named && c.looked(p)
	}
	if known {
		return ""
	}
	return alone
}

// kindOf are the words by which people speak of a secret.
func kindOf(s string) string {
	if accountNumber(s) {
		return "card account payment"
	}
	return "password key"
}

// secretive reports whether what stands where a secret would is one, and no blank for it and
// no plain word.
func secretive(s string) bool {
	return !strings.ContainsAny(s, "${}<>()") && (len(s) >= secretLength || strings.ContainsAny(s, "0123456789"))
}

// speaksOf reports whether what the user asks for is about one of some things. A clause that
// denies, or asks a question, does not want them passed on.
func (c *Context) speaksOf(things string) bool {
	words := c.vocabulary.Words(things)
	for _, cl := range c.user.scope() {
		if cl.question || cl.denies {
			continue
		}
		if slices.ContainsFunc(words, cl.names) {
			return true
		}
	}
	return false
}

// accountNumber reports whether a piece is digits in groups, with at most a country before them.
func accountNumber(s string) bool {
	letters, digits := 0, 0
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z':
			letters++
		case r >= '0' && r <= '9':
			digits++
		}
	}
	return digits >= 8 && letters <= 6
}

const packedLength = 40 // of the shortest word that may hold something packed

// mixture counts what a word is made of, piece by piece: there may be many of them.
type mixture struct{ size, upper, lower, digit, other int }

func (m *mixture) add(piece string) {
	m.size += len(piece)
	for i := range len(piece) {
		switch b := piece[i]; {
		case b >= '0' && b <= '9':
			m.digit++
		case b >= 'a' && b <= 'z':
			m.lower++
		case b >= 'A' && b <= 'Z':
			m.upper++
		case strings.IndexByte("+/=_-", b) < 0:
			m.other++
		}
	}
}

// packed reports whether a word is so long and so mixed that a text may be coded in it.
func (m *mixture) packed() bool {
	return m.size >= packedLength && m.other == 0 && m.digit > 0 && (m.upper > 2 && m.lower > 2 || m.upper+m.lower >= 6 && m.digit >= 8)
}

// withholds asks about a text for others that has a word which the owner wants left out. What they gave word for word has their word.
func (j *judging) withholds(values []arguments.Leaf) {
	if !j.w.Deed.graverThan(Tidy) {
		return
	}
	for _, limit := range j.c.limits() {
		for i := range values {
			l := &values[i]
			if j.roleOf(l) != mandate.Text || j.c.index.Said(l.Text) {
				continue
			}
			for _, w := range j.c.vocabulary.Words(l.Text) {
				if slices.Contains(limit.Stems, w.Stem) {
					j.w.Slots = append(j.w.Slots, Slot{
						Kind: Cargo, Path: l.Path, Value: w.Text, Why: "you want it left out: " + limit.Quote, Part: w.Text,
					})
					return
				}
			}
		}
	}
}

// limits are what the messages that count now want left out of texts. They are read once for all calls.
func (c *Context) limits() []reader.Withheld {
	if c.withheld == nil {
		c.withheld = []reader.Withheld{}
		for _, text := range c.asking {
			c.withheld = append(c.withheld, reader.Withholds(text, c.vocabulary)...)
		}
	}
	return c.withheld
}

// mostDictated bounds the values of a call that is the user's own: many small ones, each of them said, can be put together to anything.
const mostDictated = 12

// Dictated reports whether every value of a call stands in the user's own words, so that it tells nothing that was read.
func (c *Context) Dictated(args *tool.Args) bool {
	c.listen()
	fields, err := args.Fields()
	if err != nil {
		return false
	}
	values := arguments.Of(fields)
	return len(values) > 0 && len(values) <= mostDictated && !slices.ContainsFunc(values, func(l arguments.Leaf) bool {
		return !l.Flag && strings.TrimSpace(l.Text) != "" && !c.index.Said(l.Text)
	})
}

// spacedOut is a figure as it stands where its digits stand apart: a code that is read out.
func spacedOut(v string) string { return strings.Join(strings.Split(v, ""), " ") }

// The figures that are looked for: those with so many digits, and of digits that stand apart so many in a row.
const (
	fewDigits  = 3
	fewApart   = 4
	mostApart  = 8
	mostFigure = 64
)

// moment is a date or a time of the day, which says little by itself.
var moment = regexp.MustCompile(`^(?:(?:19|20)\d\d|\d{1,2}[:.]\d\d(?:[:.]\d\d)?|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4})(?:[t ].*)?$`)

// eachFigure visits the figures and codes of a text until visit returns false.
func eachFigure(text string, visit func(string) bool) {
	var apart []byte
	done := false
	flush := func() {
		for n := fewApart; n <= mostApart && !done; n++ {
			for i := 0; i+n <= len(apart) && !done; i++ {
				done = !visit(string(apart[i : i+n]))
			}
		}
		apart = apart[:0]
	}
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(" \t\n\r|", r) }) {
		v := strings.Trim(word, ".,;:!?()[]{}\"'`*_<>=~")
		switch d := numerals[v]; {
		case done:
			return
		case d != 0:
			apart = append(apart, d)
			continue
		case len(v) == 1 && v[0] >= '0' && v[0] <= '9':
			apart = append(apart, v[0])
			continue
		case v == "" || v == "/" || v == "-":
			continue // what stands between groups of them
		}
		flush()
		if digits := unsigned(v); digits != "" && !done {
			done = !visit(digits)
		}
		done = done || isFigure(v) && !visit(v)
	}
	flush()
}

// isFigure reports whether a word is a figure or a code. An address is judged by what it is.
func isFigure(v string) bool {
	address := strings.ContainsAny(v, "@") || startsURL(v)
	return !address && len(v) <= mostFigure && countDigits(v) >= fewDigits && !moment.MatchString(v)
}

// unsigned are the digits of a figure whose digits signs keep apart: 4-4-1-7. Empty: none are.
func unsigned(v string) string {
	var out []byte
	for i := range len(v) {
		switch b := v[i]; {
		case i%2 == 0 && b >= '0' && b <= '9':
			out = append(out, b)
		case i%2 == 0 || !strings.ContainsRune("-._/,:+*", rune(b)):
			return ""
		}
	}
	if len(out) < fewApart || len(out) > mostApart || moment.MatchString(v) {
		return ""
	}
	return string(out)
}

func countDigits(s string) int {
	n := 0
	for i := range len(s) {
		if s[i] >= '0' && s[i] <= '9' {
			n++
		}
	}
	return n
}

// Carry is a part of a text that stands so in what was read, and the result that it is of.
type Carry struct {
	Part, Tool string
	Step       uint64
	Readers    string // who may read it besides the user, in words; empty: nobody
}

// mostCarries bounds how many parts are told.
const mostCarries = 12

// Carries finds what a text holds of what was read and the user did not say: words in a row, as many as follow one another, addresses
// and figures. It judges nothing; whoever is asked is told what would leave.
func (c *Context) Carries(text string) []Carry {
	c.listen()
	c.index.Bound(leastAsked, c.gone)
	defer c.index.Release()
	var out []Carry
	add := func(part string) bool {
		if part = strings.Trim(part, " .,;:!?"); len(out) == mostCarries || part == "" || c.index.Said(part) || c.isOwn(part) {
			return false
		}
		f := c.index.Of(part)
		if f.Tool == "" || f.Class != valueindex.Text && f.Class != valueindex.Field {
			return false
		}
		if last := len(out) - 1; last < 0 || out[last].Step != f.Step || !strings.Contains(out[last].Part, part) {
			readers := strings.TrimPrefix(c.readers[f.Step].String(), "you, ")
			out = append(out, Carry{part, f.Tool, f.Step, strings.TrimPrefix(readers, "you")})
		}
		return true
	}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		for i := 0; i < len(words) && i < most; {
			i += c.carriedRun(words[i:], add)
		}
	}
	return out
}

// carriedRun is how many words of a line are done with: those in a row that were read, or one.
func (c *Context) carriedRun(words []string, add func(string) bool) int {
	n := 0
	for m := run; m <= len(words) && c.index.Of(strings.Trim(strings.Join(words[:m], " "), ".,;:!?")).Class > valueindex.Unseen; m++ {
		n = m
	}
	if n > 0 && add(strings.Join(words[:n], " ")) {
		return n
	}
	word := strings.Trim(words[0], ".,;:!?()[]{}\"'`*_<>=~")
	if address := len(valueindex.Targets(word)) > 0; address || countDigits(word) >= fewDigits &&
		!moment.MatchString(strings.ToLower(word)) {
		add(word)
	}
	return 1
}
