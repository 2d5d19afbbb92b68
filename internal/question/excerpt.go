package question

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/base/text"
)

// The bounds of what is shown of a message: a longer one is told by its beginning and by the passages that values of the call stand in,
// each with the sentence around it, so that a "never" before one is not lost.
const (
	maxSaid  = 400
	maxBegin = 120
	around   = 160
	minFound = 3
)

// excerpt is a message as the card shows it.
func (c *Card) excerpt(said string) string {
	if len(said) <= maxSaid {
		return said
	}
	spans := [][2]int{{0, len(strings.TrimSuffix(text.Words(said, maxBegin), text.Ellipsis))}}
	for i := range c.Values {
		v := c.Values[i].Value
		if c.Values[i].Path == "" || len(v) < minFound || c.Values[i].Secret {
			continue
		}
		if start, end := text.IndexFold(said, strings.ToLower(v)); start >= 0 && end > start {
			spans = append(spans, [2]int{sentenceStart(said, start), sentenceEnd(said, end)})
		}
	}
	if len(spans) == 1 {
		return text.Words(said, maxSaid)
	}
	slices.SortFunc(spans, func(a, b [2]int) int { return a[0] - b[0] })
	var b strings.Builder
	at := 0
	for _, s := range spans {
		switch {
		case s[1] <= at:
			continue
		case s[0] > at:
			b.WriteString(" … ")
			at = s[0]
		}
		b.WriteString(said[at:s[1]])
		at = s[1]
	}
	if at < len(said) {
		b.WriteString("…")
	}
	return b.String()
}

// sentenceStart is where the sentence around a place begins, or some way before it.
func sentenceStart(s string, at int) int {
	low := max(0, at-around)
	if i := strings.LastIndexAny(s[low:at], ".!?\n"); i >= 0 && i+1 < at-low {
		return low + i + 1
	}
	if i := strings.IndexByte(s[low:at], ' '); low > 0 && i >= 0 {
		return low + i
	}
	for low > 0 && !utf8.RuneStart(s[low]) {
		low--
	}
	return low
}

// sentenceEnd is where that sentence ends, or some way behind the place.
func sentenceEnd(s string, at int) int {
	rest := text.Head(s[at:], around/2)
	if i := strings.IndexAny(rest, "!?\n"); i >= 0 {
		return at + i + 1
	}
	if i := strings.Index(rest, ". "); i >= 0 {
		return at + i + 1
	}
	if i := strings.LastIndexByte(rest, ' '); at+len(rest) < len(s) && i >= 0 {
		return at + i
	}
	return at + len(rest)
}

// The bounds of a code that is read: what is shorter may be any word.
const (
	minPacked   = 32
	maxUnpacked = 120
)

// Unpacked is the beginning of the text that a value is a code of (base64, hexadecimal), without secrets: the code hides them from whoever
// takes them out of texts. Empty: it is no code that we can read.
func Unpacked(value string, redacted func(string) string) string {
	value = strings.Join(strings.Fields(value), "")
	if len(value) < minPacked {
		return ""
	}
	value = strings.TrimRight(value, "=…")
	for _, read := range []func(string) ([]byte, error){
		hex.DecodeString,
		func(s string) ([]byte, error) { return base64.RawStdEncoding.DecodeString(s) },
		func(s string) ([]byte, error) { return base64.RawURLEncoding.DecodeString(s) },
	} {
		raw, err := read(value[:len(value)/4*4])
		if err != nil || !readable(text.Head(string(raw), maxUnpacked)) {
			continue
		}
		whole := redacted(strings.ToValidUTF8(string(raw), "")) // before it is cut: half a secret is not known as one
		return text.Words(strings.Join(strings.Fields(whole), " "), maxUnpacked)
	}
	return ""
}

// readable reports whether bytes are a text of people: UTF-8 with a blank in it and nothing that cannot be drawn.
func readable(s string) bool {
	if !utf8.ValidString(s) || !strings.ContainsAny(s, " \n") {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' && r != '\r' || r == utf8.RuneError })
}
