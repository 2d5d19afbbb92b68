package mandate

import (
	"slices"
	"strconv"
	"strings"
)

// pass is one item held against one call.
type pass struct {
	item    *Item
	mandate *Mandate
	call    *Call
	world   World
	records *Records
}

// missing are the slots of the call that the item does not hold.
func (p *pass) missing() []Missing {
	var out []Missing
	for i := range p.call.Values {
		v := &p.call.Values[i]
		if why := p.lacks(v); why != "" {
			out = append(out, Missing{v.Path, v.Text, v.Role, why})
		}
	}
	return out
}

// lacks is why a slot is missing; empty: it is held.
func (p *pass) lacks(v *Value) string {
	sources := p.item.Args[root(v.Path)]
	if len(sources) == 0 {
		return p.unnamed(v)
	}
	why := ""
	for i := range sources {
		if why = p.from(v, &sources[i]); why == "" {
			break
		}
	}
	if why != "" {
		return why
	}
	return p.leaves(v)
}

// root is the parameter that a path begins with.
func root(path string) string {
	name, _, _ := strings.Cut(strings.ReplaceAll(path, "[]", ""), ".")
	return name
}

// from is why a value is not of a source.
func (p *pass) from(v *Value, s *Source) string {
	if slices.ContainsFunc(s.What, func(w string) bool { return equal(v.Text, w) }) {
		return ""
	}
	if s.How != Said && p.plainly(v) {
		return ""
	}
	switch s.How {
	case Said:
		return p.literally(v, s)
	case Most:
		if atMost(v.Text, s.What) {
			return ""
		}
		return "it is more than you said"
	case Person:
		if p.records.written(v.Text) && v.Role == Aim {
			return "whoever wrote it chose the name"
		}
		return p.thing(v, s, "I could not tell that it is who you named")
	case From:
		return p.thing(v, s, "I could not tell that it is of what you named")
	case Calc:
		return p.worked(v, s)
	case Own:
		return p.own(v, s)
	case Write:
		if v.Role == Text || v.Role == Measure && !v.Flag && !p.call.Grave {
			return ""
		}
		return p.unnamed(v)
	case Command:
		if v.Role == Order && plainCommand(v.Text, s.What) {
			return ""
		}
		return "it is not the command you named"
	}
	return "I could not tell what it may be"
}

// plainly reports whether a thing or a choice stands in the very words that gave the item, where it can be undone.
func (p *pass) plainly(v *Value) bool {
	return (v.Role == Object || v.Role == Measure) && !v.Flag && !p.call.Grave && p.quoted(v.Text)
}

// literally is why a value is not what was said: a text of no other words, a sum in cents that a record has, or the id of
// what was named are.
func (p *pass) literally(v *Value, s *Source) string {
	if v.Role == Text && subset(wordsOf(v.Text), wordsOf(strings.Join(s.What, " "))) {
		return ""
	}
	if v.Role == Measure && p.records.seen(v.Text) && slices.ContainsFunc(s.What, func(w string) bool { return minor(v.Text, w) }) {
		return ""
	}
	return p.thing(v, s, "it is not what you said")
}

// thing is why a value is not of the record that the words of a source single out.
func (p *pass) thing(v *Value, s *Source, why string) string {
	if s.Of != "" && s.How != Said && holdsAll(contentWords(s.Of), []string{strings.ToLower(v.Text)}) {
		return "" // issue 12, and it is 12
	}
	words := contentWords(strings.Join(s.What, " ") + " " + s.Of)
	if s.How == Person {
		words = contentWords(strings.Join(s.What, " "))
	}
	if v.Role == Aim && p.call.Grave && p.records.written(v.Text) {
		return "somebody else wrote where it goes"
	}
	stands := p.records.singled(v.Text, words)
	if p.held(v, s, stands, words) {
		return ""
	}
	return map[standing]string{
		nowhere: why, alone: why, single: why, listed: "it is one of several", equals: "more than one is called so",
		beside: "it is of another one than you named",
	}[stands]
}

// held reports whether a value that stands so is of the source: it is of the one record, of each that is wanted, or of
// the one that the words choose.
func (p *pass) held(v *Value, s *Source, stands standing, words []string) bool {
	each := p.item.Per != "" && !p.call.Grave
	switch stands {
	case single:
		return true
	case alone:
		return v.Role != Aim
	case listed:
		return each
	case equals:
		return each || ordered(s) && p.records.firstOf(v.Text, words)
	case beside:
		return ordered(s) && p.records.firstEver(v.Text, words)
	}
	return v.Role == Measure && s.How != Said && p.measured(v, s)
}

// ordered reports whether the words choose among equals.
func ordered(s *Source) bool {
	for _, w := range wordsOf(strings.Join(s.What, " ") + " " + s.Of) {
		if orders[w] {
			return true
		}
	}
	return false
}

// measured reports whether a figure stands in a text that a source names, which brings no records.
func (p *pass) measured(v *Value, s *Source) bool {
	return !p.call.Grave && s.Of != "" && p.world.Stray(v.Text, []string{s.Of}) == "" && p.world.Told(v.Text)
}

// subset reports whether a text is made of some words only.
func subset(text, of []string) bool {
	for _, w := range text {
		if !holds(of, w) {
			return false
		}
	}
	return len(text) > 0
}

// overlaps reports whether two texts share a word that names something.
func overlaps(a, b []string) bool {
	return slices.ContainsFunc(a, func(w string) bool { return !functional[w] && holds(b, w) })
}

