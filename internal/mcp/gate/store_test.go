package gate_test

import (
	"context"
	"errors"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/event"
)

// full is the log of a disk that has no room left.
func (f failing) full() tidemark.Store { return f }

func (failing) Append(context.Context, string, uint64, []*event.Event) error {
	return errors.New("no space left")
}
