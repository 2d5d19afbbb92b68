// Package tidemark is a reference monitor for AI agents: it knows where everything
// in an agent's context came from, keeps the high-water mark of distrust, and
// decides outside the model what the agent may still do.
//
// A host drives it with five verbs. [Monitor.Begin] says who speaks, [Monitor.Tools]
// says which tools the model may see now, [Monitor.Decide] says whether one exact call
// may run, [Monitor.Observe] labels what came back, and [Monitor.Answer] takes a
// person's vote on a held call. [Monitor.End] seals the turn.
//
// Three things hold for every host:
//   - a call runs only with its [Permit], which covers those bytes, once;
//   - a denial is a value, an error means "could not decide" and the call must not run;
//   - what every tool brought is told, or the next call is judged as if it had been the worst.
package tidemark

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/internal/store/notify"
	"github.com/tidemark/tidemark/internal/store/opened"
	"github.com/tidemark/tidemark/internal/waiting"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/trust"
)

// Monitor decides. It is safe for concurrent use.
type Monitor struct {
	engine *engine.Monitor
	waits  *waiting.Waiter
}

// New makes a Monitor. The zero Options are the shipped policy over a log in memory.
func New(o Options) (*Monitor, error) {
	if o.Policy == nil {
		o.Policy = policy.Default()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	port := opened.Port{Log: memory.New()}
	if o.Store != nil {
		var err error
		if port, err = opened.Take(o.Store); err != nil {
			return nil, fmt.Errorf("new monitor: %w", err)
		}
	}
	log := notify.New(port.Log)
	m, err := engine.New(engine.Options{
		Policy: o.Policy, Store: log, Now: o.Now, Rand: o.Rand, Key: o.Key, Shared: port.Shared, Station: o.Station,
		Auditor: o.Auditor, Acts: o.Acts, Reader: o.Reader, Verifier: o.Verifier,
		MaxSessions: o.MaxSessions, MaxHeard: o.MaxHeard,
	})
	if err != nil {
		return nil, err
	}
	if o.Store != nil {
		opened.Listen(o.Store, log)
	}
	return &Monitor{engine: m, waits: waiting.New(m, log)}, nil
}

// Ref says where something happens. The zero Branch is the session's main context;
// an empty Turn means the turn that is open.
type Ref = engine.Ref

// SetPolicy puts another policy in force. Approvals and grants given under the old one
// no longer count; what was allowed for good does, since it lifts no rule of a policy's own.
func (m *Monitor) SetPolicy(set *policy.Set) { m.engine.SetPolicy(set) }

// Stop stops everything: every call is denied and every turn ended until Resume. It is recorded and holds over restarts.
func (m *Monitor) Stop(ctx context.Context, reason, by, via string) error {
	if _, err := m.engine.Stop(ctx, reason, by, via); err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	return nil
}

// Resume ends a Stop.
func (m *Monitor) Resume(ctx context.Context, by, via string) error {
	return m.engine.Resume(ctx, by, via)
}

// Reset is the owner's word that a context may be trusted again. Never let the model call it.
func (m *Monitor) Reset(ctx context.Context, ref Ref, by, via string) error {
	return m.engine.Reset(ctx, ref, by, via)
}

// Taint is what a context holds by now; of one nobody began, the worst.
func (m *Monitor) Taint(ctx context.Context, ref Ref) (trust.Label, error) {
	return m.engine.Taint(ctx, ref)
}
