package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/confined"
	"github.com/tidemark/tidemark/internal/contract"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

// reads reports whether a Reader or an ActAuditor is there for a session. One that has a method Reads is for those that it says,
// any other for all.
func reads(r any, session string) bool {
	some, selects := r.(interface{ Reads(session string) bool })
	return r != nil && (!selects || some.Reads(session))
}

// ErrLate is in the error of a Reader that has no answer yet.
var ErrLate = errors.New("no answer in time")

// drawing is what a contract for the latest message is drawn from.
type drawing struct {
	intent.Request

	pins map[string]string // the definitions of the tools, in a few signs
}

// request is what is asked for the contract of the latest message.
// Preconditions: s.mu is held and s is loaded.
func (m *Monitor) request(ctx context.Context, s *sessionEntry) (drawing, error) {
	said, err := m.readWords(ctx, s, latest(s.State.Words, maxWords))
	out := drawing{intent.Request{Words: m.redacted(said), Tools: s.described().Signatures()}, map[string]string{}}
	for i := range s.tools {
		out.pins[tool.Name(s.tools[i].Name)] = mandate.Pin(&s.tools[i])
	}
	return out, err
}

// unread is the latest message, where nobody has understood it yet: nobody has asked, or
// there was no answer in time. nil: there is none to ask about.
func (m *Monitor) unread(s *sessionEntry, set *policy.Set) *session.Word {
	words := s.State.Words
	if !reads(m.reader, s.Name) || len(words) == 0 || !s.described().Any() || !set.Facts() {
		return nil
	}
	if w := &words[len(words)-1]; w.Contract == nil || w.Contract.Late {
		return w
	}
	return nil
}

// unreadWhy says why no model has read the latest message, where its plain words were not enough for a call.
func (m *Monitor) unreadWhy(s *sessionEntry, v *Verdict) string {
	words := s.State.Words
	if v.Kind != policy.KindTaintEscalation || s.input.Facts == nil || len(words) == 0 {
		return ""
	}
	switch c := words[len(words)-1].Contract; {
	case c != nil && c.Late:
		return "late"
	case c != nil && c.Failed != "":
		return "failed"
	case c == nil && !reads(m.reader, s.Name) && m.undecided:
		return "none"
	}
	return ""
}

// prepare has the latest message understood while the agent asks its own model. What goes
// wrong here is found when the contract is wanted.
func (m *Monitor) prepare(ctx context.Context, s *sessionEntry, set *policy.Set) {
	w := m.unread(s, set)
	if w == nil || s.prepared == w.Seq {
		return
	}
	if r, err := m.request(ctx, s); err == nil {
		s.prepared = w.Seq
		m.reader.Prepare(s.Name, r.Request)
	}
}

// awaitContract has the latest message's contract, or why there is none, in the log before a call is judged by it. It is waited
// for once, while no lock is held; one that comes later counts from then on.
func (m *Monitor) awaitContract(ctx context.Context, x *step) (asking, error) {
	m.reread(x)
	s := x.entry
	w := m.unread(s, x.set)
	if w == nil || x.shows {
		return nil, nil
	}
	c := x.advised()
	var newContract *event.Contract
	if c.contract != nil && c.contract.Word == w.Seq {
		newContract = c.contract
	} else {
		r, err := m.request(ctx, s)
		if err != nil {
			return nil, err
		}
		name, seq := s.Name, w.Seq
		if newContract = m.draw(ctx, name, seq, r, false); newContract.Late {
			if w.Contract != nil {
				return nil, nil // the log has it
			}
			return func(ctx context.Context) { c.contract = m.draw(ctx, name, seq, r, true) }, nil
		}
	}
	return nil, m.recordContract(ctx, x, newContract)
}

// recordContract records a contract, and has it count from now on.
func (m *Monitor) recordContract(ctx context.Context, x *step, newContract *event.Contract) error {
	s := x.entry
	turn := &s.State.Branch(x.ref.Branch).Turn
	err := m.table.Append(ctx, s.Entry, &event.Event{
		Kind: event.ContractDrawn, Time: m.table.At(s.Entry), Branch: x.ref.Branch, Turn: turn.ID, Iteration: turn.Iteration,
		Contract: newContract,
	})
	if err == nil {
		s.noteContract()
	}
	return err
}

// Understood notes what a recording says was understood of the latest message from now on, after its words were read once more because
// of a tool that came up. It takes the place of what was understood before.
func (m *Monitor) Understood(ctx context.Context, ref Ref, c intent.Contract, added string) error {
	kept, err := c.Within(nil)
	if err == nil {
		err = m.with(ctx, ref, func(s *sessionEntry) error {
			n := len(s.State.Words)
			if n == 0 {
				return nil
			}
			newContract := m.contract(kept)
			newContract.Word, newContract.Added = s.State.Words[n-1].Seq, &event.AddedTool{Tool: tool.Name(added)}
			return m.recordContract(ctx, &step{entry: s, proposal: proposal{ref: ref}}, newContract)
		})
	}
	if err != nil {
		return fmt.Errorf("note what was understood: %w", err)
	}
	return nil
}

