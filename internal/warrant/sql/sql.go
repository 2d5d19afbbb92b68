// Package sql tells whether a statement only reads. It knows no dialect: a statement is a read only where every dialect
// would take it for one. One plain statement that begins with a word of reading, made of tables, operators and functions
// known to compute and nothing else, without comments, escapes or quotations that dialects read differently. Everything
// that it does not know does something.
package sql

import (
	_ "embed" // the words are part of the program
	"strings"
	"unicode"

	"github.com/tidemark/tidemark/internal/warrant/wordlist"
)

//go:embed words.txt
var wordsText string

var (
	lists = wordlist.Read(wordsText)

	openers = lists.Set("openers") // first words of statements that read
	acting  = lists.Set("acting")  // words that a read does not have
	pure    = lists.Set("pure")    // functions that compute
	before  = lists.Set("before")  // words that stand before a bracket and are no functions
)

// maxLength bounds what is read: nobody looks through more either.
const maxLength = 64 << 10

// Reads reports whether a text is one statement that only reads.
func Reads(text string) bool {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > maxLength {
		return false
	}
	if last := len(text) - 1; text[last] == ';' {
		text = text[:last]
	}
	text, ok := unremarked(text)
	if !ok {
		return false
	}
	r := reader{rest: text}
	first, qualified := true, false
	var g grammar
	for {
		token, kind := r.next()
		switch {
		case kind == bad:
			return false
		case kind == end:
			return !first
		case first:
			if kind != word || !openers[token] {
				return false
			}
			first = false
		case kind == word && writes(token, qualified):
			return false
		}
		if !g.takes(token, kind, &r) {
			return false
		}
		if r.calls() && kind != sign && (kind != word || qualified || !computes(token)) {
			return false // a function that nobody knows, or one of a schema of somebody's
		}
		qualified = kind == value && token == "."
	}
}

// computes reports whether a word before a bracket is a function that computes, or none.
func computes(token string) bool { return pure[token] || before[token] }

// writes reports whether a word does something: whatever the dialect, or as a member of a sequence.
func writes(token string, qualified bool) bool { return acting[token] || qualified && sequences[token] }

// unremarked is a statement without the remarks on lines of their own before it, which are such in every dialect.
func unremarked(text string) (string, bool) {
	for strings.HasPrefix(text, "-- ") {
		_, rest, found := strings.Cut(text, "\n")
		if !found {
			return "", false
		}
		text = strings.TrimSpace(rest)
	}
	return text, true
}

type kind uint8

const (
	bad   kind = iota // what dialects read differently
	word              // a plain word, in small letters
	name              // a quoted name
	value             // a text or a number
	sign              // anything else
	end
)

// reader takes a statement apart.
type reader struct{ rest string }

// calls reports whether a bracket opens next.
func (r *reader) calls() bool { return strings.HasPrefix(strings.TrimLeft(r.rest, " \t\r\n"), "(") }

func (r *reader) next() (string, kind) {
	r.rest = strings.TrimLeft(r.rest, " \t\r\n")
	if r.rest == "" {
		return "", end
	}
	c := r.rest[0]
	switch {
	case c == '\'':
		return r.quoted(c, value)
	case c == '"' || c == '`':
		return r.quoted(c, name)
	case strings.HasPrefix(r.rest, "!="):
		r.rest = r.rest[2:]
		return "!=", sign
	case strings.ContainsRune("\\;#$@[]{}!~", rune(c)), strings.HasPrefix(r.rest, "--"), strings.HasPrefix(r.rest, "/*"):
		return "", bad
	case c >= '0' && c <= '9' || c == '.':
		return r.while(value, func(s rune) bool { return unicode.IsDigit(s) || s == '.' })
	case c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
		return r.while(word, func(s rune) bool {
			return s == '_' || s < unicode.MaxASCII && (unicode.IsLetter(s) || unicode.IsDigit(s))
		})
	case c > unicode.MaxASCII:
		return "", bad // letters that one dialect folds and another does not
	}
	r.rest = r.rest[1:]
	return string(c), sign
}

// quoted reads what stands between quotation marks. Doubled ones are read alike by all; a backslash is not.
func (r *reader) quoted(mark byte, k kind) (string, kind) {
	for i := 1; i < len(r.rest); i++ {
		switch {
		case r.rest[i] == '\\':
			return "", bad
		case r.rest[i] != mark:
		case i+1 < len(r.rest) && r.rest[i+1] == mark:
			i++
		default:
			r.rest = r.rest[i+1:]
			return "", k
		}
	}
	return "", bad
}

func (r *reader) while(k kind, in func(rune) bool) (string, kind) {
	n := strings.IndexFunc(r.rest, func(s rune) bool { return !in(s) })
	if n < 0 {
		n = len(r.rest)
	}
	token := strings.ToLower(r.rest[:n])
	r.rest = r.rest[n:]
	return token, k
}
