package warrant

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/warrant/valueindex"
)

// A result that is kept from the agent (Result.Held) is known here, and argues for nothing: nobody who acts has read it. What the agent
// gets of it are values of closed shapes. They say how much and when, and choose among what the agent offered; they do not say to whom, by
// which key, where or what is run. A call in which such a value would is judged as if the agent had read all of it (AUD-03).

// extracted is a value that came out of a result that no agent has read.
type extracted struct {
	step uint64
	tool string
}

// maxExtracted bounds how many such values are known. With more of them, all that was kept back counts as read.
const maxExtracted = 1024

// Extracted adds values that the agent is given of the result of a step, and returns their trace. Values are spelt in one way: numbers
// without grouping, days as 2006-01-02.
func (c *Context) Extracted(step uint64, tool string, values []string) []byte {
	c.listen()
	for _, v := range values {
		n := strings.Clone(valueindex.Normal(v))
		switch {
		case n == "":
		case len(c.extracted) >= maxExtracted:
			c.Outside()
		default:
			if c.extracted == nil {
				c.extracted = map[string]extracted{}
			}
			c.extracted[n] = extracted{step, strings.Clone(tool)}
		}
	}
	return c.journal(toldExtracted, 0, step, append([]string{tool}, values...)...)
}

// Extracts reports whether the agent was given any such value.
func (c *Context) Extracts() bool { return len(c.extracted) > 0 }

// Binds is the result whose value stands where only what was asked for may: in a warrant of a call that was judged as if all of it had
// been read. Ok is false where there is none.
func (c *Context) Binds(w *Warrant) (step uint64, tool string, ok bool) {
	for i := range w.Slots {
		s := &w.Slots[i]
		if !decides(w.Deed, s) {
			continue
		}
		if v, from, found := c.extractedIn(s.Value); found && (s.Kind != Cargo || !momentForm.MatchString(v)) {
			return from.step, from.tool, true
		}
	}
	return 0, "", false
}

// decides reports whether a slot says to whom, what is acted on, by which key, where or what is run; of acts that cannot be taken back,
// also how much. What is made, moved or said may be of any size and at any time.
func decides(d Deed, s *Slot) bool {
	mild := d == Read || d == Tidy || d == Create || d == Change || d == Send
	switch s.Kind {
	case Act:
		return false
	case Cargo:
		return s.Has == Nothing
	case Measure:
		return !mild
	case Object:
		return d != Create && d != Tidy
	}
	return true
}

// momentForm is a day or a time of the day, which tells nobody anything by itself.
var momentForm = regexp.MustCompile(`^(\d{4}-\d\d-\d\d|\d\d:\d\d)$`)

// extractedIn finds a value that was extracted in a text, a day or a time last.
func (c *Context) extractedIn(text string) (value string, from extracted, ok bool) {
	text = valueindex.Normal(text)
	if e, ok := c.extracted[text]; ok {
		return text, e, true
	}
	for _, v := range slices.Sorted(maps.Keys(c.extracted)) {
		if holdsWhole(text, v) && (!ok || !momentForm.MatchString(v)) {
			value, from, ok = v, c.extracted[v], true
		}
	}
	if ok && !momentForm.MatchString(value) {
		return value, from, true
	}
	for _, n := range numbersIn(text) {
		if e, found := c.extracted[n]; found {
			return n, e, true
		}
	}
	return value, from, ok
}

// holdsWhole reports whether a text holds another that does not go on there in either direction.
func holdsWhole(text, v string) bool {
	goes := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	for at := 0; ; {
		i := strings.Index(text[at:], v)
		if i < 0 {
			return false
		}
		i += at
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(v):])
		if !goes(before) && !goes(after) {
			return true
		}
		at = i + 1
	}
}

// numbersIn are the numbers of a text, in the one spelling, whichever sign groups them.
func numbersIn(text string) []string {
	var out []string
	for _, run := range strings.FieldsFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != ',' && r != '\'' }) {
		run = strings.Trim(run, ".,'")
		for _, point := range ".,x" {
			whole, part, _ := strings.Cut(run, string(point))
			digits := func(s string) string { return strings.NewReplacer(".", "", ",", "", "'", "").Replace(s) }
			n := strings.TrimLeft(digits(whole), "0")
			if n == "" {
				n = "0"
			}
			if part = strings.TrimRight(digits(part), "0"); part != "" {
				n += "." + part
			}
			out = append(out, n)
		}
	}
	return out
}
