package judge_test

import (
	"context"
	"errors"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
)

// full is the log of a disk that has no room left.
func (f failing) full() engine.Store { return f }

func (failing) Append(context.Context, string, uint64, []*event.Event) error {
	return errors.New("no space left")
}
