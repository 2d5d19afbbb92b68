package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/extract"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// A result can be kept from the agent: its door shows a handle instead, and keeps the text. The agent may use the handle as an argument,
// have a value of a closed shape extracted, or read the text after all. What it has not read taints nothing (AUD-03).

// HandlePrefix begins the name of a result that is kept from the agent.
const HandlePrefix = "tidemark:r"

// ExtractTool is what the record of a value that was extracted calls its tool.
const ExtractTool = "tidemark_extract"

// Kept is a result that is kept from the agent. The zero Kept is none: the agent reads it.
type Kept struct {
	Handle string
	Step   uint64
	Tool   string
	Label  trust.Label // what it is worth
	Source tool.Digest // the same for the same call: how much is extracted from a source is bounded
	Secret bool        // no value of it goes into the log
}

// IsZero reports whether nothing is kept.
func (k Kept) IsZero() bool { return k.Handle == "" }

// keeping is how a result is kept from the agent.
type keeping struct {
	always bool              // the host wants it so; otherwise the policy says of which tools
	show   func(Kept) string // what the agent gets instead
	kept   Kept
}

// back keeps a result from the agent, where it can be: the policy judges by what stands behind calls, the call is known, and its turn is
// open. Otherwise the agent reads it.
func (k *keeping) back(s *sessionEntry, seen *event.Seen, o *Observation, set *policy.Set, apart bool) {
	if s.State.Shown(o.Result.Content) { // another door of the agent tells of what it was shown instead of one
		seen.Held = &event.Held{Handle: HandlePrefix, Shown: tool.DigestOf(o.Result.Content)}
		return
	}
	if k == nil || apart || seen.LookUp != "" || !set.Facts() || !k.always && !set.Traits(seen.Tool, nil).Holds {
		return
	}
	k.kept = Kept{
		Handle: fmt.Sprintf("%s%d", HandlePrefix, seen.Step), Step: seen.Step, Tool: seen.Tool, Label: seen.Label, Secret: seen.Sensitive,
		Source: tool.Call{Name: seen.Tool, Args: o.Result.Args}.Digest(),
	}
	seen.Held = &event.Held{Handle: k.kept.Handle, Shown: tool.DigestOf([]byte(k.show(k.kept)))}
}

// spawnTool starts a sub-agent, and backID begins the id of the report that one has ended.
const (
	spawnTool = "sessions_spawn"
	backID    = "sub-agent "
)

// returns reports whether a call starts a sub-agent that is to return a value: its errand says so. The tool is the host's for that, or one
// by which its framework steers itself; of any other, who answers it is somebody else.
func (x *step) returns(name string) bool {
	own := name == spawnTool && x.entry.owns(name) || slices.Contains(x.entry.State.ControlTools, name)
	if x.entry.input.Facts == nil || !own {
		return false
	}
	fields, err := x.args.Fields()
	return err == nil && shapeOf(fields) != nil
}

// describeResult notes what is known of the result of a call before it comes, besides what it is worth.
func (x *step) describeResult(d *event.Decided) {
	d.Unread(x.looks)
	d.Returns = x.returns(d.Tool)
}

// shapeOf is the shape that the errand of a sub-agent declares; nil: none.
func shapeOf(fields map[string]any) *extract.Shape {
	for _, v := range fields {
		if text, ok := v.(string); ok {
			if s := extract.Declared(text); s != nil {
				return s
			}
		}
	}
	return nil
}

// awaited keeps what a sub-agent has read out of the context that waits for its value. It is owed: where the value does not come, or is
// none, it counts.
func (o *Observation) awaited(b *session.Taint, seen *event.Seen) {
	if strings.HasPrefix(o.Result.CallID, backID) && seen.Tool == spawnTool && len(o.Result.Content) == 0 && b.Awaits(spawnTool) {
		seen.Held = &event.Held{Handle: "sub-agent", Owed: true}
	}
}

// keepBack keeps a result out of the context, where it can be.
func (o *Observation) keepBack(s *sessionEntry, b *session.Taint, came *arrival, seen *event.Seen, set *policy.Set, late bool) {
	if seen.Refused != "" {
		return
	}
	o.awaited(b, seen)
	o.keep.back(s, seen, o, set, late || came.call == nil)
	if !late && seen.Held == nil && o.steers(s, came, set) {
		seen.Steer()
	}
}

