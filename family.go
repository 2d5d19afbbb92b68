package tidemark

import (
	"context"
	"slices"

	"github.com/tidemark/tidemark/internal/session"
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

// brought is what other sessions put into a result: the one the host names, the one the
// call asked about, or else every sub-agent of the session. One that the host names and
// nobody knows is the worst.
func (m *Monitor) brought(ctx context.Context, o Observation) (trust.Label, error) {
	if o.From != "" {
		return m.child(ctx, o.Ref, o.From)
	}
	if !policy.SpeaksForSessions(tool.Name(o.Result.Name)) {
		return session.Neutral(), nil
	}
	if name := askedSession(o); name != "" {
		if l, known, err := m.mark(ctx, name); known || err != nil {
			return l, err
		}
	}
	out := session.Neutral()
	for _, name := range m.childrenOf(o.Ref.Session) {
		l, err := m.child(ctx, o.Ref, name)
		if err != nil {
			return trust.Label{}, err
		}
		out = out.Join(l)
	}
	return out, nil
}

// askedSession is the other session that a call is about, by its arguments.
func askedSession(o Observation) string {
	args := tool.NewArgs(o.Result.Args)
	for _, field := range []string{"sessionKey", "session_key", "session", "childSessionKey"} {
		if name, ok := args.Text(field); ok && name != o.Ref.Session && (Ref{Session: name}).check() == nil {
			return name
		}
	}
	return ""
}

func (m *Monitor) childrenOf(parent string) []string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return slices.Clone(m.children[parent])
}
