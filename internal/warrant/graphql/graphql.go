// Package graphql reads documents of GraphQL: what kind of operations they hold, which fields those ask for, and what
// the fields are given. It checks no grammar beyond that. What it cannot read is no document, and whoever asks takes
// that for the worst.
//
// It is pure.
package graphql

import (
	"strings"
	"unicode"
)

// Document is what a document holds.
type Document struct {
	Mutates bool     // one of its operations is none that only asks
	Fields  []string // names of all fields of all operations, at any depth
	Given   []Given  // what fields are given as text or number
}

// Given is one value that stands in a document.
type Given struct {
	Field, Name string // the field, and its argument
	Text        string
	Quoted      bool
}

// Bounds of what is read.
const (
	maxLength = 64 << 10
	maxTokens = 8 << 10
	maxDepth  = 32
)

// Read reads a document; false where it is none.
func Read(text string) (Document, bool) {
	if len(text) > maxLength {
		return Document{}, false
	}
	p := parser{toks: tokens(text)}
	if len(p.toks) == 0 || len(p.toks) > maxTokens {
		return Document{}, false
	}
	for p.at < len(p.toks) {
		if !p.definition() {
			return Document{}, false
		}
	}
	return p.doc, p.operations > 0
}

type parser struct {
	toks       []token
	at         int
	operations int
	doc        Document
}

// token is a name, a number, a text, or one sign.
type token struct {
	text  string
	quote bool // it is a text
	name  bool
}

func (p *parser) peek() token {
	if p.at < len(p.toks) {
		return p.toks[p.at]
	}
	return token{}
}

func (p *parser) next() token {
	t := p.peek()
	p.at++
	return t
}

func (p *parser) sign(s string) bool {
	if t := p.peek(); t.text == s && !t.quote {
		p.at++
		return true
	}
	return false
}

// definition is one operation or fragment.
func (p *parser) definition() bool {
	t := p.peek()
	switch {
	case t.quote:
		return false
	case t.text == "query":
		p.operations++
	case t.text == "{":
		p.operations++
		return p.selection(0)
	case t.text == "fragment":
	default: // a mutation, a subscription, or what a schema is written in
		p.operations++
		p.doc.Mutates = true
	}
	for p.at++; p.at < len(p.toks); { // the name, variables, directives
		switch t := p.peek(); {
		case t.quote:
			return false
		case t.text == "{":
			return p.selection(0)
		case t.text == "(":
			if !p.arguments("") {
				return false
			}
		case t.text == "}" || t.text == ")":
			return false
		default:
			p.at++
		}
	}
	return false
}

// selection is the fields between two braces.
func (p *parser) selection(depth int) bool {
	if depth > maxDepth || !p.sign("{") {
		return false
	}
	field := ""
	for p.at < len(p.toks) {
		switch t := p.peek(); {
		case t.quote:
			return false
		case p.sign("}"):
			return true
		case t.text == "{":
			if !p.selection(depth + 1) {
				return false
			}
		case t.text == "(":
			if !p.arguments(field) {
				return false
			}
		case t.name:
			if field = p.next().text; p.sign(":") { // what it is called in the answer
				field = p.next().text
			}
			p.doc.Fields = append(p.doc.Fields, field)
		case t.text == "." || t.text == "@" || t.text == ",":
			if p.at++; t.text == "@" {
				p.at++ // the name of a directive
			}
		default:
			return false
		}
	}
	return false
}

// arguments are what a field is given, between two brackets.
func (p *parser) arguments(field string) bool {
	p.at++
	depth, name := 1, ""
	for p.at < len(p.toks) {
		t := p.next()
		switch {
		case t.quote:
			p.doc.Given = append(p.doc.Given, Given{field, name, t.text, true})
		case t.text == "(" || t.text == "[" || t.text == "{":
			depth++
		case t.text == ")" || t.text == "]" || t.text == "}":
			if depth--; depth == 0 {
				return t.text == ")"
			}
		case t.text == "$":
			p.at++ // a variable: it stands among the arguments of the call
		case t.name && p.peek().text == ":" && !p.peek().quote:
			name = t.text
		case t.text != ":" && t.text != "," && t.text != "=" && t.text != "!" && field != "":
			p.doc.Given = append(p.doc.Given, Given{field, name, t.text, false})
		}
		if depth > maxDepth {
			return false
		}
	}
	return false
}

// tokens takes a document apart; nil where a text in it has no end, or it is too long.
func tokens(s string) []token {
	var out []token
	for i := 0; i < len(s) && len(out) <= maxTokens; {
		switch c := s[i]; {
		case c == '#':
			for i < len(s) && s[i] != '\n' && s[i] != '\r' {
				i++
			}
		case c == '"':
			text, n := quoted(s[i:])
			if n == 0 {
				return nil
			}
			out = append(out, token{text: text, quote: true})
			i += n
		case c == '-' || wordSign(c):
			n := 1
			for i+n < len(s) && (wordSign(s[i+n]) || s[i+n] == '.' && c >= '0' && c <= '9') {
				n++
			}
			out = append(out, token{text: s[i : i+n], name: c != '-' && c < 0x80 && !unicode.IsDigit(rune(c))})
			i += n
		case strings.IndexByte(" \t\r\n", c) >= 0:
			i++
		default:
			out = append(out, token{text: string(rune(c))})
			i++
		}
	}
	if len(out) > maxTokens {
		return nil
	}
	return out
}

// wordSign reports whether names and numbers are written with a byte.
func wordSign(c byte) bool {
	return c == '_' || c >= 0x80 || unicode.IsLetter(rune(c)) || unicode.IsDigit(rune(c))
}

// quoted is the text that begins here, and how long it is with its signs; 0 where it has no end.
func quoted(s string) (string, int) {
	if strings.HasPrefix(s, `"""`) {
		end := strings.Index(s[3:], `"""`)
		if end < 0 {
			return "", 0
		}
		return s[3 : 3+end], end + 6
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '\n':
			return "", 0
		case '"':
			return s[1:i], i + 1
		}
	}
	return "", 0
}
