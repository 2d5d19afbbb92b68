// Package policyfile has the types in which the console and the API ask the rest of the program for
// what they cannot do themselves: try a call, read, check, compare and save the policy.
//
// It is pure: types, and what may be saved.
package policyfile

import (
	"context"
	"errors"
	"slices"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/reports/report"
)

// Trial is a call to try, and the conversation it is tried in.
type Trial struct {
	Tool  string
	Args  []byte   // a JSON object
	Said  []string // by the user, before
	Read  []string // after that; written by somebody else
	From  string   // tool that brought what was read; empty: web_fetch
	URL   string   // where it was read; empty: nobody says
	Done  []string // calls that ran before, each a tool, and its arguments behind it where it has some
	At    string   // when it is, RFC 3339; empty: now
	Agent string   // whose overrides apply
	Tools []byte   // definitions of the agent's tools, JSON; empty: none are known
}

// Tried is what would become of it.
type Tried struct {
	Tool     string `json:"tool" doc:"as the policy knows it"`
	Decision string `json:"decision" enum:"allow,ask,deny"`
	Rule     string `json:"rule"`
	Reason   string `json:"reason"`
	Shown    string `json:"shown" doc:"what a person would read, of a question"`
	Warrant  string `json:"warrant,omitzero" doc:"what stood behind the call, slot by slot"`
	Taint    string `json:"taint" doc:"of the context the call was made in"`

	Item *event.Covering `json:"item,omitzero" doc:"the item of the mandate that covers the call or comes closest, and what it lacks"`
}

// ErrTrial is returned for invalid trial input: arguments, definitions of tools, a time, earlier calls.
var ErrTrial = errors.New("this call cannot be tried")

// Fault is one fault of a policy text, with its place.
type Fault struct {
	Line     int    `json:"line"`
	Col      int    `json:"col"`
	Severity string `json:"severity" enum:"error,warning"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitzero"`
}

// Checked is what was found in a policy text.
type Checked struct {
	OK       bool    `json:"ok" doc:"it could be put in force; warnings do not count"`
	Version  string  `json:"version,omitzero" doc:"that it would have"`
	Faults   []Fault `json:"faults"`
	Rendered string  `json:"rendered" doc:"the same for people: with the lines and carets"`
}

// PolicyFile is the policy as a text.
type PolicyFile struct {
	// Read is the file and its text; the text is empty where there is no file yet.
	Read func() (file, text string, err error)
	// Check finds faults in a text.
	Check func(text string) Checked
	// Compare holds a text against what is recorded and against what is in force.
	Compare func(ctx context.Context, text string) (Comparison, error)
	// Draft is the text with what a suggestion of the report wants; ErrDraft says why there is none.
	Draft func(s *report.Suggestion) (text string, err error)
	// Save writes the text where the file still says before, keeps the old one, and puts it in force.
	Save func(ctx context.Context, before, text string) (notice string, err error)
}

// Whole reports whether all of it is there; else the policy is managed elsewhere.
func (p *PolicyFile) Whole() bool {
	return p.Read != nil && p.Check != nil && p.Compare != nil && p.Draft != nil && p.Save != nil
}

// Comparison is what a policy would have changed.
type Comparison struct {
	Sessions int      `json:"sessions"`
	Calls    int      `json:"calls"`
	Unjudged int      `json:"unjudged" doc:"calls whose values were not kept: nobody can say"`
	Redacted int      `json:"redacted" doc:"calls that were judged without the secrets or the contents of files in them"`
	Failed   int      `json:"failed" doc:"sessions that cannot be replayed"`
	More     int      `json:"more" doc:"questions that would be asked and were not"`
	Fewer    int      `json:"fewer" doc:"questions that would not be asked any more"`
	Denied   int      `json:"denied" doc:"calls that would be denied and were not"`
	Runs     []string `json:"runs" doc:"calls that were stopped and would run"`
	Looser   []string `json:"looser" doc:"what the policy itself says less strictly"`
	Rest     []string `json:"rest" doc:"other calls that differ"`
	Partial  bool     `json:"partial" doc:"there was no time for all of them"`
}

// Loosens are the changes that need explicit consent, each for itself, before the text is saved.
func (c *Comparison) Loosens() []string { return append(slices.Clone(c.Looser), c.Runs...) }

// ErrLooser is returned where not every one of them was agreed to.
var ErrLooser = errors.New("it is looser, and not every such entry is agreed to")

// Agreed looks at what a person agreed to.
func (c *Comparison) Agreed(to []string) error {
	for _, entry := range c.Loosens() {
		if !slices.Contains(to, entry) {
			return ErrLooser
		}
	}
	return nil
}

// ErrDraft is returned for a suggestion that cannot be drafted: it is about something else than the policy, or no
// longer fits it.
var ErrDraft = errors.New("there is no draft")

// ErrStale is returned where somebody saved the policy meanwhile.
var ErrStale = errors.New("somebody saved it since you read it; read it again")
