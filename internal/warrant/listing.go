package warrant

import (
	"bytes"
	"iter"
	"slices"
	"strings"
	"unicode"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/valueindex"
)

// Servers that answer in text list what they know line by line, and in such a text nobody can
// tell a server's line from one that somebody wrote into a field of it. So a text is a
// listing only while no line of it says anything: one sentence in it, whoever wrote it, and
// all of it is a text.

const (
	proseWords = 4 // words of a piece of a line from which on it may be a sentence
	cellLength = 80
)

// listing reports whether a text is nothing but entries.
func listing(content []byte) bool {
	if s := bytes.TrimSpace(content); len(s) == 0 || s[0] == '{' || s[0] == '[' || s[0] == '<' {
		return false // its structure speaks for itself
	}
	for line := range bytes.Lines(content) {
		for cell := range bytes.FieldsFuncSeq(line, func(r rune) bool { return strings.ContainsRune(",;:|\t", r) }) {
			if prose(cell) {
				return false
			}
		}
	}
	return true
}

// prose reports whether a piece of a line has as many words as a sentence, and is no name, figure or label.
func prose(cell []byte) bool {
	words := 0
	for piece := range stretches(cell) {
		if words += len(tokens(string(piece))) + joined(piece)/joinedWord; words >= proseWords {
			return true
		}
	}
	return false
}

// joinedWord is about how many signs a word has in scripts that put none between words.
const joinedWord = 2

// joined is how many signs of a text are of such a script.
func joined(text []byte) int {
	n := 0
	for _, r := range string(text) {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana,
			unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan) {
			n++
		}
	}
	return n
}

// stretchLength is about how long the pieces are in which a long text is read.
const stretchLength = 4 << 10

// stretches cuts a text between words, so that who has found enough need not read all of it.
func stretches(text []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for len(text) > stretchLength {
			cut := stretchLength
			for cut < len(text) && !(text[cut-1] == ' ' && plainByte(text[cut])) {
				cut++
			}
			if !yield(text[:cut]) {
				return
			}
			text = text[cut:]
		}
		if len(text) > 0 {
			yield(text)
		}
	}
}

// plainByte reports whether a byte is a letter or a digit of ASCII: nothing before it changes what it is.
func plainByte(b byte) bool {
	return b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'z'
}

// entry reports whether a value stands in a listing and is short enough to be of one entry.
func (c *Context) entry(v string, f *valueindex.Finding) bool {
	return c.lists[f.Step] && len(v) <= cellLength
}

// inOrder reports whether the words that count now say the words of a value one after the other: react-date-picker for "the react
// date picker". The same words in another order name something else.
func (c *Context) inOrder(v string) bool {
	want := arguments.NameWords(v)
	if len(want) == 0 || strings.ContainsFunc(v, func(r rune) bool { return r > unicode.MaxASCII }) {
		return false // of other scripts no words are told apart here
	}
	return slices.ContainsFunc(c.asking, func(text string) bool {
		for have := arguments.NameWords(text); len(have) >= len(want); have = have[1:] {
			if slices.EqualFunc(have[:len(want)], want, strings.EqualFold) {
				return true
			}
		}
		return false
	})
}

// brought reports whether a result was brought for what the words name, or for what the call takes.
func (j *judging) brought(step uint64, aim bool) bool {
	return j.bringing().Step(j.c.records.All(), step, j.param, aim, j.strictly(aim))
}

// broughtAnywhere reports whether some result that has a value as a field was.
func (j *judging) broughtAnywhere(v string, f *valueindex.Finding, aim bool) bool {
	return j.brought(f.Step, aim) || j.bringing().Any(j.c.records.All(), v, j.param, aim, j.strictly(aim))
}

func (j *judging) strictly(aim bool) bool { return aim || j.w.Deed.final() || j.w.Deed == Execute }

func (j *judging) bringing() *mandate.Brought {
	if j.results != nil {
		return j.results
	}
	j.results = mandate.NewBrought(j.m.Tool, j.takes(), j.c.scoped(), func(arg string) bool {
		telling := strings.ContainsAny(arg, " @/._-#") || len(arg) > 3 && !strings.ContainsFunc(arg, unicode.IsLetter)
		return telling && j.c.index.Said(arg) // a word or a small number may be said of anything
	})
	return j.results
}

// takes are the parameters that the tool of a call declares.
func (j *judging) takes() []string {
	var out []string
	for i := range j.m.Params {
		out = append(out, j.m.Params[i].Path)
	}
	return out
}

// What a text says of a value nobody here understands: whether it orders, warns or only tells is not looked at, so that another
// language or another wording is never better than plain English. It counts that somebody wrote of it. A text that only lists
// things (listing.go) says nothing of any of them.

// isWritten reports whether a value stands in what somebody wrote: of results that the user named too, unless those are passed over.
// Of what nobody looked at, it does.
func (c *Context) isWritten(v string, named bool) bool {
	found := false
	all := c.index.Mentions(v, func(m valueindex.Mention) bool {
		found = !c.lists[m.Step] && (named || !m.Named)
		return !found
	})
	return found || !all || c.lost
}

// contested reports whether free text speaks of a value: more stands beside it than a name for it, or it is somewhere to go to.
// Where a value stands too often to look at every place, it is.
func (c *Context) contested(value string, target bool) bool {
	found := false
	all := c.index.Mentions(value, func(m valueindex.Mention) bool {
		found = !c.lists[m.Step] && (target && m.Free || len(tokens(m.Before))+len(tokens(m.After)) >= 2)
		return !found
	})
	return found || !all || c.lost
}

// recordContested reports whether free text speaks for the record of a value by another
// of its fields.
func (c *Context) recordContested(value string) bool {
	found := false
	c.index.Siblings(value, func(text string) bool {
		words := tokens(text)
		if len(words) > 6 || c.index.Said(text) || datish.MatchString(text) {
			return true
		}
		telling := false
		for _, w := range words {
			telling = telling || distinctive(w) && len(w) > 3
		}
		found = telling && c.contested(text, false)
		return !found
	})
	return found
}
