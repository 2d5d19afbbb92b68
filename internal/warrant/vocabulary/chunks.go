package vocabulary

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// split decides what a chunk is: one token that stands for itself, or words.
func (r *reader) split(start, end int, plain bool) {
	raw := r.text[start:end]
	if plain {
		if camel(raw) {
			r.whole(start, end, Identifier)
			return
		}
		r.plain(start, end)
		return
	}
	if k := r.look(raw); k != Plain {
		r.whole(start, end, k)
		return
	}
	if i := r.entry(letters(lower(raw))); i >= 0 { // e-mail, don't
		r.put(token{text: letters(lower(raw)), start: start, end: end, entry: i})
		return
	}
	at := start
	for i := start; i <= end; {
		c, size := rune(0), 1
		if i < end {
			c, size = r.rune(i)
		}
		if i == end || !opens(c) && c != '\'' && !isQuote(c) || c == '/' || c == '\\' || c == '~' {
			if at < i {
				r.piece(at, i)
			}
			at = i + size
			if c == '.' || c == '?' {
				r.stop()
			}
		}
		i += size
	}
}

// piece is a part of a chunk between signs.
func (r *reader) piece(start, end int) {
	if raw := r.text[start:end]; strings.ContainsAny(raw, "0123456789_@#$") || camel(raw) {
		r.whole(start, end, r.looksLike(raw))
		return
	}
	r.plain(start, end)
}

func (r *reader) whole(start, end int, k Kind) {
	text := lower(r.text[start:end])
	tok := token{text: text, start: start, end: end, entry: -1, kind: k}
	if k == Identifier {
		if i, ok := r.t.index[text]; ok { // PayPal, 2fa
			tok.entry = i
		}
	}
	r.put(tok)
}

// look is the kind of a chunk; Plain for words that are only joined by signs.
func (r *reader) look(raw string) Kind {
	switch at := strings.IndexByte(raw, '@'); {
	case strings.Contains(raw, "://"), strings.HasPrefix(raw, "www."):
		return URL
	case at > 0 && strings.IndexByte(raw[at:], '.') > 0:
		return Email
	case raw[0] == '/' && len(raw) > 1, strings.HasPrefix(raw, "~/"), strings.Contains(raw, `\`) && len(raw) > 2:
		return Path
	}
	if strings.IndexByte(raw, '/') > 0 {
		return r.slashed(raw)
	}
	return r.looksLike(raw)
}

// slashed tells "and/or" from "owner/repo".
func (r *reader) slashed(raw string) Kind {
	if looksNumeric(raw) {
		return Number
	}
	left, right, _ := strings.Cut(raw, "/")
	if r.english(left) && r.english(right) {
		return Plain
	}
	return Path
}

func (r *reader) english(raw string) bool {
	i := r.entry(lower(raw))
	return i >= 0 && r.t.entries[i].langs&english != 0
}

// looksLike tells numbers and identifiers from words.
func (r *reader) looksLike(raw string) Kind {
	switch {
	case looksNumeric(raw):
		return Number
	case strings.ContainsAny(raw, "_0123456789"), raw[0] == '@' && len(raw) > 1, raw[0] == '#' && len(raw) > 1, dotted(raw):
		return Identifier
	}
	return Plain
}

// looksNumeric is about figures, sums, dates and times.
func looksNumeric(raw string) bool {
	digits := false
	for _, c := range raw {
		switch {
		case c >= '0' && c <= '9' || c >= utf8.RuneSelf && unicode.IsDigit(c):
			digits = true
		case strings.ContainsRune(".,:/-+%#'", c), unicode.Is(unicode.Sc, c):
		default:
			return false
		}
	}
	return digits
}

// dotted is about file names and hosts; a full stop without a space after it is neither.
func dotted(raw string) bool {
	i := strings.IndexByte(raw, '.')
	if i <= 0 || i+1 >= len(raw) {
		return false
	}
	next, _ := utf8.DecodeRuneInString(raw[i+1:])
	return !unicode.IsUpper(next) || !strings.ContainsFunc(raw[i+1:], unicode.IsLower)
}

// camel reports whether a capital follows a small letter.
func camel(raw string) bool {
	for i := 1; i < len(raw); i++ {
		if raw[i] >= 'A' && raw[i] <= 'Z' && raw[i-1] >= 'a' && raw[i-1] <= 'z' {
			return true
		}
	}
	return false
}

// plain reads a word of letters, with the apostrophes in it.
func (r *reader) plain(start, end int) {
	for start < end && isApostrophe(r.text[start:end]) > 0 {
		start += isApostrophe(r.text[start:end])
	}
	raw := r.text[start:end]
	if raw == "" {
		return
	}
	text := letters(lower(raw))
	if i, ok := r.t.index[text]; ok {
		r.put(token{text: text, start: start, end: end, entry: i})
		return
	}
	cut := strings.IndexByte(text, '\'')
	if cut <= 0 {
		r.put(token{text: text, start: start, end: end, entry: -1})
		return
	}
	switch text[cut+1:] {
	case "s", "d", "ll", "re", "ve", "m", "": // Tom's
		r.put(token{text: text[:cut], start: start, end: end, entry: r.entry(text[:cut])})
		return
	}
	mid := strings.IndexAny(raw, "'’ʼ＇")
	if mid <= 0 {
		r.put(token{text: text, start: start, end: end, entry: -1})
		return
	}
	mid += start + isApostrophe(raw[mid:])
	r.put(token{text: text[:cut+1], start: start, end: mid, entry: r.entry(text[:cut+1])}) // l'heure
	r.plain(mid, end)
}

func (r *reader) entry(text string) int32 {
	if i, ok := r.t.index[text]; ok {
		return i
	}
	return -1
}

// isApostrophe is the size of the apostrophe that s begins with.
func isApostrophe(s string) int {
	c, size := utf8.DecodeRuneInString(s)
	if c == '\'' || isQuote(c) {
		return size
	}
	return 0
}
