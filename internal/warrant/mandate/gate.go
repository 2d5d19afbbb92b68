package mandate

import (
	"slices"
	"strings"
)

// The gate stands before the bound auditor: an isolated model that says whether the owner's words want an act. It is
// asked only where the act is all that is missing, so that its answer can never stand for a value:
//
//   - no item is for the tool, or the one there is is a mere step of something grave, which counts for nothing;
//   - whom and what the call concerns, how much, keys and orders stand in the owner's words, are the owner's, or are of
//     the one record that a source of the message singles out. One that stands nowhere is missing: an attacker's value
//     that was respelled or worked out stands nowhere too;
//   - only what is worded may be the agent's, and then it holds nothing that was read elsewhere.

// Whence is where the value of a slot comes from. The zero Whence is nowhere, and keeps the gate shut.
type Whence uint8

// The sources of a slot.
const (
	Nowhere  Whence = iota
	OfWords         // it stands in the owner's words
	OfOwner         // it is the owner's, or our own act returned it
	OfSource        // it is of the record that a source of the message singles out
	OfAgent         // the agent worded it
	OfNobody        // nothing depends on it
)

var whenceNames = [...]string{
	"nowhere", "it stands in your words", "it is yours", "it is of what you named", "the agent's wording", "nothing depends on it",
}

// String says it to the owner.
func (w Whence) String() string {
	if int(w) < len(whenceNames) {
		return whenceNames[w]
	}
	return whenceNames[Nowhere]
}

// Gate is a call of which only the act is missing.
type Gate struct {
	Slots []Held
}

// Held is an argument of such a call.
type Held struct {
	Arg  string // the parameter
	From Whence
	text string
}

// Speech is a world in which it is known what the owner typed.
type Speech interface {
	World
	Said(value string) bool // the owner typed it
}

// Gate is what may be asked about a call; nil: a person decides.
func (m *Mandate) Gate(c *Call, w Speech, r *Records) *Gate {
	if slices.ContainsFunc(m.Items, func(it Item) bool { return it.Tool == c.Tool && !(it.Step && c.Grave) }) {
		return nil // then a value is missing, or it is spent
	}
	g := &gate{pass: newPass(&Item{}, m, c, w, r), said: w.Said, sources: m.named()}
	out := &Gate{}
	for i := range c.Values {
		v := &c.Values[i]
		from := g.whence(v)
		if from == Nowhere {
			return nil
		}
		out.Slots = append(out.Slots, Held{root(v.Path), from, v.Text})
	}
	return out
}

// named are the sources that a message names, in the owner's words.
func (m *Mandate) named() []string {
	out := slices.Clone(m.Reads)
	for i := range m.Items {
		for _, list := range m.Items[i].Args {
			for _, s := range list {
				if named(s.How) || s.How == From || s.How == Calc {
					out = append(append(out, s.Of), s.What...)
				}
			}
		}
	}
	slices.Sort(out) // the order of a map is none
	return slices.DeleteFunc(slices.Compact(out), func(s string) bool { return len(contentWords(s)) == 0 || fixed[strings.ToLower(s)] })
}

// gate is a call while it is looked through.
type gate struct {
	pass

	said    func(value string) bool
	sources []string
}

func (g *gate) whence(v *Value) Whence {
	low := strings.ToLower(strings.TrimSpace(v.Text))
	param := wordsOf(strings.ReplaceAll(root(v.Path), "_", " "))
	switch {
	case low == "", v.Flag && low != "true":
		return OfNobody
	case v.Flag:
		return Nowhere // a switch is a consequence, and no kind of it can be told
	case v.Role == Text:
		return g.worded(v)
	case g.said(v.Text):
		return OfWords
	case v.Role == Order, v.Role == Key, v.Role == Place:
		return Nowhere
	case v.Role == Measure && len(param) > 0 && display[param[len(param)-1]]:
		return OfNobody
	case v.Role == Object && !g.call.Grave && (myself[low] || g.world.Own(v.Text) && !g.world.Told(v.Text)):
		return OfOwner
	case g.sourced(v):
		return OfSource
	}
	return Nowhere
}

// maxName is how many words a text has at most that may be no more than a name.
const maxName = 4

// worded is whence a text comes. The agent's holds nothing that no source of the message names, is no name that stands
// in a text, and does nothing that cannot be taken back: there a text may be what it is done to.
func (g *gate) worded(v *Value) Whence {
	switch {
	case g.said(v.Text):
		return OfWords
	case strings.Contains(v.Text, "{{"), strings.Contains(v.Text, "${"), strings.Contains(v.Text, "$("):
		return Nowhere
	case g.call.Grave, strays(g.world, v.Text, g.sources):
		return Nowhere
	case len(wordsOf(v.Text)) <= maxName && g.world.Told(v.Text): // a name that somebody else gave
		return Nowhere
	}
	return OfAgent
}

// sourced reports whether a value is of the record that a source of the message singles out. Whom something grave goes
// to is the owner's to say, and whoever wrote a record does not say who is meant.
func (g *gate) sourced(v *Value) bool {
	if v.Role == Aim && (g.call.Grave || g.records.written(v.Text)) {
		return false
	}
	return slices.ContainsFunc(g.sources, func(s string) bool {
		words := contentWords(s)
		stands := g.records.trusted(v, g.call.kinds(), words, words, true)
		return stands == single || stands == alone && v.Role == Object && !g.call.Grave
	})
}

// Within reports whether the words that an answer quotes are the owner's, and hold what is theirs in the call: a value
// that they said of something else is not said of this.
func (g *Gate) Within(quote string, typed []string) bool {
	said := spaced(strings.Join(typed, "\n"))
	if spaced(quote) == "" || !strings.Contains(said, spaced(quote)) {
		return false
	}
	words := wordsOf(quote)
	return !slices.ContainsFunc(g.Slots, func(h Held) bool {
		return h.From == OfWords && !subset(wordsOf(h.text), words) && !agreed(h.text, quote)
	})
}

// Vouched reports whether an answer covers a deed: what is asked for covers all of them, a step what can be put right.
func Vouched(answer, deed string) bool {
	return answer == "asked" || answer == "step" && (small[deed] || deed == "read")
}
