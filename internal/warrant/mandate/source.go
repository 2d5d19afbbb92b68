package mandate

import (
	"slices"
	"strings"
)

// from is why a value is not of a source.
func (p *pass) from(v *Value, s *Source) string {
	p.records.takes(len(s.What) + len(s.words()))
	switch {
	case s.How == Made || s.How == Choose: // nothing else speaks for these
		return p.thirdForm(v, s)
	case s.formed().same(v.Text), p.paired(v, s):
		return ""
	case (v.Role == Object || v.Role == Aim) && s.How != Said && s.How != Write && p.made(v), s.How != Said && p.plainly(v):
		return ""
	case v.Act && !p.call.Grave && !v.Flag: // which act it is was read, and is not graver than the one that is asked for
		return ""
	case !p.call.Grave && s.How != Said && p.formal(v):
		return ""
	case s.How == From && v.Role == Text: // what it holds of other sources is looked for apart
		return ""
	}
	why := p.bySource(v, s)
	if why != "" && p.another(v, s) {
		return "it was another one before"
	}
	return why
}

// bySource is why a value is not of a source, by the way that is named.
func (p *pass) bySource(v *Value, s *Source) string {
	if s.How == Person || s.How == Thing {
		if why, known := p.looked(v, s); known {
			return why
		}
	}
	switch s.How {
	case Said:
		return p.literally(v, s)
	case Most:
		return p.upTo(v, s)
	case Person:
		return p.person(v, s)
	case From:
		return p.thing(v, s, "I could not tell that it belongs to what you named")
	case Calc:
		return p.worked(v, s)
	case Own:
		return p.own(v, s)
	case Write:
		return p.written(v)
	case Command:
		return p.runs(v, s)
	}
	return p.thirdForm(v, s)
}

func (p *pass) upTo(v *Value, s *Source) string {
	if atMost(v.Text, s.What) {
		return ""
	}
	return "it is more than you said"
}

func (p *pass) person(v *Value, s *Source) string {
	if p.records.written(v.Text) && v.Role == Aim {
		return whyNamed
	}
	return p.thing(v, s, "I could not tell that it is who you named")
}

func (p *pass) written(v *Value) string {
	if v.Role == Text || v.Role == Measure && !v.Flag && !p.call.Grave {
		return ""
	}
	return p.unnamed(v)
}

func (p *pass) runs(v *Value, s *Source) string {
	if v.Role == Order && plainCommand(v.Text, s.What) {
		return ""
	}
	return "it is not the command you named"
}

// plainly reports whether a thing or a choice stands in the very words that gave the item, where it can be undone.
func (p *pass) plainly(v *Value) bool {
	return (v.Role == Object || v.Role == Measure) && !v.Flag && !p.call.Grave && p.quoted(v.Text)
}

// literally is why a value is not what was said: a text of no other words, or one that holds them and nothing that was
// read, a sum in cents that a record has, a place below the folder, or the id of what was named are.
func (p *pass) literally(v *Value, s *Source) string {
	switch {
	case v.Role == Text && (subset(wordsOf(v.Text), s.formed().literal) || p.holdsSaid(v.Text, s.What)):
		return ""
	case v.Role == Measure && p.records.HasSum(v.Text, v.Path) && s.formed().inCents(v.Text):
		return ""
	case v.Role != Text && v.Role != Order && v.Role != Key && p.inFolder(v, s.What):
		return ""
	case p.formal(v) && p.call.Deed == "tidy":
		return "" // the frame of what is said
	}
	return p.thing(v, s, "it is not what you said")
}

// holdsSaid reports whether a text that is to be said has all that was given for it.
func (p *pass) holdsSaid(text string, what []string) bool {
	words, low := wordsOf(text), spaced(text)
	return slices.ContainsFunc(what, func(w string) bool { return holdsAll(words, wordsOf(w)) || strings.Contains(low, spaced(w)) })
}

// thing is why a value is not of the record that the words of a source single out.
func (p *pass) thing(v *Value, s *Source, why string) string {
	if v.Role == Order {
		return why // what is run is said, and stands in no record
	}
	if s.How == From && s.Of == "" && len(s.What) == 0 {
		return p.lookedUp(v)
	}
	if v.Role != Aim && s.How != Said && s.How != Person && p.spells(v, s) {
		return "" // issue 12, and it is 12
	}
	if v.Role == Aim && p.call.Grave && p.records.written(v.Text) {
		return whyWritten
	}
	words := s.words()
	stands := p.stand(v, s, words)
	if stands == equals {
		stands = max(stands, onlySingle(p.stand(v, s, p.withFigures(words))))
	}
	if p.held(v, s, stands, words) || v.Role != Aim && !p.call.Grave && p.records.within(v.Text, p.kinds().at(v.Path), words) {
		return ""
	}
	if told, ok := standings[stands]; ok {
		return told
	}
	return why
}

// spells reports whether the words that a source names something by are the value itself: 12 for issue 12. Of a thing that is looked up
// the words beside it must be what the interface calls such things, as in /Demos for the Demos folder of share_folder: else somebody
// who calls theirs by one of the words would have it taken for the one that is meant.
func (p *pass) spells(v *Value, s *Source) bool {
	if s.How != Thing {
		return s.Of != "" && holdsAll(contentWords(s.Of), wordsOf(v.Text))
	}
	words, value := contentWords(strings.Join(s.What, " ")), wordsOf(v.Text)
	kind := slices.Concat(wordsOf(strings.ReplaceAll(p.call.Tool, "_", " ")), paramWords(v.Path))
	return holdsAll(words, value) && !slices.ContainsFunc(words, func(w string) bool { return !holds(value, w) && !holds(kind, w) })
}

// Why a value is refused that speaks against the words, and is not only one of which they say nothing.
const (
	whyNamed   = "whoever wrote it chose the name"
	whyWritten = "somebody else wrote where it goes"
	whyBeside  = "it is of another one than you named"
	whyLooked  = "it is not what I found when I looked up who or what you named"
)

// Contradicts reports whether a slot is not merely unheld: the words single out another record, or the one it is of was
// named by whoever wrote it.
func (m *Missing) Contradicts() bool {
	return m.Why == whyNamed || m.Why == whyWritten || m.Why == whyBeside || m.Why == whyLooked
}

// standings are what is said of a value that stands so, and is not held.
var standings = map[standing]string{
	listed: "it is one of several", searched: "it is one of several", equals: "more than one is called so",
	beside: whyBeside,
}

// stand is how a value stands to words. Who or where something goes to, and what cannot be taken back, is looked up more
// strictly.
func (p *pass) stand(v *Value, s *Source, words []string) standing {
	return p.records.trusted(v, p.kinds(), words, s.formed().content, v.Role == Aim || p.call.Grave)
}

// onlySingle is what more words may decide: that it is the one, and nothing less.
func onlySingle(s standing) standing {
	if s == single {
		return single
	}
	return nowhere
}

// withFigures are words, and the figures that the item is about before them.
func (p *pass) withFigures(words []string) []string { return slices.Concat(p.index.figures, words) }

// subset reports whether a text is made of some words only.
func subset(text, of []string) bool {
	for _, w := range text {
		if !holds(of, w) {
			return false
		}
	}
	return len(text) > 0
}
