package text

import (
	_ "embed" // the signs are part of the program
	"strings"
	"unicode"
)

//go:embed lookalikes.txt
var lookalikesText string

// alike makes one sign of all that look like it.
var alike = readAlike(lookalikesText)

func readAlike(data string) *strings.Replacer {
	var pairs []string
	for line := range strings.Lines(data) {
		signs := strings.Fields(line)
		if len(signs) < 2 || signs[0] == "//" {
			continue
		}
		for _, s := range signs[1:] {
			pairs = append(pairs, s, signs[0])
		}
	}
	return strings.NewReplacer(pairs...)
}

// skeleton is what a text looks like: two that have the same one are told apart by nobody who only looks.
func skeleton(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 0xFF01 && r <= 0xFF5E: // the wide forms of ASCII
			r -= 0xFEE0
		case Drawable(r) == removed || unicode.Is(unicode.Mn, r):
			return -1
		}
		return unicode.ToLower(r)
	}, s)
	return alike.Replace(s)
}

// scripts are those whose letters are taken for one another's.
var scripts = []*unicode.RangeTable{unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee, unicode.Coptic}

// Mixed reports whether a word of a text has letters of two scripts that look alike.
func Mixed(s string) bool {
	last := -1
	for _, r := range s {
		if !unicode.IsLetter(r) {
			if unicode.IsSpace(r) {
				last = -1
			}
			continue
		}
		for i, t := range scripts {
			if !unicode.Is(t, r) {
				continue
			}
			if last >= 0 && last != i {
				return true
			}
			last = i
		}
	}
	return false
}

// The bounds of looking for something similar: shorter words are like many others, and longer values are texts.
const (
	leastAlike = 4
	mostAlike  = 300
)

// Alike is the word among some texts that a part of a value could be taken for and is not; empty: there is none.
func Alike(value string, said []string) string {
	if len(value) > mostAlike {
		return ""
	}
	words := map[string]bool{}
	var order []string
	for _, s := range said {
		for _, w := range alikeWords(s) {
			if !words[w] {
				words[w] = true
				order = append(order, w)
			}
		}
	}
	for _, v := range alikeWords(value) {
		if words[v] {
			continue
		}
		shape := skeleton(v)
		for _, w := range order {
			if skeleton(w) == shape || coded(v) && coded(w) && oneEdit([]rune(v), []rune(w)) {
				return w
			}
		}
	}
	return ""
}

// coded reports whether a word is an address, a number or an id, of which each sign counts.
func coded(w string) bool { return len(w) >= 6 && strings.ContainsAny(w, "@./_0123456789") }

// alikeWords are the words of a text that are compared, in small letters.
func alikeWords(s string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(",;:!?()[]{}<>\"'“”„«»", r)
	}) {
		if w = strings.Trim(w, ".-"); len(w) >= leastAlike {
			out = append(out, w)
		}
	}
	return out
}

// oneEdit reports whether two words differ in one sign: another one, one more, or one less.
func oneEdit(a, b []rune) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) == len(b) {
		return i < len(a) && string(a[i+1:]) == string(b[i+1:])
	}
	return string(a[i:]) == string(b[i+1:])
}
