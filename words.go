package tidemark

import (
	"context"
	"fmt"

	"github.com/tidemark/tidemark/approval"
	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/trust"
)

// maxFamily is how far up a sub-agent's ancestors are asked what the user wants.
const maxFamily = 8

// speaksForUser reports whether the turn's message says what the user wants. A message
// of somebody less trusted does not, and neither does one that another session wrote: it
// is a model's text. A chat command is for us.
func (t *Turn) speaksForUser(level trust.Level) bool {
	known := level >= trust.Local || t.Sender.IsOwner && !t.Sender.Unknown // the owner in a group is still the owner
	if t.Message == nil || *t.Message == "" || !known || t.Sender.SpawnedBy != "" || t.From != "" {
		return false
	}
	cmd, err := t.command()
	return err == nil && cmd.Verb == approval.None
}

// maxWords is how many messages of a session are read for an auditor: the first, which
// usually sets the task, and the latest.
const maxWords = 200

// userWords are the user's own messages, in order, without secrets. What a sub-agent
// works for was said in its parent's session.
func (m *Monitor) userWords(ctx context.Context, name string, depth int) ([]intent.Word, error) {
	var own []intent.Word
	var parent string
	err := m.with(ctx, Ref{Session: name}, func(s *live) (err error) {
		parent = s.state.Parent
		own, err = m.readWords(ctx, s, latest(s.state.Words, maxWords))
		return err
	})
	if err != nil {
		return nil, err
	}
	var out []intent.Word
	if parent != "" && parent != name && depth < maxFamily {
		if out, err = m.userWords(ctx, parent, depth+1); err != nil {
			return nil, err
		}
	}
	return append(out, own...), nil
}

// readWords reads messages back: those heard since the start from memory, older ones from
// the log.
// Preconditions: s.mu is held and s is loaded.
func (m *Monitor) readWords(ctx context.Context, s *live, at []session.Word) ([]intent.Word, error) {
	out := make([]intent.Word, 0, len(at))
	for _, w := range at {
		text, known := s.spoken[w.Seq]
		if !known {
			var err error
			if text, err = m.wordText(ctx, s.name, w.Seq); err != nil {
				return nil, fmt.Errorf("read what the user said: %w", err)
			}
			s.keepWord(w.Seq, text)
		}
		if text != "" {
			out = append(out, intent.Word{Turn: w.Turn, Text: text})
		}
	}
	return out, nil
}

// keepWord remembers a message, so that the log is read for it once.
func (s *live) keepWord(seq uint64, text string) {
	if s.spoken == nil || len(s.spoken) > 2*maxWords {
		s.spoken = map[uint64]string{}
	}
	s.spoken[seq] = text
}

func (m *Monitor) wordText(ctx context.Context, session string, seq uint64) (string, error) {
	for rec, err := range m.store.Load(ctx, session, seq-1) {
		if err != nil {
			return "", unavailable(err)
		}
		e, err := event.FromRecord(rec)
		if err != nil {
			return "", err
		}
		switch {
		case e.Began != nil && e.Began.Message != nil:
			return e.Began.Message.Text, nil
		case e.Seen != nil && e.Seen.Content != nil:
			return e.Seen.Content.Text, nil
		}
		break
	}
	return "", nil
}

// The bounds on what a question shows of the user's messages. Of a longer conversation
// it shows the first, which usually sets the task, and the latest.
const (
	maxShown     = 40
	maxShownText = 400
)

// latest are the first message and the latest ones, so many in all.
func latest(at []session.Word, most int) []session.Word {
	if len(at) <= most {
		return at
	}
	return append([]session.Word{at[0]}, at[len(at)-most+1:]...)
}

// shown are messages as a question shows them.
func (m *Monitor) shown(words []intent.Word) []event.Said {
	if n := len(words); n > maxShown {
		words = append(words[:1:1], words[n-maxShown+1:]...)
	}
	out := make([]event.Said, len(words))
	for i, w := range words {
		out[i] = event.Said{Turn: w.Turn, Text: m.preview(w.Text, maxShownText)}
	}
	return out
}
