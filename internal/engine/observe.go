package engine

import (
	"context"
	"errors"
	"fmt"

	cut "github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// ErrSealed is returned for content that arrives after its turn was sealed. Its taint
// was recorded all the same; only the turn's graph stays as it is.
var ErrSealed = errors.New("the turn is sealed")

// Observation is something that came back from a tool.
type Observation struct {
	Ref    Ref
	Result tool.Result
	// Declared is a level the host or the tool itself states. It can only lower trust.
	Declared *trust.Level
	// From is the sub-agent session whose result this is.
	From string
	// Again marks a second report of a result (tool_result_persist after
	// after_tool_call): it is recorded only if the first never came.
	Again   bool
	Caution bool // the result itself asks for caution (CAU-08)
	Own     bool // the host's framework wrote it about itself; it counts for tools that steer the framework alone

	keep *keeping // whoever reports it can keep it from the agent; nil: the agent reads it
}

// Observe labels a result and records it. From then on the context is at least as
// distrusted as the result.
func (m *Monitor) Observe(ctx context.Context, o Observation, how ...RecordOption) (trust.Label, error) {
	child, err := m.brought(ctx, o)
	if err != nil {
		return trust.Label{}, fmt.Errorf("observe result: %w", err)
	}
	var label trust.Label
	sealed := false
	err = m.with(ctx, o.Ref, func(s *sessionEntry) error {
		b := s.State.Branch(o.Ref.Branch)
		late := !b.Turn.Has(o.Ref.Turn) && b.Sealed(o.Ref.Turn)
		if !late {
			var err error
			if b, err = m.turn(ctx, s, o.Ref, recordingOf(how)); err != nil {
				return err
			}
		}
		sealed = late
		name := tool.Name(o.Result.Name)
		known, found := b.Call(o.Result.CallID, name)
		if o.Again && found && known.Seen {
			label = b.Mark
			return nil
		}
		came := arrival{name: name, args: tool.NewArgs(o.Result.Args)}
		if found {
			came.call, came.lookUp = &known, known.LookUp
		}
		back, err := m.brings(ctx, s, &o, &came)
		if err != nil {
			return err
		}
		came.other = s.State.JoinOwn(o.Ref.Session, child, o.From).Join(back)
		set := m.policy.Load().For(s.State.Agent)
		if set.Facts() { // before the result: what is kept of it depends on what came before
			if _, err := m.judgement(ctx, s); err != nil {
				return err
			}
		}
		event, err := m.came(ctx, s, b, &o, &came, late)
		if err != nil {
			return err
		}
		o.keepBack(s, b, &came, event.Seen, set, late)
		tainted := back.Level <= trust.External || child.Level <= trust.External || o.From != "" ||
			o.Declared != nil && *o.Declared <= trust.External
		event.Seen.Trace = s.noteResult(&o, &came, event.Seen, set, tainted)
		label = event.Seen.Label
		m.table.TrackMemory(s.Entry)
		return m.appendResult(ctx, s, recordingOf(how), &came, event)
	})
	if err != nil {
		return trust.Label{}, fmt.Errorf("observe result: %w", err)
	}
	m.table.EvictContexts(ctx)
	if sealed {
		return label, ErrSealed
	}
	return label, nil
}

// mayWait reports whether a result may be written with the next record: where the record of its call says as much as it does.
func (m *Monitor) mayWait(came *arrival, e *event.Event) bool {
	return came.call != nil && came.call.Run != "" && !e.Late && m.shared == nil && came.call.Covers(e.Seen)
}

// arrival is what is known of a result beside what the host reports.
type arrival struct {
	name  string        // of its tool, normalised
	args  tool.Args     // of the call, where the host repeats them
	call  *session.Call // it answers; nil: none that is known
	other trust.Label   // what other sessions and labelled resources put into it

	lookUp string // the name that we looked up by it; "": the agent reads it
}

// seenEvent labels a result. What its arguments said when the call was judged counts where
// the host does not repeat them, and it never gets better than what was expected then.
func (m *Monitor) seenEvent(s *sessionEntry, b *session.Taint, o *Observation, came *arrival) *event.Event {
	name, call, other := came.name, came.call, came.other
	set := m.policy.Load().For(s.State.Agent)
	traits := set.Traits(name, &came.args)
	step := uint64(s.State.Steps())
	if call != nil {
		step = call.Step
		if len(o.Result.Args) == 0 {
			traits.Level, traits.Sensitivity, traits.Source, traits.Sensitive = call.Level, call.Sens, call.Source, call.Secret
		}
		traits.Level = traits.Level.Join(call.Level)
		traits.Sensitivity = traits.Sensitivity.Join(call.Sens)
		traits.Source, traits.Sensitive = traits.Source || call.Source, traits.Sensitive || call.Secret
	}
	if o.vouched(set, name) {
		traits.Level = max(traits.Level, trust.Local)
	}
	label := trust.Label{Level: traits.Level, Sensitivity: traits.Sensitivity}
	if o.Declared != nil {
		label.Level = label.Level.Join(*o.Declared)
	}
	if o.Result.Labels.Untrusted() {
		label.Level = label.Level.Join(trust.Untrusted)
	}
	label.Level = label.Level.Join(other.Level)
	label.Sensitivity = label.Sensitivity.Join(other.Sensitivity)
	content := m.content(o.Result.Content, set, traits.Sensitive, false)
	if label.Level <= trust.Shared || traits.Source {
		label.Sources = []trust.Source{{
			Level: label.Level, Step: step, Kind: "tool_result", Tool: name,
			Detail: set.Redactor().Preview([]byte(traits.Detail), 200), Excerpt: content.Preview,
		}}
	}
	label = label.Join(trust.Label{Level: trust.System, Sensitivity: trust.Public, Sources: other.Sources})
	seen := &event.Seen{
		CallID: o.Result.CallID, Tool: name, Step: step, Label: label, Content: content, From: o.From, Error: o.Result.Error,
		Source: traits.Source || label.Level <= trust.External, Sensitive: traits.Sensitive,
	}
	declared := o.Caution || s.State.Cautious(name) || o.From != "" && other.Level <= trust.External
	seen.Caution = traits.Caution || !traits.CautionFixed && declared
	if len(o.Result.Args) > 0 {
		d := tool.Call{Name: name, Args: o.Result.Args}.Digest()
		seen.Digest = &d
	}
	return &event.Event{
		Kind: event.ResultSeen, Time: m.table.At(s.Entry), Branch: o.Ref.Branch, Turn: b.Turn.ID, Iteration: b.Turn.Iteration, Seen: seen,
	}
}

// vouched reports whether the server of a result says that nobody else has a part in it, and the policy takes its word. What sub-agents,
// other sessions and labelled resources put into it counts all the same.
func (o *Observation) vouched(set *policy.Set, name string) bool {
	return o.Result.Labels.Trusted() && !o.Result.Error && set.Traits(name, nil).Vouched
}

// Ending is a response that is about to go out.
type Ending struct {
	Ref     Ref
	Content []byte
	Blocked bool
	Reason  string
}

// Ended is what the response stands on.
type Ended struct {
	Turn   string
	Taint  trust.Label
	Footer bool // it stands on what others wrote, and the policy wants that said below it (HOOK-16)
}

// End records the response and seals the turn. Ending a turn twice is ErrSealed.
func (m *Monitor) End(ctx context.Context, e Ending, how ...RecordOption) (Ended, error) {
	var out Ended
	err := m.with(ctx, e.Ref, func(s *sessionEntry) error {
		b := s.State.Branch(e.Ref.Branch)
		if !b.Turn.Has(e.Ref.Turn) {
			if !b.Begun() {
				return fmt.Errorf("%w: no turn is open", ErrNotFound)
			}
			return ErrSealed
		}
		set := m.policy.Load().For(s.State.Agent)
		out = Ended{Turn: b.Turn.ID, Taint: b.Settled()}
		out.Footer = set.Settings().Footer && out.Taint.Level < trust.Local
		label := trust.Label{Level: out.Taint.Level, Sensitivity: out.Taint.Sensitivity}
		trace := ""
		if set.Facts() && !e.Blocked && e.Ref.Branch == "" { // the user may agree to it
			c, err := m.judgement(ctx, s)
			if err != nil {
				return err
			}
			trace = s.traced(c.Answered(string(e.Content)))
		}
		return m.table.Put(ctx, s.Entry, recordingOf(how).later, &event.Event{
			Kind: event.TurnSealed, Time: m.table.At(s.Entry), Branch: e.Ref.Branch, Turn: b.Turn.ID, Iteration: b.Turn.Iteration,
			Seen: &event.Seen{
				Label: label, Content: m.content(e.Content, set, b.Sensitive, false), Blocked: e.Blocked, Reason: e.Reason, Trace: trace,
			},
		})
	})
	if err != nil {
		return Ended{}, fmt.Errorf("end turn: %w", err)
	}
	return out, nil
}

// maxPreview is how much of a text its preview shows, in characters.
const maxPreview = 100

// maxMessage bounds how much of a user's own message is kept.
const maxMessage = 32 << 10

// content is what is kept of a text. Nothing of a sensitive one but its hash.
func (m *Monitor) content(text []byte, set *policy.Set, sensitive, message bool) *event.Content {
	cfg := set.Settings()
	c := &event.Content{Hash: tool.DigestOf(text), Bytes: len(text)}
	if cfg.Previews && !sensitive {
		c.Preview = cut.Words(set.Redactor().Preview(text, 2*maxPreview), maxPreview)
	}
	if message && cfg.RecordMessages && !sensitive {
		said := cut.Cover(string(text), maxMessage)
		c.Text, c.Sealed = set.Redactor().Text(said), m.sealed(set.Redactor(), said)
	}
	return c
}

// whole keeps a full context, without secrets, where a rule asks for it.
func (m *Monitor) whole(text []byte) *event.Content {
	return &event.Content{Hash: tool.DigestOf(text), Bytes: len(text), Text: m.Policy().Redactor().Text(string(text))}
}

// preview is outside text for people: one line, no secrets, bounded.
func (m *Monitor) preview(s string, n int) string {
	return m.Policy().Redactor().Preview([]byte(s), n)
}
