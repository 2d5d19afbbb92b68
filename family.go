package tidemark

import (
	"context"
	"slices"

	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// maxChildren bounds how many sub-agents of one session are remembered one by one.
const maxChildren = 256

// adopt notes that a session was spawned by another, so that what the parent reads back
// of its sub-agents carries their taint even where the host does not say whose it is.
func (m *Monitor) adopt(parent, child string) {
	if parent == "" || parent == child {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.children[parent]
	if slices.Contains(known, child) {
		return
	}
	if len(known) >= maxChildren {
		known = known[1:]
	}
	m.children[parent] = append(known, child)
}

// sources are the sessions whose words a result may hold: the one the host names, the
// one the call asked about, or else every sub-agent of the session.
func (m *Monitor) sources(o Observation) []string {
	if o.From != "" {
		return []string{o.From}
	}
	if !policy.SpeaksForSessions(tool.Name(o.Result.Name)) {
		return nil
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	args := tool.NewArgs(o.Result.Args)
	for _, field := range []string{"sessionKey", "session_key", "session", "childSessionKey"} {
		if name, ok := args.Text(field); ok && m.sessions[name] != nil && name != o.Ref.Session {
			return []string{name}
		}
	}
	return slices.Clone(m.children[o.Ref.Session])
}

// brought joins what those sessions hold. One that the host named and nobody knows is
// the worst.
func (m *Monitor) brought(ctx context.Context, o Observation) (trust.Label, error) {
	out := clean()
	for _, name := range m.sources(o) {
		l, err := m.child(ctx, o.Ref, name)
		if err != nil {
			return trust.Label{}, err
		}
		out = out.Join(l)
	}
	return out, nil
}
