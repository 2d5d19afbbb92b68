package engine

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/confined"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/question"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/internal/warrant/outgoing"
	"github.com/tidemark/tidemark/internal/warrant/outgoing/parts"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// A text that was asked for, to whom it was asked for, may hold something that was read elsewhere: a link, a number, a
// sentence. Nobody need be asked about that: the agent is told what to take out, and calls again. Who tries it too often
// asks a person after all, so that it is no way to find out what passes.

// maxRepairs is how often an agent is told so for one message of the owner's.
const maxRepairs = 2

// repair turns a question about nothing but a part of a text into a refusal that says what to take out.
func (x *step) repair(v *Verdict) {
	if x.looks != "" && v.Effect != policy.Allow { // nobody is asked about what nobody wants
		v.Effect = policy.Deny
		return
	}
	if v.carries || v.Effect != policy.Confirm || objections(v) != 1 || !strings.HasSuffix(v.Rule, "."+warrant.Cargo.String()) {
		return
	}
	s := x.entry
	if s.input.Facts == nil || s.facts.Found == nil || s.State.Repairs >= maxRepairs {
		return
	}
	path, part := s.facts.Found.Repair()
	if part == "" || x.wasAsked(v.Tool) {
		return
	}
	const says = "`%s` holds %q, which is neither of the owner's words nor of what they named as a source: take it out and call again"
	what := fmt.Sprintf(says, path, part)
	v.Effect, v.Kind, v.Rule = policy.Deny, "", policy.RuleRepair
	v.Reasons = []policy.Reason{{Rule: policy.RuleRepair, Text: x.set.Redactor().Text(what)}}
}

// carried are what the texts that a call is asked about hold of results, without secrets.
func (s *sessionEntry) carried(args *tool.Args, shown []event.Shown, redacted func(string) string) []event.Carried {
	var out []event.Carried
	var done []string
	for _, v := range shown {
		if !v.Lacks || v.Slot != warrant.Cargo.String() || v.Path == "" || slices.Contains(done, v.Path) {
			continue
		}
		done = append(done, v.Path)
		for _, l := range strictjson.Flat(string(args.Raw())) {
			if !question.At(v.Path, l.Path) {
				continue
			}
			for _, c := range s.heard.Carries(l.Text) {
				part := event.Carried{Path: v.Path, Part: redacted(c.Part), Tool: c.Tool, Step: c.Step, Readers: redacted(c.Readers)}
				out = append(out, part)
			}
		}
	}
	return out[:min(len(out), maxCarried)]
}

// maxCarried bounds what a question tells of that.
const maxCarried = 24

// wasAsked reports whether somebody was asked about this very call: their answer counts, and no advice.
func (x *step) wasAsked(name string) bool {
	x.decided.Seal()
	return slices.ContainsFunc(x.entry.State.Book.Requests(), func(r approval.Request) bool {
		return r.Tool == name && r.Digest == x.decided.Digest
	})
}

// objections is how many rules do not let a call run.
func objections(v *Verdict) int {
	n := 0
	for i := range v.Reasons {
		if v.Reasons[i].Effect != policy.Allow {
			n++
		}
	}
	return n
}

// Adds is what a push would add over there. It is judged, and kept nowhere.
type Adds struct {
	Ordered bool // what the owner said covers the command: a person is asked only where something speaks against what it adds
	Whole   bool // Texts are all of it
	Texts   []Added
}

// Added is what is written of a push's commits, or the lines that they add to a file.
type Added struct{ Path, Text string }

// orderedBy is what a push would add, by a ticket: only where the ticket says so did the owner order the command, or a part of it.
func (a *Adds) orderedBy(given *event.Box) *Adds {
	if a == nil {
		return nil
	}
	out := *a
	out.Ordered = a.Ordered && (given.Covered || len(given.Ordered) > 0)
	return &out
}

// judgeWanted is what a policy says of what a command in a box wants: where nothing refuses it a person is asked, whatever would
// let other calls run. What the owner ordered is let through where it adds nothing outside that others may not read. Nobody else may
// use the names of these calls.
func (x *step) judgeWanted(set *policy.Set, in *policy.Input) policy.Decision {
	if x.wants == nil || in.Tool != confined.Tool(&x.wants.Wanted) {
		return refuse(ruleReserved, "calls of this name are made by boxes alone")
	}
	d := set.Judge(in)
	if d.Effect == policy.Deny {
		return d
	}
	says := set.Redactor().Text(confined.Sentence(&x.wants.Wanted))
	if a := x.wants.adds; a != nil {
		why := x.entry.adds(a, x.wants)
		held := func(r policy.Reason) bool { return inFile(r) && r.Effect != policy.Allow }
		if why == "" && a.Ordered && !slices.ContainsFunc(d.Reasons, held) {
			r := policy.Reason{Rule: RuleWanted, Effect: policy.Allow, Text: "you ordered it, and it adds nothing that others may not read"}
			return policy.Decision{Effect: policy.Allow, Rule: r.Rule, Reasons: []policy.Reason{r}}
		}
		if why != "" {
			says += "; " + why
		}
	}
	r := policy.Reason{Rule: RuleWanted, Effect: policy.Confirm, Text: says}
	return policy.Decision{Effect: policy.Confirm, Kind: policy.KindEscalate, Rule: r.Rule, Reasons: []policy.Reason{r}}
}

