// Package sayings holds what MCP servers say of themselves: definitions of tools, titles, schemas, greetings, listings, logs. A model reads
// it, and nobody stands behind it: a value that stands there may be what a server wants, and not what the user does.
//
// It is pure. Invariants:
//   - a value is found however it is written: in other letter shapes, with signs that are not seen, in other cases, with blanks or
//     dashes between;
//   - what there was no room for may say anything: then every value stands there.
package sayings

import (
	"maps"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// The bounds of what is kept, far above what models are given: of all, and of one server where several share a book.
const (
	most = 8 << 20
	each = 1 << 20
)

// shortest is how long a value must be, folded, to be told from a word that stands anywhere.
const shortest = 6

// Book is what was said in one conversation, or to all of them. The zero Book is empty. It is not safe for concurrent use; one that is only
// read and extended by With is.
type Book struct {
	of    map[string]string // what each server said, folded, each text on lines of its own
	known map[string]bool   // the texts themselves, so that a listing which comes again takes no room
	size  int
	full  bool
}

// Add notes what a server said. The name is the server's, or "" of tools that belong to none.
func (b *Book) Add(server, text string) {
	if text != "" && !b.known[server+"\x00"+text] && !b.put(server, text) {
		b.full = true
	}
}

// With is a book that has what a server said too. It reports false, and is the same book, where there is no room for it.
func (b *Book) With(server, text string) (*Book, bool) {
	switch {
	case text == "" || b.known[server+"\x00"+text]:
		return b, true
	case len(b.of[server])+len(text) > each:
		return b, false
	}
	more := &Book{of: maps.Clone(b.of), known: maps.Clone(b.known), size: b.size, full: b.full}
	if !more.put(server, text) {
		return b, false
	}
	return more, true
}

func (b *Book) put(server, text string) bool {
	said := Fold(text) + "\n" // no value goes on from one text to the next
	if b.size+len(text)+len(said) > most {
		return false
	}
	if b.of == nil {
		b.of, b.known = map[string]string{}, map[string]bool{}
	}
	b.known[server+"\x00"+text] = true
	b.of[server] += said
	b.size += len(text) + len(said)
	return true
}

// AddJSON notes a JSON text by its values and keys, as they read and not as JSON spells them.
func (b *Book) AddJSON(server string, raw []byte) {
	if len(raw) == 0 {
		return
	}
	b.Add(server, Plain(raw))
}

// Plain is a JSON text by its values and keys, as they read.
func Plain(raw []byte) string {
	var words strings.Builder
	for _, leaf := range strictjson.Flat(string(raw)) {
		words.WriteString(leaf.Path + "\n" + leaf.Text + "\n")
	}
	return words.String()
}

// Empty reports whether nobody has said anything. No book says nothing.
func (b *Book) Empty() bool { return b == nil || b.size == 0 && !b.full }

// Size is about how many bytes it takes.
func (b *Book) Size() int { return b.size }

// Names reports whether a server may have named a value.
func (b *Book) Names(value string) bool {
	return b.find(value, func(string) bool { return true })
}

// Elsewhere reports whether another server than this one may have named a value.
func (b *Book) Elsewhere(server, value string) bool {
	return b.find(value, func(who string) bool { return who != server })
}

// Says reports whether this very server has named a value, to the letter: where letters may differ, something can be told by them.
func (b *Book) Says(server, value string) bool {
	if b.Empty() || len(value) < shortest || strings.Contains(value, "\n") {
		return false
	}
	for text := range b.known {
		if said, ok := strings.CutPrefix(text, server+"\x00"); ok && strings.Contains(said, value+"\n") {
			return true
		}
	}
	return false
}

func (b *Book) find(value string, counts func(server string) bool) bool {
	if b.Empty() {
		return false
	}
	v := Fold(value)
	if len(v) < shortest {
		return false
	}
	if b.full {
		return true
	}
	for who, said := range b.of {
		if counts(who) && strings.Contains(said, v) {
			return true
		}
	}
	return false
}

// Tags are characters that repeat ASCII and are never seen; models read them.
const (
	firstTag = 0xe0020
	lastTag  = 0xe007e
	tagBase  = 0xe0000
)

// Fold is a text as it is looked for: compatible forms are one (NFKC), tags are the letters they stand for, what is not seen is
// left out, letters are small, and there are no blanks and dashes, by which numbers are grouped. Line ends stay: they part one
// value from the next.
func Fold(s string) string {
	if plain(s) {
		return s
	}
	bare := strings.Map(func(r rune) rune {
		switch {
		case r >= firstTag && r <= lastTag:
			return r - tagBase
		case unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
			return -1
		}
		return r
	}, s)
	bare = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r':
			return '\n'
		case r == utf8.RuneError, unicode.IsSpace(r), unicode.IsControl(r), unicode.Is(unicode.Pd, r):
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKC.String(bare))
	return norm.NFKC.String(bare) // marks that a blank parted are in their order now
}

// plain reports whether a text is folded as it is, which short ones often are.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' && c != '\n' || c >= 0x7f || c == '-' || c >= 'A' && c <= 'Z' {
			return false
		}
	}
	return true
}
