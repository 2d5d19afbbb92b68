package valueindex

import (
	"bytes"
	"unicode/utf8"
)

const (
	aroundLimit  = 200 // bytes of a sentence on either side of a value
	mentionLimit = 64  // places that are visited
)

// Mention is one place where a value stands in text, with the sentence around it.
type Mention struct {
	Before, After string
	Step          uint64 // of the result it stands in
	Named         bool   // the user named what brought it
	Free          bool   // in a text that nobody structured
}

// Mentions visits places in results where the value stands in free text or inside a
// longer field. It is false if there may be more than were looked at: of content that
// was let go nobody knows the sentences.
func (x *Index) Mentions(value string, visit func(Mention) bool) bool {
	q := &x.q
	if !x.look(value) {
		return true
	}
	all, done, left := true, false, mentionLimit
	for i := len(x.shards) - 1; i >= 0 && !done; i-- {
		c := x.shards[i]
		complete := c.each(&x.lex, q, func(h hit) bool {
			if left--; left < 0 {
				return false
			}
			done = !visit(c.mention(h))
			return !done
		})
		all = all && complete && left >= 0
	}
	if done || !all || x.old.has(x.seed, q) {
		return done
	}
	if x.kept == nil || !x.look(value) { // visit may have asked for something else
		return true
	}
	k := x.ask()
	return !k.spoken(&k.q, false)
}

func (c *corpus) mention(h hit) Mention {
	text := c.segText(h.seg)
	lo, hi := h.lo, h.hi
	for lo > 0 && h.lo-lo < aroundLimit && !ends(text, lo-1) {
		lo--
	}
	for hi < len(text) && hi-h.hi < aroundLimit && !ends(text, hi) {
		hi++
	}
	for lo < h.lo && !utf8.RuneStart(text[lo]) {
		lo++
	}
	d := c.docOf(h.seg)
	return Mention{Before: string(text[lo:h.lo]), After: string(text[h.hi:hi]), Step: d.step, Named: d.key.named, Free: c.segs[h.seg].free}
}

// ends reports whether a sentence ends at a byte: a break, or a space behind a stop.
func ends(text []byte, i int) bool {
	switch text[i] {
	case '\n', '\r':
		return true
	case ' ', '\t':
		return i > 0 && bytes.IndexByte([]byte(".!?;:"), text[i-1]) >= 0
	}
	return false
}

// Normal is a value in the one spelling it is looked up by.
func Normal(value string) string {
	l := lexer{src: []byte(value)}
	var out []byte
	for l.next() {
		if len(out) > 0 {
			out = append(out, ' ')
		}
		out = append(out, l.tok.text...)
	}
	return string(out)
}
