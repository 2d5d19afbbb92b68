package intent

import (
	_ "embed" // the prompt is part of the program
	"fmt"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	cut "github.com/tidemark/tidemark/internal/base/text"
)

// ActVersion names the prompt that acts are asked about with.
const ActVersion = "bound-auditor-1"

// A change of it is a new ActVersion.
//
//go:embed bound-auditor-1.txt
var actSystem string

// ActSchema is the form of the answer as JSON Schema, for providers that hold a model to one.
//
//go:embed bound-auditor-1.schema.json
var ActSchema string

// Origin is where the value of an argument comes from. A model that is asked about an act is told this and never the
// value. The zero Origin is nowhere, which nobody is asked about.
type Origin uint8

// The sources of values.
const (
	Nowhere   Origin = iota
	SaidByYou        // it stands in the user's words
	YourOwn          // the user's own things, and what our acts returned
	OfNamed          // a record that the user's words name
	Composed         // the agent worded it
	Idle             // nothing depends on it
)

var origins = [...]string{"nowhere", "said by the user", "own", "from what the user named", "the agent's own", "without consequence"}

// String is what a model reads.
func (w Origin) String() string {
	if int(w) < len(origins) {
		return origins[w]
	}
	return origins[Nowhere]
}

// ActSlot is one argument of the call that is asked about.
type ActSlot struct {
	Arg  string // a parameter of the tool's definition; empty: nobody knows its name
	From Origin
}

// ActQuestion is all that a model sees that says whether the user wants an act. It has no place for a value.
type ActQuestion struct {
	Words []Word
	Tool  string
	Slots []ActSlot
	Done  []string // deeds since the latest message, by their names in policies
}

// Act is what was answered about an act. The zero Act is that nobody is sure.
type Act uint8

// The answers about an act.
const (
	ActUnsure  Act = iota // two readings are possible
	ActNeither            // they did not ask for it, or forbid it
	ActStep               // what they ask for cannot be done without it
	ActAsked              // they ask for it
)

var actNames = [...]string{"unsure", "neither", "step", "asked"}

// String is the answer's name in the log.
func (a Act) String() string {
	if int(a) < len(actNames) {
		return actNames[a]
	}
	return actNames[ActUnsure]
}

// ActNamed is the answer of a name.
func ActNamed(name string) (Act, bool) {
	for i, n := range actNames {
		if n == name {
			return Act(i), true // a short list
		}
	}
	return ActUnsure, false
}

// ActOpinion is an answer about an act. The zero value is unsure.
type ActOpinion struct {
	Answer Act
	Quote  string // the user's words that ask for it
	Model  string
	Cached bool
}

// Prompt asks whether the user's words want the act.
func (q *ActQuestion) Prompt() (system, user string) {
	var b strings.Builder
	b.WriteString("## The user's messages, in order\n")
	appendWords(&b, q.Words)
	b.WriteString("\n## The call\ntool " + framed.quote(identifier(q.Tool), maxName) + "(")
	for i, s := range q.Slots {
		if i == maxArguments {
			fmt.Fprintf(&b, ", …(+%d more)", len(q.Slots)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		name := fmt.Sprintf("argument %d", i+1)
		if s.Arg != "" {
			name = framed.quote(identifier(s.Arg), maxArgument)
		}
		b.WriteString(name + ": " + s.From.String())
	}
	b.WriteString(")\n")
	if len(q.Done) > 0 {
		b.WriteString("done so far: " + strings.Join(q.Done[:min(len(q.Done), maxDone)], ", ") + "\n")
	}
	b.WriteString("\nDo the user's words want this act?")
	return actSystem, b.String()
}

// maxDone is how many kinds of deeds are told.
const maxDone = 16

// ParseAct reads an answer about an act: one JSON object of exactly the form. Anything else is an error.
func ParseAct(text string) (ActOpinion, error) {
	body, err := spoken(text)
	if err != nil {
		return ActOpinion{}, err
	}
	if body = unfence(body); len(body) > maxWord+maxAnswer {
		return ActOpinion{}, fmt.Errorf("read answer: %w: %d bytes", ErrForm, len(body))
	}
	var in struct {
		Answer string `json:"answer"`
		Quote  string `json:"quote"`
	}
	if err := strictjson.UnmarshalKnown([]byte(body), &in); err != nil {
		return ActOpinion{}, fmt.Errorf("read answer: %w: %w", ErrForm, err)
	}
	answer, known := ActNamed(in.Answer)
	if !known {
		return ActOpinion{}, fmt.Errorf("read answer: %w: the answer %s", ErrForm, shown.quote(in.Answer, maxName))
	}
	return ActOpinion{Answer: answer, Quote: cut.Fit(in.Quote, maxWord)}, nil
}
