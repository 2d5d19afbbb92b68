package redact

import (
	"strings"
)

// maxName is how much of a name is looked at, from its end.
const maxName = 64

// member is a name with its value as they stand in a text.
type member struct {
	name       string
	kind       naming
	from, to   int // of the value
	sep        byte
	quoted     bool
	query      bool   // a parameter of a URL
	value      string // s[from:to]
	beforeName byte
}

// removeNamed removes values by the name before them: assignments, members of objects,
// headers, connection strings, parameters of URLs.
func removeNamed(s string) string {
	var b strings.Builder
	last := 0
	for i := 0; i < len(s); {
		at := strings.IndexAny(s[i:], ":=")
		if at < 0 {
			break
		}
		at += i
		i = at + 1
		var m member
		if !m.readName(s[last:at]) || !m.readValue(s, at) || !m.secret(s) {
			continue
		}
		b.WriteString(s[last:m.from])
		b.WriteString(Mark)
		last = m.end(s)
		i = last
	}
	if last == 0 {
		return s
	}
	b.WriteString(s[last:])
	return b.String()
}

// readName finds the name that ends before a separator: perhaps in quotes, perhaps in
// the brackets of an index, perhaps of two words.
func (m *member) readName(s string) bool {
	end := len(strings.TrimRight(s, " \t"))
	if len(s)-end > 8 || end == 0 {
		return false
	}
	if s[end-1] == ']' {
		end--
	}
	bare := end
	for end > 0 && (s[end-1] == '"' || s[end-1] == '\'' || s[end-1] == '`' || s[end-1] == '\\') {
		end--
	}
	start := wordStart(s, end)
	if start == end {
		return false
	}
	if start < end-1 && escaped(s, start+1) {
		start++ // of \n
	}
	m.name = s[start:end]
	if start > 0 {
		m.beforeName = s[start-1]
	}
	m.query = m.beforeName == '?' || m.beforeName == '&'
	m.kind = nameOf(m.name)
	if m.kind <= vagueName && bare == end && m.beforeName == ' ' { // "api key"
		if first := wordStart(s, start-1); first < start-1 {
			m.kind = max(m.kind, nameOf(s[first:end]))
		}
	}
	return m.kind > plainName
}

func wordStart(s string, end int) int {
	start := end
	for start > 0 && end-start < maxName && dotted(s[start-1]) {
		start--
	}
	return start
}

// readValue finds what follows the separator at s[at]. Comparisons and scopes are none.
func (m *member) readValue(s string, at int) bool {
	m.sep = s[at]
	if at > 0 && strings.IndexByte("!<>=:", s[at-1]) >= 0 {
		return false
	}
	at++
	if at < len(s) && (m.sep == ':' && s[at] == '=' || m.sep == '=' && s[at] == '>') {
		m.sep = '='
		at++
	}
	if at < len(s) && (s[at] == '=' || s[at] == ':' || m.sep == ':' && strings.HasPrefix(s[at:], "//")) {
		return false
	}
	m.takeValue(s, skipBlanks(s, at))
	return m.to > m.from
}

func skipBlanks(s string, at int) int {
	for n := 0; at < len(s) && n < 16 && strings.IndexByte(" \t\r\n", s[at]) >= 0; n++ {
		at++
	}
	return at
}

// takeValue reads a value in quotes to the quote that closes it, any other up to a blank.
func (m *member) takeValue(s string, at int) {
	if at+1 < len(s) && strings.IndexByte("bBfFrRuU@", s[at]) >= 0 && quote(s[at+1]) {
		at++ // b"..."
	}
	open := at
	for open < len(s) && s[open] == '\\' {
		open++
	}
	if open < len(s) && quote(s[open]) {
		m.from = open + 1
		if end := closing(s, m.from, s[open], open-at); end >= 0 {
			m.to, m.quoted, m.value = end, true, s[m.from:min(end, m.from+maxQuoted)]
			return
		}
		at = m.from
	}
	m.from, m.to = at, at
	m.to = m.end(s[:min(len(s), at+maxBare)])
	m.value = s[m.from:m.to]
}

// maxBare is how much of a value without quotes is looked at: names one after another
// must not each cost the whole text.
const maxBare = 512

// end is where the value ends, however long it is.
func (m *member) end(s string) int {
	to := m.to
	for !m.quoted && to < len(s) && !m.ends(s[to]) {
		to++
	}
	return to
}

func (m *member) ends(c byte) bool {
	switch c {
	case ' ', '\t', '\r', '\n', '"', '\'', '`', ',', ';', '\\':
		return true
	case '&', '#':
		return m.query
	}
	return false
}

func quote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// maxQuoted bounds how far a closing quote is looked for.
const maxQuoted = 1 << 16

// closing finds the quote that closes one with so many backslashes before it; -1 if
// there is none. More backslashes are a quote inside. What is too long to find its end
// goes to the end of the text.
func closing(s string, from int, q byte, slashes int) int {
	seen := 0
	for i := from; i < len(s); i++ {
		switch {
		case i-from >= maxQuoted:
			return len(s)
		case s[i] == '\\':
			seen++
			continue
		case s[i] == q && (seen == slashes || slashes == 0 && seen%2 == 0):
			return i - slashes
		case s[i] == q && seen < slashes:
			return -1
		}
		seen = 0
	}
	return -1
}

// removeFlags removes the values of options such as --password.
func removeFlags(s string) string {
	var b strings.Builder
	last := 0
	for i := 0; ; {
		at := strings.Index(s[i:], "--")
		if at < 0 {
			break
		}
		at += i + 2
		end := at
		for end < len(s) && end-at < maxName && word(s[end]) {
			end++
		}
		i = max(end, at)
		if m := (member{name: s[at:end], sep: ' '}); end < len(s) && (s[end] == ' ' || s[end] == '\t') {
			m.kind = nameOf(m.name)
			m.takeValue(s, skipBlanks(s, end))
			if m.kind >= shortName && m.secret(s) {
				b.WriteString(s[last:m.from])
				b.WriteString(Mark)
				last = m.end(s)
				i = last
			}
		}
	}
	if last == 0 {
		return s
	}
	b.WriteString(s[last:])
	return b.String()
}
