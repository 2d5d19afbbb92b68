package question

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/policy"
)

// What the user said is held against what the card says of it: a value that stands in their words, as they read them below, is never told
// as one that does not. That a value stands there lets nothing run, and says nothing of what they meant: it may stand in a "never".

// whose is what is said of a value that is asked about.
func (c *Card) whose(v *event.Shown) string {
	switch {
	case v.Secret:
		return "" // it is not looked for in words that are shown
	case titled(*v) && c.says(v.Title):
		return "its name is in your words"
	case titled(*v):
		return "not found in your words"
	case c.typed(v):
		return "in your words, perhaps not for this"
	case c.says(base(v.Value)):
		return "its last part is in your words, the rest I could not find"
	case v.From != "" && c.UserUnheard:
		return "read elsewhere"
	case v.From != "":
		return "not from you"
	case c.UserUnheard:
		return ""
	}
	return "not found in your words"
}

// typed reports whether a value stands in the user's own words. One that was traced to a text does not, also where the user passed that
// text on: a letter that they ask about is not what they want.
func (c *Card) typed(v *event.Shown) bool { return v.Said || v.From == "" && c.says(v.Value) }

// minSaid is how long a value is that is looked for in the user's words: a shorter one stands in many.
const minSaid = 3

// says reports whether the words that the card shows hold a value as a word of its own, or several.
func (c *Card) says(value string) bool {
	value = strings.ToLower(strings.Join(strings.Fields(value), " "))
	if utf8.RuneCountInString(value) < minSaid {
		return false
	}
	return slices.ContainsFunc(c.Words, func(w event.Said) bool { return holds(strings.Join(strings.Fields(w.Text), " "), value) })
}

// holds reports whether a text has a value, in small letters, that no letter or digit goes on from.
func holds(said, value string) bool {
	for {
		start, end := text.IndexFold(said, value)
		if start < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(said[:start])
		after, _ := utf8.DecodeRuneInString(said[end:])
		if !wordly(before) && !wordly(after) {
			return true
		}
		_, size := utf8.DecodeRuneInString(said[start:])
		said = said[start+size:]
	}
}

func wordly(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// base is the last part of a path; empty: it is none.
func base(path string) string {
	i := strings.LastIndexByte(path, '/')
	if i < 0 || strings.Contains(path, "://") || strings.ContainsFunc(path, unicode.IsSpace) {
		return ""
	}
	return path[i+1:]
}

// general are the kinds of slots whose want is told in general words.
var general = []string{"aim", "object", "measure"}

// because is the sentence behind what would happen. General words that say what could not be found give way to what was found and what was
// not, where the card knows that: a person who reads their own words below should not read above them that they are not there.
func (c *Card) because() string {
	if slices.ContainsFunc(c.Values, func(v event.Shown) bool { return v.Lacks && v.Path == "" && v.Has == "delegated" }) {
		return leftOpen
	}
	if c.Reason == policy.Unfound("act") {
		return c.unfound()
	}
	for _, kind := range general {
		if c.Reason != policy.Unfound(kind) {
			continue
		}
		var names []string
		for i := range c.Values {
			v := &c.Values[i]
			if !v.Lacks || v.Slot != kind {
				continue
			}
			if v.Path == "" || !c.typed(v) {
				return sentence(c.Reason)
			}
			names = append(names, text.Shown(text.Words(v.Value, maxHeld)))
		}
		if len(names) > 0 {
			return fmt.Sprintf("You said %s; I could not tell whether you meant it for this.", some(names))
		}
	}
	return sentence(c.Reason)
}

// leftOpen is said of a call that nobody asked for, after words that leave to the agent what is done ("do what the mail says").
const leftOpen = "You may have left it to what was read to say what is done; I could not find this in your own words."

// unfound says of a call that was not found in the user's words what of it was, and what not.
func (c *Card) unfound() string {
	var yours, others []string
	for i := range c.Values {
		v := &c.Values[i]
		if v.Path == "" || v.Value == "" || v.Slot == "cargo" || v.Secret {
			continue // what it says is told by itself
		}
		switch {
		case v.Lacks && !c.typed(v):
			others = append(others, last(v.Path))
		case c.typed(v) || slices.Contains(named, v.Has):
			yours = append(yours, last(v.Path))
		}
	}
	if len(yours) == 0 {
		return sentence(c.Reason)
	}
	out := fmt.Sprintf("From your words, or from what you named in them: %s. Not found: that you want it done", some(yours))
	if len(others) > 0 {
		out += "; " + some(others)
	}
	return out + "."
}

// named are the kinds of evidence of a value that the user named, or whose record they did.
var named = []string{"followed", "picked", "assented", "said"}

// The bounds of what is named in a sentence: how many, and how much of each.
const (
	maxSome = 4
	maxHeld = 60
)

// some are names, each once.
func some(names []string) string {
	var out []string
	for _, n := range names {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	if n := len(out) - maxSome; n > 0 {
		out = append(out[:maxSome], fmt.Sprintf("%d more", n))
	}
	return strings.Join(out, ", ")
}
