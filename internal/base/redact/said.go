package redact

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

//go:embed data/said.txt
var saidFile string

// saying is what a word is in a sentence that tells a secret.
type saying uint8

const (
	saysNothing saying = iota
	saysSecret
	saysPhrase
	saysNumber
	saysIs
	saysEnter
	saysState
)

var sayings = map[string]saying{
	"secret": saysSecret, "phrase": saysPhrase, "number": saysNumber, "is": saysIs, "enter": saysEnter, "state": saysState,
}

// spoken are the words of all languages: those between spaces by their parts, and those that stand inside of others.
type spoken struct {
	words  map[string]saying // parts with one space between; a word of two languages is what says more
	inside map[string]saying // nouns of languages without spaces
	most   int               // parts of the longest
	heads  map[uint32]bool   // how nouns begin, in either case
	some   [1 << 10]uint64   // bits of a sum of those: most words are none
}

// head is how a word begins, without the case of plain letters.
func head(s string) uint32 {
	h := uint32(lower(s[0])) | uint32(lower(s[1]))<<8 | uint32(lower(s[2]))<<16
	if len(s) > 3 && (s[3] >= utf8.RuneSelf || alnum(s[3])) { // else it is a word of three letters
		h |= uint32(lower(s[3])) << 24
	}
	return h
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// place is where the bit of a beginning stands.
func place(h uint32) (word, bit uint32) {
	h *= 0x9E3779B1
	return h >> 22, h >> 16 & 63
}

func (w *spoken) begin(noun string) {
	first, n := utf8.DecodeRuneInString(noun)
	for _, s := range []string{noun, strings.ToUpper(noun), string(unicode.ToUpper(first)) + noun[n:]} {
		if len(s) > 2 {
			h := head(s)
			word, bit := place(h)
			w.heads[h] = true
			w.some[word] |= 1 << bit
		}
	}
}

// mayTell reports whether a word of the text begins as one does that tells a secret: most texts have none.
func (w *spoken) mayTell(s string) bool {
	inside := false
	for i := 0; i+2 < len(s); i++ {
		c := s[i]
		starts := c >= utf8.RuneSelf || alnum(c) && !inside
		inside = alnum(c)
		if !starts {
			continue
		}
		h := head(s[i:])
		if word, bit := place(h); w.some[word]>>bit&1 == 1 && w.heads[h] {
			return true
		}
	}
	return false
}

// spokenWords are read once: they never change.
var spokenWords = sync.OnceValue(func() *spoken { return readSpoken(saidFile) })

// joined are the languages that put no spaces between words, or write endings onto them.
const joined = "zh ja ko"

func readSpoken(file string) *spoken {
	out := &spoken{words: map[string]saying{}, inside: map[string]saying{}, heads: map[uint32]bool{}}
	for line := range strings.Lines(file) {
		fields := strings.Fields(line)
		if len(fields) < 3 || strings.HasPrefix(line, "//") {
			continue
		}
		kind := sayings[fields[1]]
		for _, w := range fields[2:] {
			w = strings.ToLower(strings.ReplaceAll(w, "_", " "))
			if kind != saysIs && kind != saysState {
				out.begin(w)
			}
			if oneOf(fields[0], joined) && kind != saysIs {
				out.inside[w] = kind
				continue
			}
			out.most = max(out.most, 1+strings.Count(w, " "))
			if was := out.words[w]; was == saysNothing || kind < was {
				out.words[w] = kind
			}
		}
	}
	return out
}

// How far from its noun a secret stands: behind a word for "is" that comes within so many words, or itself within so many.
const (
	saidBefore = 6
	saidBeside = 2
	saidPhrase = 24 // words of a phrase
	saidEnter  = 8  // words after "log in"
)

// piece is a word of a text, without the quotes and marks around it.
type piece struct {
	from, to int
	folded   string
	quoted   bool
	ends     bool // a sentence or clause ends behind it
	stops    bool // and it is a sentence
	inside   bool // it is a noun that was found inside of a word
	assigns  bool // a colon or an equals sign stands behind it
}

// removeSaid removes the secrets that a sentence tells, in any of the shipped languages.
func removeSaid(s string) string {
	words := spokenWords()
	if !words.mayTell(s) {
		return s
	}
	list := piecesOf(s)
	gone := make([]bool, len(list))
	for i := range list {
		kind, n := words.at(list, i)
		switch kind {
		case saysSecret, saysPhrase, saysNumber:
			tellNoun(list, gone, words, i+n-1, kind)
		case saysEnter:
			tellEntry(list, gone, i+n)
		}
	}
	var b strings.Builder
	last := 0
	for i, p := range list {
		if gone[i] {
			b.WriteString(s[last:p.from])
			b.WriteString(Mark)
			last = p.to
		}
	}
	if last == 0 {
		return s
	}
	b.WriteString(s[last:])
	return b.String()
}

// at is what begins at a word, the longest first, and of how many words it is.
func (w *spoken) at(list []piece, i int) (saying, int) {
	for n := min(w.most, len(list)-i); n > 1; n-- {
		if joinsUp(list, i, n) {
			if kind := w.words[foldedOf(list[i:i+n])]; kind != saysNothing {
				return kind, n
			}
		}
	}
	return w.words[list[i].folded], 1
}

// joinsUp reports whether no clause ends between n words.
func joinsUp(list []piece, i, n int) bool {
	for k := i; k < i+n-1; k++ {
		if list[k].ends || list[k].assigns || list[k].quoted {
			return false
		}
	}
	return true
}

func foldedOf(list []piece) string {
	parts := make([]string, len(list))
	for i, p := range list {
		parts[i] = p.folded
	}
	return strings.Join(parts, " ")
}

// tellNoun marks what a noun at i says.
func tellNoun(list []piece, gone []bool, words *spoken, i int, kind saying) {
	is := list[i].assigns
	if is && !list[i].inside && nameOf(list[i].folded) > plainName {
		return // see removeNamed, which knows code from prose
	}
	for k := i + 1; k < len(list) && k-i <= saidBefore && !list[k-1].stops && (is || !list[k-1].ends); k++ {
		link, n := words.at(list, k)
		switch {
		case is:
			many := kind == saysPhrase && k+2 < len(list) && !list[k].ends // a phrase may begin with any word
			tellValue(list[k:], gone[k:], kind, link != saysState || many)
			return
		case link == saysIs:
			k += n - 1
			is = true
		case list[k].assigns:
			is = true
		case k-i <= saidBeside && !isMark(list[k]) && tells(list[k], kind):
			gone[k] = true
			return
		}
	}
}

// tells reports whether a word looks like what a noun of a kind says.
func tells(p piece, kind saying) bool {
	if kind == saysNumber {
		return mostlyDigits(p)
	}
	return looksSecret(p)
}

// tellValue marks what is said to be the secret, at the first word or soon after it. Where that is said of secrets that are not
// told (wrong, not, in the safe), only what looks like one counts.
func tellValue(list []piece, gone []bool, kind saying, told bool) {
	most := 4
	if kind == saysPhrase {
		most = saidPhrase
	}
	for i, p := range list[:min(most, len(list))] {
		looks := looksSecret(p) || mostlyDigits(p)
		if kind == saysNumber {
			looks = mostlyDigits(p)
		}
		named := told && (kind == saysPhrase || kind == saysSecret && i == 0)
		if (named || looks) && !isMark(p) {
			gone[i] = true
		}
		if p.stops || p.ends && kind == saysPhrase || looks && kind == saysSecret {
			return
		}
	}
}

// tellEntry marks what looks like a secret after "log in".
func tellEntry(list []piece, gone []bool, from int) {
	for k := from; k < len(list) && k-from < saidEnter && (k == 0 || !list[k-1].ends); k++ {
		if looksSecret(list[k]) && !isMark(list[k]) {
			gone[k] = true
		}
	}
}

func isMark(p piece) bool { return strings.Contains(p.folded, "redacted") }

func digitsOf(p piece) (n int) {
	for i := range len(p.folded) {
		if c := p.folded[i]; c >= '0' && c <= '9' {
			n++
		}
	}
	return n
}

// mostlyDigits reports whether a word is a number as people are given them.
func mostlyDigits(p piece) bool { return digitsOf(p) >= 3 && 2*digitsOf(p) >= len(p.folded) }

// looksSecret reports whether a word is none of a language: letters with digits among them, or with marks that no word, name,
// address or path has.
func looksSecret(p piece) bool {
	if p.to-p.from < 4 || strings.Contains(p.folded, "://") || strings.ContainsAny(p.folded, "@/") && digitsOf(p) == 0 {
		return false
	}
	letters, digits, marks := 0, digitsOf(p), 0
	for _, c := range p.folded {
		switch {
		case unicode.IsLetter(c):
			letters++
		case strings.ContainsRune("()[]{}<>/\\\"", c):
			return false // of a program
		case strings.ContainsRune("!#$%&*+=?^~|@", c):
			marks++
		}
	}
	address := strings.Contains(p.folded, "@") && strings.Contains(p.folded, ".")
	return !address && (letters > 0 && digits > 0 || marks > 0 && letters+digits > 3)
}

// piecesOf are the words of a text. Where a word of a language without spaces stands in one, that is a piece of its own, and
// what is written in other letters behind it another.
func piecesOf(s string) []piece {
	var out []piece
	for i := 0; i < len(s); {
		c, n := utf8.DecodeRuneInString(s[i:])
		if unicode.IsSpace(c) {
			if c == '\n' && len(out) > 0 && !out[len(out)-1].assigns {
				out[len(out)-1].ends, out[len(out)-1].stops = true, true
			}
			i += n
			continue
		}
		to := i
		for to < len(s) {
			c, n := utf8.DecodeRuneInString(s[to:])
			if unicode.IsSpace(c) {
				break
			}
			to += n
		}
		out = splitJoined(out, s, i, to)
		i = to
	}
	return out
}

// splitJoined adds what stands between two spaces.
func splitJoined(out []piece, s string, from, to int) []piece {
	start, wide := from, false
	for i := from; i < to; {
		c, n := utf8.DecodeRuneInString(s[i:])
		is := unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || c == 'ー'
		if is != wide && i > start {
			out = addPiece(out, s, start, i)
			start = i
		}
		wide = is
		i += n
	}
	return addPiece(out, s, start, to)
}

const (
	saidOpening  = "\"'`([{«»„“”‘’「『（《<"
	saidClosing  = "\"'`)]}«»“”‘’」』）》>"
	saidPausing  = ",，、،"
	saidStopping = ".;!?。；！？؟"
	saidAssigns  = ":=："
)

// addPiece adds one word without the marks around it.
func addPiece(out []piece, s string, from, to int) []piece {
	p := piece{}
	for from < to {
		c, n := utf8.DecodeRuneInString(s[from:to])
		if !strings.ContainsRune(saidOpening, c) {
			break
		}
		p.quoted = true
		from += n
	}
	for from < to {
		c, n := utf8.DecodeLastRuneInString(s[from:to])
		switch {
		case strings.ContainsRune(saidPausing, c):
			p.ends = true
		case strings.ContainsRune(saidStopping, c):
			p.ends, p.stops = true, true
		case strings.ContainsRune(saidAssigns, c):
			p.assigns = true
		case !strings.ContainsRune(saidClosing, c):
			p.from, p.to, p.folded = from, to, strings.ToLower(s[from:to])
			return appendJoined(out, s, p)
		}
		to -= n
	}
	if len(out) > 0 { // marks alone
		out[len(out)-1].ends = out[len(out)-1].ends || p.ends
		out[len(out)-1].stops = out[len(out)-1].stops || p.stops
		out[len(out)-1].assigns = out[len(out)-1].assigns || p.assigns
	}
	return out
}

// appendJoined adds a word, and tells a noun of a language without spaces from what stands around it. The rest of the word
// after such a noun is the "is" of that language, or stands between it and the secret.
func appendJoined(out []piece, s string, p piece) []piece {
	if !wideWord(p.folded) {
		return append(out, p)
	}
	words := spokenWords()
	best, at, size := saysNothing, 0, 0
	for noun, kind := range words.inside {
		if i := strings.LastIndex(p.folded, noun); i >= 0 && (len(noun) > size || len(noun) == size && i > at) {
			best, at, size = kind, i, len(noun)
		}
	}
	if best == saysNothing || len(p.folded) != p.to-p.from {
		return append(out, p)
	}
	noun := p
	noun.from, noun.to, noun.folded = p.from+at, p.from+at+size, joinedNoun(best)
	noun.inside = true
	noun.assigns = p.assigns || noun.to < p.to // what is behind it says that the next is it
	return append(out, noun)
}

func wideWord(s string) bool {
	c, _ := utf8.DecodeRuneInString(s)
	return c >= 0x1100
}

// joinedNoun is a noun of another language that means the same.
func joinedNoun(kind saying) string {
	for _, w := range []string{"password", "passphrase", "pin", "login"} {
		if spokenWords().words[w] == kind {
			return w
		}
	}
	return ""
}
