package warrant

import (
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/origin"
)

// Servers that answer in text list what they know line by line, and in such a text nobody can
// tell a server's line from one that somebody wrote into a field of it. So a text is a
// listing only while no line of it says anything: one sentence in it, whoever wrote it, and
// all of it is a text.

const (
	proseWords = 9 // words of a line from which on it is a sentence, whatever they are
	proseStops = 3 // words without weight of which a name has fewer
	cellLength = 80
)

// listing reports whether a text is nothing but entries.
func (c *Context) listing(content string) bool {
	if s := strings.TrimSpace(content); s == "" || s[0] == '{' || s[0] == '[' || s[0] == '<' {
		return false // its structure speaks for itself
	}
	for line := range strings.Lines(content) {
		for _, cell := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(",;:|\t", r) }) {
			if c.prose(cell) {
				return false
			}
		}
	}
	return true
}

// prose reports whether a piece of a line is a sentence and not a name, a figure or a label.
func (c *Context) prose(cell string) bool {
	words := tokens(cell)
	if len(words) < 4 {
		return false
	}
	n := 0
	for _, w := range words {
		if stops[w] {
			n++
		}
	}
	return len(words) >= proseWords || n >= proseStops || c.commanding(cell)
}

// entry reports whether a value stands in a listing and is short enough to be of one entry.
func (c *Context) entry(v string, f *origin.Finding) bool {
	return c.lists[f.Step] && len(v) <= cellLength
}
