package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/facts"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/internal/warrant/valueindex"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/trust"
)

// maxFamily is how far up a sub-agent's ancestors are asked what the user wants.
const maxFamily = 8

// speaksForUser reports whether the turn's message says what the user wants. A message
// of somebody less trusted does not, and neither does one that another session wrote: it
// is a model's text. A chat command is for us.
func (t *Turn) speaksForUser(level trust.Level) bool {
	if !t.isUsers(level) {
		return false
	}
	cmd, err := t.command()
	return err == nil && cmd.Verb == approval.None
}

// isUsers reports whether the turn's message comes from somebody who may say what the user
// wants.
func (t *Turn) isUsers(level trust.Level) bool {
	known := level >= trust.Local || t.Sender.IsOwner && !t.Sender.Unknown // the owner in a group is still the owner
	return t.Message != nil && *t.Message != "" && known && t.Sender.SpawnedBy == "" && t.From == ""
}

// maxWords is how many messages of a session are read for an auditor: the first, which
// usually sets the task, and the latest.
const maxWords = 200

// utterance is one message of the user's own: as they said it, or after a restart what the
// log kept of it, with hashes of what it must not hold.
type utterance struct {
	turn, seq uint64 // in which it was said, and of its record
	cut       bool   // the log has not all of it
	apart     bool   // it was heard otherwise than the log has it
	steps     int64  // of the session when it was said, where we heard it
	text      string
	sealed    []string

	contract *warrant.Contract // nil: none
	unread   bool              // one was to be drawn, and could not
}

// sealed are hashes of what redaction takes out of a message.
func (m *Monitor) sealed(r policy.Redactor, message string) []string {
	if len(m.key) == 0 {
		return nil
	}
	var out []string
	together := strings.NewReplacer(" ", "", "-", "")
	for _, piece := range r.Removed(warrant.OwnWords(message)) { // what they pasted is not what they said
		for _, spelling := range []string{piece, together.Replace(piece)} { // 4111 1111 is 41111111 too
			if sum := valueindex.Seal(m.key, spelling); sum != "" && !slices.Contains(out, sum) {
				out = append(out, sum)
			}
		}
	}
	return out
}

// userWords are the user's own messages, in order, without secrets: they are for models
// and people. What a sub-agent works for was said in its parent's session.
func (m *Monitor) userWords(ctx context.Context, name string, depth int) ([]intent.Word, error) {
	said, err := m.utterances(ctx, name, depth)
	return m.redacted(said), err
}

// redacted are messages without secrets.
func (m *Monitor) redacted(said []utterance) []intent.Word {
	out := make([]intent.Word, len(said))
	for i, u := range said {
		out[i] = intent.Word{Turn: u.turn, Text: m.Policy().Redactor().Text(u.text)}
	}
	return out
}

// utterances are the user's own messages, in order, as far as they are known: for
// judgement alone.
func (m *Monitor) utterances(ctx context.Context, name string, depth int) ([]utterance, error) {
	out, _, err := m.utterancesOf(ctx, name, depth)
	return out, err
}

