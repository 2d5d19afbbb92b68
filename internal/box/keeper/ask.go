package keeper

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Wanted is what a command in a box wants of the world outside: a verb and a place, and what a person must know of it.
type Wanted struct {
	Verb     string   `json:"verb"`
	Host     string   `json:"host"`
	Port     int      `json:"port"`
	Remote   string   `json:"remote,omitzero"`
	Place    string   `json:"place,omitzero"`
	Refs     []string `json:"refs,omitzero"`
	Commits  []string `json:"commits,omitzero"`
	Files    []string `json:"files,omitzero"`
	More     int      `json:"more,omitzero"`
	Packages []string `json:"packages,omitzero"`
	Lines    []string `json:"lines,omitzero"`
	Program  string   `json:"program,omitzero"`
	Command  string   `json:"command"`

	Adds *Adds `json:"-"` // what it would add outside, which is looked at and kept nowhere; nil: nothing
}

// Adds is what a command would add outside.
type Adds struct {
	Ordered bool    `json:"ordered"` // its owner ordered the command: a person is asked only where something speaks against what it adds
	Whole   bool    `json:"whole"`   // Texts are all of it
	Texts   []Added `json:"texts"`
}

// Added is a text of it.
type Added struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// Said is the answer to what is wanted. The zero value refuses.
type Said struct {
	Allow bool   `json:"allow"`
	Open  bool   `json:"open"` // a person was asked, and has not answered
	Why   string `json:"why"`  // of a refusal
	No    bool   `json:"no"`   // of a refusal: a person said so
}

// Asker has it decided whether a command that runs with a ticket may have something, and waits so long for a person's answer.
type Asker interface {
	Ask(ctx context.Context, ticket string, w Wanted, wait time.Duration) (Said, error)
}

// How long an answer is waited for: at a time, and in all.
const (
	oneWait  = 20 * time.Second
	allWaits = 10 * time.Minute
)

// Ask puts what a command wants before the monitor.
func (m *Monitor) Ask(ctx context.Context, ticket string, w Wanted, wait time.Duration) (Said, error) {
	raw, err := m.post(ctx, "/v1/box/ask", struct {
		Ticket string `json:"ticket"`
		Wants  Wanted `json:"wants"`
		Adds   *Adds  `json:"adds,omitzero"`
		Wait   int    `json:"wait"`
	}{ticket, w, w.Adds, int(wait / time.Second)})
	if err != nil {
		return Said{}, err
	}
	var s Said
	if err := strictjson.Unmarshal(raw, &s); err != nil {
		return Said{}, fmt.Errorf("read the server's answer: %w", err)
	}
	return s, nil
}

// decided asks until there is an answer, or nobody waits for one any more. asking is called once a person was asked.
func decided(ctx context.Context, by Asker, ticket string, w Wanted, asking func()) Said {
	ctx, cancel := context.WithTimeout(ctx, allWaits)
	defer cancel()
	for wait := time.Duration(0); ; wait = oneWait {
		s, err := by.Ask(ctx, ticket, w, wait)
		var no *Refusal
		switch {
		case errors.As(err, &no):
			return Said{Why: no.Reason}
		case ctx.Err() != nil:
			return Said{Why: "nobody answered in time"}
		case err != nil:
			return Said{Why: "the monitor could not be asked"}
		case s.Allow && !s.Open:
			return s
		case !s.Open || s.Allow: // one that is both is none that we know
			return Said{Why: s.Why}
		case wait == 0:
			asking()
		}
	}
}