// maxRedrawn bounds how often one message is read again: an agent may make up names of tools.
const maxRedrawn = 8

// comesUp is the latest message where a call would be held whose tool was not known when it was read, and whether that was waited
// for before; nil: there is nothing to read again.
func (m *Monitor) comesUp(x *step, d *policy.Decision) (w *session.Word, late bool) {
	s, name := x.entry, tool.Name(x.call.Name)
	words := s.State.Words
	if d.Effect != policy.Confirm || d.Kind != policy.KindTaintEscalation || x.gated || x.wants != nil || confined.Verb(name) != "" {
		return nil, false
	}
	if m.reader == nil || !x.set.Facts() || len(words) == 0 {
		return nil, false
	}
	w = &words[len(words)-1]
	late = slices.Contains(w.Waited, name)
	switch k := w.Contract; {
	case len(w.Waited) >= maxRedrawn && !late, k == nil && s.described().Any():
		return nil, false
	case k != nil && (k.Failed != "" || !intent.Lists(int(k.Form)) || k.Prompt == "" || slices.Contains(k.Tools, name)):
		return nil, false
	}
	return w, late
}

// redraw has the latest message read once more for a tool that comes up: with hooks alone nobody tells what the tools of servers are.
// It is waited for once per tool, while no lock is held; then the call is judged again.
func (m *Monitor) redraw(ctx context.Context, x *step, d *policy.Decision) (asking, error) {
	at, late := m.comesUp(x, d)
	if at == nil {
		return nil, nil
	}
	s, c, w := x.entry, x.advised(), *at
	added := s.described().Of(&x.call)
	newContract := c.forTool(&w, added.Tool)
	if newContract == nil {
		r, err := m.request(ctx, s)
		if err != nil {
			return nil, err
		}
		r.Request = r.With(contract.Signature(&added))
		name := s.Name
		if newContract = m.drawAgain(ctx, name, &w, r, added, false); newContract.Late && late {
			return nil, nil // the log has it
		}
		if newContract.Late {
			return func(ctx context.Context) { c.contract = m.drawAgain(ctx, name, &w, r, added, true) }, nil
		}
	}
	if err := m.recordContract(ctx, x, newContract); err != nil {
		return nil, err
	}
	c.contract = nil // it is judged again by what counts now
	return nobody, nil
}

// forTool is the contract of a message for a tool that came up; nil: nothing yet.
func (c *advice) forTool(w *session.Word, name string) *event.Contract {
	if c == nil || c.contract == nil || c.contract.Word != w.Seq || c.contract.Added == nil || c.contract.Added.Tool != name {
		return nil
	}
	return c.contract
}

// drawAgain is draw with a tool more, as it changes what counts of the message.
func (m *Monitor) drawAgain(
	ctx context.Context, name string, w *session.Word, r drawing, added event.AddedTool, wait bool,
) *event.Contract {
	newContract := m.draw(ctx, name, w.Seq, r, wait)
	if newContract.Failed == "" && w.Contract != nil {
		newContract = contract.Redrawn(w.Contract, newContract, added.Tool)
	}
	newContract.Added = &added
	return newContract
}

// noteContract adds the contract of the latest message to what was said, or that there is none though there should be,
// where the message was heard already.
func (s *sessionEntry) noteContract() {
	n := len(s.State.Words)
	if n == 0 || s.heard == nil {
		return
	}
	w := s.State.Words[n-1]
	if k := contractFor(w); k != nil {
		s.heard.Contract(k)
	} else if w.Contract != nil {
		s.heard.Unread()
	}
}

// draw asks for the contract of the message at seq. It says nothing of itself that a later
// reading of the log could not know.
func (m *Monitor) draw(ctx context.Context, name string, seq uint64, r drawing, wait bool) *event.Contract {
	start := m.now()
	c, model, err := m.reader.Contract(ctx, name, r.Request, wait)
	if err == nil {
		c, err = c.Within(r.Tools)
	}
	out := m.contract(c)
	for i := range out.Items {
		out.Items[i].Pin = r.pins[tool.Name(out.Items[i].Tool)]
	}
	for _, t := range r.Tools[:r.Shown()] {
		out.Tools = append(out.Tools, tool.Name(t.Name))
	}
	out.Word, out.Prompt, out.Model, out.TookMs = seq, intent.ContractVersion, model, m.now().Sub(start).Milliseconds()
	if err != nil {
		out.Failed, out.Late = m.preview(err.Error(), 200), errors.Is(err, ErrLate)
	}
	return out
}

