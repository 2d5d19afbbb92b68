// Package warrant says what stands behind a call: what it does, slot by slot, and for each
// slot the evidence that the user wanted this done to this. What each act needs at least is
// a table of the policy's (policy/presets); a slot whose evidence does not reach it is the
// question. It decides nothing itself.
//
// Invariants:
//
//   - unseen is never better than text: respelling a value, hiding it, or an argument that
//     cannot be read can only lose evidence;
//
//   - names and shapes that others choose earn nothing: a record's structure counts only as
//     the server's, and only while no free text speaks for it;
//
//   - more content never adds a warrant, except as the answer to something warranted: a
//     record the user named, an id our own act returned;
//
//   - the zero Evidence is none, the zero Deed is one that is not understood.
//
//   - what cannot be taken back is asked for by its verb: speaking of a thing, even by its
//     number, warrants no removal, payment, grant or execution of it;
//
//   - a text lists only while no line of it says anything (listing.go); what the user pastes
//     is content they named, and what they quote asks for nothing (quote.go).
//
// What it does not keep yet, and each changes figures:
//   - the user's words of a turn are one speaker's;
//   - a name the agent makes up for something new or small is its own (composed), which is
//     more than the same name has once a text holds it.
//
// It is pure: the same conversation always gives the same warrant.
package warrant

import (
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/mandate"
)

// Evidence is what stands behind one slot of a call. The zero Evidence is none.
type Evidence uint8

// The kinds of evidence, weakest first.
const (
	Nothing   Evidence = iota // it stands in free text, beside what the user named, or nowhere
	Agent                     // the agent composed it
	Delegated                 // the user told the agent to do what a named content says
	Entailed                  // what was asked for cannot be done without it
	Followed                  // for reading: it stands, whole, in what the user pointed at
	Picked                    // a field of a record the user singled out
	Own                       // the user's account, a constant of the schema, an id our own act returned
	Assented                  // the user agreed to it
	Said                      // the user's own words hold it
)

var evidenceNames = [...]string{"none", "agent", "delegated", "entailed", "followed", "picked", "own", "assented", "said"}

// String is the evidence's name in policies.
func (e Evidence) String() string {
	if int(e) < len(evidenceNames) {
		return evidenceNames[e]
	}
	return evidenceNames[Nothing]
}

// Kind is what a slot of a call is.
type Kind uint8

// The kinds of slots.
const (
	Act      Kind = iota // what is done
	Aim                  // who or where it goes
	Object               // what is acted on
	Measure              // how much, which permission, which decision
	Key                  // a credential
	Order                // something that is executed
	Cargo                // what leaves
	Place                // where it is put
	NumKinds             // how many there are
)

var kindNames = [NumKinds]string{"act", "aim", "object", "measure", "key", "order", "cargo", "place"}

// String is the kind's name in policies.
func (k Kind) String() string {
	if k < NumKinds {
		return kindNames[k]
	}
	return "?"
}

// Slot is one slot of a call with its evidence.
type Slot struct {
	Kind  Kind
	Path  string // the parameter it stands in; empty for the act
	Value string
	Has   Evidence
	Why   string // why it has that and no more, in words for people
	Fault bool   // Why is what speaks against it, and holds nothing of what was read

	Secret bool   // Value is for the eyes of whoever answers
	Part   string // what is in a text of an act that is asked for and must go; empty: it lacks more
}

// Warrant is the reading of one call with the evidence for each slot.
type Warrant struct {
	Deed  Deed
	Tool  string // by its canonical name
	Slots []Slot

	Danger bool // it runs or puts something that leaves, stays behind or wrecks, and the user did not name it
	// Contained says of a command that is dangerous that all of that is in files that it runs and that nobody has read: other
	// sessions left them, they were fetched, or they are in no language that is understood. A box holds what they do.
	Contained bool

	Interferes bool         // an item holds it, and would not without records that the item does not name
	Depends    []Dependency // of what an item holds: the results that the answer rests on
	// Gate says that only the act is missing: a model that sees no value may be asked about it. nil: nobody but a person.
	Gate *mandate.Gate
	Item *Item // the item of the mandate that covers it, or comes closest; nil: none is for such a call
	// Pairs are what would be known from now on: where nothing is missing, what the user said with the call, else what a yes confirms.
	Pairs []mandate.Pair
}

