// Package mandate holds what may happen unasked in a task: a list of items, each with who gave it, and the rule by
// which an item covers a call. A call that acts runs unasked only if some item holds every slot of it; what no item
// holds is the question.
//
// The words that the rule is made of:
//
//   - a source is what an item says a value comes from: literals of the owner's words, a person or a thing that
//     they name, their own accounts, or the agent's pen. Never a result as a whole;
//   - a record is one object of a result, in the structure that the server printed (records.go);
//   - the record that words single out is the one that holds more of them than any other of its kind. With equals
//     there is none, and it is asked about;
//   - a task is one message of the owner's and what is done for it. Its items end with the next message that asks
//     for something else.
//
// Nothing that was read, and no name or shape that others choose, adds an item or widens one. The zero Item covers
// nothing.
package mandate

import (
	"strings"

	"slices"
)

// How is where the value of a slot may come from. The zero How is one that nobody understands, and holds nothing.
type How uint8

// The ways to name a source.
const (
	Unknown How = iota
	Said        // one of the literals
	Most        // a number up to the literal
	Person      // a field of the record of the person that is named
	From        // a field of the record that the words name
	Calc        // worked out from the literals, or chosen among the source's records
	Own         // the owner's own accounts and things
	Write       // the agent composes it
	Command     // a program that is named
	Thing       // a field of the record of the thing that is named
	Made        // what an act of this task made
	Choose      // the agent's choice among what is listed
)

var hows = map[string]How{
	"said": Said, "most": Most, "person": Person, "from": From, "calc": Calc, "own": Own, "write": Write, "command": Command,
	"thing": Thing, "made": Made, "choose": Choose,
}

// HowNamed is the How of a contract's word.
func HowNamed(name string) How { return hows[name] }

// Source is what one slot may be.
type Source struct {
	How  How
	What []string // literals of the owner's words
	Of   string   // what it is taken from, in the owner's words
	Is   []string // the very values that were worked out from the literals; none: nobody did
	// Of a text, as the words give it: whom or what the same clause names, and what stands there word for word for this parameter.
	For, Verbatim []string
	// Wide says that the words are not those of an order for the act alone: that they speak of more than one orders nothing for each.
	Wide bool

	forms *forms // nil: nobody asked
}

// Item is one kind of call that may happen unasked.
type Item struct {
	ID    string // for the log, the question and people
	Tool  string // by its canonical name
	Quote string // the owner's words that gave it
	Step  bool   // not named, but needed for what is
	Times int    // how often; 0 is once
	Per   string // done once for each entry of this
	If    string // the owner's condition
	Pin   string // the definition of the tool when the words came; empty: whatever it is
	// Message is which of the owner's messages holds the quote, the last of them, from 1; 0: nobody looked.
	Message int
	// Worded says that no model read the words: the sources of each parameter are all that the words offer for it, so a value
	// that none of them holds is judged like one of a parameter that the words do not name.
	Worded bool
	Args   map[string][]Source
	Except []string // what of a list it is not done to
	Or     string   // the choice that it is one of; empty: none

	index *index // nil: nobody asked
}

// Ban is an act that the owner forbids, or wants to see first.
type Ban struct {
	Act  string // send pay delete create change run grant all
	What string // empty: whatever it is done to
	// Spares are what the same words order by name, of a ban that is about others. What is done to these alone is not forbidden.
	Spares []string
	// First says that they want to see it before it is done.
	First bool
}

// Mandate is all that one message gives.
type Mandate struct {
	Items   []Item
	Reads   []string          // what must be opened for it
	Follow  []string          // contents that the owner wants obeyed
	Limits  map[string]string // how far, by content; none: nobody said
	Never   []Ban
	Assents bool // the message only accepts what the agent offered
	// Unquoted says that it is of the first form, which quotes nothing: the whole message gives its items.
	Unquoted bool
}

// Role is what a slot is to the rule. The zero Role is an order, the strictest.
type Role uint8

// The roles.
const (
	Order   Role = iota // something that is executed
	Aim                 // who or where it goes
	Object              // what is acted on
	Key                 // a credential
	Place               // where it is put
	Measure             // how much, which choice, when
	Text                // something that is worded
)

