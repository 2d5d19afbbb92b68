package mandate

import (
	"slices"
	"strconv"
	"strings"
)

// pass is one item held against one call.
type pass struct {
	item    *Item
	index   *index
	mandate *Mandate
	call    *Call
	world   World
	records *Records
	stray   string // what the text at hand holds of other sources
	about   *kinds // what the call is about, held against this item
}

func newPass(it *Item, m *Mandate, c *Call, w World, r *Records) pass {
	return pass{item: it, index: it.indexed(), mandate: m, call: c, world: w, records: r}
}

// missing are the slots of the call that the item does not hold.
func (p *pass) missing() []Missing {
	var out []Missing
	for i := range p.call.Values {
		v := &p.call.Values[i]
		p.stray = ""
		why := p.excepted(v)
		if why == "" {
			why = p.lacks(v)
		}
		if why != "" {
			out = append(out, Missing{v.Path, v.Text, v.Role, why, p.stray})
		}
	}
	return out
}

// lacks is why a slot is missing; empty: it is held.
func (p *pass) lacks(v *Value) string {
	sources := p.item.Args[root(v.Path)]
	if len(sources) == 0 || p.item.Worded && v.Flag {
		return p.unnamed(v)
	}
	if given := p.verbatim(v, sources); given != nil {
		return p.exactly(v, given)
	}
	rest, why := p.workedOut(v, sources)
	if len(rest) == 0 {
		return why
	}
	if set := p.index.said[root(v.Path)]; len(rest) == len(sources) && v.Role != Text && (set[plain(v.Text)] || set[plain(bare(v.Text))]) {
		return "" // most values are what was said: nothing else need be looked at
	}
	for i := range rest {
		if why = p.from(v, &rest[i]); why == "" {
			break
		}
	}
	switch {
	case why == "":
		return p.leaves(v)
	case p.item.Worded && v.Role != Text && !p.call.Grave && why != standings[equals] && p.unnamed(v) == "":
		return "" // what cannot be taken back is done to what the words offer for it
	}
	return why
}

// root is the parameter that a path begins with.
func root(path string) string {
	name, _, _ := strings.Cut(strings.ReplaceAll(path, "[]", ""), ".")
	return name
}

// unnamed is why a slot that the item does not speak of is not without consequence.
func (p *pass) unnamed(v *Value) string {
	low := strings.ToLower(strings.TrimSpace(v.Text))
	switch {
	case v.Flag && v.Denied:
		return "I could not find it so in your words"
	case low == "", v.Flag && low != "true":
		return ""
	case myself[low] && v.Role != Aim && (!p.call.Grave || p.binds()):
		return ""
	case v.Flag:
		if Speaks(p.index.quote, wordsOf(strings.ReplaceAll(lastPart(v.Path), "_", " "))) {
			return ""
		}
		return "I could not find it in your words"
	case v.Role == Text:
		return p.leaves(v)
	case v.Role == Aim, v.Role == Key, v.Role == Order, v.Role == Place:
		return "I could not find it in your words"
	case v.Act && !p.call.Grave, p.quoted(v.Text), p.formal(v), p.goesWith(v), p.inSource(v):
		return ""
	}
	return "I could not find it in your words"
}

// paramWords are the words of a parameter's name.
func paramWords(path string) []string { return wordsOf(strings.ReplaceAll(root(path), "_", " ")) }

// binds reports whether the item says what it is done to: then where that lies by default is without consequence.
func (p *pass) binds() bool {
	for _, list := range p.item.Args {
		for i := range list {
			if h := list[i].How; h == Said || h == From || named(h) || h == Made {
				return true
			}
		}
	}
	return false
}

// formal reports whether a parameter only says how something is put, and its tool lists what it may be: then a choice of it cannot do more
// than the act. What is not listed may be anything, whatever it is called.
func (p *pass) formal(v *Value) bool {
	name := paramWords(v.Path)
	if leaf := wordsOf(strings.ReplaceAll(lastPart(v.Path), "_", " ")); len(leaf) > 0 {
		name = leaf
	}
	if len(name) == 0 || v.Role != Measure && v.Role != Object {
		return false
	}
	last := name[len(name)-1]
	if last == "object" && !nested(v.Path) {
		return false // it may be what is acted on
	}
	return (display[last] || formalNames[last]) && !p.call.Grave && len(v.Choices) > 0 && !v.Decides
}

// lastPart is the last part of a path in a structure.
func lastPart(path string) string {
	path = strings.ReplaceAll(path, "[]", "")
	return path[strings.LastIndexByte(path, '.')+1:]
}

// goesWith reports whether a value is of the thing that the item names: its record has it, or it is what was just made.
func (p *pass) goesWith(v *Value) bool {
	if v.Role == Object && p.made(v) {
		return true
	}
	if p.some(func(words []string) bool { return p.records.with(v.Text, words) }) {
		return true
	}
	return v.Role == Object && p.records.singled(v.Text, p.index.content) == single
}

// some reports whether something holds of what one of the item's sources names.
func (p *pass) some(holds func(words []string) bool) bool {
	return slices.ContainsFunc(p.index.things, holds)
}

// made reports whether a value is an id that our own covered act gave to what it made.
func (p *pass) made(v *Value) bool {
	aim := v.Role == Aim
	return p.call.Deed != "delete" && (!aim || !p.call.Grave) && p.world.Made(v.Text, aim)
}

// quoted reports whether the words that gave the item hold a value whole.
func (p *pass) quoted(value string) bool {
	return subset(wordsOf(value), p.index.quote)
}

// leaves is why what goes out holds something that the item does not name as a source.
func (p *pass) leaves(v *Value) string {
	if v.Role != Text {
		return ""
	}
	if fills(v.Text) {
		return whyFilled
	}
	if !p.call.Reaches || p.headed(v.Text) {
		return ""
	}
	var why string
	p.stray, why = p.world.Stray(v.Text, p.sources())
	return why
}

// strays reports whether a text holds something of what was read and no source names.
func strays(w World, text string, sources []string) bool {
	part, _ := w.Stray(text, sources)
	return part != ""
}

const whyFilled = "somebody else fills in what it holds"

// fills reports whether a text has a place that something else is put into on its way.
func fills(text string) bool {
	return strings.Contains(text, "{{") || strings.Contains(text, "${") || strings.Contains(text, "$(")
}

// headed reports whether a text is the title of what is answered.
func (p *pass) headed(text string) bool {
	before, title, ok := strings.Cut(text, ": ")
	if !ok || len(before) > 3 || len(text) > 4*nameLength {
		return false
	}
	return p.some(func(words []string) bool { return p.records.with(title, words) })
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
