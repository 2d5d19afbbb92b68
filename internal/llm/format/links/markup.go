package links

import (
	"bytes"
	"strings"
)

// maxBrackets bounds how many brackets are told apart inside one another.
const maxBrackets = 32

// opening takes a bracket that a link or an image may begin with.
func (t *Text) opening(b []byte, final bool) int {
	if len(b) == 1 && !final {
		return 0
	}
	t.push(bracket{image: t.last == '!', note: len(b) > 1 && b[1] == '^'})
	t.pass(b[:1])
	return 1
}

func (t *Text) push(o bracket) {
	if len(t.brackets) < maxBrackets {
		t.brackets = append(t.brackets, o)
	} else if o.image {
		t.brackets[0].image = true
	}
}

// closing takes the bracket that ends the name of a link or an image, with the destination behind it.
func (t *Text) closing(b []byte, final bool) (int, error) {
	if len(t.brackets) == 0 {
		return t.word(b, final)
	}
	if len(b) == 1 && !final {
		return 0, nil
	}
	image := false
	for _, o := range t.brackets { // of brackets inside one another, nobody knows which are the image's
		image = image || o.image
	}
	of := t.brackets[len(t.brackets)-1]
	if len(b) > 1 && b[1] == '(' {
		return t.destination(b, final, image)
	}
	if len(b) > 1 && b[1] == ':' {
		return t.definition(b, final, !of.note) // what is defined may be shown as an image
	}
	t.brackets = t.brackets[:len(t.brackets)-1]
	t.pass(b[:1])
	return 1, nil
}

// destination takes "](" with what it leads to, and what must follow that. What is no whole link is kept from becoming one.
func (t *Text) destination(b []byte, final, image bool) (int, error) {
	d := readDest(b, 2, final)
	if d.more {
		return 0, nil
	}
	t.brackets = t.brackets[:len(t.brackets)-1]
	t.pass(b[:1])
	if !d.ok || bytes.IndexByte(b[d.from:d.to], '<') >= 0 { // where it is no link, that begins something else
		t.emit(" (")
		return 2, nil
	}
	to := plain(b[d.from:d.to])
	ok, err := t.leads(to, image)
	switch {
	case err != nil:
		return 0, err
	case ok:
		t.pass(b[1:d.end])
	case d.closed:
		t.emit(" (" + broken(to) + note + ")")
	default: // a title follows
		t.emit(" (" + broken(to) + note)
	}
	return d.end, nil
}

// definition takes "]:" with the destination that a name stands for from there on.
func (t *Text) definition(b []byte, final, image bool) (int, error) {
	d := readDest(b, 2, final)
	if d.more {
		return 0, nil
	}
	t.brackets = t.brackets[:len(t.brackets)-1]
	to := plain(b[d.from:d.to])
	t.doubt = t.doubt || bytes.IndexByte(b[:d.from], '\n') >= 0 // it may be the destination, and no fence
	switch {
	case bytes.IndexByte(b[d.from:d.to], '<') >= 0:
		t.pass(b[:1])
		t.emit(" :")
		return 2, nil
	case !outward(to):
		t.pass(b[:2])
		return 2, nil
	}
	ok, err := t.leads(to, image)
	switch {
	case err != nil:
		return 0, err
	case ok && d.to-d.from <= maxHeld:
		t.pass(b[:d.to])
		t.remember("", b[d.from:d.to])
	default:
		t.pass(b[:2])
		t.emit(" " + broken(to) + note)
	}
	return d.to, nil
}

// leads judges where a destination leads.
func (t *Text) leads(to string, image bool) (bool, error) {
	if !outward(to) {
		return true, nil
	}
	return t.show(to, image)
}

// dest is a destination in a text.
type dest struct {
	from, to int // itself
	end      int // behind it, and behind the bracket that closes the link where it follows at once
	closed   bool
	ok, more bool
}

// readDest reads a destination, and looks at what follows: nothing but the end of the link or a title may.
func readDest(b []byte, at int, final bool) dest {
	i := at
	for i < len(b) && space(b[i]) && i-at < maxTail {
		i++
	}
	d := dest{from: i, to: i, end: i}
	if i == len(b) {
		return dest{from: i, to: i, end: i, more: !final}
	}
	if b[i] == '<' {
		d.from, d.to = i+1, i+1
		for d.to < len(b) && b[d.to] != '>' && b[d.to] != '<' && b[d.to] != '\n' && d.to-d.from <= maxHeld {
			d.to++
		}
		if d.to == len(b) && d.to-d.from <= maxHeld {
			d.more = !final
			return d
		}
		if d.to == len(b) || b[d.to] != '>' {
			return d
		}
		d.end = d.to + 1
	} else {
		d.to = i + destEnd(b[i:])
		if d.to == len(b) && d.to-d.from <= maxHeld {
			d.more = !final
			return d
		}
		d.end = d.to
	}
	if d.to-d.from > maxHeld {
		return d
	}
	return d.follow(b, final)
}

// destEnd is where a destination ends that stands by itself: at a space, or at the bracket that closes the link.
func destEnd(b []byte) int {
	depth := 0
	for i := 0; i < len(b) && i <= maxHeld; i++ {
		switch c := b[i]; {
		case space(c):
			return i
		case c == '\\' && i+1 < len(b) && !space(b[i+1]):
			i++
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth < 0 {
				return i
			}
		}
	}
	return min(len(b), maxHeld+1)
}

// follow looks at what stands behind a destination.
func (d dest) follow(b []byte, final bool) dest {
	i := d.end
	for i < len(b) && space(b[i]) && i-d.end < maxTail {
		i++
	}
	if i == len(b) {
		d.more = !final
		return d
	}
	switch {
	case b[i] == ')':
		d.ok, d.closed, d.end = true, true, i+1
	case i > d.end && (b[i] == '"' || b[i] == '\'' || b[i] == '('):
		d.ok = true
	}
	return d
}

// plain is a text as whoever follows it reads it: without escapes and references to signs, and without what browsers leave out.
func plain(b []byte) string {
	s := string(b)
	if bytes.IndexByte(b, '\\') >= 0 {
		s = unescaped(s)
	}
	if bytes.IndexByte(b, '&') >= 0 {
		s = unreferenced(s)
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, strings.TrimSpace(s))
}

// outward reports whether a destination leaves the place that shows it: it has a scheme, or a host. What has neither leads to the
// place itself.
func outward(to string) bool {
	if to == "" {
		return false
	}
	if len(to) > 1 && strings.IndexByte(`/\`, to[0]) >= 0 && strings.IndexByte(`/\`, to[1]) >= 0 {
		return true
	}
	for i := 0; i < len(to); i++ {
		if c := to[i]; c == ':' && i > 0 {
			return i+1 < len(to)
		} else if !letter(c) && (i == 0 || strings.IndexByte("0123456789+.-", c) < 0) {
			break
		}
	}
	_, found := find(to)
	return found
}