// contract is a contract as the log keeps it, and as calls are judged by it.
func (m *Monitor) contract(c intent.Contract) *event.Contract {
	return contract.Kept(&c, m.Policy().Redactor().Text)
}

// contractFor is the contract of a message as judgement takes it; nil: there is none, and
// the words alone count.
func contractFor(w session.Word) *warrant.Contract { return contract.Judged(w.Contract) }

// readTools are definitions with what a model read in them, as far as that is known.
func (m *Monitor) readTools(list []tool.Definition, set *policy.Set) []tool.Definition {
	if m.reader == nil || !set.Facts() {
		return list
	}
	out := slices.Clone(list) // the host's own stays as it is
	for i := range out {
		out[i].Reading = m.reader.Definition(out[i])
	}
	return out
}

// reread looks whether the definition of the tool that is called was read meanwhile.
func (m *Monitor) reread(x *step) {
	s, name := x.entry, tool.Name(x.call.Name)
	if m.reader == nil || !x.set.Facts() {
		return
	}
	i := slices.IndexFunc(s.tools, func(d tool.Definition) bool { return tool.Name(d.Name) == name })
	if i < 0 || s.tools[i].Reading != nil {
		return
	}
	read := m.reader.Definition(s.tools[i])
	if read == nil {
		return
	}
	s.tools, s.meant, s.latest = slices.Clone(s.tools), nil, nil
	s.tools[i].Reading = read
	if s.heard != nil {
		s.heard.Tools(s.tools[i : i+1])
	}
}

// described are the tools of a session as a contract is drawn from them.
func (s *sessionEntry) described() *contract.Tools {
	return &contract.Tools{Host: s.State.HostTools, Told: s.told, Known: s.tools, Added: s.State.Added}
}

// narrow holds the call against the constraints of the task at hand (SEQ-11). They are
// drawn up when the user has said something new, before the first call that follows;
// while there are none, every call is outside the task.
func (m *Monitor) narrow(ctx context.Context, x *step, d *policy.Decision) (asking, error) {
	in, st := &x.entry.input, x.entry.State
	words := len(st.Words)
	if st.Parent != "" {
		words = max(words, 1) // what it works for was said to its parent
	}
	if words == 0 {
		return nil, nil // nobody has set a task
	}
	if st.Task.Words != words {
		if ask, err := m.plan(ctx, x, words); err != nil || ask != nil {
			return ask, err
		}
	}
	effect := x.set.Settings().OnOutside
	if st.Task.Rules == nil {
		why := "no constraints could be drawn up for this task: " + st.Task.Failed
		*d = d.Narrow(policy.Reason{Rule: "task.unplanned", Effect: effect, Text: why}, policy.KindEscalate)
		return nil, nil
	}
	if r, outside := st.Task.Rules.Judge(in, effect); outside {
		r.Text = x.set.Redactor().Preview([]byte(r.Text), 300) // it repeats an argument
		*d = d.Narrow(r, policy.KindEscalate)
	}
	return nil, nil
}

// plan has constraints drawn up, and records them.
func (m *Monitor) plan(ctx context.Context, x *step, words int) (asking, error) {
	s, c := x.entry, x.advised()
	if c.task == nil || c.task.Words != words {
		name, proposed, tools := s.Name, s.input.Tool, slices.Clone(s.tools)
		return func(ctx context.Context) { c.task = m.drawUp(ctx, name, words, tools, proposed) }, nil
	}
	turn := &s.State.Branch(x.ref.Branch).Turn
	return nil, m.table.Append(ctx, s.Entry, &event.Event{
		Kind: event.TaskPlanned, Time: m.table.At(s.Entry), Branch: x.ref.Branch, Turn: turn.ID, Iteration: turn.Iteration, Task: c.task,
	})
}

// drawUp has constraints made from the user's words and the tools' definitions.
func (m *Monitor) drawUp(ctx context.Context, session string, words int, tools []tool.Definition, proposed string) *event.Task {
	t := &event.Task{Words: words, Prompt: intent.Version}
	said, err := m.userWords(ctx, session, 0)
	if err != nil {
		t.Failed = "the user's words could not be read"
		return t
	}
	if !slices.ContainsFunc(tools, func(d tool.Definition) bool { return d.Name == proposed }) {
		tools = append(tools, tool.Definition{Name: proposed})
	}
	rules, model, err := m.auditor.Plan(ctx, session, intent.Task{Words: said, Tools: described(tools)})
	if t.Model = model; err != nil {
		t.Failed = m.preview(err.Error(), 200)
		return t
	}
	if _, err := policy.ParseTask([]byte(rules)); err != nil {
		t.Failed = m.preview("the proposal cannot be read: "+err.Error(), 200)
		return t
	}
	t.Rules = rules
	return t
}
