// Package visible says what a person saw of what an agent wrote, as hosts show it: comments, titles, texts of pictures,
// folded parts and definitions of links are not seen. Where it cannot tell what is seen, it says that nothing was: a yes
// to that agrees to nothing. It is pure.
package visible

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What is not seen, or not as what it is.
var (
	comment    = regexp.MustCompile(`(?s)<!--.*?(?:-->|$)`)
	folded     = regexp.MustCompile(`(?is)<details\b.*?(?:</details\s*>|$)`)
	picture    = regexp.MustCompile(`!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])?`)
	link       = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	definition = regexp.MustCompile(`(?m)^ {0,3}\[[^\]]*\]:.*$`)
	tag        = regexp.MustCompile(`(?s)</?[A-Za-z][^>]*>`)
)

// plain are tags that change how a text looks and not whether it is seen.
var plain = regexp.MustCompile(`(?i)^</?(?:b|i|em|strong|u|p|br|ul|ol|li|code|pre)\s*/?>$`)

// The bounds of blanks that still look like a pause: what stands behind more is further down than anybody looks.
const (
	maxBlankLines = 3
	maxBlanks     = 40
)

// LastSentence is the last sentence that was seen; false where that cannot be told.
func LastSentence(text string) (string, bool) {
	text = comment.ReplaceAllString(text, "")
	text = folded.ReplaceAllString(text, "")
	text = picture.ReplaceAllString(text, "")
	text = link.ReplaceAllString(text, "$1")
	text = definition.ReplaceAllString(text, "")
	for _, t := range tag.FindAllString(text, -1) {
		if !plain.MatchString(t) { // white, hidden, small, elsewhere: nobody here knows
			return "", false
		}
	}
	text = tag.ReplaceAllString(text, "")
	if strings.ContainsAny(text, "<>") && strings.Contains(text, "<") {
		return "", false // the beginning of something
	}
	text = strings.Map(shaped, text)
	if far(text) {
		return "", false
	}
	return last(text), true
}

// shaped leaves out what has no shape, and makes blanks of what looks like one.
func shaped(r rune) rune {
	switch {
	case r == '\n':
		return r
	case unicode.IsSpace(r) || unicode.Is(unicode.Zs, r):
		return ' '
	case unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r):
		return '\n'
	case !unicode.IsGraphic(r), unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		return -1
	}
	return r
}

// far reports whether a part of a text stands behind more blanks than anybody looks over.
func far(text string) bool {
	lines, blanks := 0, 0
	for _, r := range strings.TrimSpace(text) {
		switch r {
		case '\n':
			lines, blanks = lines+1, 0
		case ' ':
			blanks++
		default:
			lines, blanks = 0, 0
		}
		if lines > maxBlankLines+1 || blanks > maxBlanks {
			return true
		}
	}
	return false
}

// last is the last sentence of a text.
func last(text string) string {
	text = strings.TrimSpace(text)
	end := len(text)
	for end > 0 { // the mark that ends it is its own
		r, n := utf8.DecodeLastRuneInString(text[:end])
		if !ends(r) {
			break
		}
		end -= n
	}
	for i := end; i > 0; {
		r, n := utf8.DecodeLastRuneInString(text[:i])
		if i -= n; r == '\n' || ends(r) && (r >= utf8.RuneSelf || i+n < len(text) && unicode.IsSpace(rune(text[i+n]))) {
			return strings.TrimSpace(text[i+n:])
		}
	}
	return text
}

func ends(r rune) bool { return strings.ContainsRune(".!?…。！？؟", r) }