// steers reports whether a result is the host's word about its own framework and nobody else's. All must hold: the host says so, who has
// proven that the session is theirs; the tool is one of those that it declared before, and the policy knows nothing else of it; its call
// was decided here and has no result yet; no sub-agent, no labelled resource and no error has a part in it. What such a result says is
// no evidence either: an agent writes into its plans what it has read.
func (o *Observation) steers(s *sessionEntry, came *arrival, set *policy.Set) bool {
	return o.Own && came.call != nil && !came.call.Seen && came.other.Level >= trust.Owner && o.From == "" && o.Declared == nil &&
		!o.Caution && !o.Result.Error && !o.Result.Labels.Untrusted() &&
		slices.ContainsFunc(s.State.ControlTools, func(n string) bool { return tool.Name(n) == came.name }) &&
		set.Traits(came.name, nil).Rule == "unknown-tool"
}

// Returned is Observe for the result of a sub-agent that was to return a value, as the words that its agent reads. Where they are that
// value and nothing else, what the sub-agent has read does not enter.
func (m *Monitor) Returned(ctx context.Context, o Observation, words string) (trust.Label, error) {
	var shape *extract.Shape
	var from Kept
	name := tool.Name(o.Result.Name)
	args := tool.NewArgs(o.Result.Args)
	if fields, err := args.Fields(); err == nil {
		shape = shapeOf(fields)
	}
	if shape == nil {
		return m.Observe(ctx, o)
	}
	child, err := m.brought(ctx, o)
	if err != nil {
		return trust.Label{}, fmt.Errorf("observe result: %w", err)
	}
	err = m.with(ctx, o.Ref, func(s *sessionEntry) error {
		b := s.State.Branch(o.Ref.Branch)
		if known, found := b.Call(o.Result.CallID, name); found && known.Returns && !known.Seen && b.Awaits(name) {
			from = Kept{
				Handle: "sub-agent", Step: known.Step, Tool: name,
				Label:  s.State.Mark().Join(trust.Label{Level: known.Level, Sensitivity: known.Sens}).Join(child),
				Source: tool.Call{Name: name, Args: o.Result.Args}.Digest(), Secret: known.Secret,
			}
		}
		return nil
	})
	if err != nil {
		return trust.Label{}, err
	}
	if from.IsZero() {
		return m.Observe(ctx, o)
	}
	v, ok := extract.Fits(shape, words)
	if !ok {
		return m.Observe(ctx, o)
	}
	if err := m.Extracted(ctx, o.Ref, from, v.JSON, v.Plain); err != nil {
		return trust.Label{}, err
	}
	o.keep = &keeping{always: true, show: func(Kept) string { return words }}
	return m.Observe(ctx, o)
}

// Hold is Observe for a door that can keep a result from its agent, and show what show returns instead. It does so where the policy says
// so of the tool (holdResults), or always. Where the Kept is zero the agent reads the result, and it was observed like any other.
func (m *Monitor) Hold(
	ctx context.Context, o Observation, always bool, show func(Kept) string, how ...RecordOption,
) (Kept, trust.Label, error) {
	o.keep = &keeping{always: always, show: show}
	label, err := m.Observe(ctx, o, how...)
	if err != nil {
		return Kept{}, label, err
	}
	return o.keep.kept, label, nil
}

// Holds reports whether results of a tool are kept from the agent of a session, where the door can.
func (m *Monitor) Holds(ctx context.Context, ref Ref, name string) (holds bool, err error) {
	err = m.with(ctx, ref, func(s *sessionEntry) error {
		set := m.policy.Load().For(s.State.Agent)
		holds = set.Facts() && set.Traits(tool.Name(name), nil).Holds
		return nil
	})
	return holds, err
}

// maxExtractions bounds how many values are extracted from one source in a session: each tells its writer's choice of a few.
const maxExtractions = 16

// ErrExtracted is returned where as much was extracted from a source as may be.
var ErrExtracted = errors.New("as many values as may be were extracted from this source; read it whole, or ask the user")

