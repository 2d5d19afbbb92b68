package tidemark

import (
	"context"

	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/internal/warrant/grounds"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// facts are what a call stands on, worked out when a rule asks for the first time.
type facts struct {
	of    *grounds.Context
	name  string
	args  *tool.Args
	found *grounds.Grounds
}

var _ policy.Facts = (*facts)(nil)

func (f *facts) get() *grounds.Grounds {
	if f.found == nil {
		f.found = f.of.Of(f.name, f.args)
	}
	return f.found
}

// Act implements policy.Facts.
func (f *facts) Act() string { return f.get().Act() }

// Is implements policy.Facts. Most rules end at what needs no look at the values.
func (f *facts) Is(name string) bool {
	if f.found == nil {
		if v, ok := f.of.Known(name, f.name); ok {
			return v
		}
	}
	return f.get().Is(name)
}

// Origin implements policy.Facts.
func (f *facts) Origin(what string) string { return f.get().Origin(what) }

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
		g.User(w.Text)
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
	s.facts = facts{of: g, name: in.Tool, args: in.Args}
	in.Facts = &s.facts
	return nil
}

// heard adds a turn's message to what was said. A stranger's is content like any other.
func (s *live) heard(t *Turn, words bool, label trust.Label) {
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

// read adds a result to what was read.
func (s *live) read(o *Observation, name string, step uint64, set *policy.Set, label trust.Label, tainted bool) {
	if s.grounds == nil {
		return
	}
	args := tool.NewArgs(o.Result.Args)
	traits := set.Traits(name, nil)
	s.grounds.Result(grounds.Result{
		Tool: name, Step: step, Args: &args, Content: string(o.Result.Content), Failed: o.Result.Error, Told: traits.Rule != "unknown-tool", Trusted: label.Level >= trust.Local, Tainted: tainted,
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
		v := event.Shown{Path: cutText(redact("", f.Path), 100), Role: f.Role, Value: cutText(f.Value, 500), Origin: f.From, Where: redact("", f.Where)}
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

func cutText(s string, n int) string {
	for i := range s {
		if i >= n {
			return s[:i]
		}
	}
	return s
}