// Value is one argument of a call.
type Value struct {
	Path string // its parameter
	Text string
	Role Role
	Flag bool // true, false or null
	// Denied says that the owner's words do not hold the switch that it is, as it is put.
	Denied bool
	Act    bool // it names the act, which the deed has taken in
	Sum    bool // it is a sum
	// Choices are what the schema lists for it, Default what it is where nobody says; none: the schema does not tell.
	Choices []string
	Default string
	Decides bool // a decision, a permission, who may see it, force
}

// Call is a call as the rule sees it. Deeds are named as policies name them.
type Call struct {
	Tool    string
	Deed    string
	Grave   bool // it cannot be taken back
	Reaches bool // it tells somebody else something
	Values  []Value
	Takes   []string // the parameters that its tool declares; what else stands in a call says nothing of what it is about
	about   *kinds
}

// World answers what the rule asks of the conversation.
type World interface {
	Own(value string) bool // our own covered acts were given it or returned it, or it is the owner's account
	// Made reports whether it is the new id of what a covered act of ours made; where something goes, one that the owner's words
	// alone made.
	Made(value string, aim bool) bool
	Told(value string) bool // it stands in a text that others wrote
	Stands(value string, in func(step uint64) bool) bool
	// Stray is the part of a text that stands in what was read, and not in what one of the sources names, and why the text is asked
	// about; both empty: it is not. With no source it is whatever was read, told in other words as well. Where it was worded after
	// something secret was read that no source names there is a reason and no part.
	Stray(text string, sources []string) (part, why string)
}

// Missing is a slot that no item holds.
type Missing struct {
	Path, Value string
	Role        Role
	Why         string // for people; holds nothing that was read
	Part        string // of a text: what it must not hold, if that is all
}

// Covered is what the rule found: the item that comes closest, and what it does not hold.
type Covered struct {
	Item    *Item // nil: none is for such a call
	Missing []Missing
}

// Cover finds the item that holds a call, or comes closest: all of them are tried, and the one of which the fewest
// slots are missing is taken.
func (m *Mandate) Cover(c *Call, w World, r *Records) Covered {
	var best Covered
	for i := range m.Items {
		it := &m.Items[i]
		if it.Tool != c.Tool || it.Step && c.Grave {
			continue
		}
		p := newPass(it, m, c, w, r)
		if missing := p.missing(); best.Item == nil || len(missing) < len(best.Missing) {
			best = Covered{it, missing}
		}
	}
	return best
}

// banned are the deeds that a ban is for besides the one of its name.
var banned = map[string]map[string]bool{
	"run": {"execute": true}, "change": {"tidy": true}, "create": {"tidy": true},
	"send": {"unknown": true}, "pay": {"unknown": true}, "delete": {"unknown": true}, "grant": {"unknown": true},
}

// spared reports whether a call is done to what the same words order by name, and to nothing else.
func (b *Ban) spared(c *Call) bool {
	found := false
	for i := range c.Values {
		v := &c.Values[i]
		if v.Role != Aim && v.Role != Object && v.Role != Place {
			continue
		}
		if !slices.ContainsFunc(b.Spares, func(s string) bool { return plain(s) == plain(v.Text) }) {
			return false
		}
		found = true
	}
	return found
}

// Forbids is the ban that holds for a call; nil: none does.
func (m *Mandate) Forbids(c *Call, r *Records) *Ban {
	for i := range m.Never {
		b := &m.Never[i]
		if b.Act != "all" && b.Act != c.Deed && !banned[b.Act][c.Deed] {
			continue
		}
		if b.What == "" {
			if b.spared(c) {
				continue
			}
			return b
		}
		for _, v := range c.Values {
			if holdsAll(wordsOf(v.Text), contentWords(b.What)) || r.singled(v.Text, contentWords(b.What)) == single {
				return b
			}
		}
	}
	return nil
}

// Quotes are the words behind the items for a tool.
func (m *Mandate) Quotes(tool string) string {
	var out []string
	for i := range m.Items {
		if m.Items[i].Tool == tool {
			out = append(out, m.Items[i].Quote)
		}
	}
	return strings.Join(out, "\n")
}
