package engine

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tidemark/tidemark/internal/base/patience"
	"github.com/tidemark/tidemark/internal/base/seal"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/facts"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

// sessionEntry is a session in memory: its lock, and the state that its log gives.
type sessionEntry struct {
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

	heard         *warrant.Context             // guarded by mu; what was said and read, where a rule may ask; nil: nobody has
	meant         map[string]*toolinfo.Meaning // guarded by mu; tools that were understood
	spoken        map[uint64]utterance         // guarded by mu; the user's messages by their place in the log, as far as they were read
	latest        *toolinfo.Meaning            // guarded by mu; the one of them looked at last
	facts         facts.Call                   // guarded by mu; scratch, of the call being judged
	input         policy.Input                 // guarded by mu; scratch, so that a decision does not allocate one
	writeFailed   bool                         // guarded by mu; the last deferred write failed, so nothing more is deferred
	unwritten     []*event.Event               // guarded by mu; folded, and written with the next record: see DeferWrite
	inFlight      int                          // guarded by mu; decisions that are folded and not yet written: see pendingWrite
	generation    int                          // guarded by mu; incremented each time the state is read anew or dropped
	callers       atomic.Int32                 // who is in it, or waits for its lock
	asked         *Question                    // guarded by mu; the open question that was read last
	quoted        quotation                    // guarded by mu; of the item that was named last
	openQuestions []string                     // guarded by mu; the questions of it that were open when it was last looked at
	clockSkew     int64                        // guarded by mu; is added to the clock, so that its time never goes backwards
	work          *step                        // guarded by mu; what the next decision works on
	prepared      uint64                       // guarded by mu; the message whose contract was asked for in advance
	used          atomic.Int64                 // when it was last used, in sessions made since
	weight        int64                        // guarded by mu; of heard and spoken, as the monitor counts it
	keys          seal.Ring                    // guarded by mu; of what is sealed in its log
	args          *seal.Key                    // guarded by mu; of the arguments of its calls; nil: not made yet
	spoke         atomic.Int64                 // when something was last said or read in it
	rested        uint64                       // guarded by mu; the version of its state that we have kept a checkpoint of; 0: none
	saved         int                          // guarded by mu; the sum of its traces when a checkpoint was last due
}

// attempts bounds how often an act begins again: other replicas may move the session while we
// think.
const attempts = 8

// with runs act on the session under its lock, with the state read from the log. The
// lock is the session's own and is held while a record is written, but for decisions that
// others wait behind: a session speaks in order, and sessions do not wait for one another.
func (m *Monitor) with(ctx context.Context, ref Ref, act func(*sessionEntry) error) error {
	return m.do(ctx, ref, m.shared != nil, act)
}

// do is with; unless it is told to look, what is new in the log is found only by writing. That is
// enough for an act that always writes before it answers.
func (m *Monitor) do(ctx context.Context, ref Ref, look bool, act func(*sessionEntry) error) error {
	if err := ref.check(); err != nil {
		return err
	}
	s := m.session(ref.Session)
	grown := false
	defer func() {
		if grown {
			m.evictContexts(ctx)
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

func (m *Monitor) session(name string) *sessionEntry {
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

func (m *Monitor) newSession(name string) *sessionEntry {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sessions[name]
	if s == nil {
		m.clock.Add(1)
		m.evict()
		s = &sessionEntry{name: name, keys: seal.Ring{Use: name, Operator: m.key, Random: m.rand}}
		m.sessions[name] = s
	}
	return s
}

// unload drops what was said and read, and the state, unless something of it is unwritten. The log brings it back.
// Preconditions: s.mu is held.
func (m *Monitor) unload(s *sessionEntry) {
	if len(s.unwritten) == 0 {
		s.loaded, s.state, s.asked = false, nil, nil
		s.inFlight, s.generation = 0, s.generation+1
	}
	s.heard, s.spoken, s.work, s.facts, s.input, s.rested = nil, nil, nil, facts.Call{}, policy.Input{}, 0
	m.held.Add(-s.weight)
	s.weight = 0
}

// evict makes space by forgetting sessions nobody is using; their logs bring them back.
// Preconditions: mu is held.
func (m *Monitor) evict() {
	if len(m.sessions) < m.max {
		return
	}
	all := slices.Collect(maps.Values(m.sessions))
	slices.SortFunc(all, func(a, b *sessionEntry) int { return cmp.Compare(a.used.Load(), b.used.Load()) })
	for _, s := range all[:max(1, len(all)/8)] {
		if s.mu.TryLock() { // one in use stays
			if len(s.unwritten) > 0 {
				s.mu.Unlock()
				continue
			}
			m.unload(s)
			s.mu.Unlock()
			delete(m.sessions, s.name)
		}
	}
}

// trackMemory measures a session that has just spoken, and makes it the last to be unloaded.
// Preconditions: s.mu is held and s is loaded.
func (m *Monitor) trackMemory(s *sessionEntry) {
	m.measure(s)
	s.spoke.Store(m.heard.Add(1))
}

// measure counts the bytes that a session takes: its words and results, and its state. One that was only
// looked at counts too, and is unloaded first.
// Preconditions: s.mu is held and s is loaded.
func (m *Monitor) measure(s *sessionEntry) {
	n := int64(s.state.Size())
	if s.heard != nil {
		n += int64(s.heard.Size())
	}
	for _, u := range s.spoken {
		n += int64(len(u.text))
	}
	m.held.Add(n - s.weight)
	s.weight = n
}

// evictContexts drops what is in memory of the sessions that spoke least lately, until the rest is within the bound: first their
// conversations, which are large and of which a checkpoint is kept, then their states, which only the log brings back. The session
// that spoke last keeps all of it.
func (m *Monitor) evictContexts(ctx context.Context) {
	held, left := m.held.Load(), m.left.Load()
	if held < left {
		m.left.Store(held)
	}
	if held <= m.most || held <= left+m.most/8 { // what could not be let go a moment ago cannot be now
		return
	}
	enough := func() bool { return m.held.Load() <= m.most-m.most/64 }
	all := func() []*sessionEntry {
		m.mu.RLock()
		defer m.mu.RUnlock()
		return slices.Collect(maps.Values(m.sessions))
	}
	spoke := func(s *sessionEntry) int64 { return s.spoke.Load() }
	release := func(let func(*sessionEntry)) func(*sessionEntry) bool {
		return func(s *sessionEntry) bool {
			if s.mu.TryLock() { // one in use stays
				let(s)
				s.mu.Unlock()
			}
			return enough()
		}
	}
	late := false
	if m.idle.conversations.Each(all, spoke, release(func(s *sessionEntry) { late = !m.quiet(ctx, s) || late })) ||
		!late && m.idle.states.Each(all, spoke, release(m.unload)) {
		return
	}
	m.left.Store(m.held.Load())
}

// outlive taints a session whose last results were shown and, since the server crashed, are not in the log.
func (m *Monitor) outlive(st *session.State) error {
	if !st.Due("") {
		return nil
	}
	run, err := m.run()
	if err != nil {
		return err
	}
	st.Outlive(run)
	return nil
}

// Forget drops what is in memory of a session, also the keys of what it has sealed: something was taken out of its log. The next
// one to speak in it finds what the log still has.
func (m *Monitor) Forget(session string) {
	if m.checkpoints != nil {
		defer m.checkpoints.Drop(session)
	}
	m.mu.RLock()
	s := m.sessions[session]
	m.mu.RUnlock()
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m.unload(s)
	if s.keys.Fresh() == "" { // else what is sealed with it is still to be written
		s.keys = seal.Ring{Use: s.name, Operator: m.key, Random: m.rand}
	}
}
