package mandate

import (
	"slices"
	"strings"
	"unicode"
)

// worked is why a value was not worked out from what the owner said. Days, times and figures that stand in no text of
// others are the agent's; whom and what they concern is not worked out.
func (p *pass) worked(v *Value, s *Source) string {
	what := s.formed().joined
	switch {
	case otherDay(v.Text, what):
		return "it is another day than you said"
	case v.Flag:
		if what == "" && p.call.Grave || negated(what) == (strings.EqualFold(v.Text, "true")) && what != "" {
			return "I could not work it out from what you said"
		}
		return ""
	case v.Role == Text && !p.world.Told(v.Text):
		return ""
	case v.Role == Measure && !nested(v.Path) && !p.call.Grave && !p.world.Told(v.Text) && (!p.item.Worded || dated(v.Text)):
		return ""
	case (v.Role == Measure || v.Role == Object) && p.follows(v, s.formed()):
		return ""
	}
	return p.thing(v, s, "I could not work it out from what you said")
}

// otherDay reports whether a value is a day that the words which it is worked out from do not hold, though they name one.
func otherDay(value, words string) bool {
	day, _, _, ok := moment(value)
	return ok && !day.IsZero() && daySays(day, wordsOf(words)) == denies
}

// nested reports whether a value is a part of what the item names: it may be of a member that nobody spoke of.
func nested(path string) bool { return strings.Contains(path, ".") }

// follows reports whether a day, a figure or a choice is what words say, in the forms that interfaces have for it.
func (p *pass) follows(v *Value, f *forms) bool {
	what := f.joined
	if says, known := dateSays(v.Text, what); known {
		return says == agrees || says == open && !nested(v.Path) && !p.world.Told(v.Text)
	}
	open := v.Text == "1" && what != "" && !counts(what) && !nested(v.Path) && !Lasts(v.Path)
	if open || leastRights[strings.ToLower(v.Text)] || edits(v.Text, what) {
		return true
	}
	return sameFigures(v.Text, what) || f.choice(v.Text) || f.inCents(v.Text) && p.records.HasSum(v.Text, v.Path)
}

// lasting are words of parameters that say how long, how much at most or how often: what words leave open is not one of them.
var lasting = lists.Set("lasting")

// Lasts reports whether a parameter is a duration or a limit. One of anything else is what people mean who count nothing.
func Lasts(path string) bool {
	last := strings.ReplaceAll(lastPart(path), "_", " ")
	words := append(wordsOf(last), camel(lastPart(path))...)
	return slices.ContainsFunc(words, func(w string) bool { return lasting[w] || lasting[strings.TrimSuffix(w, "s")] })
}

// camel are the words of a name that is written in one: retentionDays.
func camel(name string) []string {
	var out []string
	from := 0
	for i, r := range name {
		if unicode.IsUpper(r) && i > from {
			out, from = append(out, strings.ToLower(name[from:i])), i
		}
	}
	return append(out, strings.ToLower(name[from:]))
}

// counts reports whether words say how many: then one is not what they leave open.
func counts(what string) bool {
	return slices.ContainsFunc(wordsOf(what), func(w string) bool { return numbers[w] != "" || strings.ContainsAny(w, "0123456789") })
}

// edits reports whether a right is the one to write, and words give it.
func edits(value, what string) bool {
	if !writeRights[strings.ToLower(value)] {
		return false
	}
	return slices.ContainsFunc(wordsOf(what), func(w string) bool {
		if editing[w] {
			return true
		}
		for e := range editing {
			if unspaced(e) && strings.Contains(w, e) {
				return true
			}
		}
		return false
	})
}

// sameFigures reports whether a value without letters has the figures of words, in their order: 2-5 for pages 2 to 5.
func sameFigures(value, what string) bool {
	split := func(r rune) bool { return r < '0' || r > '9' }
	if strings.ContainsFunc(value, unicode.IsLetter) || strings.ContainsAny(value, ".,") {
		return false
	}
	got := strings.FieldsFunc(value, split)
	return len(got) > 1 && slices.Equal(got, strings.FieldsFunc(what, split))
}

// negated reports whether words deny something.
func negated(what string) bool {
	return slices.ContainsFunc(wordsOf(what), func(w string) bool { return negating[w] })
}
