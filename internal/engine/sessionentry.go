package engine

import (
	"context"

	"github.com/tidemark/tidemark/internal/base/pack"
	"github.com/tidemark/tidemark/internal/base/seal"
	"github.com/tidemark/tidemark/internal/facts"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/internal/sessions"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

// sessionEntry is a session in memory, and what is known of it besides its state. All of it is guarded by the lock of its entry.
type sessionEntry struct {
	*sessions.Entry
	monitor *Monitor

	codes  map[string]string // plain codes of open questions, never stored
	tools  []tool.Definition // what the model is offered, as far as anybody said since we started
	told   []tool.Definition // of these, what the host describes itself
	offers []tool.Definition // of these, what servers offer beside
	toldAt tool.Digest       // the log that holds told; zero: none
	lists  int               // how many lists of definitions were kept of it

	heard    *warrant.Context             // what was said and read, where a rule may ask; nil: nobody has
	meant    map[string]*toolinfo.Meaning // tools that were understood
	spoken   map[uint64]utterance         // the user's messages by their place in the log, as far as they were read
	latest   *toolinfo.Meaning            // the one of them looked at last
	facts    facts.Call                   // scratch, of the call being judged
	input    policy.Input                 // scratch, so that a decision does not allocate one
	asked    *Question                    // the open question that was read last
	quoted   quotation                    // of the item that was named last
	work     *step                        // what the next decision works on
	prepared uint64                       // the message whose contract was asked for in advance
	args     *seal.Key                    // of the arguments of its calls; nil: not made yet
	rested   uint64                       // the version of its state that we have kept a checkpoint of; 0: none
	saved    int                          // the sum of its traces when a checkpoint was last due
}

var _ sessions.Contents = (*sessionEntry)(nil)

// with runs act on the session under its lock, with the state read from the log.
func (m *Monitor) with(ctx context.Context, ref Ref, act func(*sessionEntry) error) error {
	return m.do(ctx, ref, m.shared != nil, act)
}

// do is with; unless it is told to look, what is new in the log is found only by writing.
func (m *Monitor) do(ctx context.Context, ref Ref, look bool, act func(*sessionEntry) error) error {
	if err := ref.check(); err != nil {
		return err
	}
	return m.table.With(ctx, ref.Session, look, func(e *sessions.Entry) error {
		s, _ := e.Contents.(*sessionEntry) // nothing else is put there
		return act(s)
	})
}

// openTable makes the table of the monitor's sessions.
func (m *Monitor) openTable(o *Options) *sessions.Table {
	t := sessions.Options{
		Store: o.Store, Shared: o.Shared != nil, Now: o.Now, Rand: o.Rand, Key: o.Key, Questions: m.questions, Most: o.MaxSessions,
		MostBytes: o.MaxHeard, Adopt: m.families.Adopt, Run: func() (string, error) { return m.run() },
		Contents: func(e *sessions.Entry) sessions.Contents { return &sessionEntry{Entry: e, monitor: m} },
	}
	if t.Most <= 0 {
		t.Most = 20_000
	}
	if t.MostBytes <= 0 {
		t.MostBytes = 24 << 20
	}
	return sessions.New(t)
}

// Ready implements sessions.Contents.
func (s *sessionEntry) Ready(ctx context.Context) error { return s.monitor.recallTools(ctx, s) }

// Lose implements sessions.Contents.
func (s *sessionEntry) Lose(what sessions.Loss) {
	switch what {
	case sessions.Outdated:
		s.heard, s.asked = nil, nil
	case sessions.Reread:
		s.rested = 0
	case sessions.Moved:
		s.spoken = nil
	case sessions.Heard, sessions.All:
		s.heard, s.spoken, s.work, s.facts, s.input, s.asked = nil, nil, nil, facts.Call{}, policy.Input{}, nil
		if what == sessions.All {
			s.rested = 0
		}
	}
}

// Rest implements sessions.Contents.
func (s *sessionEntry) Rest(ctx context.Context, room *pack.Writer) bool {
	if room == nil {
		s.saved, room = s.State.Traces.Sum, new(pack.Writer)
	}
	return s.monitor.rest(ctx, s, room)
}

// Size implements sessions.Contents.
func (s *sessionEntry) Size() (n int64) {
	if s.heard != nil {
		n = int64(s.heard.Size())
	}
	for _, u := range s.spoken {
		n += int64(len(u.text))
	}
	return n
}

// Due reports whether so much was read since the last checkpoint that one is due: a long session is told the latest of its log alone, and
// is judged as if the rest were lost where no checkpoint has it.
func (s *sessionEntry) Due() bool {
	return s.monitor.checkpoints != nil && s.heard != nil && s.State.Traces.Sum-s.saved >= session.TracesDue
}

// Forget drops what is in memory of a session, also the keys of what it has sealed: something was taken out of its log. The next one to
// speak in it finds what the log still has.
func (m *Monitor) Forget(session string) {
	if m.checkpoints != nil {
		defer m.checkpoints.Drop(session)
	}
	m.table.Forget(session)
}

// Flush writes what waits of a session. A session nobody knows has nothing.
func (m *Monitor) Flush(ctx context.Context, name string) error { return m.table.Flush(ctx, name) }
