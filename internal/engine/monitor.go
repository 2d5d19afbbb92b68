// Package engine is a reference monitor for AI agents: it knows where everything
// in an agent's context came from, keeps the high-water mark of distrust, and
// decides outside the model what the agent may still do.
//
// A host drives it with five verbs. [Monitor.Begin] says who speaks, [Monitor.Tools]
// says which tools the model may see now, [Monitor.Decide] says whether one exact call
// may run, [Monitor.Observe] labels what came back, and [Monitor.Answer] takes a
// person's vote on a held call. [Monitor.End] seals the turn.
//
// Invariants:
//   - Decide is the only place that decides; only an allowed, recorded call has a [Permit];
//   - a denial is a value, an error means "could not decide" and the caller must not act;
//   - a session's state is a fold over its log, so replaying the log gives the same state
//     (with DeferWrite, over its log and what is about to be written there);
//   - the package does no I/O of its own: the log, the clock and randomness are handed in.
package engine

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidemark/tidemark/internal/confined"
	"github.com/tidemark/tidemark/internal/families"
	"github.com/tidemark/tidemark/internal/labels"
	"github.com/tidemark/tidemark/internal/question"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/internal/sessions"
	"github.com/tidemark/tidemark/internal/standing"
	"github.com/tidemark/tidemark/internal/warrant/sayings"
	"github.com/tidemark/tidemark/internal/warrant/shell"
	"github.com/tidemark/tidemark/policy"
)

// Monitor decides. It is safe for concurrent use.
type Monitor struct {
	store  Store
	now    func() time.Time
	rand   io.Reader
	policy atomic.Pointer[policy.Set]
	shadow atomic.Pointer[policy.Set] // a candidate that runs beside and never acts; nil: none
	// station is where the monitor stands itself
	station atomic.Pointer[shell.Station]

	key       []byte // of the hashes in the log; empty: none
	auditor   Auditor
	acts      ActAuditor
	verifier  Verifier
	reader    Reader
	undecided bool // about a reader
	prover    Prover
	approvers ApproverRules
	shared    Shared // nil: nobody else writes to the store
	labels    *labels.Book
	orders    confined.Orders // what allowed calls of hosts' file tools leave
	offered   offered
	lasting   *standing.Keeper       // what people allowed for good
	pairs     *standing.Names        // which values the names of their words stand for
	stopping  *standing.Switch       // whether everything is stopped
	run       func() (string, error) // what this start of the monitor is called; drawn when it is first needed

	questions *question.Index // those that are open, by their ids
	table     *sessions.Table // of the sessions in memory
	families  *families.Book  // of sub-agents

	mu sync.Mutex

	checkpoints       Checkpoints // of conversations that are not in memory; nil: none are kept
	program           string      // that writes them
	telling           slots       // of those that come back
	resumes, rebuilds atomic.Uint64

	spoken atomic.Pointer[sayings.Book] // what servers said of themselves since this start; nil: nothing. Written with mu held
}

// New checks the options and makes a Monitor. There are no defaults for what decides.
func New(o Options) (*Monitor, error) {
	switch {
	case o.Policy == nil:
		return nil, errors.New("new monitor: no policy")
	case o.Store == nil:
		return nil, errors.New("new monitor: no store")
	case o.Now == nil:
		return nil, errors.New("new monitor: no clock")
	case o.Rand == nil:
		return nil, errors.New("new monitor: no source of randomness")
	}
	m := &Monitor{
		store: o.Store, now: o.Now, rand: o.Rand, key: o.Key,
		auditor: o.Auditor, acts: o.Acts, verifier: o.Verifier, reader: o.Reader, undecided: o.NoReader,
		prover: o.Prover, approvers: o.Approvers, shared: o.Shared, labels: labelBook(&o),
		families: families.New(o.Store, reserved+"children:", o.Now),
		lasting:  standing.New(o.Store, lastingLog, o.Shared != nil), pairs: standing.NewNames(o.Store, pairsLog, o.Shared != nil),
		stopping: standing.NewSwitch(o.Store, stopLog, o.Shared != nil, o.Now), checkpoints: o.Checkpoints, program: o.Program,
		questions: question.NewIndex(o.Now), telling: newSlots(o.Processors),
	}
	m.run = sync.OnceValues(func() (string, error) { return m.newID("run") })
	m.table = m.openTable(&o)
	if m.approvers == nil {
		m.approvers = anybody{}
	}
	m.policy.Store(o.Policy)
	m.SetStation(o.Station)
	return m, nil
}

// SetPolicy puts another policy in force. Approvals and grants given under the old one
// no longer count; what was allowed for good does, since it lifts no rule of a policy's own.
func (m *Monitor) SetPolicy(set *policy.Set) {
	if set != nil {
		m.policy.Store(set)
	}
}

// SetStation tells the monitor where it stands itself, once that is known.
func (m *Monitor) SetStation(s Station) {
	at := shell.Station(s)
	m.station.Store(&at)
}

// SetShadow runs a candidate policy beside the one in force: its answers are recorded
// and never act (BEY-05). nil ends it.
func (m *Monitor) SetShadow(set *policy.Set) { m.shadow.Store(set) }

// Policy is the set in force.
func (m *Monitor) Policy() *policy.Set { return m.policy.Load() }

// Reads reports whether anybody looks at the definitions of tools: an auditor, or a rule
// about what calls do, of the policy in force or of a candidate.
func (m *Monitor) Reads() bool {
	candidate := m.shadow.Load()
	return m.auditor != nil || m.policy.Load().Facts() || candidate != nil && candidate.Facts()
}

// Ref says where something happens. The zero Branch is the session's main context;
// an empty Turn means the turn that is open.
type Ref struct {
	Session string
	Branch  string
	Turn    string
}

// ErrRef is returned for a reference that names no session.
var ErrRef = errors.New("no session given")

func (r Ref) check() error {
	if r.Session == "" {
		return ErrRef
	}
	if len(r.Session) > session.MaxName || len(r.Branch) > session.MaxName || len(r.Turn) > session.MaxName {
		return fmt.Errorf("%w: a session, branch or turn name is longer than %d bytes", ErrRef, session.MaxName)
	}
	return nil
}
