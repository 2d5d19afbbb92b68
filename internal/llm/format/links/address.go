package links

import (
	"bytes"
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// note says what was done, and why. It is the same everywhere, so that a text is the same in one piece and in many.
const note = " (no link: this address is neither in your words nor in what was read)"

// word takes a run of text without a space. One that holds an address goes on to the space, whatever is in it: some host takes
// all of that for the address.
func (t *Text) word(b []byte, final bool) (int, error) {
	end, complete := t.wordEnd(b, final)
	if !complete {
		return 0, nil
	}
	raw, before := b[:end], t.tail
	if before != "" {
		if _, at, found := addressIn(append([]byte(before), raw...)); found && at < len(before) {
			t.emit(" ") // it would be one with what was shown already
			before = ""
		}
	}
	text, at, found := addressIn(raw)
	switch {
	case !found:
		t.pass(raw)
		t.remember(before, raw)
	case end > maxHeld:
		t.skip = true
		t.emit(text[:at] + broken(text[at:]) + note)
	default:
		t.signs(raw)
		return end, t.address(raw, text, at)
	}
	return end, nil
}

// signs notes what stands in an address and would mean something behind it.
func (t *Text) signs(raw []byte) {
	t.unpaired = t.unpaired || bytes.IndexByte(raw, '`') >= 0
	if bytes.IndexByte(raw, '[') >= 0 {
		t.push(bracket{image: bytes.Contains(raw, []byte("!["))})
	}
}

// remember keeps the end of a word that may go on without a space, in the next block or behind a letter that ended it here.
func (t *Text) remember(before string, raw []byte) {
	t.tail = before + string(raw)
	if cut := len(t.tail) - maxTail; cut > 0 {
		t.tail = t.tail[cut:]
	}
}

// wordEnd is where the word at the front of b ends, if that is known.
func (t *Text) wordEnd(b []byte, final bool) (int, bool) {
	held := false // an address has begun in it
	for i := 0; i < len(b); {
		c := b[i]
		switch {
		case i > maxHeld:
			return i, true
		case space(c), c == '<':
			return max(i, 1), true
		case i > 0 && strings.IndexByte("`[]\\", c) >= 0:
			ends, more := t.cuts(b, i, &held, final)
			if ends || more {
				return i, ends
			}
		case c >= utf8.RuneSelf:
			n := whole(b[i:], final)
			if n == 0 {
				return 0, false
			}
			if held = held || mayGoOn(b[:i]); !held {
				return i + n, true
			}
			i += n - 1
		}
		i++
	}
	return len(b), final
}

// cuts reports whether a sign that may begin something ends the word before it: not where that is an address, but for the end of the
// name of a link.
func (t *Text) cuts(b []byte, i int, held *bool, final bool) (ends, more bool) {
	c := b[i]
	if i+1 == len(b) && !final && (c == '\\' && !*held || c == ']' && len(t.brackets) > 0) {
		return false, true
	}
	next := byte(' ')
	if i+1 < len(b) {
		next = b[i+1]
	}
	if !*held && (c != '\\' || strings.IndexByte("`[]<!\\", next) >= 0) {
		if _, _, *held = addressIn(b[:i]); !*held {
			return true, false
		}
	}
	return c == ']' && next == '(' && len(t.brackets) > 0, false
}

// mayGoOn reports whether a word that a letter beyond ASCII follows may still become an address.
func mayGoOn(b []byte) bool {
	if _, _, found := addressIn(b); found {
		return true
	}
	if len(b) == 0 {
		return false
	}
	if strings.IndexByte(`:/\&.`, b[len(b)-1]) >= 0 {
		return true
	}
	dot := strings.LastIndexByte(string(b), '.')
	return dot >= 0 && strings.IndexFunc(string(b[dot+1:]), func(r rune) bool { return !unicode.IsLetter(r) }) < 0
}

// addressIn finds an address in a word, in the word as it is read.
func addressIn(raw []byte) (text string, at int, found bool) {
	if !bytes.ContainsAny(raw, `.:/\&`) {
		return "", 0, false // most words
	}
	text = string(raw)
	if strings.IndexByte(text, '\\') >= 0 {
		text = unescaped(text)
	}
	if strings.IndexByte(text, '&') >= 0 {
		text = unreferenced(text)
	}
	if text == string(raw) {
		at, found = find(text)
		return text, at, found
	}
	if _, found = find(text); found {
		return text, 0, true // what is not written as it is read must not be taken apart
	}
	at, found = find(string(raw))
	return string(raw), at, found
}

// address judges the address in a word, and shows the word as it is or the address as plain text.
func (t *Text) address(raw []byte, text string, at int) error {
	to := strings.TrimRightFunc(text[at:], trails)
	trail := text[at+len(to):]
	if to == "" || len(trail) > maxTrail || text != string(raw) {
		to, trail = text[at:], ""
	}
	ok, err := t.show(to, false)
	switch {
	case err != nil:
		return err
	case ok:
		t.pass(raw)
		t.remember("", raw)
	default:
		t.emit(text[:at] + broken(to) + note)
		if trail != "" {
			t.emit(trail)
		}
	}
	return nil
}

// shown judges an address that is a construct of its own.
func (t *Text) shown(raw []byte, to string, image bool) error {
	ok, err := t.show(to, image)
	switch {
	case err != nil:
		return err
	case ok:
		t.pass(raw)
	default:
		t.emit(broken(to) + note)
	}
	return nil
}

// trails reports whether a sign is one that sentences end an address with.
func trails(r rune) bool {
	return strings.ContainsRune(".,;:!?'\"*_~)]}|>»”’。，、；：！？）」』】》", r)
}

// broken is an address as a code span in which it leads nowhere, whatever shows it.
func broken(to string) string {
	var b strings.Builder
	b.WriteByte('`')
	for _, r := range to {
		if b.Len() > maxShown {
			b.WriteString("…")
			break
		}
		switch {
		case r == ':':
			b.WriteString("[:]")
		case r == '.' || r == '。' || r == '．' || r == '｡':
			b.WriteString("[.]")
		case r == '`':
			b.WriteByte('\'')
		case r == '<':
			b.WriteByte('(')
		case r == '>':
			b.WriteByte(')')
		case r == '\n' || r == '\r' || r == '\t':
			b.WriteByte(' ')
		case !unicode.IsGraphic(r):
			b.WriteRune('\uFFFD')
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('`')
	return b.String()
}

// unescaped is a text without the backslashes that make a sign plain.
func unescaped(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && s[i+1] > ' ' && s[i+1] < 0x7f && !letter(s[i+1]) && (s[i+1] < '0' || s[i+1] > '9') {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// unreferenced is a text with the signs that "&name;" and "&#number;" stand for.
func unreferenced(s string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '&')
		if i < 0 {
			return b.String() + s
		}
		b.WriteString(s[:i])
		s = s[i:]
		end := strings.IndexByte(s[:min(len(s), 40)], ';') + 1
		if end == 0 {
			end = 1
			b.WriteString(s[:1])
		} else if r := html.UnescapeString(s[:end]); !strings.HasPrefix(r, "&") || r == "&" {
			b.WriteString(r)
		} else {
			end = 1
			b.WriteString(s[:1])
		}
		s = s[end:]
	}
}
