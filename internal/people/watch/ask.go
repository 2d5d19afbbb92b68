package watch

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// pendingState is the state of a question that waits for its answer.
const pendingState = "pending"

// ask is a held call as the stream describes it: the wire's shape, of which a screen
// needs only what it shows.
type ask struct {
	ID      string        `json:"id"`
	Session string        `json:"session"`
	Tool    string        `json:"tool"`
	Args    string        `json:"args"` // redacted JSON, perhaps cut
	Kind    string        `json:"kind"`
	Rule    string        `json:"rule"`
	Reason  string        `json:"reason"`
	Prompt  string        `json:"prompt"` // what the person is asked, in words
	Level   string        `json:"taint"`
	Step    uint64        `json:"step"`
	Act     string        `json:"act"` // what the call would do
	Asked   time.Time     `json:"asked"`
	Expires time.Time     `json:"expires"`
	State   string        `json:"state"`
	Words   []askWord     `json:"words"`
	Sources []askSource   `json:"sources"`
	Values  []event.Shown `json:"values"` // the slots of the call and what stands behind each
	Allows  string        `json:"allows"`
	Opinion *askOpinion   `json:"opinion"`
	By      string        `json:"by"` // who answered, and in which words
	Note    string        `json:"note"`

	Abandoned bool `json:"abandoned"` // whoever waited has gone

	diff string // of a definition: how it differs from what was accepted

	raw strictjson.Value // as it came: two that differ are to be looked at anew
}

// askWord is one message of the user's own.
type askWord struct {
	Turn uint64 `json:"turn"`
	Text string `json:"text"`
}

// askSource is one thing in the context the call came from.
type askSource struct {
	Level   string `json:"level"`
	Step    uint64 `json:"step"`
	Kind    string `json:"kind"`
	Tool    string `json:"tool"`
	Detail  string `json:"detail"`
	Excerpt string `json:"excerpt"`
}

// askOpinion is what the auditor made of the call.
type askOpinion struct {
	Answer string `json:"answer"`
	Reason string `json:"reason"`
	Model  string `json:"model"`
	Failed string `json:"failed"` // why there is no answer
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
