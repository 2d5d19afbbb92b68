// Package intent is the question an auditor is asked and how its answer is read: the
// user's own words, the name of the tool whose output is in the context, and the call
// the agent proposes. It is pure.
//
// Invariants:
//   - what an auditor is asked has no place for tool output or for a model's text;
//   - everything that is not the user's is quoted as data and bounded in size;
//   - an answer that is not exactly of the form asked for is no answer.
package intent

// Version names the prompts. It is recorded with every opinion: a changed prompt is
// another auditor.
const Version = "1"

// Kind is what the auditor is asked.
type Kind uint8

// The kinds of a question.
const (
	// Caution asks whether the call is a reasonable step towards what the user asked
	// for, after a cautioned tool brought something in (CAU-03). It is answered allow or
	// block.
	Caution Kind = iota
	// Consistency asks whether a call held for taint alone is what the user wants
	// (SEQ-06). It is answered consistent, inconsistent or unsure.
	Consistency
)

// String is the kind's name in the log.
func (k Kind) String() string {
	switch k {
	case Caution:
		return "caution"
	case Consistency:
		return "consistency"
	}
	return "unknown"
}

// Word is one message of the user's own, without secrets.
type Word struct {
	Turn uint64 `json:"turn"` // which turn of the session it began
	Text string `json:"text"`
}

// Question is all an auditor gets to see.
type Question struct {
	Kind    Kind
	Words   []Word   // every message of the user, in order
	Sources []string // names of the tools whose output is in play
	Tool    string   // proposed, normalised
	Params  string   // bounded summary of its arguments, without secrets
}

// Answer is what an auditor made of a question. The zero value is Unsure.
type Answer uint8

// The answers.
const (
	Unsure       Answer = iota
	Inconsistent        // block
	Consistent          // allow
)

var answerNames = [...]string{"unsure", "inconsistent", "consistent"}

// String is the answer's name in the log.
func (a Answer) String() string {
	if int(a) < len(answerNames) {
		return answerNames[a]
	}
	return answerNames[Unsure]
}

// Opinion is an auditor's answer. The zero Opinion is unsure.
type Opinion struct {
	Answer Answer
	Reason string // one line
	Model  string // that gave it
	Cached bool
}

// Definition is a tool as its host describes it to the model.
type Definition struct {
	Name        string
	Description string
	Params      []string // names of its parameters
}

// Task is what constraints for one task are drawn up from (SEQ-11).
type Task struct {
	Words []Word
	Tools []Definition
}
