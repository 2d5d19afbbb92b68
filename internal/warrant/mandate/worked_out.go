package mandate

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// What a model works out of the owner's words, and what it leaves to the agent. It has seen nothing that was read, so that no text
// can have worked anything out; but it may be wrong, and so it never says whom or what a call concerns:
//
//   - a value that was worked out holds a choice, a number, a day or a switch that equals it, and nothing else holds that slot;
//   - what is left to the agent is one of the values that the schema lists, where nothing depends on which.

// whyWorked is what is said of a value that is another than was worked out.
const whyWorked = "it is not what was worked out from your words"

// workedOut are the sources that a value may still be of. None is left where one of them says what it is: then why tells whether it
// is that, and is empty if so.
func (p *pass) workedOut(v *Value, sources []Source) (rest []Source, why string) {
	worked := func(s Source) bool { return len(s.Is) > 0 && len(s.What) > 0 } // from nothing nothing is worked out
	if !slices.ContainsFunc(sources, worked) || !p.settled(v) {
		return sources, ""
	}
	listed := len(v.Choices) == 0 || slices.Contains(v.Choices, v.Text)
	for i := range sources {
		if listed && worked(sources[i]) && slices.ContainsFunc(sources[i].Is, func(is string) bool { return sameValue(v.Text, is) }) {
			return nil, ""
		}
	}
	return slices.DeleteFunc(slices.Clone(sources), worked), whyWorked
}

// settled reports whether a slot is one whose value can be worked out: how much, when, which choice. A sum has to be said.
func (p *pass) settled(v *Value) bool {
	switch {
	case nested(v.Path), v.Sum && !p.saysNumber(v):
		return false
	case v.Role == Object:
		return len(v.Choices) > 0
	}
	return v.Role == Measure
}

// saysNumber reports whether the words that gave the item, or those that its sources hold for a slot, say a number.
func (p *pass) saysNumber(v *Value) bool {
	words := p.item.Quote
	for i := range p.item.Args[root(v.Path)] {
		words += " " + p.item.Args[root(v.Path)][i].formed().joined
	}
	return Says(words, v.Text) || Counts(words)[v.Text]
}

// sameValue reports whether two values are the same number, the same moment, or the same word.
func sameValue(a, b string) bool {
	if equal(a, b) {
		return true
	}
	x, err := strconv.ParseFloat(strings.TrimSpace(a), 64)
	if y, other := strconv.ParseFloat(strings.TrimSpace(b), 64); err == nil && other == nil {
		return x == y
	}
	day, hour, minute, ok := moment(a)
	day2, hour2, minute2, ok2 := moment(b)
	return ok && ok2 && day.Truncate(24*time.Hour).Equal(day2.Truncate(24*time.Hour)) && hour == hour2 && minute == minute2
}

// named reports whether a source looks something up by its name.
func named(h How) bool { return h == Person || h == Thing }

// byName reports whether the words of a source that count are its literals alone: whom or what they name, and not where that is
// looked up. A thing that has none is told by where it is.
func (s *Source) byName() bool { return s.How == Person || s.How == Thing && len(s.What) > 0 }

// thirdForm is why a value is not of a source, by the ways that the third form has.
func (p *pass) thirdForm(v *Value, s *Source) string {
	switch s.How {
	case Thing:
		if v.Role == Aim && p.records.written(v.Text) {
			return whyNamed
		}
		return p.thing(v, s, "I could not tell that it is what you named")
	case Made:
		return p.isMade(v)
	case Choose:
		return p.chosen(v, s)
	}
	return "I could not tell what it may be"
}

// Maker is a world in which it is known what the acts of the task at hand made.
type Maker interface {
	MadeHere(value string) bool // the id or the link that a covered act of this task returned, and that stood nowhere before
}

// isMade is why a value is not what an act of this task made.
func (p *pass) isMade(v *Value) string {
	maker, ok := p.world.(Maker)
	if (v.Role == Object || v.Role == Aim) && ok && maker.MadeHere(v.Text) {
		return ""
	}
	return "I could not tell that it was made for this"
}

var (
	indifferent = lists.Set("indifferent") // parameters of which people do not care what they are
	// leftOpen are the deeds in which something may not matter: not who gets access, what is gone, or what runs.
	leftOpen = map[string]bool{"tidy": true, "create": true, "change": true, "send": true, "pay": true}
)

// chosen is why a value is not the agent's to choose.
func (p *pass) chosen(v *Value, s *Source) string {
	const why = "I could not tell that any will do"
	switch {
	case nested(v.Path), v.Flag, v.Sum, v.Act, v.Decides, v.Role != Measure && v.Role != Object, !leftOpen[p.call.Deed]:
		return why
	case !slices.ContainsFunc(paramWords(v.Path), func(w string) bool { return indifferent[stem(w)] }):
		return why
	case slices.ContainsFunc(v.Choices, func(c string) bool { return leastRights[strings.ToLower(c)] || writeRights[strings.ToLower(c)] }):
		return why
	case len(v.Choices) > 0:
		if slices.Contains(v.Choices, v.Text) {
			return ""
		}
		return why
	case v.Default != "" && v.Text == v.Default:
		return ""
	case small[p.call.Deed] && p.listedIn(v, s):
		return ""
	}
	return why
}

// listedIn reports whether a value is one of the choices that a look-up listed which the source names.
func (p *pass) listedIn(v *Value, s *Source) bool {
	words := contentWords(s.Of)
	return len(words) > 0 && !p.records.full && slices.ContainsFunc(p.records.whole[plain(v.Text)], func(at int32) bool {
		rec := &p.records.all[at]
		return !rec.wrote && !rec.print && rec.offers(plain(v.Text), v.Path) && p.records.brings(rec.step, words, false)
	})
}
