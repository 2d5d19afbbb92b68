package event

import (
	"cmp"
	"time"

	"github.com/tidemark/tidemark/trust"
)

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

// Stop is that everything was stopped, or goes on. The Answer beside it says who said so.
type Stop struct {
	Resumed bool   `json:"resumed,omitzero"` // false: nothing runs from here on
	Reason  string `json:"reason,omitzero"`  // in the words of whoever stopped it
}

// MaxStopReason bounds the words of whoever stops everything.
const MaxStopReason = 300

// Stopped is a stop that is in force: by whom, since when, and why, in their words.
type Stopped struct {
	By     string    `json:"by"`
	At     time.Time `json:"at"`
	Reason string    `json:"reason,omitzero"`
}

// String says it to agents and to people.
func (s *Stopped) String() string {
	text := "everything was stopped by " + cmp.Or(s.By, "somebody") + " at " + s.At.Format(time.RFC3339)
	if s.Reason != "" {
		text += " (" + s.Reason + ")"
	}
	return text + "; nothing runs until an administrator resumes it (tidemark resume)"
}
