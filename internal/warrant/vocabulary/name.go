package vocabulary

import (
	"strings"
	"unicode"
)

// Name are the words of a name in a program: snake_case, kebab-case, camelCase, with dots and
// digits.
func (t *Table) Name(name string) []Word {
	r := &reader{t: t, text: name}
	start := -1
	flush := func(end int) {
		if start >= 0 && end > start {
			r.named(start, end)
		}
		start = -1
	}
	var before, here rune
	pos := 0
	for i, next := range name + "\x00" { // one letter ahead
		if i > 0 {
			switch {
			case !unicode.IsLetter(here) && !unicode.IsDigit(here) && !unicode.IsMark(here):
				flush(pos)
			case start < 0:
				start = pos
			case border(before, here, next):
				flush(pos)
				start = pos
			}
		}
		before, here, pos = here, next, i
	}
	flush(len(name))
	return r.words()
}

// border reports whether a word begins at here.
func border(before, here, next rune) bool {
	switch {
	case (isHan(here) || isHangul(here)) != (isHan(before) || isHangul(before)):
		return true
	case isHan(here) || isHangul(here):
		return false
	case unicode.IsUpper(here) && !unicode.IsUpper(before):
		return true
	case unicode.IsUpper(here):
		return unicode.IsLower(next) && next != 's'
	}
	return unicode.IsDigit(here) != unicode.IsDigit(before)
}

// named reads one word of a name.
func (r *reader) named(start, end int) {
	if c, _ := r.rune(start); isHan(c) || isHangul(c) {
		read := r.run
		if isHangul(c) {
			read = r.hangul
		}
		r.script(start, func(c rune) bool { return isHan(c) || isHangul(c) }, read)
		return
	}
	text := letters(lower(r.text[start:end]))
	kind := Plain
	if looksNumeric(text) {
		kind = Number
	}
	i := r.entry(text)
	if i < 0 && kind == Plain {
		if cut := r.runTogether(text); cut > 0 && len(text) == end-start {
			r.put(token{text: text[:cut], start: start, end: start + cut, entry: r.entry(text[:cut])})
			r.put(token{text: text[cut:], start: start + cut, end: end, entry: r.entry(text[cut:])})
			return
		}
	}
	r.put(token{text: text, start: start, end: end, entry: i, kind: kind})
}

// runTogether finds where a word such as "sendmessage" falls into a verb and a noun; 0 if it
// does not.
func (r *reader) runTogether(w string) int {
	if len(w) < 6 || !isASCII(w) || strings.ContainsAny(w, "0123456789'") {
		return 0
	}
	for i := len(w) - 3; i >= 3; i-- {
		a, b := r.entry(w[:i]), r.entry(w[i:])
		if a >= 0 && b >= 0 && r.means(a, ofAct, english) && r.means(b, ofThing, english) {
			return i
		}
	}
	return 0
}
