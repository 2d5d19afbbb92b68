package event

import (
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// Held is a result that is kept from the agent, or a value that was extracted from one (AUD-03). The label of the record is what the
// result is worth; none of it enters the context.
type Held struct {
	Handle    string      `json:"handle"`
	Shown     tool.Digest `json:"shown,omitzero"`     // what the agent got instead, or as the value, hashed
	Extracted bool        `json:"extracted,omitzero"` // it is a value
	Value     string      `json:"value,omitzero"`     // of it, as JSON of a closed shape; empty: it is private, or there is none
	// Owed says that it comes with the result of a sub-agent that is to return a value, and counts where that is none.
	Owed bool `json:"owed,omitzero"`
}

// Unread makes it the record of what we looked up ourselves, where there is a name: no agent has read it, so it is worth nothing less than
// what was there.
func (s *Seen) Unread(name string) {
	if s.LookUp = name; name == "" {
		return
	}
	s.worthless()
	if s.Content != nil {
		s.Content.Preview = ""
	}
}

// Steer makes it the record of what the host's framework wrote about itself (a list of to-dos, a hand-off): it says nothing for anybody,
// and nothing against.
func (s *Seen) Steer() {
	s.Steered = true
	s.worthless()
}

// Refuse makes it the record of a call of which nothing was begun, and of which nothing came back but that: nothing entered by it.
func (s *Seen) Refuse(why string) {
	s.Refused = why
	s.worthless()
}

// worthless takes from it what it would do to the context.
func (s *Seen) worthless() {
	s.Label, s.Source, s.Sensitive, s.Caution = trust.Label{Level: trust.System, Sensitivity: trust.Public}, false, false, false
}

// Carried is a part of a text of a call that stands so in a result (AUD-02).
type Carried struct {
	Path    string `json:"path"` // the parameter that the text is of
	Part    string `json:"part"` // redacted
	Tool    string `json:"tool"`
	Step    uint64 `json:"step"`
	Readers string `json:"readers,omitzero"` // who may read the result besides the user; empty: nobody
}
