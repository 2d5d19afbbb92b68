package tidemark

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/tidemark/tidemark/approval"
	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/internal/warrant/grounds"
	"github.com/tidemark/tidemark/internal/warrant/origin"
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

// utterance is one message of the user's own: as they said it, or after a restart what the
// log kept of it, with hashes of what it must not hold.
type utterance struct {
	turn   uint64
	text   string
	sealed []string

	contract *warrant.Contract // nil: none
}

// sealed are hashes of what redaction takes out of a message.
func (m *Monitor) sealed(r policy.Redactor, message string) []string {
	if len(m.key) == 0 {
		return nil
	}
	var out []string
	for _, piece := range r.Removed(message) {
		if sum := origin.Seal(m.key, piece); sum != "" && !slices.Contains(out, sum) {
			out = append(out, sum)
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
	var own []utterance
	var parent string
	err := m.with(ctx, Ref{Session: name}, func(s *live) (err error) {
		parent = s.state.Parent
		own, err = m.readWords(ctx, s, latest(s.state.Words, maxWords))
		return err
	})
	if err != nil {
		return nil, err
	}
	var out []utterance
	if parent != "" && parent != name && depth < maxFamily {
		if out, err = m.utterances(ctx, parent, depth+1); err != nil {
			return nil, err
		}
	}
	return append(out, own...), nil
}

// readWords reads messages back: those heard since the start from memory, as they were
// said, older ones from the log.
// Preconditions: s.mu is held and s is loaded.
func (m *Monitor) readWords(ctx context.Context, s *live, at []session.Word) ([]utterance, error) {
	out := make([]utterance, 0, len(at))
	for _, w := range at {
		u, known := s.spoken[w.Seq]
		if !known {
			c, err := m.wordText(ctx, s.name, w.Seq)
			if err != nil {
				return nil, fmt.Errorf("read what the user said: %w", err)
			}
			u = utterance{text: c.Text, sealed: c.Sealed}
			s.keepWord(w.Seq, u)
		}
		if u.turn, u.contract = w.Turn, contractFor(w); u.text != "" {
			out = append(out, u)
		}
	}
	return out, nil
}

// keepWord remembers a message. The first, which usually sets the task, and the latest
// stay; what is forgotten is read from the log again.
func (s *live) keepWord(seq uint64, u utterance) {
	if s.spoken == nil {
		s.spoken = map[uint64]utterance{}
	}
	if len(s.spoken) >= 2*maxWords {
		kept := latest(s.state.Words, maxWords)
		maps.DeleteFunc(s.spoken, func(seq uint64, _ utterance) bool {
			return !slices.ContainsFunc(kept, func(w session.Word) bool { return w.Seq == seq })
		})
	}
	s.spoken[seq] = u
}

// wordText is what the log kept of a message.
func (m *Monitor) wordText(ctx context.Context, session string, seq uint64) (event.Content, error) {
	for rec, err := range m.store.Load(ctx, session, seq-1) {
		if err != nil {
			return event.Content{}, unavailable(err)
		}
		e, err := event.FromRecord(rec)
		if err != nil {
			return event.Content{}, err
		}
		switch {
		case e.Began != nil && e.Began.Message != nil:
			return *e.Began.Message, nil
		case e.Seen != nil && e.Seen.Content != nil:
			return *e.Seen.Content, nil
		}
		break
	}
	return event.Content{}, nil
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

// callFacts are what a call stands on, worked out when a rule asks for the first time.
type callFacts struct {
	of    *grounds.Context
	name  string
	args  *tool.Args
	found *grounds.Grounds
}

var _ policy.Facts = (*callFacts)(nil)

func (f *callFacts) get() *grounds.Grounds {
	if f.found == nil {
		f.found = f.of.Of(f.name, f.args)
	}
	return f.found
}

// Act implements policy.Facts.
func (f *callFacts) Act() string { return f.get().Act() }

// Is implements policy.Facts. Most rules end at what needs no look at the values.
func (f *callFacts) Is(name string) bool {
	if f.found == nil {
		if v, ok := f.of.Known(name, f.name); ok {
			return v
		}
	}
	return f.get().Is(name)
}

// Origin implements policy.Facts.
func (f *callFacts) Origin(what string) string { return f.get().Origin(what) }

// ground is what the conversation has said and read, as far as it is known: it is kept
// in memory only, because the log does not keep content. After a restart the user's
// words come back from the log; what was read before is unseen, which is the strict
// answer.
// Preconditions: s.mu is held and s is loaded.
func (m *Monitor) ground(ctx context.Context, s *live) (*grounds.Context, error) {
	if s.grounds != nil {
		return s.grounds, nil
	}
	g := grounds.New()
	words, err := m.readWords(ctx, s, latest(s.state.Words, maxWords))
	if err != nil {
		return nil, err
	}
	for _, w := range words {
		g.User(w.text)
		g.Sealed(m.key, w.sealed)
		agreeOn(g, w.contract)
	}
	g.Tools(s.tools)
	if s.state.Tainted() {
		g.Outside() // something came in that nobody remembers
	}
	if s.state.Steps() > 0 {
		g.Inside()
	}
	s.grounds = g
	return g, nil
}

// know makes the facts of a call askable.
func (m *Monitor) know(ctx context.Context, s *live, b *session.Taint, in *policy.Input) error {
	g, err := m.ground(ctx, s)
	if err != nil {
		return err
	}
	if b.Unheard {
		g.Outside()
	}
	s.facts = callFacts{of: g, name: in.Tool, args: in.Args}
	in.Facts = &s.facts
	return nil
}

// noteMessage adds a turn's message to what was said. A stranger's is content like any other.
func (s *live) noteMessage(t *Turn, words bool, label trust.Label) {
	if words {
		s.keepWord(s.state.Version, utterance{text: text.Cover(*t.Message, maxMessage)})
	}
	switch {
	case s.grounds == nil || t.Message == nil:
	case words:
		s.grounds.User(*t.Message)
	default:
		s.grounds.Heard(*t.Message)
	}
	if s.grounds != nil && label.Level <= trust.External {
		s.grounds.Outside()
	}
}

// noteResult adds a result to what was read.
func (s *live) noteResult(o *Observation, name string, step uint64, set *policy.Set, label trust.Label, tainted bool) {
	if s.grounds == nil {
		return
	}
	args := tool.NewArgs(o.Result.Args)
	traits := set.Traits(name, nil)
	s.grounds.Result(grounds.Result{
		Tool: name, Step: step, Args: &args, Content: string(o.Result.Content), Failed: o.Result.Error,
		Told: traits.Rule != "unknown-tool", Trusted: label.Level >= trust.Local, Tainted: tainted,
	})
}

// shownValues are what a question shows of the values that decided, and where they came
// from. Those the user or the operator never said are nobody's secret: they are shown as
// they are, in memory only.
func shownValues(g *grounds.Grounds, redact func(path, value string) string) (live, kept []event.Shown) {
	if g == nil {
		return nil, nil
	}
	for _, f := range g.Findings {
		if len(live) == maxValuesShown {
			break
		}
		v := event.Shown{
			Path: text.Cover(redact("", f.Path), 100), Role: f.Role, Value: text.Cover(f.Value, 500),
			Origin: f.From, Where: redact("", f.Where),
		}
		k := v
		if k.Value = redact(f.Path, v.Value); f.Role == "credential" {
			k.Value = redactedValue
		}
		if f.Origin >= grounds.System {
			v = k
		}
		live, kept = append(live, v), append(kept, k)
	}
	return live, kept
}

const maxValuesShown = 12

// redactedValue stands for a secret.
const redactedValue = "[REDACTED]"