// Dependency is a result that an answer rests on: the argument is a field of it.
type Dependency struct {
	Path string
	Step uint64
}

// Item is an item of the mandate as people are told of it.
type Item struct {
	ID, Giver string // givers: contract, words, assent
	Quote     string // the user's words that gave it; of assent, the agent's that they agreed to
}

// What speaks against an act that is more than a lack of words for it.
const (
	saidNot   = "you said not to"
	doneOften = "it was done as often as" // it was asked for, in the words of whoever counts
)

// Barred reports whether the user forbade the act, or it was done as often as they asked for: what somebody allowed at another
// time does not lift that.
func (w *Warrant) Barred() bool {
	for i := range w.Slots {
		if s := &w.Slots[i]; s.Kind == Act && (strings.HasPrefix(s.Why, saidNot) || strings.HasPrefix(s.Why, doneOften)) {
			return true
		}
	}
	return false
}

// Weakest is the least evidence among the slots of a kind, or of one argument, by its name;
// Free where there is none.
func (w *Warrant) Weakest(what string) string {
	least, found := Said, false
	if kind, known := KindNamed(what); known {
		least, found = w.Least(kind)
	} else {
		least, found = w.LeastAt(what)
	}
	if !found {
		return Free
	}
	return least.String()
}

// LeastAt is the least evidence among the slots of one argument, by its path, if there are any.
func (w *Warrant) LeastAt(path string) (Evidence, bool) {
	least, found := Said, false
	for i := range w.Slots {
		if s := &w.Slots[i]; s.Path == path {
			least, found = min(least, s.Has), true
		}
	}
	return least, found
}

// Repair is what must go from a text so that nothing is missing any more, and the parameter it stands in. It is empty
// where anything else lacks evidence.
func (w *Warrant) Repair() (path, part string) {
	for i := range w.Slots {
		switch s := &w.Slots[i]; {
		case s.Has != Nothing:
		case s.Part == "" || s.Kind != Cargo || w.Danger:
			return "", ""
		case part == "":
			path, part = s.Path, s.Part
		}
	}
	return path, part
}

// Paths are the parameters that hold slots of a kind.
func (w *Warrant) Paths(kind Kind) []string {
	var out []string
	for i := range w.Slots {
		if s := &w.Slots[i]; s.Kind == kind && s.Path != "" {
			out = append(out, s.Path)
		}
	}
	return out
}

// endanger makes the call a dangerous one. One danger that can be read is enough for it not to be contained.
func (w *Warrant) endanger(contained bool) {
	w.Contained = contained && (!w.Danger || w.Contained)
	w.Danger = true
}

// fault adds an order that something speaks against.
func (w *Warrant) fault(path, value, why string) {
	w.Slots = append(w.Slots, Slot{Kind: Order, Path: path, Value: value, Why: why, Fault: true})
}

// Fault is what speaks against a slot of a kind; empty where nothing does, or what does
// holds something that was read.
func (w *Warrant) Fault(k Kind) string {
	for i := range w.Slots {
		if s := &w.Slots[i]; s.Fault && s.Kind == k {
			return s.Why
		}
	}
	return ""
}

// Least is the least evidence among the slots of a kind, if there are any. An act that nobody
// judged lacks everything.
func (w *Warrant) Least(kind Kind) (Evidence, bool) {
	least, found := Said, false
	for i := range w.Slots {
		if s := &w.Slots[i]; s.Kind == kind {
			least, found = min(least, s.Has), true
		}
	}
	if !found && kind == Act {
		return Nothing, true
	}
	return least, found
}

func (w *Warrant) add(k Kind, path, value string, e Evidence, why string) {
	w.Slots = append(w.Slots, Slot{Kind: k, Path: path, Value: value, Has: e, Why: why})
}
