package tidemark

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"

	"github.com/tidemark/tidemark/audit"
	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// Options are what a Monitor needs. Policy, Store, Now and Rand are required.
type Options struct {
	Policy *policy.Set
	Store  Store
	Now    func() time.Time
	Rand   io.Reader // a CSPRNG

	// Auditor judges intent, where the policy asks for it; nil: nobody does.
	Auditor Auditor
	// Verifier is asked last; nil: nobody is.
	Verifier Verifier

	// Key keeps what the user said knowable after a restart where the log must not hold it: a
	// password stands there as a hash under this key. Empty: no such hashes are kept.
	Key []byte

	// MaxSessions bounds how many sessions are kept in memory; the least recently used
	// ones are read back from the log when they speak again. 0 means 20,000.
	MaxSessions int
}

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

// Auditor judges intent. What it is handed has no place for tool output or for a
// model's text. An error means that it could not answer; it must not take longer than
// ctx allows. Session is only for its budget and must not be sent anywhere.
type Auditor interface {
	Audit(ctx context.Context, session string, q intent.Question) (intent.Opinion, error)
	// Plan draws up constraints for a task, in the form policy.ParseTask reads.
	Plan(ctx context.Context, session string, t intent.Task) (rules, model string, err error)
}

// Verifier is an authority outside, asked last, about calls that would otherwise run.
type Verifier interface {
	// Covers reports whether calls of the tool are to be verified. It is asked before
	// every call and must not block.
	Covers(agent, tool string) bool
	// Verify returns when the authority has answered or its time is up.
	Verify(ctx context.Context, c Check) Ruling
}

// Check is a call as a verifier sees it.
type Check struct {
	Session  string
	Branch   string
	Agent    string
	Provider string
	Tool     string      // normalised
	Params   []byte      // its arguments as JSON, redacted
	Digest   tool.Digest // of the exact call
	Taint    trust.Level // of the context
}

// Ruling is a verifier's answer. The zero Ruling denies.
type Ruling struct {
	Allow  bool
	By     string // who decided: webhook, telegram, failMode
	Reason string
	Failed bool // nobody answered, the fail mode decided
	Cached bool
}

// ErrConflict is returned by Store.Append when the session is not where the caller thinks.
var ErrConflict = errors.New("session log has moved on")

// ErrNotFound is returned for sessions, turns and questions nobody knows.
var ErrNotFound = errors.New("not found")

// ErrUnavailable is in every error that says the store could not take or give a record.
var ErrUnavailable = errors.New("the log cannot be written")
