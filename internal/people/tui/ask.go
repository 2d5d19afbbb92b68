package tui

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/engine"
)

// pendingState is the state of a question that waits for its answer.
const pendingState = "pending"

// ask is a held call as the stream describes it: the wire's shape, of which a screen
// needs only what it shows.
type ask struct {
	ID      string    `json:"id"`
	Session string    `json:"session"`
	Tool    string    `json:"tool"`
	Args    string    `json:"args"` // redacted JSON, perhaps cut
	Kind    string    `json:"kind"`
	Rule    string    `json:"rule"`
	Reason  string    `json:"reason"`
	Prompt  string    `json:"prompt"` // what the person is asked, in words
	Level   string    `json:"taint"`
	Step    uint64    `json:"step"`
	Act     string    `json:"act"` // what the call would do
	Asked   time.Time `json:"asked"`
	Expires time.Time `json:"expires"`
	State   string    `json:"state"`
	By      string    `json:"by"` // who answered, and in which words
	Note    string    `json:"note"`

	Abandoned bool `json:"abandoned"` // whoever waited has gone

	diff string // of a definition: how it differs from what was accepted

	whole engine.Question // all of it, for the text that everybody reads

	raw strictjson.Value // as it came: two that differ are to be looked at anew
}

// readAsk decodes a question. One without an id could not be answered.
func readAsk(raw []byte) (ask, error) {
	var a ask
	if err := strictjson.Unmarshal(raw, &a); err != nil {
		return ask{}, fmt.Errorf("read question: %w", err)
	}
	if a.ID == "" {
		return ask{}, errors.New("read question: it has no id")
	}
	if err := strictjson.Unmarshal(raw, &a.whole); err != nil { // of another version: what is plain is shown
		a.whole = engine.Question{ID: a.ID, Tool: a.Tool, Args: a.Args, Kind: a.Kind, Reason: a.Reason, Prompt: a.Prompt, Rule: a.Rule}
	}
	a.raw = slices.Clone(strictjson.Value(raw))
	return a, nil
}

func readSnapshot(raw []byte) ([]ask, error) {
	var page struct {
		Approvals []strictjson.Value `json:"approvals"`
	}
	if err := strictjson.Unmarshal(raw, &page); err != nil {
		return nil, fmt.Errorf("read questions: %w", err)
	}
	asks := make([]ask, 0, len(page.Approvals))
	for _, raw := range page.Approvals {
		a, err := readAsk(raw)
		if err != nil {
			return nil, err
		}
		asks = append(asks, a)
	}
	definitions, err := readDefinitions(raw)
	return append(asks, definitions...), err
}

// name is the question in a sentence.
func (a ask) name() string { return line(fmt.Sprintf("%s (%s)", a.Tool, a.ID)) }

// signed says who answered it.
func (a ask) signed() string {
	by := ""
	if a.By != "" {
		by = " by " + line(a.By)
	}
	if a.Note != "" {
		by += ": " + line(a.Note)
	}
	return by
}

// open reports whether the question still waits for its answer.
func (a ask) open(now time.Time) bool { return a.State == pendingState && !a.late(now) }

func (a ask) late(now time.Time) bool { return !a.Expires.IsZero() && !now.Before(a.Expires) }

// older puts questions in the order they were asked.
func older(a, b ask) int {
	return cmp.Or(a.Asked.Compare(b.Asked), cmp.Compare(a.ID, b.ID))
}

func indexOf(asks []ask, id string) int {
	return slices.IndexFunc(asks, func(a ask) bool { return a.ID == id })
}
