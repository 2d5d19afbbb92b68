package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/question"
	"github.com/tidemark/tidemark/internal/sessions"
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
	// Acts is asked whether the user's words want an act of which nothing else is missing, where the policy has such
	// acts reviewed by it (bound); nil: nobody is, and people are asked.
	Acts ActAuditor
	// Verifier is asked last; nil: nobody is.
	Verifier Verifier

	// Reader understands requests and tools, where the policy asks what calls do; nil:
	// nobody does, and the words alone count.
	Reader Reader
	// NoReader says that nobody has decided about a Reader yet: questions that one may have saved say so.
	NoReader bool

	// Prover says whether an approval is a person's; nil: whoever may answer is believed.
	Prover Prover
	// Approvers say whose approval counts; nil: whoever may answer decides alone.
	Approvers ApproverRules

	// Shared is for a store that other monitors write to as well; nil: this one alone does.
	Shared Shared

	// Key keeps what the user said knowable after a restart where the log must not hold it: a
	// password stands there as a hash under this key. Empty: no such hashes are kept.
	Key []byte

	// Station is where the monitor itself stands, as far as it is known already; SetStation
	// tells the rest.
	Station Station

	// MaxSessions bounds how many sessions are kept in memory; the least recently used
	// ones are read back from the log when they speak again. 0 means 20,000.
	MaxSessions int

	// MaxHeard bounds about how many bytes of memory sessions take, all together: what was said and
	// read in them, and their states. Those that spoke least lately are then judged by what the log
	// has of them, as after a restart. 0 means 24 MiB.
	MaxHeard int64

	// Processors is how many there are: so many conversations come back at once. 0 means 4.
	Processors int

	// Checkpoints keeps conversations that are let go, so that they need not be told again from the log; nil: nothing does.
	Checkpoints Checkpoints
	// Program tells builds of this program apart that may read texts differently: a checkpoint of another one does not count.
	Program string
}

// Station is where the monitor itself stands: what the agent it watches must not reach.
// Whoever runs a monitor knows; nothing is looked up.
type Station struct {
	Data []string // folders with its data, tokens and settings
	Port string   // it listens on; "" is 8417
	Home string   // of the user it runs as
	PID  string
}

// Shared is what a monitor asks of a store that others write to as well: where they asked
// something. Everything else it reads from the log, each time before it answers.
type Shared interface {
	// Asking names the sessions that asked something which had not expired by then (Unix
	// nanoseconds). They are looked at before anybody is shown a question.
	Asking(ctx context.Context, now int64) ([]string, error)
	// Asked names the session of a question; ErrNotFound: nobody knows it.
	Asked(ctx context.Context, id string) (session string, err error)
}

// Checkpoints is where conversations are kept that are not in memory, sealed: of each session the latest. It may lose any of them at any
// time. It is safe for concurrent use.
type Checkpoints interface {
	Get(session string) []byte         // nil: there is none
	Put(session string, sealed []byte) // which are not its own afterwards
	Drop(session string)
}

// ErrConflict is returned by Store.Append when the session is not where the caller thinks.
var ErrConflict = sessions.ErrConflict

// ErrUnavailable is in every error that says the store could not take or give a record.
var ErrUnavailable = sessions.ErrUnavailable

// ErrNotFound is returned for sessions, turns and questions nobody knows.
var ErrNotFound = errors.New("not found")

func unavailableIf(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %v", ErrUnavailable, err) //nolint:errorlint // a conflict there is none of the session's
}

// Reader understands what users ask for and what tools are, from words, names and
// definitions: what it is handed has no place for content. It must not block unless it
// says so. Session is only for its budget and must not be sent anywhere.
type Reader interface {
	// Prepare begins to draw the contract of a request, and does not wait for it.
	Prepare(session string, r intent.Request)
	// Contract is what a request asks for. Where it is not there yet, the error holds
	// ErrLate: at once, or with wait after the time a call may be kept waiting.
	Contract(ctx context.Context, session string, r intent.Request, wait bool) (c intent.Contract, model string, err error)
	// Definition is what was read in the definition of a tool; nil: nothing yet. It is read
	// meanwhile.
	Definition(d tool.Definition) *tool.Reading
}

// Auditor judges intent. What it is handed has no place for tool output or for a
// model's text. An error means that it could not answer; it must not take longer than
// ctx allows. Session is only for its budget and must not be sent anywhere.
type Auditor interface {
	Audit(ctx context.Context, session string, q intent.Question) (intent.Opinion, error)
	// Plan draws up constraints for a task, in the form policy.ParseTask reads.
	Plan(ctx context.Context, session string, t intent.Task) (rules, model string, err error)
}

// ActAuditor says whether the user's words want an act. It is told the tool and where each value comes from, never a
// value, so it can vouch for none; an error means that a person is asked. Session is only for its budget and must not be
// sent anywhere.
type ActAuditor interface {
	AuditAct(ctx context.Context, session string, q intent.ActQuestion) (intent.ActOpinion, error)
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

// ApproverRules say whose approvals count for a question, and of how many people. A denial is never put
// to them.
type ApproverRules interface {
	// Allows returns an error if by may not approve; enough: with the approvals of before, the call may run.
	Allows(c QuestionInfo, by string, agreed []string) (enough bool, err error)
}

// anybody lets whoever may answer decide, alone or with as many others as the policy's rules want.
type anybody struct{}

// Allows implements ApproverRules.
func (anybody) Allows(c QuestionInfo, by string, agreed []string) (enough bool, err error) {
	if c.People <= 1 {
		return true, nil
	}
	if slices.Contains(agreed, by) {
		return false, fmt.Errorf("%w: %s has approved already; another person must approve too", ErrApprover, by)
	}
	return len(agreed)+1 >= c.People, nil
}

// Prover tells a person who approves from a program that has their token. A denial is never
// put to it.
type Prover interface {
	// Prove checks the proof of a vote that approves. said is all that the vote agrees to
	// (Said). What it returns is recorded with the answer; with an error nothing is approved.
	Prove(v *Vote, said string) (*event.Proof, error)
}

// Question is a held call as the owner sees it.
type Question = question.Question

// QuestionInfo is what rules for people look at in a question.
type QuestionInfo = question.Info

type (
	// Store keeps the log. It is the only thing the monitor needs from the world besides a clock and randomness.
	Store = sessions.Store
	// Queue is a store that takes events before they are durable.
	Queue = sessions.Queue
)

func unavailable(err error) error { return sessions.Unavailable(err) }
