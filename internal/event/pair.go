package event

// What happened to a pair.
const (
	PairGiven  = "given"  // it holds from now on, in the place of any other of its name
	PairEnded  = "ended"  // somebody took it back, or it no longer holds
	PairOpened = "opened" // somebody's log of pairs was begun; its id says which
)

// Pair is a name of the user's words and the value that stood for it in an act that they confirmed: a payee and an account, a person
// and an address. It has a log of its own for each person.
type Pair struct {
	Change  string  `json:"change"` // given, ended, opened
	ID      string  `json:"id"`
	Person  string  `json:"person,omitzero"`  // whose words have the name: provider:id, or agent:id
	Session string  `json:"session,omitzero"` // in which it was confirmed
	Name    string  `json:"name,omitzero"`    // in its one spelling
	Said    string  `json:"said,omitzero"`    // as the words have it
	Value   string  `json:"value,omitzero"`
	Deed    string  `json:"deed,omitzero"` // what it was confirmed for
	Path    string  `json:"path,omitzero"` // the parameter it stood in
	Sum     float64 `json:"sum,omitzero"`  // of a payment
	Unit    string  `json:"unit,omitzero"`
	Sure    bool    `json:"sure,omitzero"` // the user said it; else they answered a question about it
}

// prune takes out who it is about.
func (p *Pair) prune() {
	if p != nil {
		p.Name, p.Said, p.Value, p.Person = "", "", "", ""
	}
}
