package engine

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"

	"github.com/tidemark/tidemark/internal/checkpoint"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

// judgement is what the conversation has said and read, as far as it is known. After a
// restart, or where another replica was at work, it is told again from the log: from the
// user's words, and from the traces of what was read. Where something left none, it is lost,
// and then nothing but what the user said and our own acts returned is warranted.
// Preconditions: s.mu is held and s is loaded.
func (m *Monitor) judgement(ctx context.Context, s *sessionEntry) (*warrant.Context, error) {
	if s.heard != nil {
		return s.heard, nil
	}
	if err := m.table.Write(ctx, s.Entry); err != nil { // it is told again from the log
		return nil, err
	}
	if c, err := m.resumed(ctx, s); c != nil || err != nil {
		return c, err
	}
	steps, hashed, err := m.keptSteps(ctx, s, s.State.Traces.At)
	if err != nil {
		return nil, fmt.Errorf("read what was read: %w", err)
	}
	c, seals := m.conversation(s, hashed)
	at := latest(s.State.Words, maxWords)
	words, err := m.readWords(ctx, s, at)
	if err != nil {
		return nil, err
	}
	kin, known, err := m.kinWords(ctx, s)
	if err != nil {
		return nil, err
	}
	m.telling.do(func() {
		tell(c, m.key, kin)
		retell(c, m.key, words, steps)
	})
	if t := &s.State.Traces; s.State.Tainted() && (hashed || !seals || t.Bare || t.Partial()) { // what came in may not be known
		c.Outside()
	}
	whole := len(at) == len(s.State.Words) && len(words) == len(at) && !slices.ContainsFunc(words, func(u utterance) bool { return u.cut })
	if acted := s.State.Tainted() || s.State.Steps() > 0; s.State.Traces.Partial() || acted && (!whole || !known) {
		c.Lost()
	}
	if s.heard = c; len(steps) > 0 {
		m.rebuilds.Add(1)
	}
	m.table.TrackMemory(s.Entry)
	return c, nil
}

// conversation is one in which nothing was said yet. Its steps are kept as they are, sealed, or as hashes; where hashes
// were kept before, it can be told them.
func (m *Monitor) conversation(s *sessionEntry, hashed bool) (c *warrant.Context, seals bool) {
	c = warrant.New(vocabulary.Shipped())
	seals = len(m.key) > 0 && !m.Policy().For(s.State.Agent).Settings().RecordHashes
	if hashed || !seals {
		c.Keep(m.key, s.Name)
	}
	if hashed {
		c.Recall()
	}
	if seals {
		c.Exact()
	}
	c.Secrets(m.Policy().Redactor().Removed)
	c.Host(s.State.HostTools)
	c.Control(s.State.ControlTools)
	c.Tools(s.tools)
	return c, seals
}

// retell tells a conversation what was said and read, in the order of the log.
func retell(c *warrant.Context, key []byte, words []utterance, steps []checkpoint.Step) {
	for i := 0; i < len(words) || len(steps) > 0; {
		if len(steps) == 0 || i < len(words) && words[i].seq <= steps[0].Seq {
			c.User(words[i].text)
			c.Sealed(key, words[i].sealed)
			if words[i].contract != nil {
				c.Contract(words[i].contract)
			} else if words[i].unread {
				c.Unread()
			}
			i++
			continue
		}
		c.Replay(steps[0].Tool, steps[0].Told)
		steps = steps[1:]
	}
}

// keptSteps are what the log kept for judgement at some of its places, in order.
// Preconditions: s.mu is held, s is loaded and nothing of it waits.
func (m *Monitor) keptSteps(ctx context.Context, s *sessionEntry, at []uint64) ([]checkpoint.Step, bool, error) {
	if len(at) == 0 {
		return nil, false, nil
	}
	out, hashed, err := checkpoint.Steps(m.store.Load(ctx, s.Name, at[0]-1), at, &s.Keys, s.State.Keys)
	if err != nil {
		return nil, false, unavailable(err)
	}
	return out, hashed, nil
}

// traced is a trace as the log holds it, with what stands behind it; empty where there is none, or no room for it.
func (s *sessionEntry) traced(trace []byte, rest ...[]byte) string {
	most := s.State.Traces.Room()
	switch {
	case len(trace) == 0 || most == 0:
		return ""
	case warrant.IsExact(trace):
		return s.Keys.Seal(s.State.Keys, most, append([][]byte{trace}, rest...)...)
	case base64.RawStdEncoding.EncodedLen(len(trace)) > most:
		return ""
	}
	return base64.RawStdEncoding.EncodeToString(trace)
}