// Extracted records a value that the agent is given of what is kept from it, as JSON and as the plain values in it. It counts before the
// agent has it.
func (m *Monitor) Extracted(ctx context.Context, ref Ref, from Kept, value string, plain []string) error {
	err := m.with(ctx, ref, func(s *sessionEntry) error {
		if s.State.Extracted(from.Source) >= maxExtractions {
			return ErrExtracted
		}
		c, err := m.judgement(ctx, s)
		if err != nil {
			return err
		}
		b, err := m.turn(ctx, s, ref, recording{})
		if err != nil {
			return err
		}
		seen := &event.Seen{
			Tool: ExtractTool, Step: from.Step, Label: from.Label, Digest: &from.Source, Sensitive: from.Secret,
			Held:  &event.Held{Handle: from.Handle, Shown: tool.DigestOf([]byte(value)), Extracted: true, Value: value},
			Trace: s.traced(c.Extracted(from.Step, from.Tool, plain)),
		}
		if from.Secret {
			seen.Held.Value = ""
		}
		return m.table.Append(ctx, s.Entry, &event.Event{
			Kind: event.ResultSeen, Time: m.table.At(s.Entry), Branch: ref.Branch, Turn: b.Turn.ID, Iteration: b.Turn.Iteration, Seen: seen,
		})
	})
	if err != nil {
		return fmt.Errorf("extract: %w", err)
	}
	return nil
}

// carry has a call judged with all that stands behind what it holds of what the agent has not read: what it carries whole, and a value
// where only what was asked for may stand.
func (x *step) carry(in *policy.Input) {
	var from trust.Label
	some := false
	for _, k := range x.holds {
		from, some = joined(from, k.Label, some), true
	}
	if in.Facts == nil {
		if some {
			x.taint = x.taint.With(from)
			setInput(in, x.entry, x.taint, in.Tool, &x.args)
		}
		return
	}
	f := &x.entry.facts
	if !some && f.Of.Extracts() {
		led := *f
		led.Led, led.Found = true, nil
		if step, name, ok := f.Of.Binds(led.Judged()); ok {
			some, from = true, trust.Label{Level: trust.Untrusted, Sensitivity: trust.Internal, Sources: []trust.Source{
				{Level: trust.Untrusted, Step: step, Kind: "extracted", Tool: name, Detail: "a value that the agent had extracted from it"},
			}}
		}
	}
	if some {
		f.Led, f.Found = true, nil
		x.taint = x.taint.With(from)
		setInput(in, x.entry, x.taint, in.Tool, &x.args)
	}
}

// hideCarried removes from a verdict what reasons and evidence quote of values that are kept from the agent. The log and the question
// have them.
func (v *Verdict) hideCarried() {
	if !v.carries || v.runs() {
		return
	}
	v.Taint.Sources = slices.Clone(v.Taint.Sources)
	for i := range v.Taint.Sources {
		s := &v.Taint.Sources[i]
		s.Excerpt, s.Author, s.Readers = "", "", ""
	}
	v.Reasons = slices.Clone(v.Reasons)
	for i := range v.Reasons {
		v.Reasons[i].Text = "it carries what is kept from the agent"
	}
}

// joined is a label with another, or that one alone.
func joined(l, with trust.Label, some bool) trust.Label {
	if !some {
		return with
	}
	return l.Join(with)
}

// IsHandle reports whether an argument is the name of something that is kept from the agent.
func IsHandle(s string) bool { return strings.HasPrefix(s, HandlePrefix) }

// The bounds of what is open in all sessions together: nobody reads more, and a flood of one must not be everybody's.
const (
	crowd    = 2048  // from here on a session has one open question at a time
	maxCrowd = 16384 // and from here on no more are asked
)

// flooded turns a call down where too many questions are open already: of its session, or of all of them.
func (m *Monitor) flooded(x *step, v *Verdict) bool {
	const rule = "approval-flood"
	own, all := x.entry.State.Book.Live(x.now), m.OpenQuestions()
	switch most := x.set.Settings().MaxOpen; {
	case own >= most:
		const text = "%d questions of this session wait for an answer; no more are asked until some are answered or expire"
		v.deny(rule, fmt.Sprintf(text, most))
	case all >= crowd && own > 0 || all >= maxCrowd:
		v.deny(rule, "very many questions of other sessions wait for an answer; no more are asked until some are answered or expire")
	default:
		return false
	}
	return true
}

// lapsed tells in the question why it is asked a second time, where the policy has changed since the first answer. The reasons are the
// policy's own, so that they are copied.
func (v *Verdict) lapsed(book *approval.Book, h *approval.Held, now int64) *Verdict {
	if len(v.Reasons) > 0 && book.Lapsed(*h, now) {
		v.Reasons = slices.Clone(v.Reasons)
		v.Reasons[0].Text += " (it was approved before, but the policy has changed since, so it is asked about again)"
	}
	return v
}
