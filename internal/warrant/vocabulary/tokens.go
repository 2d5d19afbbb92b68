package vocabulary

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// token is a word of a text that has been found but not read.
type token struct {
	text       string
	start, end int
	sentence   int32
	entry      int32 // -1 for a word nobody knows
	kind       Kind
	written    bool // in a script without spaces
}

// reader takes one text apart.
type reader struct {
	t        *Table
	text     string
	tokens   []token
	sentence int32
	kana     bool
}

func (r *reader) put(tok token) {
	if tok.text == "" { // nothing but marks
		return
	}
	tok.sentence = r.sentence
	r.tokens = append(r.tokens, tok)
}

// scan finds the words of the text.
func (r *reader) scan() {
	for i := 0; i < len(r.text); {
		c, size := r.rune(i)
		switch {
		case c == '\n' || ends(c):
			r.stop()
			i += size
		case isHan(c):
			i = r.script(i, func(c rune) bool { return isHan(c) || unicode.Is(unicode.Mn, c) }, r.run)
		case isHangul(c):
			i = r.script(i, isHangul, r.hangul)
		case opens(c):
			i = r.chunk(i)
		default:
			i += size
		}
	}
}

func (r *reader) rune(i int) (rune, int) {
	if c := r.text[i]; c < utf8.RuneSelf {
		return rune(c), 1
	}
	return utf8.DecodeRuneInString(r.text[i:])
}

// stop ends the sentence, unless nothing was said in it.
func (r *reader) stop() {
	if n := len(r.tokens); n > 0 && r.tokens[n-1].sentence == r.sentence {
		r.sentence++
	}
}

// ends reports whether a sign that stands outside a word ends a sentence.
func ends(c rune) bool {
	switch c {
	case '.', '!', '?', ';', '。', '！', '？', '；', '؟', '؛', '…', '．':
		return true
	}
	return false
}

// opens reports whether a word, a number, an address or a path may begin so.
func opens(c rune) bool {
	if c < utf8.RuneSelf {
		return isWordByte(byte(c)) || c == '@' || c == '#' || c == '/' || c == '~' || c == '$' || c == '\\'
	}
	return unicode.IsLetter(c) || unicode.IsDigit(c) || unicode.IsMark(c) || unicode.Is(unicode.Sc, c)
}

func isWordByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_'
}

// script reads a run of letters for which is holds, in one form.
func (r *reader) script(i int, is func(rune) bool, read func(text string, start int)) int {
	end := i
	for end < len(r.text) {
		c, size := r.rune(end)
		if !is(c) {
			break
		}
		r.kana = r.kana || isKana(c)
		end += size
	}
	raw, from := r.text[i:end], len(r.tokens)
	if norm.NFKC.IsNormalString(raw) {
		read(raw, i)
	} else {
		r.respelled(raw, i, read)
	}
	for k := from; k < len(r.tokens); k++ {
		r.tokens[k].written = true
	}
	return end
}

// respelled reads a run in its normal form and puts its words where they stand in the text.
func (r *reader) respelled(raw string, i int, read func(text string, start int)) {
	var it norm.Iter
	var text []byte
	var at []int // for each byte of the normal form, where it came from
	for it.InitString(norm.NFKC, raw); !it.Done(); {
		pos := it.Pos()
		part := it.Next()
		text = append(text, part...)
		for range part {
			at = append(at, pos)
		}
	}
	at = append(at, len(raw))
	from := len(r.tokens)
	read(string(text), 0)
	for k := from; k < len(r.tokens); k++ {
		tok := &r.tokens[k]
		tok.start, tok.end = i+at[tok.start], i+at[tok.end]
	}
}

// chunk reads what stands between spaces, from a word or address to its end.
func (r *reader) chunk(i int) int {
	end := i
	plain := true // nothing but letters
	for end < len(r.text) {
		c := r.text[end]
		if c < utf8.RuneSelf {
			if breaks[c] {
				break
			}
			plain = plain && c|0x20 >= 'a' && c|0x20 <= 'z'
			end++
			continue
		}
		letter, size := utf8.DecodeRuneInString(r.text[end:])
		inside := opens(letter) || isQuote(letter) || decorated(letter) < 0
		if isHan(letter) || isHangul(letter) || !inside {
			break
		}
		plain = plain && !isQuote(letter)
		end += size
	}
	last := end
	for last > i+1 && strings.IndexByte(".?:'/\\&=-", r.text[last-1]) >= 0 {
		last--
	}
	r.split(i, last, plain)
	if strings.ContainsAny(r.text[last:end], ".?") && !r.ordinal(i, last, end) {
		r.stop()
	}
	return max(end, i+1)
}

// ordinal reports whether a chunk is a day of the month, with the full stop that some languages write behind it: "vom 3. bis 14. August".
func (r *reader) ordinal(from, last, end int) bool {
	if r.text[last:end] != "." || last-from > 2 || strings.Trim(r.text[from:last], "0123456789") != "" {
		return false
	}
	rest, ok := strings.CutPrefix(r.text[end:], " ")
	if !ok {
		return false
	}
	next := strings.IndexFunc(rest, func(c rune) bool { return !unicode.IsLetter(c) })
	if next < 0 {
		next = len(rest)
	}
	return next <= longestOrdinal && r.t.ordinals[lower(rest[:next])]
}

// longestOrdinal bounds the word that is looked up behind a day.
const longestOrdinal = 16

// breaks are the bytes that end a chunk.
var breaks = func() (t [utf8.RuneSelf]bool) {
	for c := range t {
		t[c] = c <= ' ' || strings.IndexByte("\"<>()[]{}|`*,;!", byte(c)) >= 0
	}
	return t
}()

func isQuote(c rune) bool { return c == '’' || c == 'ʼ' || c == '＇' }

// lower is the one spelling of a word: NFKC, small letters.
func lower(w string) string {
	if isASCII(w) {
		return strings.ToLower(w)
	}
	return strings.ToLower(norm.NFKC.String(w))
}

// Spelling is the one spelling of a word, as words of a text are given: lists that they are looked up in have it too.
func Spelling(w string) string { return letters(lower(w)) }

// letters takes out what only decorates letters: Arabic vowel signs, joiners, soft hyphens;
// it writes the Arabic letters that are confused in one way.
func letters(w string) string {
	if isASCII(w) {
		return w
	}
	touched := false
	for _, c := range w {
		if decorated(c) != c {
			touched = true
			break
		}
	}
	if !touched {
		return w
	}
	return strings.Map(decorated, w)
}

func decorated(c rune) rune {
	switch {
	case c >= 0x64b && c <= 0x652, c == 0x670, c == 0x640, c == 0x200c, c == 0x200d, c == 0xad:
		return -1
	case c == 'أ', c == 'إ', c == 'آ', c == 'ٱ':
		return 'ا'
	case c == 'ى':
		return 'ي'
	case c == 'ة':
		return 'ه'
	case isQuote(c):
		return '\''
	}
	return c
}
