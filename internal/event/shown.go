package event

// Shown is one slot of a call and what stands behind it.
type Shown struct {
	Path  string `json:"path"` // the parameter it stands in; empty for the act
	Slot  string `json:"slot"` // act, aim, object, measure, key, order, cargo, place
	Value string `json:"value"`
	Has   string `json:"has"`            // the evidence: none, agent, delegated, entailed, followed, picked, own, assented, said
	Why   string `json:"why,omitzero"`   // in words: why it has that and no more
	Lacks bool   `json:"lacks,omitzero"` // the policy wants more

	Secret bool `json:"secret,omitzero"` // its value is for the eyes of whoever answers: in the log it is redacted

	From  string `json:"from,omitzero"`  // the result or text it comes from, and who wrote that; empty: the user's, or nowhere
	Title string `json:"title,omitzero"` // what its record calls itself
	Facts string `json:"facts,omitzero"` // what its record says besides: of what kind, how large, how many
	Look  string `json:"look,omitzero"`  // what it could be taken for

	Said   bool   `json:"said,omitzero"`   // it stands in the user's own words, whatever they meant by it
	Packed string `json:"packed,omitzero"` // the beginning of the text that it is a code of, redacted; empty: it is none that can be read
}

// Covering is the item of the mandate that a call was held against: the one that covers it, or comes closest.
type Covering struct {
	ID      string   `json:"id,omitzero"`      // empty: no item is for such a call
	Giver   string   `json:"giver,omitzero"`   // contract, words, assent, answer, policy
	Quote   string   `json:"quote,omitzero"`   // the words that gave it
	Missing []string `json:"missing,omitzero"` // the slots it does not hold, by their parameters; "act": the act itself
}

// Said is one of the user's own messages.
type Said struct {
	Turn uint64 `json:"turn"`
	Text string `json:"text"` // redacted, shortened
}
