package torture_test

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// What clients do and are told, for the check of histories. An unknown outcome is any that fits.
type (
	call   struct{}
	called struct {
		allowed  bool
		question string
	}
	approve struct{ id string }
	settled struct{}
	page    struct{}
	reset   struct{}
	look    struct{}
	seen    struct{ tainted bool }
	undone  struct{} // the server said no, or that it could not: nothing came of it
	unknown struct{}
)

func (c *called) String() string {
	return fmt.Sprintf("let through %t, question %q", c.allowed, c.question)
}
func (s *settled) String() string { return "taken" }
func (s *seen) String() string    { return fmt.Sprintf("tainted %t", s.tainted) }

// held is how one call stands: nobody was asked, a question is open, or it is approved and not yet spent.
type held struct {
	question string // open or approved; "?": one whose id nobody heard
	approved bool
}

// questions is a held call as one server has it: an approval is spent by one call, a question is answered once.
var questions = (&porcupine.NondeterministicModel{
	Init: func() []any { return []any{held{}} },
	Step: func(state, in, out any) []any {
		at, _ := state.(held)
		if _, no := out.(undone); no {
			return []any{at}
		}
		switch in := in.(type) {
		case call:
			if got, ok := out.(*called); ok {
				return at.told(got)
			}
			return at.asked()
		case approve:
			open := !at.approved && at.question == in.id
			_, known := out.(*settled)
			switch {
			case known && !open:
				return nil // taken although it was not open
			case known:
				return []any{held{in.id, true}}
			case open:
				return []any{at, held{in.id, true}}
			}
		}
		return []any{at}
	},
}).ToModel()

// told is what the call can have left, by what its client was told.
func (h held) told(got *called) []any {
	switch {
	case got.allowed && h.approved:
		return []any{held{}}
	case got.allowed || h.approved:
		return nil // let through without an approval, or held with one
	}
	return []any{held{question: got.question}}
}

// asked is what the call can have left where nobody knows the answer.
func (h held) asked() []any {
	if h.approved {
		return []any{h, held{}}
	}
	return []any{h, held{question: "?"}} // as it was, or asked about: for the first time, or with another question in place of the first
}

// taint is whether a session is: one page makes it so for everybody, until it is reset.
var taint = (&porcupine.NondeterministicModel{
	Init: func() []any { return []any{false} },
	Step: func(state, in, out any) []any {
		at, _ := state.(bool)
		if _, no := out.(undone); no {
			return []any{at}
		}
		_, lost := out.(unknown)
		next := at
		switch in.(type) {
		case page:
			next = true
		case reset:
			next = false
		case look:
			if got, ok := out.(*seen); ok && got.tainted != at {
				return nil
			}
		}
		if lost && next != at {
			return []any{at, next}
		}
		return []any{next}
	},
}).ToModel()