// adds is why what a command would add outside is asked about, and notes what it would carry; empty: nothing speaks against it.
func (s *sessionEntry) adds(a *Adds, w *wanted) (why string) {
	if s.heard == nil {
		return "" // the policy judges by levels alone
	}
	texts := make([]warrant.Added, len(a.Texts))
	for i, t := range a.Texts {
		texts[i] = warrant.Added(t)
	}
	w.carries, why = s.heard.Pushed(texts, a.Whole)
	return why
}

// carried is what a command would carry outside, without secrets.
func (w *wanted) carried(redacted func(string) string) []event.Carried {
	var out []event.Carried
	for _, c := range w.carries {
		part := event.Carried{Path: redacted(c.Path), Part: redacted(c.Part), Tool: c.Tool, Step: c.Step, Readers: redacted(c.Readers)}
		out = append(out, part)
	}
	return out[:min(len(out), maxCarried)]
}

// maxSealedBodies bounds what is kept of them, sealed.
const maxSealedBodies = 4 * maxArgsShown

// bodies are the arguments with what is written to a file in them, without secrets, where that is what is asked about: nobody can
// answer for what they do not see. Empty: it is not, or nothing of them was left out.
func (x *step) bodies(toolName string, found *warrant.Warrant) string {
	asked := func(s warrant.Slot) bool {
		written := s.Kind == warrant.Order || s.Kind == warrant.Cargo || s.Kind == warrant.Place
		return written && question.Lacks(found.Deed, &s, x.set)
	}
	if found == nil || !slices.ContainsFunc(found.Slots, asked) {
		return ""
	}
	out := shownArgs(x.set, x.set.Redactor().Bodies(toolName, x.args.Raw(), x.entry.facts.Keys()...))
	if out == x.decided.Ask.Args {
		return ""
	}
	return out
}

// showBodies are the bodies, which the question keeps sealed.
func (x *step) showBodies(toolName string, found *warrant.Warrant) string {
	out := x.bodies(toolName, found)
	if out != "" {
		x.decided.Ask.Bodies = x.entry.Keys.Seal(x.entry.State.Keys, maxSealedBodies, []byte(out))
	}
	return out
}

// bodies are the arguments of a question as they were shown with what is written; empty: they are shown as the log has them.
func (s *sessionEntry) bodies(ask *event.Ask) string {
	if ask.Bodies == "" {
		return ""
	}
	return string(s.Keys.Open(s.State.Keys, ask.Bodies))
}

func put[V any](m map[string]V, key string, v V) map[string]V {
	if m == nil {
		m = map[string]V{}
	}
	m[key] = v
	return m
}

// Written is what an allowed call of the host's own file tool leaves of one file, as far as its arguments say it.
type Written struct {
	Step  uint64
	Path  string     // whole
	Whole bool       // it holds Text afterwards
	Text  string     // else this is replaced in it, one after the other
	Edits []Replaced //
}

// Replaced is one replacement in a text: of the only place where Old stands, or of all.
type Replaced struct {
	Old, New string
	All      bool
}

// Written is what calls of the session's own file tools leave that were allowed, the latest last. A box of the session asks for it: what
// comes to a guarded place while it is open and is exactly that was ordered, whoever wrote it. It is asked with the ticket of any command
// that was begun in the box. What was allowed before a restart is not known any more.
func (m *Monitor) Written(ctx context.Context, ticket string) ([]Written, error) {
	given, err := m.tickets().Begun(ctx, ticket)
	if err != nil {
		return nil, fmt.Errorf("written: %w", ticketError(err))
	}
	var out []Written
	for _, o := range m.orders.Of(given.Session) {
		w := Written{Step: o.Step, Path: o.Path, Whole: o.Whole, Text: o.Text}
		for _, e := range o.Edits {
			w.Edits = append(w.Edits, Replaced(e))
		}
		out = append(out, w)
	}
	return out, nil
}

