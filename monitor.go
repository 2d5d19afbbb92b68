// Package tidemark is a reference monitor for AI agents: it knows where everything
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
//     (with Later, over its log and what is about to be written there);
//   - the package does no I/O of its own: the log, the clock and randomness are handed in.
package tidemark

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidemark/tidemark/audit"
	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/internal/base/idle"
	"github.com/tidemark/tidemark/internal/base/pack"
	"github.com/tidemark/tidemark/internal/base/patience"
	"github.com/tidemark/tidemark/internal/base/seal"
	"github.com/tidemark/tidemark/internal/confined"
	"github.com/tidemark/tidemark/internal/facts"
	"github.com/tidemark/tidemark/internal/labels"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/internal/standing"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/internal/warrant/meaning"
	"github.com/tidemark/tidemark/internal/warrant/sayings"
	"github.com/tidemark/tidemark/internal/warrant/shell"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

// Monitor decides. It is safe for concurrent use.
type Monitor struct {
	store  Store
	queue  Queue // of the store; nil: it has none
	now    func() time.Time
	rand   io.Reader
	max    int
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
	electors  Electors
	shared    Shared // nil: nobody else writes to the store
	labels    *labels.Book
	orders    confined.Orders // what allowed calls of hosts' file tools leave
	offered   offered
	lasting   *standing.Keeper       // what people allowed for good
	pairs     *standing.Names        // which values the names of their words stand for
	stopping  *standing.Switch       // whether everything is stopped
	run       func() (string, error) // what this start of the monitor is called; drawn when it is first needed

	mu       sync.RWMutex
	sessions map[string]*live    // guarded by mu
	children map[string]children // guarded by mu; sub-agents of a session
	asking   map[string]asked    // guarded by mu; questions by their id
	expected map[string][]string // guarded by mu; of those, the ones that no look at their session has confirmed
	waiting  map[string]int      // guarded by mu; how many wait for the answer to a question
	kept     int                 // guarded by mu; how many of asking were open when it was last cleared

	clock atomic.Int64                                      // counts the sessions made, to tell which others are idle since
	most  int64                                             // bytes of sessions that are held for judgement
	held  atomic.Int64                                      // about how many are
	left  atomic.Int64                                      // how many were when some were last let go, or since
	heard atomic.Int64                                      // counts what was said and read, to tell which sessions spoke last
	idle  struct{ conversations, states idle.Queue[*live] } // which to let go of next

	checkpoints       Checkpoints // of conversations that are not in memory; nil: none are kept
	program           string      // that writes them
	room              pack.Writer // for one at a time
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
		store: o.Store, now: o.Now, rand: o.Rand, max: o.MaxSessions, most: o.MaxHeard, key: o.Key,
		auditor: o.Auditor, acts: o.Acts, verifier: o.Verifier, reader: o.Reader, undecided: o.NoReader,
		prover: o.Prover, electors: o.Electors, shared: o.Shared, labels: labelBook(&o), queue: queueOf(o),
		sessions: map[string]*live{}, children: map[string]children{},
		lasting: standing.New(o.Store, lastingLog, o.Shared != nil), pairs: standing.NewNames(o.Store, pairsLog, o.Shared != nil),
		stopping: standing.NewSwitch(o.Store, stopLog, o.Shared != nil, o.Now), checkpoints: o.Checkpoints, program: o.Program,
		asking: map[string]asked{}, expected: map[string][]string{}, waiting: map[string]int{}, telling: newSlots(o.Processors),
	}
	m.run = sync.OnceValues(func() (string, error) { return m.newID("run") })
	if m.max <= 0 {
		m.max = 20_000
	}
	if m.most <= 0 {
		m.most = 24 << 20
	}
	if m.electors == nil {
		m.electors = anybody{}
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

// live is one conversation: its lock and the state its log gives.
type live struct {
	mu     sync.Mutex
	name   string
	loaded bool              // guarded by mu; false: the log must be read before anything is decided
	state  *session.State    // guarded by mu
	codes  map[string]string // guarded by mu; plain codes of open questions, never stored
	tools  []tool.Definition // guarded by mu; what the model is offered, as far as anybody said since we started
	told   []tool.Definition // guarded by mu; of these, what the host describes itself
	offers []tool.Definition // guarded by mu; of these, what servers offer beside
	toldAt tool.Digest       // guarded by mu; the log that holds told; zero: none
	lists  int               // guarded by mu; how many lists of definitions were kept of it

	heard    *warrant.Context            // guarded by mu; what was said and read, where a rule may ask; nil: nobody has
	meant    map[string]*meaning.Meaning // guarded by mu; tools that were understood
	spoken   map[uint64]utterance        // guarded by mu; the user's messages by their place in the log, as far as they were read
	latest   *meaning.Meaning            // guarded by mu; the one of them looked at last
	facts    facts.Call                  // guarded by mu; scratch, of the call being judged
	input    policy.Input                // guarded by mu; scratch, so that a decision does not allocate one
	overdue  bool                        // guarded by mu; what waits could not be written, so nothing more may wait
	waiting  []*event.Event              // guarded by mu; folded, and written with the next record: see Later
	flying   int                         // guarded by mu; decisions that are folded, and that the store has not written yet: see flight
	age      int                         // guarded by mu; counts the states that it had
	callers  atomic.Int32                // who is in it, or waits for its lock
	asked    *Question                   // guarded by mu; the open question that was read last
	quoted   quotation                   // guarded by mu; of the item that was named last
	asking   []string                    // guarded by mu; the questions of it that were open when it was last looked at
	ahead    int64                       // guarded by mu; how far its time is before the clock, which once went back
	work     *step                       // guarded by mu; what the next decision works on
	prepared uint64                      // guarded by mu; the message whose contract was asked for in advance
	used     atomic.Int64                // when it was last used, in sessions made since
	weight   int64                       // guarded by mu; of heard and spoken, as the monitor counts it
	keys     seal.Ring                   // guarded by mu; of what is sealed in its log
	args     *seal.Key                   // guarded by mu; of the arguments of its calls; nil: not made yet
	spoke    atomic.Int64                // when something was last said or read in it
	rested   uint64                      // guarded by mu; the version of its state that we have kept a checkpoint of; 0: none
	saved    int                         // guarded by mu; the sum of its traces when a checkpoint was last due
}

// attempts bounds how often an act begins again: other replicas may move the session while we
// think.
const attempts = 8

// with runs act on the session under its lock, with the state read from the log. The
// lock is the session's own and is held while a record is written, but for decisions that
// others wait behind: a session speaks in order, and sessions do not wait for one another.
func (m *Monitor) with(ctx context.Context, ref Ref, act func(*live) error) error {
	return m.do(ctx, ref, m.shared != nil, act)
}

// do is with; unless it is told to look, what is new in the log is found only by writing. That is
// enough for an act that always writes before it answers.
func (m *Monitor) do(ctx context.Context, ref Ref, look bool, act func(*live) error) error {
	if err := ref.check(); err != nil {
		return err
	}
	s := m.session(ref.Session)
	grown := false
	defer func() {
		if grown {
			m.lighten(ctx)
		}
	}()
	s.callers.Add(1)
	defer s.callers.Add(-1)
	patience.Lock(ctx, &s.mu, m.now)
	defer s.mu.Unlock()
	var err error
	for range attempts {
		if !s.loaded {
			grown = true
			if err = m.load(ctx, s); err != nil {
				return err
			}
		} else if look {
			if err = m.refresh(ctx, s); err != nil {
				return err
			}
		}
		if err = m.recallTools(ctx, s); err != nil {
			return err
		}
		if err = act(s); err == nil || !errors.Is(err, ErrConflict) {
			return err
		}
		s.loaded = false
	}
	return err
}

func (m *Monitor) session(name string) *live {
	m.mu.RLock()
	s := m.sessions[name]
	m.mu.RUnlock()
	if s == nil {
		s = m.newSession(name)
	}
	if now := m.clock.Load(); s.used.Load() != now {
		s.used.Store(now)
	}
	return s
}

func (m *Monitor) newSession(name string) *live {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sessions[name]
	if s == nil {
		m.clock.Add(1)
		m.evict()
		s = &live{name: name, keys: seal.Ring{Use: name, Operator: m.key, Random: m.rand}}
		m.sessions[name] = s
	}
	return s
}

// letGo forgets what was said and read, and the state, unless something of it waits to be written; the log tells it again.
// Preconditions: s.mu is held.
func (m *Monitor) letGo(s *live) {
	if len(s.waiting) == 0 {
		s.loaded, s.state, s.asked = false, nil, nil
		s.flying, s.age = 0, s.age+1
	}
	s.heard, s.spoken, s.work, s.facts, s.input, s.rested = nil, nil, nil, facts.Call{}, policy.Input{}, 0
	m.held.Add(-s.weight)
	s.weight = 0
}

// load folds the session's log, or what is new of it.
// Preconditions: s.mu is held and s is not loaded.
func (m *Monitor) load(ctx context.Context, s *live) error {
	s.heard, s.asked = nil, nil // what others did meanwhile was not heard here
	known := uint64(0)
	if s.state != nil {
		known = s.state.Version - uint64(len(s.waiting)+s.flying)
	}
	if st := s.state; st != nil && len(s.waiting) == 0 && s.flying == 0 {
		if err := m.read(ctx, s.name, st); err != nil {
			return err
		}
		if s.loaded = st.Version > known; s.loaded {
			m.track(s)
			m.count(s)
			return nil
		}
	}
	st := session.New()
	if err := m.read(ctx, s.name, st); err != nil {
		return err
	}
	if st.Version > 0 && st.Version < known { // less than it was would be less tainted; nothing at all is the worst anyway
		return fmt.Errorf("read session %q: %w: it has %d records and had %d, so an older log was put in place of this one",
			s.name, ErrUnavailable, st.Version, known)
	}
	if len(s.waiting) > 0 { // it comes after what is new, and nothing that was said has its old place
		s.spoken = nil
		for _, e := range s.waiting {
			st.Apply(e)
		}
	}
	s.state, s.loaded = st, true
	s.flying, s.age, s.rested = 0, s.age+1, 0
	m.track(s)
	m.count(s)
	m.adopt(st.Parent, s.name)
	return nil
}

// append writes events to the log and only then folds them, but for those that may wait.
// After an error nobody knows what was written, so the session is read again before it
// decides anything.
// Preconditions: s.mu is held and s is loaded.
func (m *Monitor) append(ctx context.Context, s *live, events ...*event.Event) error {
	for _, e := range events {
		if e.Decided != nil && e.Decided.Ask != nil {
			m.index(s, e.Decided.Ask) // before anybody is told: who looks then waits for the lock, and finds it
		}
	}
	events[0].Key = s.keys.Fresh() // what it seals is in them, or in others after them
	wait := canWait(ctx, s, events)
	if wait {
		s.waiting = append(s.waiting, events...)
	} else if err := m.write(ctx, s, events); err != nil {
		return err
	}
	for _, e := range events {
		s.state.Apply(e)
	}
	if s.keys.Kept(); !wait {
		events[0].Key = "" // it may be written again as another one
	}
	if len(s.asking) > 0 {
		m.track(s)
	}
	m.restInTime(ctx, s)
	return nil
}

// write makes what waits and some events durable, in one piece. What waits is kept where that
// fails: it is folded again over what the log holds by then, so that it is not forgotten, and
// at worst recorded twice.
// Preconditions: s.mu is held and s is loaded; events are not folded yet.
func (m *Monitor) write(ctx context.Context, s *live, events []*event.Event) error {
	at := s.state.Version - uint64(len(s.waiting))
	if len(s.waiting) > 0 {
		events = append(s.waiting[:len(s.waiting):len(s.waiting)], events...)
	}
	if len(events) == 0 {
		return nil
	}
	if err := m.store.Append(ctx, s.name, at, events); err != nil {
		s.loaded, s.heard = false, nil
		if errors.Is(err, ErrConflict) {
			return err
		}
		s.overdue = len(s.waiting) > 0
		return fmt.Errorf("record %s: %w", events[0].Kind, unavailable(err))
	}
	s.waiting, s.overdue = nil, false
	return nil
}

func unavailable(err error) error {
	if errors.Is(err, ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}

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
	// Electors say whose approval counts; nil: whoever may answer decides alone.
	Electors Electors

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

// ErrConflict is returned by Store.Append when the session is not where the caller thinks.
var ErrConflict = errors.New("session log has moved on")

// ErrNotFound is returned for sessions, turns and questions nobody knows.
var ErrNotFound = errors.New("not found")

// ErrUnavailable is in every error that says the store could not take or give a record.
var ErrUnavailable = errors.New("the log cannot be written")
