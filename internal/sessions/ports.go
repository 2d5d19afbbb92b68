package sessions

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/base/pack"
	"github.com/tidemark/tidemark/internal/event"
)

// Store keeps the log. It is the only thing the monitor needs from the world
// besides a clock and randomness.
//
// Append is durable when it returns nil. It links the events to the session's hash
// chain at position at (the number of records the session must already have) and
// returns ErrConflict if the session has moved on: then nothing was written.
// On any other error the caller cannot know what was written and must Load again.
// The store must not keep events after Append returned.
type Store interface {
	Append(ctx context.Context, session string, at uint64, events []*event.Event) error
	Load(ctx context.Context, session string, after uint64) iter.Seq2[audit.Record, error]
}

// Queue is a store that takes events before they are durable. Enqueue is Append in two halves: it
// takes the events, those of one session in the order of the calls, and wait returns when Append
// would, and what it would. Between them the events are not looked at any more.
type Queue interface {
	Enqueue(ctx context.Context, session string, at uint64, events []*event.Event) (wait func() error, err error)
}

// ErrConflict is returned by Store.Append when the session is not where the caller thinks.
var ErrConflict = errors.New("session log has moved on")

// ErrUnavailable is in every error that says the store could not take or give a record.
var ErrUnavailable = errors.New("the log cannot be written")

// Unavailable says of an error that the store could not take or give a record.
func Unavailable(err error) error {
	if errors.Is(err, ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}

// Contents is what is kept in memory of a session beside its state: what was said and read in it. Its methods are called with the entry's
// lock held.
type Contents interface {
	// Ready reads what else must be known before anything is done in the session.
	Ready(ctx context.Context) error
	// Lose forgets what does not hold, or is not wanted in memory, any more.
	Lose(what Loss)
	// Size is how many bytes it takes.
	Size() int64
	// Due reports whether Rest is called as soon as nothing of the session is on its way to the log.
	Due() bool
	// Rest keeps what brings it back; false: the log does not answer, so that later there may be more. Without a room it was due.
	Rest(ctx context.Context, room *pack.Writer) (answered bool)
}

// Loss is what Contents lose.
type Loss uint8

// The losses. The zero Loss is all.
const (
	All      Loss = iota
	Heard         // what was said and read, of which Rest has kept what brings it back
	Outdated      // what others may have changed: they wrote to the log
	Reread        // what goes with a state that was read anew
	Moved         // and where in the log things were said
)
