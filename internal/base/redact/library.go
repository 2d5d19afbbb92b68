package redact

import (
	"regexp"
	"strings"
)

// library is every secret that is known by its own form.
type library struct {
	words    *automaton
	leads    []lead    // groups 0 to len(leads)-1 of words
	patterns []pattern // the groups after them
}

// lead is a secret that begins with letters of its own and goes on with at least min
// characters of a kind.
type lead struct {
	text string
	of   func(byte) bool
	min  int
}

// pattern is a secret that takes an expression to find.
type pattern struct {
	words string                // one of them is in every match, in lower case
	may   func(s string) bool   // a second condition, or the only one where there are no such words
	expr  string                // best with a literal start, which is found fast
	keep  string                // what stands in its place; Mark if empty
	look  func([]string) string // instead of keep, where a match needs a second look
	re    *regexp.Regexp
}

func newLibrary() *library {
	l := &library{leads: leads(), patterns: patterns()}
	var groups [][]string
	for _, x := range l.leads {
		groups = append(groups, []string{strings.ToLower(x.text)})
	}
	for i := range l.patterns {
		p := &l.patterns[i]
		p.re = regexp.MustCompile(p.expr)
		if p.keep == "" {
			p.keep = Mark
		}
		groups = append(groups, strings.Fields(p.words))
	}
	l.words = newAutomaton(groups)
	return l
}

func (l *library) remove(s string) string {
	found := l.words.scan(s)
	for i := range l.patterns {
		p := &l.patterns[i]
		if (p.words == "" || found.has(len(l.leads)+i)) && (p.may == nil || p.may(s)) {
			s = p.remove(s)
		}
	}
	for i := range l.leads {
		if found.has(i) {
			s = l.leads[i].remove(s)
		}
	}
	return s
}

func (p *pattern) remove(s string) string {
	if p.look == nil {
		return p.re.ReplaceAllString(s, p.keep)
	}
	var b strings.Builder
	last := 0
	for _, at := range p.re.FindAllStringSubmatchIndex(s, -1) {
		m := make([]string, len(at)/2)
		for g := range m {
			if at[2*g] >= 0 {
				m[g] = s[at[2*g]:at[2*g+1]]
			}
		}
		b.WriteString(s[last:at[0]])
		b.WriteString(p.look(m))
		last = at[1]
	}
	if last == 0 {
		return s
	}
	b.WriteString(s[last:])
	return b.String()
}

// remove takes the secret from its first letter. Short beginnings stand at the start of
// a word; long ones are known wherever they stand.
func (l *lead) remove(s string) string {
	var b strings.Builder
	last := 0
	for i := 0; ; {
		at := strings.Index(s[i:], l.text)
		if at < 0 {
			break
		}
		at += i
		end := at + len(l.text)
		i = end
		if len(l.text) < 4 && !startsAt(s, at) {
			continue
		}
		for end < len(s) && l.of(s[end]) {
			end++
		}
		if end-i < l.min {
			continue
		}
		b.WriteString(s[last:at])
		b.WriteString(Mark)
		last, i = end, end
	}
	if last == 0 {
		return s
	}
	b.WriteString(s[last:])
	return b.String()
}

// startsAt reports whether a word starts at s[i]. The letter of an escape such as \n is
// not part of the word after it.
func startsAt(s string, i int) bool {
	return i == 0 || !alnum(s[i-1]) && s[i-1] != '_' || escaped(s, i)
}

// escaped reports whether an escape for a blank ends before s[i].
func escaped(s string, i int) bool {
	return i >= 2 && s[i-2] == '\\' && (s[i-1] == 'n' || s[i-1] == 't' || s[i-1] == 'r')
}

func alnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || digit(c)
}

func hex(c byte) bool { return digit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

// word is what most tokens are made of.
func word(c byte) bool { return alnum(c) || c == '_' || c == '-' }

// dotted are tokens in parts.
func dotted(c byte) bool { return word(c) || c == '.' }

func padded(c byte) bool { return word(c) || c == '+' || c == '/' || c == '=' }
