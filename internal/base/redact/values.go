package redact

import (
	"math"
	"strings"
)

// secret is the second look: whether the value of a name that may hold a secret is one,
// or the name of a type, a reference to where the secret is, a word of prose. It may
// move the value's bounds.
func (m *member) secret(s string) bool {
	if m.kind == headerName {
		return m.header(s)
	}
	v, n := m.value, len(m.value)
	if v == Mark || n < 4 || m.refers() {
		return false
	}
	switch m.kind {
	case passwordName:
		return n >= 6 || m.quoted
	case secretName:
		return n >= 6 && (m.sep != ':' || m.quoted || !typeName(v))
	case shortName:
		return n >= 6 && (m.sep != ':' || m.quoted) && strings.IndexByte("/~.", v[0]) < 0
	default:
		long := m.query && n >= 8 || m.sep == '=' && n >= 16 && strings.ToUpper(m.name) == m.name
		return random(v) || long
	}
}

// schemes of an authorization header: those with one credential, and those with many
// parameters, which are the rest of the line.
const (
	schemes  = "bearer basic token bot apikey negotiate ntlm"
	wideOnes = "digest hawk oauth signature aws4-hmac-sha256"
)

// header steps over the scheme of an authorization header.
func (m *member) header(s string) bool {
	scheme, rest, found := strings.Cut(s[m.from:m.to], " ")
	if !m.quoted {
		scheme, rest, found = s[m.from:m.to], "", m.to < len(s) && s[m.to] == ' '
	}
	from := m.from + len(scheme) + 1
	scheme = strings.ToLower(scheme)
	switch {
	case found && oneOf(scheme, schemes):
		if m.quoted {
			m.from, m.value = from, rest
			break
		}
		m.takeValue(s, skipBlanks(s, from))
	case found && oneOf(scheme, wideOnes):
		m.from = from
		if !m.quoted {
			m.to = len(s)
			if end := strings.IndexAny(s[m.from:], "\r\n"); end >= 0 {
				m.to = m.from + end
			}
		}
		m.value = s[m.from:m.to]
		return len(m.value) >= 6 && m.value != Mark
	default:
		return len(m.value) >= 16 && m.value != Mark && !m.refers()
	}
	return len(m.value) >= 6 && m.value != Mark && !m.refers()
}

// plainWords stand where a secret could: types, and what is said about secrets.
const plainWords = "string number boolean integer object null none undefined true false required requires optional missing invalid " +
	"expired expires unknown default inherit include same-origin function bearer password secret option argument parameter instead " +
	"username incorrect forgotten disabled enabled rejected accepted revoked rotated changed removed nullable varchar binary bytes " +
	"buffer interface promise optional[str] option<string> encrypted please without should cannot because nothing everything " +
	"something anything environment"

// refers reports whether the value is not the secret itself but says where it is.
func (m *member) refers() bool {
	v := strings.TrimRight(m.value, ")]}>.,!?*")
	switch {
	case v == "", placeholder(m.value):
		return true
	case len(v) < 20 && oneOf(strings.ToLower(v), plainWords):
		return true
	case m.quoted:
		return false
	case strings.HasPrefix(v, "[]"), strings.EqualFold(v, m.name):
		return true
	}
	return reference(v)
}

// reference reports whether an unquoted value is an expression of a program: a call, or
// a path to where a secret is kept.
func reference(v string) bool {
	path, _, call := strings.Cut(v, "(")
	segments := strings.Split(strings.TrimSuffix(path, "."), ".")
	for _, p := range segments {
		if p == "" || strings.TrimLeft(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_[") != "" && (!call || len(segments) == 1) {
			return false
		}
	}
	if call || len(segments) == 1 {
		return call
	}
	return len(segments[0]) <= 2 || oneOf(segments[0], roots) || stems().scan(path) != (bits{})
}

// roots are where programs keep what they are configured with.
const roots = "process os env self this config cfg settings secrets vars args opts options request req ctx data user"

// placeholder is a value somebody is to fill in, or a variable that will be.
func placeholder(v string) bool {
	if strings.HasPrefix(v, "${") || strings.HasPrefix(v, "$(") || strings.HasPrefix(v, "{{") || strings.HasPrefix(v, "%") ||
		strings.HasPrefix(v, "<") && strings.Contains(v, ">") {
		return true
	}
	if name, ok := strings.CutPrefix(v, "$"); ok && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == "" {
		return true
	}
	return strings.Trim(v, v[:1]) == "" // **** or xxxx
}

// typeName is a name in capitals and small letters without digits, as types have.
func typeName(v string) bool {
	v = strings.TrimRight(v, "?[]>")
	return v != "" && capital(v[0]) && strings.ToUpper(v) != v &&
		strings.Trim(v, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ<.") == ""
}

// random reports whether v looks drawn at random: long, letters and digits, no identifier
// of a row and no words.
func random(v string) bool {
	if len(v) < 20 || uuid(v) {
		return false
	}
	var count [256]int
	digits, letters := 0, 0
	for i := range len(v) {
		c := v[i]
		if !padded(c) && c != '.' && c != '~' {
			return false
		}
		count[c]++
		if digit(c) {
			digits++
		} else if alnum(c) {
			letters++
		}
	}
	entropy := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(v))
			entropy -= p * math.Log2(p)
		}
	}
	return digits >= 2 && letters >= 2 && entropy >= 3
}

func uuid(v string) bool {
	if len(v) != 36 {
		return false
	}
	for i := range len(v) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (v[i] == '-') || !dash && !hex(v[i]) {
			return false
		}
	}
	return true
}
