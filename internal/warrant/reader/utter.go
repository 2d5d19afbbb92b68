package reader

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// A message of the user's may hold what others wrote: a mail they forward, a log, a quotation.
// That is content they named, and no request of theirs, whatever it says. What they put
// between quotation marks is their own word for a title or a text, but it asks for nothing
// either.

// Utterance is a message taken apart. Both texts are as long as the message, with spaces
// where something was taken out.
type Utterance struct {
	Words  string   // what the user says, quotations included
	Asks   string   // what of it may ask for something
	Pasted []string // what others wrote
}

var (
	history = regexp.MustCompile(`^\[?\d{1,2}:\d\d(?::\d\d)?\]?\s+[^\s:]{1,30}:\s`) // somebody's line of a chat
	quoting = regexp.MustCompile(`"[^"\n]+"|“[^”\n]+”|„[^“”\n]+[“”]|«[^»\n]+»|「[^」\n]+」`)
)

// openings are the marks that quotations begin with.
var openings = []string{`"`, "“", "„", "«", "「"}

// Utter takes a message apart.
func Utter(text string) Utterance {
	u := Utterance{Words: unticked(text)}
	for _, at := range pastedIn(text) {
		u.Pasted = append(u.Pasted, text[at[0]:at[1]])
		u.Words = blank(u.Words, at[0], at[1])
	}
	u.Asks = u.Words
	if !slices.ContainsFunc(openings, func(mark string) bool { return strings.Contains(u.Words, mark) }) {
		return u
	}
	for _, at := range quoting.FindAllStringIndex(u.Words, -1) {
		if len(strings.Fields(u.Words[at[0]:at[1]])) > 3 || at[1]-at[0] > 60 {
			u.Asks = blank(u.Asks, at[0], at[1])
		}
	}
	if !strings.ContainsFunc(u.Asks, unicode.IsLetter) {
		u.Asks = u.Words // all of it stands between the marks
	}
	return u
}

// ticked is what stands between the marks that people put around names and texts as they do in chats.
var ticked = regexp.MustCompile("`[^`\\n]+`")

// unticked is a message with quotation marks where such marks stand around words, and with none around what is no word: a file or an
// address is written so and is no quotation. Its length stays.
func unticked(text string) string {
	if strings.IndexByte(text, '`') < 0 {
		return text
	}
	return ticked.ReplaceAllStringFunc(text, func(span string) string {
		in := span[1 : len(span)-1]
		words := strings.ContainsFunc(strings.TrimSpace(in), unicode.IsSpace) || !strings.ContainsFunc(in, isSign)
		if words && !strings.Contains(in, `"`) {
			return `"` + in + `"`
		}
		return " " + in + " "
	})
}

func isSign(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) }

func blank(s string, from, to int) string { return s[:from] + strings.Repeat(" ", to-from) + s[to:] }
