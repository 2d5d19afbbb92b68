package event

// Pins is what happened to the definitions of an MCP server: they were seen for the first
// time, or are others than those a person accepted, or a person accepted them or wants them to stay hidden.
type Pins struct {
	Act    string `json:"act"`            // first, held, accepted, denied, listed
	ID     string `json:"id"`             // of the server: its name and what it is
	Server string `json:"server"`         // its name
	At     string `json:"at,omitzero"`    // its command or address, for people
	List   string `json:"list,omitzero"`  // listed: which listing besides tools
	Items  []Pin  `json:"items,omitzero"` // what it is about
	Whole  bool   `json:"whole,omitzero"` // first, listed: with it the list was complete
	By     string `json:"by,omitzero"`    // accepted, denied: the person
	Via    string `json:"via,omitzero"`   // and how they came
	Note   string `json:"note,omitzero"`  // and their words
}

// Pin is one definition: a tool's, or the instructions of the server, which have no name.
type Pin struct {
	Name    string `json:"name,omitzero"`
	Hash    string `json:"hash,omitzero"`    // of what a model reads: Text
	Rest    string `json:"rest,omitzero"`    // hash of the other members
	Text    string `json:"text,omitzero"`    // canonical JSON
	Hints   string `json:"hints,omitzero"`   // its annotations, canonical JSON
	More    string `json:"more,omitzero"`    // the other members without what hints claim, canonical JSON; empty: only Rest tells
	Caution bool   `json:"caution,omitzero"` // it asks for caution itself
	Why     string `json:"why,omitzero"`     // held: for what reason
}
