package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

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
	if name := namedSession(o); name != "" {
		if l, known, err := m.mark(ctx, name); known || err != nil {
			return l, err
		}
	}
	out := session.Neutral()
	known, err := m.families.Of(ctx, o.Ref.Session)
	if err != nil {
		return trust.Label{}, err
	}
	for _, name := range known {
		l, err := m.child(ctx, o.Ref, name)
		if err != nil {
			return trust.Label{}, err
		}
		out = out.Join(l)
	}
	return out, nil
}

// child is what a sub-agent session's result carries: its taint, or the worst where
// nobody saw what it did. Results of the session's own branches are not read here.
func (m *Monitor) child(ctx context.Context, ref Ref, name string) (trust.Label, error) {
	if name == "" || name == ref.Session {
		return session.Neutral(), nil
	}
	l, known, err := m.mark(ctx, name)
	if err == nil && !known {
		l = trust.Label{Level: trust.Untrusted, Sensitivity: trust.Internal, Sources: []trust.Source{{Kind: "sub_agent", Detail: name}}}
	}
	return l, err
}

// mark is the taint of a session over all its branches.
func (m *Monitor) mark(ctx context.Context, name string) (trust.Label, bool, error) {
	l, known := session.Neutral(), false
	err := m.with(ctx, Ref{Session: name}, func(s *sessionEntry) error {
		if known = s.State.Version > 0; known {
			l = s.State.Mark()
		}
		return nil
	})
	return l, known, err
}

// namedSession is the other session that a call is about, by its arguments.
func namedSession(o Observation) string {
	args := tool.NewArgs(o.Result.Args)
	for _, field := range []string{"sessionKey", "session_key", "session", "childSessionKey"} {
		if name, ok := args.Text(field); ok && name != o.Ref.Session && (Ref{Session: name}).check() == nil {
			return name
		}
	}
	return ""
}

// family is what a new sub-agent takes from the session it works for: the user speaks there,
// and whoever argued there may have argued for what it is told to do.
type family struct {
	inherited trust.Label // what other sessions bring in

	said   []utterance
	kin    []event.Kin // where it was said
	argued bool
	bounds []string // the rules whose readers may read what they have read
}

func (m *Monitor) familyOf(ctx context.Context, t Turn) (f family, err error) {
	name := t.Sender.SpawnedBy
	if name == "" || name == t.Ref.Session || !m.policy.Load().Facts() {
		f.argued = t.From != ""
		return f, nil
	}
	if f.said, f.kin, err = m.utterancesOf(ctx, name, 0); err != nil {
		return f, fmt.Errorf("begin turn: %w", err)
	}
	err = m.with(ctx, Ref{Session: name}, func(s *sessionEntry) error {
		c, err := m.judgement(ctx, s)
		if err != nil {
			return err
		}
		argued, _ := c.Is(warrant.FactArgued, "")
		f.argued, f.bounds = argued || s.State.Tainted(), slices.Clone(s.State.Bounds())
		return nil
	})
	return f, err
}

// tell tells a conversation what the user said elsewhere.
func tell(c *warrant.Context, key []byte, said []utterance) {
	for _, u := range said {
		c.User(u.text)
		c.Sealed(key, u.sealed)
	}
}

// kinWords is what the user had said, when a sub-agent began, to those it works for, as their logs
// hold it; it is all that was said or not known. They are read without their locks: whoever asks
// holds another session's.
// Preconditions: s.mu is held and s is loaded.
func (m *Monitor) kinWords(ctx context.Context, s *sessionEntry) (out []utterance, known bool, err error) {
	for _, k := range s.State.Kin {
		st := session.New()
		if err := m.table.ReadTo(ctx, k.Session, st, k.At); err != nil {
			return nil, false, fmt.Errorf("read what the user said to its parent: %w", err)
		}
		at := latest(st.Words, maxWords)
		if st.Version != k.At || len(at) < len(st.Words) {
			return nil, false, nil
		}
		for _, w := range at {
			c, err := m.wordText(ctx, k.Session, w.Seq)
			if err != nil {
				return nil, false, fmt.Errorf("read what the user said to its parent: %w", err)
			}
			if c.Text == "" || c.Bytes > maxMessage {
				return nil, false, nil
			}
			out = append(out, utterance{text: c.Text, sealed: c.Sealed})
		}
	}
	return out, s.State.Parent == "" || len(s.State.Kin) > 0, nil
}
