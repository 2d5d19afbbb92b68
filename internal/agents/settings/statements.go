package settings

import (
	"slices"
	"strconv"
	"strings"
)

// A TOML file is cut into statements here and not read further: what a value means does not
// matter, only where it ends. Any file that is valid TOML is cut as every reader cuts it, be
// it 1.0 or 1.1. What is not valid is marked so, and the line after it is a new start.

// kind is what a statement does.
type kind int

const (
	isBad   kind = iota // cannot be read
	isSpace             // a blank line, or a comment alone
	isKey               // gives a key a value
	isTable             // begins a table
	isArray             // begins an element of an array of tables
)

// statement is one statement with all its lines.
type statement struct {
	kind       kind
	start, end int
	table      []string // that a key stands in
	path       []string // of the header, or of the key in its table
	value      int      // where the value of a key begins
}

// head reports whether a table begins here.
func (s statement) head() bool { return s.kind == isTable || s.kind == isArray }

// touches reports whether a statement says something about the table at path: it may not
// stand in one, and a list on the way to it makes it another table.
func (s statement) touches(path []string) bool {
	n := min(len(s.table), len(path))
	m := min(len(s.path), len(path)-n)
	if n+m == 0 || !slices.Equal(s.table[:n], path[:n]) || !slices.Equal(s.path[:m], path[n:n+m]) {
		return false
	}
	return s.kind != isTable || n+m == len(path)
}

// statements cuts a text; together they are all of it.
func statements(text string) []statement {
	var out []statement
	var table []string
	r := tomlReader{text: text}
	r.take("\ufeff")
	for start := 0; start < len(text); start = r.at {
		s := statement{start: start}
		s.kind, s.path = r.statement()
		s.value = r.began
		switch {
		case s.kind == isBad: // on from here: to go back for it would take too long
			r.line()
		case s.head():
			table = s.path
		case s.kind == isKey:
			s.table = table
		}
		s.end = r.at
		out = append(out, s)
	}
	return out
}

// tomlReader goes through a text. Its methods report whether they found what they read.
type tomlReader struct {
	text  string
	at    int
	began int // where the last value did
}

func (r *tomlReader) rest() string { return r.text[r.at:] }

// take goes past a word that is next.
func (r *tomlReader) take(word string) bool {
	ok := strings.HasPrefix(r.rest(), word)
	if ok {
		r.at += len(word)
	}
	return ok
}

func (r *tomlReader) blanks() { r.at += len(r.rest()) - len(strings.TrimLeft(r.rest(), " \t")) }

// line goes past the end of the line.
func (r *tomlReader) line() {
	if i := strings.IndexByte(r.rest(), '\n'); i >= 0 {
		r.at += i + 1
	} else {
		r.at = len(r.text)
	}
}

// over goes past the end of a line that holds nothing more than a comment.
func (r *tomlReader) over() bool {
	r.blanks()
	ok := r.at == len(r.text) || strings.HasPrefix(r.rest(), "#") ||
		strings.HasPrefix(r.rest(), "\n") || strings.HasPrefix(r.rest(), "\r\n")
	if ok {
		r.line()
	}
	return ok
}

func (r *tomlReader) statement() (kind, []string) {
	if r.over() {
		return isSpace, nil
	}
	k, end := isKey, "="
	switch {
	case r.take("[["):
		k, end = isArray, "]]"
	case r.take("["):
		k, end = isTable, "]"
	}
	path := r.keys()
	if path == nil || !r.take(end) {
		return isBad, nil
	}
	if k == isKey {
		r.blanks()
		r.began = r.at
	}
	if k == isKey && !r.value() || !r.over() {
		return isBad, nil
	}
	return k, path
}

// keys reads names with dots between them; nil where there are none.
func (r *tomlReader) keys() []string {
	var out []string
	for {
		r.blanks()
		name, ok := r.key()
		if !ok {
			return nil
		}
		out = append(out, name)
		r.blanks()
		if !r.take(".") {
			return out
		}
	}
}

const bare = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

func (r *tomlReader) key() (string, bool) {
	start := r.at
	switch {
	case r.take(`"`):
		if !r.short('"') {
			return "", false
		}
		return unescape(r.text[start:r.at])
	case r.take("'"):
		if !r.short('\'') {
			return "", false
		}
		return r.text[start+1 : r.at-1], true
	}
	r.at += len(r.rest()) - len(strings.TrimLeft(r.rest(), bare))
	return r.text[start:r.at], r.at > start
}

// unescape reads a name in double quotes. Escapes that not all readers know are refused.
func unescape(quoted string) (string, bool) {
	for i := 0; i < len(quoted); i++ {
		if quoted[i] == '\\' {
			if i++; strings.IndexByte(`btnfr"\uU`, quoted[i]) < 0 {
				return "", false
			}
		}
	}
	name, err := strconv.Unquote(quoted)
	return name, err == nil
}

// value goes past a value: to the end of its line, or further where texts and brackets are
// open there.
func (r *tomlReader) value() bool {
	depth := 0
	for r.at < len(r.text) {
		c := r.text[r.at]
		ok := true
		switch {
		case depth == 0 && (c == '\n' || c == '\r' || c == '#'):
			return true
		case c == '"' || c == '\'':
			ok = r.quoted(c)
		case c == '#':
			r.line()
		case c == '[' || c == '{':
			depth++
			r.at++
		case c == ']' || c == '}':
			depth--
			r.at++
		default:
			r.at++
		}
		if !ok || depth < 0 {
			return false
		}
	}
	return depth == 0
}

// quoted goes past a text, of one line or of several.
func (r *tomlReader) quoted(quote byte) bool {
	three := strings.Repeat(string(quote), 3)
	if !r.take(three) {
		r.at++
		return r.short(quote)
	}
	for r.at < len(r.text) {
		switch {
		case r.take(three): // with up to two quotes before them that belong to the text
			for range 2 {
				r.take(three[:1])
			}
			return true
		case quote == '"' && r.text[r.at] == '\\':
			r.at = min(r.at+2, len(r.text))
		default:
			r.at++
		}
	}
	return false
}

// short goes past the rest of a text of one line.
func (r *tomlReader) short(quote byte) bool {
	for r.at < len(r.text) && r.text[r.at] != '\n' {
		switch c := r.text[r.at]; {
		case c == quote:
			r.at++
			return true
		case c == '\\' && quote == '"':
			r.at = min(r.at+2, len(r.text))
		default:
			r.at++
		}
	}
	return false
}
