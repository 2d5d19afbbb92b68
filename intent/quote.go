package intent

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// markRoom is what the mark of a cut takes at most, quotes on both sides of it included.
const markRoom = len(`"…(+ chars)…"`) + 20

// quoting says where a quoted text will stand.
type quoting uint8

const (
	// shown escapes what JSON wants escaped and what no eye can see.
	shown quoting = iota
	// framed also escapes what a chat template could take for one of its own marks, such
	// as <|im_end|> or [INST]: some servers look for them in the text of a message.
	framed
)

// quote writes s as one JSON string, on one line and at most limit bytes long. What does
// not fit is cut from the middle, so that neither end can push the other out of sight;
// the mark of the cut stands outside the quotes, where s has no way to put one.
func (q quoting) quote(s string, limit int) string {
	if whole, n := q.prefix(s, limit-2); n == len(s) && limit >= 2 {
		return `"` + whole + `"`
	}
	room := limit - markRoom - 2
	if room < 8 {
		return mark(utf8.RuneCountInString(s), limit)
	}
	head, from := q.prefix(s, room-room/3)
	tail, to := q.suffix(s, from, room/3)
	return fmt.Sprintf(`"%s"…(+%d chars)…"%s"`, head, utf8.RuneCountInString(s[from:to]), tail)
}

// mark stands for n characters where there is no room for any of them.
func mark(n, limit int) string {
	for _, m := range []string{fmt.Sprintf("…(+%d chars)", n), "…"} {
		if len(m) <= limit {
			return m
		}
	}
	return ""
}

// prefix escapes the beginning of s, as far as room allows, and says where it ends.
func (q quoting) prefix(s string, room int) (string, int) {
	out := make([]byte, 0, max(0, min(len(s), room)))
	i := 0
	for i < len(s) {
		size := runeLen(s, i)
		next := q.appendRune(out, s, i)
		if len(next) > room {
			break
		}
		out, i = next, i+size
	}
	return string(out), i
}

// suffix escapes the end of s, as far as room allows but not beyond from, and says where
// it begins.
func (q quoting) suffix(s string, from, room int) (string, int) {
	i, used := len(s), 0
	for i > from {
		_, size := utf8.DecodeLastRuneInString(s[:i])
		if used += len(q.appendRune(nil, s, i-size)); used > room {
			break
		}
		i -= size
	}
	tail, _ := q.prefix(s[i:], room)
	return tail, i
}

func runeLen(s string, i int) int {
	_, size := utf8.DecodeRuneInString(s[i:])
	return size
}

// appendRune appends the character at i as it stands inside quotes.
func (q quoting) appendRune(b []byte, s string, i int) []byte {
	r, size := utf8.DecodeRuneInString(s[i:])
	switch {
	case r == '"' || r == '\\':
		return append(b, '\\', byte(r))
	case r == '\n':
		return append(b, `\n`...)
	case r == '\t':
		return append(b, `\t`...)
	case r == utf8.RuneError && size <= 1, q == framed && templateMark(s[i:]), !visible(r):
		if hi, lo := surrogates(r); lo != 0 {
			return fmt.Appendf(b, `\u%04x\u%04x`, hi, lo)
		}
		return fmt.Appendf(b, `\u%04x`, r)
	}
	return append(b, s[i:i+size]...)
}

// templateMark reports whether a mark of a chat template may begin here.
func templateMark(s string) bool {
	switch s[0] {
	case '<':
		return true
	case '[':
		return len(s) > 1 && (s[1] == '/' || s[1] >= 'A' && s[1] <= 'Z')
	}
	return false
}

// visible reports whether a reader sees the character: what only a model sees is escaped.
func visible(r rune) bool {
	return unicode.IsPrint(r) && !unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// surrogates is how JSON escapes a character beyond the basic plane; lo is 0 within it.
func surrogates(r rune) (hi, lo rune) {
	if r < 0x10000 {
		return r, 0
	}
	r -= 0x10000
	return 0xd800 + r>>10, 0xdc00 + r&0x3ff
}

// list quotes names one after the other; beyond limit it says how many there are.
func (q quoting) list(names []string, limit, each int) string {
	var b strings.Builder
	for i, name := range names {
		if i == limit {
			fmt.Fprintf(&b, " …(+%d more)", len(names)-limit)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(q.quote(name, each))
	}
	return b.String()
}