// worked is why a value was not worked out from what the owner said. Days, times and figures that stand in no text of
// others are the agent's; whom and what they concern is not worked out.
func (p *pass) worked(v *Value, s *Source) string {
	if v.Flag && (!p.call.Grave || overlaps(wordsOf(strings.ReplaceAll(root(v.Path), "_", " ")), wordsOf(strings.Join(s.What, " ")))) {
		return ""
	}
	if v.Role == Measure && !v.Flag {
		if !p.call.Grave && !p.world.Told(v.Text) || dated(v.Text, strings.Join(s.What, " ")) {
			return ""
		}
		for _, w := range s.What {
			for _, word := range wordsOf(w) {
				if equal(v.Text, word) || minor(v.Text, word) {
					return ""
				}
			}
		}
	}
	if v.Role == Text && !p.world.Told(v.Text) {
		return ""
	}
	return p.thing(v, s, "I could not work it out from what you said")
}

// minor reports whether a sum is a literal in cents.
func minor(value, literal string) bool {
	n, err := strconv.ParseFloat(strings.ReplaceAll(strings.Trim(literal, "€$£"), ",", "."), 64)
	m, err2 := strconv.ParseFloat(value, 64)
	return err == nil && err2 == nil && n != 0 && m == n*100
}

// own is why a value is not the owner's.
func (p *pass) own(v *Value, s *Source) string {
	if p.world.Own(v.Text) && v.Role != Aim || myself[strings.ToLower(v.Text)] || v.Role == Measure && v.Text == "1" {
		return ""
	}
	words := contentWords(strings.Join(s.What, " ") + " " + s.Of)
	stands := p.records.singled(v.Text, words)
	if v.Role == Aim { // among records of a list anybody's address would do
		if stands == single && !p.records.written(v.Text) {
			return ""
		}
		return "I could not tell that it is yours"
	}
	switch stands {
	case single, alone:
		return ""
	case listed, equals, beside:
		if !p.call.Grave && !p.records.written(v.Text) {
			return ""
		}
	}
	if v.Role != Aim && p.quoted(v.Text) {
		return ""
	}
	return "I could not tell that it is yours"
}

// unnamed is why a slot that the item does not speak of is not without consequence.
func (p *pass) unnamed(v *Value) string {
	name := wordsOf(strings.ReplaceAll(root(v.Path), "_", " "))
	low := strings.ToLower(strings.TrimSpace(v.Text))
	switch {
	case low == "", v.Flag && low != "true":
		return ""
	case myself[low] && v.Role != Aim && !p.call.Grave:
		return ""
	case len(name) > 0 && display[name[len(name)-1]] && v.Role == Measure:
		return ""
	case v.Flag:
		if holdsAll(wordsOf(p.item.Quote), name) {
			return ""
		}
		return "I could not find it in your words"
	case v.Role == Text:
		return p.leaves(v)
	case v.Role == Aim, v.Role == Key, v.Role == Order, v.Role == Place:
		return "I could not find it in your words"
	case p.quoted(v.Text):
		return ""
	}
	if v.Role == Object && p.records.singled(v.Text, contentWords(p.item.Quote)) == single {
		return ""
	}
	if v.Role == Object && !p.call.Grave && p.world.Own(v.Text) {
		return ""
	}
	return "I could not find it in your words"
}

// quoted reports whether the words that gave the item hold a value whole.
func (p *pass) quoted(value string) bool {
	words := wordsOf(p.item.Quote)
	for _, w := range wordsOf(value) {
		if !holds(words, w) {
			return false
		}
	}
	return len(wordsOf(value)) > 0
}

// leaves is why what goes out holds something that the item does not name as a source.
func (p *pass) leaves(v *Value) string {
	if v.Role != Text {
		return ""
	}
	if strings.Contains(v.Text, "{{") || strings.Contains(v.Text, "${") || strings.Contains(v.Text, "$(") {
		return "somebody else fills in what it holds"
	}
	if !p.call.Reaches {
		return ""
	}
	if stray := p.world.Stray(v.Text, p.sources()); stray != "" {
		return "it holds what was read elsewhere"
	}
	return ""
}

// sources are all that the item and its message name.
func (p *pass) sources() []string {
	out := append([]string{p.item.Quote}, p.mandate.Reads...)
	for _, list := range p.item.Args {
		for _, s := range list {
			out = append(append(out, s.Of), s.What...)
		}
	}
	return out
}

// atMost reports whether a number is not above any of some literals.
func atMost(value string, literals []string) bool {
	n, err := strconv.ParseFloat(plain(value), 64)
	if err != nil {
		return false
	}
	for _, l := range literals {
		for _, w := range wordsOf(l) {
			if m, err := strconv.ParseFloat(plain(w), 64); err == nil && n <= m {
				return true
			}
		}
	}
	return false
}

// plainCommand reports whether a line is one of the programs that were named, with plain words behind it and nothing
// that a shell would read as more.
func plainCommand(line string, programs []string) bool {
	if strings.ContainsAny(line, ";|&$`<>\n(){}\\") {
		return false
	}
	words := strings.Fields(strings.ToLower(line))
	for _, p := range programs {
		named := strings.Fields(strings.ToLower(p))
		if len(named) > 0 && len(words) == len(named) && strings.Join(words, " ") == strings.Join(named, " ") {
			return true
		}
	}
	return false
}