// noteOrdered remembers what a call leaves that has its permit.
func (m *Monitor) noteOrdered(x *step, v *Verdict) {
	if v.Permit == nil || v.Permit.boxed || !x.entry.owns(v.Tool) {
		return
	}
	if args, err := x.args.Fields(); err == nil {
		m.orders.Note(x.entry.Name, confined.OrderedBy(v.Tool, args, x.folder, v.Step))
	}
}

// RefuseBox is EndBox for a command that was to be run by a broker, and of which it began nothing: why is one of the refusals that a
// broker has, whose words are known here. What comes back of its call and is these words alone is nobody's, and the call was none.
func (m *Monitor) RefuseBox(ctx context.Context, ticket, why, report string) error {
	report = m.preview(text.Cover(report, maxReport), maxReport)
	given, err := m.tickets().Refuse(ctx, ticket, outgoing.Refusal(why), report, m.now().UnixNano())
	if err != nil {
		return fmt.Errorf("end: %w", ticketError(err))
	}
	return m.noteEnd(ctx, &given, event.Box{Exit: confined.NotRun, Report: report, Refused: why})
}

// noteEnd notes in its session how the command of a ticket ended.
func (m *Monitor) noteEnd(ctx context.Context, given *event.Box, b event.Box) error {
	b.Ticket, b.CallID, b.Tool, b.Step = given.Ticket, given.CallID, given.Tool, given.Step
	err := m.with(ctx, Ref{Session: given.Session}, func(s *sessionEntry) error {
		turn := &s.State.Branch(given.Branch).Turn
		return m.table.Append(ctx, s.Entry, &event.Event{
			Kind: event.BoxEnded, Time: m.table.At(s.Entry), Branch: given.Branch, Turn: turn.ID, Iteration: turn.Iteration, Box: &b,
		})
	})
	if err != nil {
		return fmt.Errorf("end: %w", err)
	}
	return nil
}

// refused is why nothing was begun of the call that a result answers, where the result says that and nothing else; empty: it is like any
// other. All must hold: the box keeper said so with the call's ticket, the call has no result yet, what came back are the words that are
// known here for that reason, and nobody else has a part in them.
func (m *Monitor) refused(ctx context.Context, o *Observation, came *arrival, late bool) (string, error) {
	call := came.call
	if late || call == nil || call.Ticket == nil || call.Seen || came.other.Level < trust.Owner ||
		o.From != "" || o.Declared != nil || o.Caution || o.Result.Labels.Untrusted() {
		return "", nil
	}
	why, err := m.tickets().Refused(ctx, *call.Ticket)
	if err != nil {
		return "", unavailable(err)
	}
	if !why.Alone(o.Result.Content) {
		return "", nil
	}
	return string(why), nil
}

// came is the record of a result. One that says that nothing was begun, and nothing else, brings nothing.
func (m *Monitor) came(
	ctx context.Context, s *sessionEntry, b *session.Taint, o *Observation, came *arrival, late bool,
) (*event.Event, error) {
	e := m.seenEvent(s, b, o, came)
	if e.Late = late; late && o.Ref.Turn != "" {
		e.Turn = o.Ref.Turn
	}
	e.Seen.Unread(came.lookUp)
	why, err := m.refused(ctx, o, came, late)
	if why != "" {
		e.Seen.Refuse(why)
	}
	return e, err
}

// unbrokered adds to a question about a command that leaves why nobody runs it in a box or by a broker, where that is known.
func unbrokered(d *policy.Decision, why string) {
	if why != "" && d.Effect == policy.Confirm {
		d.Reasons = append(slices.Clone(d.Reasons), policy.Reason{Rule: RuleUnbrokered, Effect: policy.Confirm, Text: why})
	}
}

// RuleUnbrokered is the rule that says why no broker runs a command.
const RuleUnbrokered = "no-broker"

// ordersLists are the parts of a line, by their hashes, that install what a list of packages names, where the owner's own words order
// that of this list. Whether it is the list that they knew is for the broker to find out.
func (x *step) ordersLists(line string) []string {
	if !x.boxes.brokers || x.entry.input.Facts == nil {
		return nil
	}
	var out []string
	note := func(text string, f *outgoing.Form) {
		if name := f.Slot("requirement"); name != "" && x.entry.heard.OrdersList(path.Clean(name)) {
			out = append(out, confined.Command(text))
		}
	}
	if f, ok := outgoing.Plain(line); ok {
		note(line, &f)
	}
	for _, p := range parts.Of(line) {
		if p.Leaves {
			note(p.Text, &p.Form)
		}
	}
	return out
}
