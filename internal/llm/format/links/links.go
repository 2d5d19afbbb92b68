// Package links finds, in a text that comes in pieces, what a host that shows it would fetch or
// make clickable, and shows it as plain text where nobody vouches for the address.
//
// It does not guess what is bad. Everything with the shape of an address, and every destination of
// Markdown or HTML, is put to whoever judges; a run of text that could still become one is held
// back until it cannot. What passes stays byte for byte.
//
// Only text that every reading of Markdown shows as code is left alone (fence.go, code.go): a fence
// that stands where no list, quotation or HTML can hold it, and a code span that is closed on its
// own line. In any doubt the rest of the text is judged as if it were no code. A fence that the
// text leaves open is closed, because some renderers take an open one for none.
//
// Invariants:
//   - what comes out does not depend on how the text was cut on its way in;
//   - what is held is bounded: a longer address is shown as plain text, cut;
//   - the work is linear in the text.
//
// It is pure.
package links

import (
	"strings"
	"unicode/utf8"
)

// Mode is how a host shows answers. The zero Mode judges nothing.
type Mode uint8

// The modes.
const (
	Off        Mode = iota
	Markdown        // code is shown as code, and leads nowhere
	Everywhere      // an address leads somewhere wherever it stands
)

// Show reports whether an address may be shown as it is. An image is fetched without a click.
type Show func(address string, image bool) (bool, error)

// The bounds, in bytes.
const (
	maxHeld  = 2048 // of what may be one construct
	maxShown = 200  // of an address that is shown as plain text
	maxTail  = 64   // of a word that goes on in the next block
	maxTrail = 8    // of the punctuation behind an address
)

// Text is one text while it is said. It may come in several blocks, which a host may show as one.
type Text struct {
	mode Mode
	show Show

	buf  []byte // what is held
	out  []byte
	last byte   // of what went by; 0: nothing did
	tail string // the end of a word that a block ended in

	line  bool // a line begins here
	lead  bool // on this line there was nothing yet but what lists and quotations begin with
	fence fence
	doubt bool // what is code is not known any more

	raw, lasting bool // HTML has begun: up to the next blank line, or for good
	unpaired     bool // a backtick of this paragraph found no other
	brackets     []bracket
	skip         bool // the rest of an address that is too long
	blockBegins  bool
}

// bracket is one that was opened: of an image, or of a footnote, which is none.
type bracket struct{ image, note bool }

// New is a text that nothing was said of yet.
func New(mode Mode, show Show) *Text {
	return &Text{mode: mode, show: show, line: true, doubt: mode != Markdown}
}

// Clone is the text as it stands, to be said on in another way.
func (t *Text) Clone() *Text {
	c := *t
	c.buf, c.out, c.brackets = append([]byte(nil), t.buf...), nil, append([]bracket(nil), t.brackets...)
	return &c
}

// Say takes the next piece, and returns what can be shown by now.
func (t *Text) Say(piece string) (string, error) {
	t.buf = append(t.buf, piece...)
	return t.run(false)
}

// Break says that a block of the text ends here: nothing is held any more. A host may show the next one
// right behind it.
func (t *Text) Break() (string, error) {
	if _, err := t.run(true); err != nil {
		return "", err
	}
	if t.fence.open {
		if t.last != '\n' {
			t.out = append(t.out, '\n')
		}
		t.out = append(append(t.out, strings.Repeat(string(t.fence.sign), t.fence.size)...), '\n')
		t.fence, t.line, t.last = fence{}, true, '\n'
	}
	t.skip, t.blockBegins = false, true
	return t.taken(), nil
}

// Whole is a text that is all there.
func Whole(mode Mode, show Show, text string) (string, error) {
	t := New(mode, show)
	said, err := t.Say(text)
	if err != nil {
		return "", err
	}
	rest, err := t.Break()
	return said + rest, err
}

func (t *Text) taken() string {
	s := string(t.out)
	t.out = t.out[:0]
	return s
}

// run takes what is complete. At the end of a block everything is.
func (t *Text) run(final bool) (string, error) {
	if t.blockBegins && len(t.buf) > 0 {
		t.blockBegins = false
		t.glue()
	}
	at := 0
	for at < len(t.buf) {
		n, err := t.token(t.buf[at:], final)
		if err != nil {
			return "", err
		}
		if n == 0 {
			break
		}
		at += n
	}
	t.buf = append(t.buf[:0], t.buf[at:]...)
	if final {
		return "", nil
	}
	return t.taken(), nil
}

// glue keeps what a block begins with from making a construct of what the one before ended with.
func (t *Text) glue() {
	switch c := t.buf[0]; {
	case t.last == 0 || space(c):
	case t.last == ']' && (c == '(' || c == ':' || c == '['),
		t.last == '`' && c == '`', t.last == '<', t.last == '\\', t.last == '&':
		t.emit(" ")
	}
}

// token takes one token from the front of b, and returns its size; 0: more is needed to know it.
func (t *Text) token(b []byte, final bool) (int, error) {
	if t.skip {
		if n := wordEnd(b); n > 0 {
			return n, nil
		}
		t.skip = false
	}
	if t.line || t.fence.open {
		n, more := t.lineOf(b, final)
		if n > 0 || more {
			return n, nil
		}
	}
	c := b[0]
	if t.lead = t.lead && strings.IndexByte(" \t>*+-.)0123456789`~", c) >= 0; t.lead && nested(b) {
		t.doubt = true
	}
	switch c {
	case '\n':
		t.pass(b[:1])
		t.line = true
		return 1, nil
	case '`':
		return t.code(b, final), nil
	case '<':
		return t.angle(b, final)
	case '[':
		return t.opening(b, final), nil
	case ']':
		return t.closing(b, final)
	case '\\':
		if n, more := t.escaped(b, final); n > 0 || more {
			return n, nil
		}
	}
	if space(c) {
		t.pass(b[:1])
		return 1, nil
	}
	return t.word(b, final)
}

// wordEnd is where a word ends at the latest, whatever is in it.
func wordEnd(b []byte) int {
	for i, c := range b {
		if space(c) || c == '<' {
			return i
		}
	}
	return len(b)
}

// escaped takes a sign that a backslash makes plain, as far as it would begin something.
func (t *Text) escaped(b []byte, final bool) (int, bool) {
	if len(b) < 2 {
		return 0, !final
	}
	if strings.IndexByte("`[]<!\\", b[1]) < 0 {
		return 0, false
	}
	t.unpaired = t.unpaired || b[1] == '`'
	t.pass(b[:2])
	t.last = 'x' // it begins nothing
	return 2, false
}

// pass lets bytes by as they are.
func (t *Text) pass(b []byte) {
	t.out = append(t.out, b...)
	t.last, t.tail = b[len(b)-1], ""
}

// emit says words of ours. They are no part of an address before them.
func (t *Text) emit(s string) {
	if (t.tail != "" || t.last == '`') && s[0] != ' ' {
		t.out = append(t.out, ' ')
	}
	t.out = append(t.out, s...)
	t.last, t.tail = s[len(s)-1], ""
}

func space(c byte) bool { return c <= ' ' || c == 0x7f }

// whole is the size of the rune at the front of b; 0: not all of it is here yet.
func whole(b []byte, final bool) int {
	if !utf8.FullRune(b) && !final {
		return 0
	}
	_, n := utf8.DecodeRune(b)
	return n
}
