package tidemark

import (
	"context"
	"fmt"

	"github.com/tidemark/tidemark/approval"
	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
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

// callFacts are what stands behind a call, worked out when a rule asks for the first time.
type callFacts struct {
	of    *warrant.Context
	name  string
	args  *tool.Args
	found *warrant.Warrant

	unargued, inside bool // the branch has seen less than the rest of the session
}

var _ policy.Facts = (*callFacts)(nil)

func (f *callFacts) get() *warrant.Warrant {
	if f.found == nil {
		f.of.Within(!f.unargued, !f.inside, func() { f.found = f.of.Of(f.name, f.args) })
	}
	return f.found
}

// words are the warrant in one line, for the log; empty where no rule asked for it.
func (f *callFacts) words(asked policy.Facts) string {
	if asked == nil || f.found == nil {
		return ""
	}
	return f.found.String()
}

// Act implements policy.Facts.
func (f *callFacts) Act() string { return f.get().Deed.String() }

// Is implements policy.Facts. Most rules end at what needs no look at the values.
func (f *callFacts) Is(name string) bool {
	if v, ok := f.of.Is(name, f.name); ok {
		return v && !(name == "argued" && f.unargued) && !(name == "outside" && f.inside)
	}
	switch name {
	case "acts":
		return f.get().Deed != warrant.Read
	case "danger":
		return f.get().Danger
	}
	return false
}

// Warrant implements policy.Facts.
func (f *callFacts) Warrant(what string) string { return f.get().Weakest(what) }

// judgement is what the conversation has said and read, as far as it is known: it is kept
// in memory only, because the log does not keep content. After a restart the user's words
// come back from the log; what was read before is lost, and then nothing but what the user
// said is warranted.
// Preconditions: s.mu is held and s is loaded.
func (m *Monitor) judgement(ctx context.Context, s *live) (*warrant.Context, error) {
	if s.heard != nil {
		return s.heard, nil
	}
	c := warrant.New(vocabulary.Shipped())
	words, err := m.readWords(ctx, s, latest(s.state.Words, maxWords))
	if err != nil {
		return nil, err
	}
	for _, w := range words {
		c.User(w.Text)
	}
	c.Tools(s.tools)
	if s.state.Tainted() {
		c.Outside() // something came in that nobody remembers
	}
	if s.state.Tainted() || s.state.Steps() > 0 {
		c.Lost()
	}
	s.heard = c
	return c, nil
}

// familyWords are what the user said in the session that a new sub-agent works for: nobody
// speaks for them in its own.
func (m *Monitor) familyWords(ctx context.Context, t Turn) ([]string, error) {
	name := t.Sender.SpawnedBy
	if name == "" || name == t.Ref.Session || !m.policy.Load().Facts() {
		return nil, nil
	}
	words, err := m.userWords(ctx, name, 0)
	if err != nil {
		return nil, fmt.Errorf("begin turn: %w", err)
	}
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.Text
	}
	return out, nil
}

// hearFamily makes the judgement of a session, and tells one that is new what the user said to
// its parent.
// Preconditions: s.mu is held and s is loaded.
func (m *Monitor) hearFamily(ctx context.Context, s *live, family []string) error {
	fresh := s.heard == nil && s.state.Version == 0
	c, err := m.judgement(ctx, s)
	if err != nil || !fresh {
		return err
	}
	for _, text := range family {
		c.User(text)
	}
	return nil
}

// know makes the facts of a call askable.
func (m *Monitor) know(ctx context.Context, s *live, b *session.Taint, in *policy.Input) error {
	c, err := m.judgement(ctx, s)
	if err != nil {
		return err
	}
	if b.Unheard {
		c.Lost()
	}
	s.facts = callFacts{of: c, name: in.Tool, args: in.Args}
	if s.state.Forked() && b.Mark.Level > s.state.Mark().Level { // what another branch read did not come in here
		s.facts.unargued, s.facts.inside = b.Mark.Level >= trust.Owner, b.Mark.Level > trust.Shared
	}
	in.Facts = &s.facts
	return nil
}

// noteMessage adds a turn's message to what was said. A stranger's is content like any other.
func (s *live) noteMessage(t *Turn, words bool, label, inherited trust.Label) {
	switch {
	case s.heard == nil || t.Message == nil:
	case words:
		s.heard.User(*t.Message)
	case t.Sender.SpawnedBy != "" || t.From != "": // a model's text, worth what its session is
		if inherited.Level < trust.Owner {
			s.heard.Content(*t.Message)
		}
	default:
		s.heard.Heard(*t.Message)
	}
	if s.heard != nil && label.Level <= trust.External {
		s.heard.Outside()
	}
}

// noteResult adds a result to what was read.
func (s *live) noteResult(o *Observation, name string, step uint64, set *policy.Set, label trust.Label, tainted bool) {
	if s.heard == nil {
		return
	}
	args := tool.NewArgs(o.Result.Args)
	traits := set.Traits(name, nil)
	s.heard.Result(warrant.Result{
		Tool: name, Step: step, Args: &args, Content: string(o.Result.Content), Failed: o.Result.Error, Tainted: tainted,
		Told: traits.Rule != "unknown-tool", Local: label.Level >= trust.Local, Ours: label.Level >= trust.Owner,
	})
}

// shownValues are what a question shows of the slots of a call: those that lack evidence
// first, then the others. Those the user or the operator never said are nobody's secret: they
// are shown as they are, in memory only.
func shownValues(w *warrant.Warrant, set *policy.Set, redact func(path, value string) string) (live, kept []event.Shown) {
	if w == nil {
		return nil, nil
	}
	for _, lacking := range []bool{true, false} {
		for i := range w.Slots {
			s := &w.Slots[i]
			if lacks(w.Deed, s, set) != lacking || len(live) == maxValuesShown {
				continue
			}
			v := event.Shown{
				Path: text.Cover(redact("", s.Path), 100), Slot: s.Kind.String(), Value: text.Cover(s.Value, 500),
				Has: s.Has.String(), Why: redact("", s.Why), Lacks: lacking,
			}
			k := v
			if k.Value = redact(s.Path, v.Value); s.Kind == warrant.Key {
				k.Value = redactedValue
			}
			if s.Has >= warrant.Own {
				v = k
			}
			live, kept = append(live, v), append(kept, k)
		}
	}
	return live, kept
}

// lacks reports whether a slot has less behind it than the policy wants.
func lacks(d warrant.Deed, s *warrant.Slot, set *policy.Set) bool {
	need := set.Needs(d.String(), s.Kind.String())
	return need == "ask" || s.Has < warrant.EvidenceNamed(need)
}

const maxValuesShown = 12

// redactedValue stands for a secret.
const redactedValue = "[REDACTED]"
