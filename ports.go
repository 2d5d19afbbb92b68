package tidemark

import (
	"context"
	"errors"
	"iter"

	"github.com/tidemark/tidemark/audit"
	"github.com/tidemark/tidemark/provenance"
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
	Append(ctx context.Context, session string, at uint64, events []*provenance.Event) error
	Load(ctx context.Context, session string, after uint64) iter.Seq2[audit.Record, error]
}

// ErrConflict is returned by Store.Append when the session is not where the caller thinks.
var ErrConflict = errors.New("session log has moved on")

// ErrNotFound is returned for sessions, turns and questions nobody knows.
var ErrNotFound = errors.New("not found")

// ErrUnavailable is in every error that says the store could not take or give a record.
var ErrUnavailable = errors.New("the log cannot be written")
