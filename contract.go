package tidemark

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/confined"
	"github.com/tidemark/tidemark/internal/contract"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/internal/standing"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/sayings"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

// Reader understands what users ask for and what tools are, from words, names and
// definitions: what it is handed has no place for content. It must not block unless it
// says so. Session is only for its budget and must not be sent anywhere.
type Reader interface {
	// Prepare begins to draw the contract of a request, and does not wait for it.
	Prepare(session string, r intent.Request)
	// Contract is what a request asks for. Where it is not there yet, the error holds
	// ErrLate: at once, or with wait after the time a call may be kept waiting.
	Contract(ctx context.Context, session string, r intent.Request, wait bool) (c intent.Contract, model string, err error)
	// Definition is what was read in the definition of a tool; nil: nothing yet. It is read
	// meanwhile.
	Definition(d tool.Definition) *tool.Reading
}

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
func (m *Monitor) request(ctx context.Context, s *live) (drawing, error) {
	said, err := m.readWords(ctx, s, latest(s.state.Words, maxWords))
	out := drawing{intent.Request{Words: m.redacted(said), Tools: s.described().Signatures()}, map[string]string{}}
	for i := range s.tools {
		out.pins[tool.Name(s.tools[i].Name)] = mandate.Pin(&s.tools[i])
	}
	return out, err
}

// unread is the latest message, where nobody has understood it yet: nobody has asked, or
// there was no answer in time. nil: there is none to ask about.
func (m *Monitor) unread(s *live, set *policy.Set) *session.Word {
	words := s.state.Words
	if !reads(m.reader, s.name) || len(words) == 0 || !s.described().Any() || !set.Facts() {
		return nil
	}
	if w := &words[len(words)-1]; w.Contract == nil || w.Contract.Late {
		return w
	}
	return nil
}

// unreadWhy says why no model has read the latest message, where its plain words were not enough for a call.
func (m *Monitor) unreadWhy(s *live, v *Verdict) string {
	words := s.state.Words
	if v.Kind != policy.KindTaintEscalation || s.input.Facts == nil || len(words) == 0 {
		return ""
	}
	switch c := words[len(words)-1].Contract; {
	case c != nil && c.Late:
		return "late"
	case c != nil && c.Failed != "":
		return "failed"
	case c == nil && !reads(m.reader, s.name) && m.undecided:
		return "none"
	}
	return ""
}

// prepare has the latest message understood while the agent asks its own model. What goes
// wrong here is found when the contract is wanted.
func (m *Monitor) prepare(ctx context.Context, s *live, set *policy.Set) {
	w := m.unread(s, set)
	if w == nil || s.prepared == w.Seq {
		return
	}
	if r, err := m.request(ctx, s); err == nil {
		s.prepared = w.Seq
		m.reader.Prepare(s.name, r.Request)
	}
}

// agree sees to it that the latest message has a contract, or that the log says why not,
// before a call is judged by it. It is waited for once, while no lock is held; one that
// comes later counts from then on.
func (m *Monitor) agree(ctx context.Context, x *step) error {
	m.reread(x)
	s, c := x.live, x.counsel
	w := m.unread(s, x.set)
	if w == nil || x.shows {
		return nil
	}
	var drawn *event.Contract
	if c != nil && c.contract != nil && c.contract.Word == w.Seq {
		drawn = c.contract
	} else {
		r, err := m.request(ctx, s)
		if err != nil {
			return err
		}
		name, seq := s.name, w.Seq
		if drawn = m.draw(ctx, name, seq, r, false); drawn.Late {
			switch {
			case w.Contract != nil:
				return nil // the log has it
			case c != nil:
				c.want = func(ctx context.Context) { c.contract = m.draw(ctx, name, seq, r, true) }
			}
			return errCounsel
		}
	}
	return m.agreeOn(ctx, x, drawn)
}

