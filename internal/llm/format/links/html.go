package links

import (
	"bytes"
	"html"
	"strings"
)

// angle takes what begins with an angle bracket: an address in brackets, a tag, or nothing of the kind.
func (t *Text) angle(b []byte, final bool) (int, error) {
	if len(b) == 1 {
		if !final {
			return 0, nil
		}
		t.emit("&lt;")
		return 1, nil
	}
	if c := b[1]; c != '/' && c != '!' && c != '?' && !letter(c) {
		if _, _, found := addressIn([]byte(t.tail)); found {
			t.emit(" ") // some program takes it for more of the address
		}
		t.pass(b[:1])
		return 1, nil
	}
	end, more := tagEnd(b, final)
	if more {
		return 0, nil
	}
	if end < 0 || b[1] == '!' || b[1] == '?' { // what is in it is read as any text
		t.emit("&lt;")
		return 1, nil
	}
	inside := b[1 : end-1]
	if i := schemeEnd(inside); i > 0 && bytes.IndexFunc(inside, func(r rune) bool { return r <= ' ' }) < 0 {
		return end, t.shown(b[:end], plain(inside), false)
	}
	g, ok := readTag(inside)
	if ok = ok && g.name != "script" && g.name != "style"; ok { // what is between these is no text
		var err error
		if ok, err = t.attributes(&g); err != nil {
			return 0, err
		}
	}
	if !ok {
		t.emit("&lt;")
		return 1, nil
	}
	t.raw = true
	t.lasting = t.lasting || g.name == "pre" || g.name == "textarea"
	t.pass(b[:end])
	return end, nil
}

// tagEnd is where a tag ends; -1: it does not, or another begins in it.
func tagEnd(b []byte, final bool) (end int, more bool) {
	quote := byte(0)
	for i := 1; i < len(b) && i <= maxHeld; i++ {
		switch c := b[i]; {
		case c == '<':
			return -1, false
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case quote == 0 && c == '>':
			return i + 1, false
		}
	}
	if len(b) > maxHeld || final {
		return -1, false
	}
	return 0, true
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// schemeEnd is where the scheme ends that an address in brackets begins with; 0: it has none.
func schemeEnd(b []byte) int {
	for i, c := range b {
		switch {
		case c == ':' && i > 1:
			return i + 1
		case !letter(c) && (i == 0 || strings.IndexByte("0123456789+.-", c) < 0):
			return 0
		}
	}
	return 0
}

type tag struct {
	name       string
	attributes []attribute
}

type attribute struct{ name, value string }

// readTag reads a tag. One that anybody could read otherwise is none.
func readTag(b []byte) (tag, bool) {
	b = bytes.TrimPrefix(b, []byte("/"))
	n := 0
	for n < len(b) && (letter(b[n]) || b[n] >= '0' && b[n] <= '9' || b[n] == '-') {
		n++
	}
	g := tag{name: strings.ToLower(string(b[:n]))}
	rest := b[n:]
	for {
		rest = bytes.TrimLeft(rest, " \t\r\n")
		if len(rest) == 0 || string(rest) == "/" {
			return g, n > 0
		}
		a, left, ok := readAttribute(rest)
		if !ok {
			return g, false
		}
		g.attributes, rest = append(g.attributes, a), left
	}
}

func readAttribute(b []byte) (attribute, []byte, bool) {
	n := 0
	for n < len(b) && (letter(b[n]) || b[n] == '-') {
		n++
	}
	a, rest := attribute{name: strings.ToLower(string(b[:n]))}, b[n:]
	if n == 0 || len(rest) == 0 || rest[0] != '=' {
		return a, rest, n > 0 && (len(rest) == 0 || space(rest[0]))
	}
	rest = rest[1:]
	if len(rest) == 0 || rest[0] != '"' && rest[0] != '\'' {
		return a, nil, false
	}
	end := bytes.IndexByte(rest[1:], rest[0])
	if end < 0 {
		return a, nil, false
	}
	a.value = html.UnescapeString(string(rest[1 : end+1]))
	rest = rest[end+2:]
	return a, rest, len(rest) == 0 || space(rest[0]) || rest[0] == '/'
}

// attributes that say how something is shown, and lead nowhere.
var harmless = map[string]bool{
	"alt": true, "title": true, "align": true, "valign": true, "width": true, "height": true, "colspan": true, "rowspan": true,
	"open": true, "start": true, "lang": true, "dir": true,
}

// attributes judges those of a tag. What is not known to lead nowhere may lead anywhere; without a value it cannot.
func (t *Text) attributes(g *tag) (bool, error) {
	for _, a := range g.attributes {
		leads, fetched := g.name == "a" && a.name == "href", g.name == "img" && a.name == "src"
		switch {
		case a.value == "", harmless[a.name] && known[g.name]:
		case !leads && !fetched:
			return false, nil
		default:
			if ok, err := t.leads(plain([]byte(a.value)), fetched); err != nil || !ok {
				return false, err
			}
		}
	}
	return true, nil
}

// known are the tags that may have attributes.
var known = func() map[string]bool {
	const names = `a img p div span br hr b i u s em strong code pre kbd sub sup del ins mark small ul ol li dl dt dd
		table thead tbody tfoot tr td th caption details summary blockquote h1 h2 h3 h4 h5 h6 center abbr cite q`
	out := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		out[name] = true
	}
	return out
}()
