package warrant

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
	Act     Kind = iota // what is done
	Aim                 // who or where it goes
	Object              // what is acted on
	Measure             // how much, which permission, which decision
	Key                 // a credential
	Order               // something that is executed
	Cargo               // what leaves
	Place               // where it is put
	numKinds
)

var kindNames = [...]string{"act", "aim", "object", "measure", "key", "order", "cargo", "place"}

// String is the kind's name in policies.
func (k Kind) String() string { return kindNames[k] }

// Slot is one slot of a call with its evidence.
type Slot struct {
	Kind    Kind
	Path    string
	Value   string
	Has     Evidence
	Why     string // in words for people
	Excerpt string
}

// Warrant is the reading of one call with the evidence for each slot.
type Warrant struct {
	Deed  string // read, tidy, create, change, delete, send, publish, pay, grant, execute, unknown
	Tool  string
	Slots []Slot
}

// Needs is the least evidence per slot; zero: none is needed.
type Needs [numKinds]Evidence

// Lacks are the slots whose evidence does not reach what is needed.
func (w *Warrant) Lacks(n Needs) []*Slot {
	var out []*Slot
	for i := range w.Slots {
		if s := &w.Slots[i]; s.Has < n[s.Kind] {
			out = append(out, s)
		}
	}
	return out
}
