// Package redact removes secrets from text and from the arguments of calls before they
// are stored, shown or sent. It is pure. It errs on the side of removing too much.
//
// Invariants:
//   - what is built in is always looked for: rules add to it, nothing takes it away;
//   - redacting twice gives what redacting once gave;
//   - arguments stay JSON of the same shape, whatever is removed;
//   - a Redactor that nobody compiled removes everything;
//   - every search is linear in the text: expressions are RE2, the rest are scans.
package redact

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Mark replaces what was removed.
const Mark = "[REDACTED]"

// A Redactor holds compiled rules; it is safe for concurrent use. The zero Redactor
// removes everything.
type Redactor struct {
	shipped  *library
	patterns []*regexp.Regexp // of the configuration
	fields   []fieldRule
}

// New is what every installation has: the built-in patterns and DefaultRules.
func New() *Redactor { return newRedactor(DefaultRules().Fields) }

func newRedactor(fields []FieldRule) *Redactor {
	r := &Redactor{shipped: shipped()}
	for _, f := range fields {
		r.fields = append(r.fields, compileField(f))
	}
	return r
}

// shipped is compiled once: it never changes, and every policy has a Redactor.
var shipped = sync.OnceValue(newLibrary)

// maxRounds bounds how often a text is gone through. What is removed may make a name and
// its value out of what stood around it, so that a second look finds more.
const maxRounds = 8

// Text is s without secrets. A secret with invisible characters inside is one too: then
// the text is given back without them.
func (r *Redactor) Text(s string) string {
	if r == nil || r.shipped == nil {
		return mark(s)
	}
	s = r.settle(s)
	if bare := visible(s); bare != s {
		if clean := r.settle(bare); clean != bare {
			return clean
		}
	}
	return s
}

func mark(s string) string {
	if s == "" {
		return ""
	}
	return Mark
}

// settle removes until there is nothing left to remove.
func (r *Redactor) settle(s string) string {
	for range maxRounds {
		next := r.pass(s)
		if next == s {
			return s
		}
		s = next
	}
	return Mark // text that never settles was made to
}

// pass goes through the text once. What is found by its own form comes before what is
// found by a name beside it, so that the rest of a half-removed value is taken too.
func (r *Redactor) pass(s string) string {
	s = r.shipped.remove(s)
	if manyDigits(s) {
		s = maskDigits(s)
	}
	s = removeFlags(s)
	s = removeNamed(s)
	s = removeSaid(s)
	for _, re := range r.patterns {
		s = re.ReplaceAllLiteralString(s, Mark)
	}
	return s
}

// visible is s without characters that are not seen. Most text has none.
func visible(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return strings.Map(func(c rune) rune {
				if unseen(c) {
					return -1
				}
				return c
			}, s)
		}
	}
	return s
}

// unseen are format characters, and letters and marks that are drawn as nothing.
func unseen(c rune) bool {
	switch {
	case c < 0xad:
		return false
	case c == 0xad, c == 0x34f, c == 0x115f, c == 0x1160, c == 0x17b4, c == 0x17b5, c == 0x3164, c == 0xffa0:
		return true
	case c >= 0xfe00 && c <= 0xfe0f, c >= 0xe0100 && c <= 0xe01ef:
		return true
	}
	return unicode.Is(unicode.Cf, c)
}
