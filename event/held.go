package event

import "github.com/tidemark/tidemark/tool"

// Held is a result that is kept from the agent, or a value that was extracted from one (AUD-03). The label of the record is what the
// result is worth; none of it enters the context.
type Held struct {
	Handle    string      `json:"handle"`
	Shown     tool.Digest `json:"shown,omitzero"`     // what the agent got instead, or as the value, hashed
	Extracted bool        `json:"extracted,omitzero"` // it is a value
	Value     string      `json:"value,omitzero"`     // of it, as JSON of a closed shape; empty: it is private, or there is none
	Owed      bool        `json:"owed,omitzero"`      // it comes with the result of a sub-agent that is to return a value, and counts if that is none
}
