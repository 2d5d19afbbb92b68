package event

import "github.com/tidemark/tidemark/trust"

// What happened to something that was allowed for good.
const (
	StandingGiven = "given"
	StandingUsed  = "used"
	StandingEnded = "ended"
)

// Standing is something that was allowed for good, in every session of an agent, or what became of it: of what is used
// or ended only the id is told.
type Standing struct {
	Change  string      `json:"change"` // given, used, ended
	ID      string      `json:"id"`
	Session string      `json:"session,omitzero"` // in which it was asked
	Agent   string      `json:"agent,omitzero"`
	Tool    string      `json:"tool,omitzero"`
	Pin     string      `json:"pin,omitzero"` // the definition of the tool it is for
	Ceiling trust.Level `json:"ceiling,omitzero"`
	Keeps   *Kept       `json:"keeps,omitzero"` // the call it was given for
	Reads   bool        `json:"reads,omitzero"` // that the tool only reads, and nothing else
}