// agreeOn records a contract, and has it count from now on.
func (m *Monitor) agreeOn(ctx context.Context, x *step, drawn *event.Contract) error {
	s := x.live
	turn := &s.state.Branch(x.ref.Branch).Turn
	err := m.append(ctx, s, &event.Event{
		Kind: event.ContractDrawn, Time: m.at(s), Branch: x.ref.Branch, Turn: turn.ID, Iteration: turn.Iteration, Contract: drawn,
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
		err = m.with(ctx, ref, func(s *live) error {
			n := len(s.state.Words)
			if n == 0 {
				return nil
			}
			drawn := m.contract(kept)
			drawn.Word, drawn.Added = s.state.Words[n-1].Seq, &event.AddedTool{Tool: tool.Name(added)}
			return m.agreeOn(ctx, &step{live: s, proposal: proposal{ref: ref}}, drawn)
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
	s, name := x.live, tool.Name(x.call.Name)
	words := s.state.Words
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
func (m *Monitor) redraw(ctx context.Context, x *step, d *policy.Decision) error {
	at, late := m.comesUp(x, d)
	if at == nil {
		return nil
	}
	s, c, w := x.live, x.counsel, *at
	added := s.described().Of(&x.call)
	drawn := c.forTool(&w, added.Tool)
	if drawn == nil {
		r, err := m.request(ctx, s)
		if err != nil {
			return err
		}
		r.Request = r.With(contract.Signature(&added))
		name := s.name
		if drawn = m.drawAgain(ctx, name, &w, r, added, false); drawn.Late && late {
			return nil // the log has it
		}
		if drawn.Late {
			if c != nil {
				c.want = func(ctx context.Context) { c.contract = m.drawAgain(ctx, name, &w, r, added, true) }
			}
			return errCounsel
		}
	}
	if err := m.agreeOn(ctx, x, drawn); err != nil {
		return err
	}
	if c != nil {
		c.want, c.contract = func(context.Context) {}, nil // it is judged again by what counts now
	}
	return errCounsel
}

// forTool is what was drawn of a message for a tool that came up; nil: nothing yet.
func (c *counsel) forTool(w *session.Word, name string) *event.Contract {
	if c == nil || c.contract == nil || c.contract.Word != w.Seq || c.contract.Added == nil || c.contract.Added.Tool != name {
		return nil
	}
	return c.contract
}

// drawAgain is draw with a tool more, as it changes what counts of the message.
func (m *Monitor) drawAgain(
	ctx context.Context, name string, w *session.Word, r drawing, added event.AddedTool, wait bool,
) *event.Contract {
	drawn := m.draw(ctx, name, w.Seq, r, wait)
	if drawn.Failed == "" && w.Contract != nil {
		drawn = contract.Redrawn(w.Contract, drawn, added.Tool)
	}
	drawn.Added = &added
	return drawn
}

// noteContract adds the contract of the latest message to what was said, or that there is none though there should be,
// where the message was heard already.
func (s *live) noteContract() {
	n := len(s.state.Words)
	if n == 0 || s.heard == nil {
		return
	}
	w := s.state.Words[n-1]
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
	s, name := x.live, tool.Name(x.call.Name)
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
func (s *live) described() *contract.Tools {
	return &contract.Tools{Host: s.state.HostTools, Told: s.told, Known: s.tools, Added: s.state.Added}
}

// narrow holds the call against the constraints of the task at hand (SEQ-11). They are
// drawn up when the user has said something new, before the first call that follows;
// while there are none, every call is outside the task.
func (m *Monitor) narrow(ctx context.Context, x *step, d policy.Decision) (policy.Decision, error) {
	in, st := &x.live.input, x.live.state
	words := len(st.Words)
	if st.Parent != "" {
		words = max(words, 1) // what it works for was said to its parent
	}
	if words == 0 {
		return d, nil // nobody has set a task
	}
	if st.Task.Words != words {
		if err := m.plan(ctx, x, words); err != nil {
			return d, err
		}
	}
	effect := x.set.Settings().OnOutside
	if st.Task.Rules == nil {
		why := "no constraints could be drawn up for this task: " + st.Task.Failed
		return d.Narrow(policy.Reason{Rule: "task.unplanned", Effect: effect, Text: why}, policy.KindEscalate), nil
	}
	if r, outside := st.Task.Rules.Judge(in, effect); outside {
		r.Text = x.set.Redactor().Preview([]byte(r.Text), 300) // it repeats an argument
		d = d.Narrow(r, policy.KindEscalate)
	}
	return d, nil
}

// plan has constraints drawn up, and records them.
func (m *Monitor) plan(ctx context.Context, x *step, words int) error {
	s, c := x.live, x.counsel
	if c == nil {
		return errCounsel
	}
	if c.task == nil || c.task.Words != words {
		name, proposed, tools := s.name, s.input.Tool, slices.Clone(s.tools)
		c.want = func(ctx context.Context) { c.task = m.drawUp(ctx, name, words, tools, proposed) }
		return errCounsel
	}
	turn := &s.state.Branch(x.ref.Branch).Turn
	return m.append(ctx, s, &event.Event{
		Kind: event.TaskPlanned, Time: m.at(x.live), Branch: x.ref.Branch, Turn: turn.ID, Iteration: turn.Iteration, Task: c.task,
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

// maxOffers bounds how many tools of servers a session knows.
const maxOffers = 4096

// Offer tells what a server offers in a session beside the host's own tools, where the host does not
// describe them itself. All its names begin with the server's and "__"; what the server offered
// before is replaced.
func (m *Monitor) Offer(ctx context.Context, ref Ref, server string, defs []tool.Definition) error {
	prefix := tool.Name(server) + "__"
	of := func(d tool.Definition) bool { return strings.HasPrefix(tool.Name(d.Name), prefix) }
	if slices.ContainsFunc(defs, func(d tool.Definition) bool { return !of(d) }) {
		return fmt.Errorf("offer tools: one is not named after its server %q", server)
	}
	for _, d := range defs {
		if err := m.Hear(server, d.Description+"\n"+sayings.Plain(d.Schema)); err != nil {
			return fmt.Errorf("offer tools: %w", err)
		}
	}
	err := m.with(ctx, ref, func(s *live) error {
		set := m.policy.Load().For(s.state.Agent)
		now := append(slices.DeleteFunc(slices.Clone(s.offers), of), defs...)
		if len(now) > maxOffers { // what nobody hears of must not be shown
			return fmt.Errorf("more than %d tools of servers in one session", maxOffers)
		}
		s.offers = now
		s.offered(m.readTools(withOffers(s.told, s.offers), set))
		return nil
	})
	if err != nil {
		return fmt.Errorf("offer tools: %w", err)
	}
	return nil
}

// ErrRoom is returned where there is no room for what a server says.
var ErrRoom = errors.New("there is no room for more of what the server says")

// Hear tells what a server says of itself, or of its own accord, such as a log message. It argues in every session, because
// nobody here knows in which of them it is read: a value that stands in it has nobody behind it. No session is worth less for it.
func (m *Monitor) Hear(server, said string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.spoken.Load()
	if now == nil {
		now = &sayings.Book{}
	}
	more, ok := now.With(tool.Name(server), said)
	if !ok {
		return ErrRoom
	}
	m.spoken.Store(more)
	return nil
}

// HearJSON is Hear for a JSON text: its values and keys, as they read.
func (m *Monitor) HearJSON(server string, said []byte) error {
	return m.Hear(server, sayings.Plain(said))
}

// pairsLog is where is kept which values the names of people's words stand for, and pairID begins their ids.
const (
	pairsLog = reserved + "pairs"
	pairID   = "pair"
)

// recallPairs tells judgement which pairs the user of a session confirmed.
func (m *Monitor) recallPairs(ctx context.Context, s *live, c *warrant.Context) error {
	known, err := m.pairs.Known(ctx, standing.Whose(s.state), m.now().UnixNano())
	if err == nil {
		c.Known(known)
	}
	return unavailableIf(err)
}

// givePairs writes pairs. One that cannot be kept is asked about again.
func (m *Monitor) givePairs(ctx context.Context, list []event.Pair, now int64, by *event.Answer) error {
	for _, p := range list {
		var err error
		if p.ID, err = m.newID(pairID); err == nil {
			err = m.pairs.Give(ctx, now, p, by)
		}
		if err != nil {
			return unavailableIf(err)
		}
	}
	return nil
}