// utterancesOf is utterances, with the sessions in which they were said, the eldest first.
func (m *Monitor) utterancesOf(ctx context.Context, name string, depth int) ([]utterance, []event.Kin, error) {
	var own []utterance
	var parent string
	var at uint64
	err := m.with(ctx, Ref{Session: name}, func(s *sessionEntry) (err error) {
		parent, at = s.State.Parent, s.State.Version
		own, err = m.readWords(ctx, s, latest(s.State.Words, maxWords))
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	var out []utterance
	var kin []event.Kin
	if parent != "" && parent != name && depth < maxFamily {
		if out, kin, err = m.utterancesOf(ctx, parent, depth+1); err != nil {
			return nil, nil, err
		}
	}
	return append(out, own...), append(kin, event.Kin{Session: name, At: at}), nil
}

// readWords reads messages back: those heard since the start from memory, as they were
// said, older ones from the log.
// Preconditions: s.mu is held and s is loaded.
func (m *Monitor) readWords(ctx context.Context, s *sessionEntry, at []session.Word) ([]utterance, error) {
	out := make([]utterance, 0, len(at))
	for _, w := range at {
		u, known := s.spoken[w.Seq]
		if !known {
			if err := m.table.Write(ctx, s.Entry); err != nil { // it may wait itself
				return nil, err
			}
			c, err := m.wordText(ctx, s.Name, w.Seq)
			if err != nil {
				return nil, fmt.Errorf("read what the user said: %w", err)
			}
			u = utterance{text: c.Text, sealed: c.Sealed, cut: c.Bytes > maxMessage}
			s.keepWord(w.Seq, u)
		}
		u.turn, u.seq, u.contract, u.unread = w.Turn, w.Seq, contractFor(w), w.Contract != nil && w.Contract.Failed != ""
		if u.text != "" {
			out = append(out, u)
		}
	}
	return out, nil
}

// keepWord remembers a message. The first, which usually sets the task, and the latest
// stay; what is forgotten is read from the log again.
func (s *sessionEntry) keepWord(seq uint64, u utterance) {
	if s.spoken == nil {
		s.spoken = map[uint64]utterance{}
	}
	if len(s.spoken) >= 2*maxWords {
		kept := latest(s.State.Words, maxWords)
		maps.DeleteFunc(s.spoken, func(seq uint64, _ utterance) bool {
			return !slices.ContainsFunc(kept, func(w session.Word) bool { return w.Seq == seq })
		})
	}
	s.spoken[seq] = u
}

// wordText is what the log kept of a message.
func (m *Monitor) wordText(ctx context.Context, session string, seq uint64) (event.Content, error) {
	e, err := m.eventAt(ctx, session, seq)
	return messageOf(&e), err
}

// messageOf is the message of an event as it is kept; the zero Content where there is none.
func messageOf(e *event.Event) event.Content {
	switch {
	case e.Began != nil && e.Began.Message != nil:
		return *e.Began.Message
	case e.Seen != nil && e.Seen.Content != nil:
		return *e.Seen.Content
	}
	return event.Content{}
}

// eventAt is one record of a session's log; the zero Event where there is none.
func (m *Monitor) eventAt(ctx context.Context, session string, seq uint64) (event.Event, error) {
	for rec, err := range m.store.Load(ctx, session, seq-1) {
		if err != nil {
			return event.Event{}, unavailable(err)
		}
		return event.FromRecord(rec)
	}
	return event.Event{}, nil
}

// The bounds on what a question shows of the user's messages. Of a longer conversation
// it shows the first, which usually sets the task, and the latest.
const (
	maxShown     = 40
	maxShownText = 400
	maxShownSaid = 2000 // of a message: a card shows the parts that the call's values stand in
)

// latest are the first message and the latest ones, so many in all.
func latest(at []session.Word, most int) []session.Word {
	if len(at) <= most {
		return at
	}
	return append([]session.Word{at[0]}, at[len(at)-most+1:]...)
}

// loadFacts gives the policy the facts of a call.
func (m *Monitor) loadFacts(ctx context.Context, s *sessionEntry, b *session.Taint, in *policy.Input) error {
	c, err := m.judgement(ctx, s)
	if err != nil {
		return err
	}
	if b.Unheard {
		c.Lost()
	}
	if err := m.recallPairs(ctx, s, c); err != nil {
		return err
	}
	c.Servers(m.spoken.Load())
	c.Until(ctx.Done())
	s.facts = facts.Call{Of: c, Name: in.Tool, Args: in.Args}
	if s.State.Forked() && b.Mark.Level > s.State.Mark().Level { // what another branch read did not come in here
		s.facts.Unargued, s.facts.Inside = b.Mark.Level >= trust.Owner, b.Mark.Level > trust.Shared
	}
	if s.State.WordsUnknown() && b.Mark.Level >= trust.Local && !b.Tainted && !b.Unheard {
		// Who configured the door works here, and nothing came in that they do not vouch for: what nobody
		// else can have named is theirs. From the first such text on, what nobody heard counts for nothing.
		s.facts.Unargued, s.facts.Inside, s.facts.UserUnheard = true, true, true
	}
	in.Facts = &s.facts
	return nil
}

// consult has the conversation known to a policy that asks about it. Of what a box wants rules about calls say nothing: what it adds
// outside is looked through.
func (m *Monitor) consult(ctx context.Context, x *step, in *policy.Input, asks bool) error {
	in.Facts = nil
	if !asks || x.wants != nil && x.wants.adds == nil {
		return nil
	}
	if err := m.loadFacts(ctx, x.entry, x.taint, in); err != nil {
		return err
	}
	x.entry.facts.Of.Watch(m.station.Load())
	x.entry.facts.Of.Works(x.folder)
	if x.wants != nil {
		in.Facts = nil
	}
	return nil
}

// noteMessage adds a turn's message to what was said; it is what the log keeps of what others brought in with it. A stranger's is content.
func (s *sessionEntry) noteMessage(t *Turn, words bool, label trust.Label, argued bool) string {
	if s.heard == nil {
		return ""
	}
	outside := label.Level <= trust.External
	if outside {
		s.heard.Outside()
	}
	switch {
	case t.Message == nil && !outside:
		return ""
	case t.Message == nil:
		return s.traced(s.heard.Content(""))
	case words:
		if s.heard.User(*t.Message); !outside {
			return ""
		}
		return s.traced(s.heard.Content(""))
	case t.Sender.SpawnedBy != "" || t.From != "": // a model's text, worth what its session is
		if argued || label.Level <= trust.Shared {
			return s.traced(s.heard.Content(*t.Message))
		}
		return s.traced(s.heard.Content(""))
	case t.isUsers(label.Level): // a chat command, which is for us
		return s.traced(s.heard.Content(""))
	}
	return s.traced(s.heard.Heard(*t.Message))
}

// shown are messages as a question shows them.
func (m *Monitor) shown(words []intent.Word) []event.Said {
	if n := len(words); n > maxShown {
		words = append(words[:1:1], words[n-maxShown+1:]...)
	}
	out := make([]event.Said, len(words))
	for i, w := range words {
		out[i] = event.Said{Turn: w.Turn, Text: m.preview(w.Text, maxShownSaid)}
	}
	return out
}
