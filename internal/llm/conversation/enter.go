package conversation

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// run puts the request in its branch and reports what is new in it.
// Preconditions: the session is locked.
func (e *entry) run(ctx context.Context) error {
	if err := e.recall(ctx); err != nil {
		return err
	}
	list, sums := e.list()
	k, known := walk(e.from, sums)
	rest := sums[known:]
	var err error
	if e.branch, err = e.choose(k, rest); err != nil {
		return err
	}
	e.ref = engine.Ref{Session: e.session.name, Branch: e.branch.name}
	e.at, e.label, e.root = k, k.label, k == e.session.top
	if err := e.trusted(ctx); err != nil {
		return err
	}
	e.label = e.label.Join(e.storedHistory()).Join(e.instructions(!k.spoken && e.r.Hints.Previous == "" && !speaks(list[known:])))
	e.begun = begun(list)
	e.prefills = e.begun != "" && e.known(e.begun) == nil
	if err := e.read(ctx, list, sums, known); err != nil {
		return err
	}
	if err := e.cover(ctx); err != nil {
		return err
	}
	mark, err := e.f.monitor.Taint(ctx, e.ref)
	if err != nil {
		return err
	}
	e.branch.at, e.branch.mark = e.at, mark.Level
	if e.prefills && e.before != nil { // the answer comes back as one with what was begun
		e.branch.at = e.before
	}
	e.at.open++
	e.keep()
	return nil
}

// storedHistory is the label of history that the provider stores and that is not in the request.
func (e *entry) storedHistory() trust.Label {
	l := nothing()
	if e.unseenBefore {
		l = unseen("history")
	}
	if !e.vouched {
		l = l.Join(e.carried)
	}
	for i := range e.r.Head {
		if e.r.Head[i].Role != format.System {
			l = l.Join(remotes(&e.r.Head[i])).Join(unseen("stored_context"))
		}
	}
	return l
}

// speaks reports whether a model has spoken in messages.
func speaks(list []*format.Message) bool {
	return slices.ContainsFunc(list, func(m *format.Message) bool { return m.Role == format.Assistant })
}

// trusted looks whether somebody has reset the branch's trust since its latest request: a
// mark rises by no other way. They vouch for what stood there, the model's answer included
// (BEY-07).
func (e *entry) trusted(ctx context.Context) error {
	if e.branch.at != e.at || e.at == e.session.top || !e.session.begun[e.branch.name] {
		return nil
	}
	mark, err := e.f.monitor.Taint(ctx, e.ref)
	if err == nil && mark.Level > e.branch.mark {
		e.vouched = true
		e.label.Level, e.label.Sources = mark.Level, nil
	}
	return err
}

// choose finds the branch. A host that tells us what happens keeps its branches apart
// itself.
func (e *entry) choose(k *node, rest []tool.Digest) (*branch, error) {
	if !e.who.HostReports {
		return e.session.choose(k, rest)
	}
	if len(e.session.branches) == 0 {
		e.session.branches = []*branch{{at: k}}
	}
	return e.session.branches[0], nil
}

// list is the messages that make the conversation. Instructions of the client do not: they
// change while it goes on, with the date.
func (e *entry) list() ([]*format.Message, []tool.Digest) {
	var list []*format.Message
	var sums []tool.Digest
	for i := range e.messages {
		if m := &e.messages[i]; m.Role != format.System {
			list = append(list, m)
			sums = append(sums, sumOf(m))
		}
	}
	return list, sums
}

// recall reads back what the log knows of a session that nobody here does.
func (e *entry) recall(ctx context.Context) error {
	e.session.trim()
	if e.session.recalled {
		return nil
	}
	err := e.f.monitor.Recall(ctx, e.session.name, func(r engine.Recalled) {
		e.session.begun[""] = true
		if r.Kind != engine.RecalledCall {
			e.past.remember(r.Kind, r.Digest, memory{r.Label, e.session.name})
		} else if r.CallID != "" {
			e.session.calls[r.CallID] = &called{name: r.Tool}
		}
	})
	e.session.recalled = err == nil
	return err
}

// read goes through what is new. What stands before the last answer of a model is history;
// what stands after it has just happened.
func (e *entry) read(ctx context.Context, list []*format.Message, sums []tool.Digest, known int) error {
	last := -1
	for i, m := range list {
		if m.Role == format.Assistant && (!e.prefills || i < len(list)-1) {
			last = i
		}
	}
	for i := known; i < len(list); i++ {
		m := e.own(list[i])
		e.first, e.final = !e.at.spoken, i == len(list)-1
		if m.Role == format.Assistant && (i == known || list[i-1].Role != format.Assistant) {
			e.speech = e.together(list, i)
		}
		l, err := e.message(ctx, m, i > last)
		if err != nil {
			return err
		}
		if e.who.Keeps != nil {
			sums[i] = sumOf(m) // the model gets it so, and the client's next request has it so
		}
		e.root = false
		e.before, e.label = e.at, e.label.Join(l)
		e.at = e.at.add(m, sums[i], e.label, e.branch)
		e.seen(sums[i])
	}
	return nil
}

func (e *entry) seen(sum tool.Digest) {
	f := e.f
	f.mu.Lock()
	defer f.mu.Unlock()
	f.places.put(placeKey{e.place(), sum}, e.session)
	if f.nodes++; f.nodes > f.limit { // sessions nobody entered of late go
		f.sessions.turn()
		f.sessions.put(e.sessionKey(e.session.name), e.session)
		f.nodes /= 2
	}
}

// cover makes sure that the branch is at least as distrusted as all that is in the request.
func (e *entry) cover(ctx context.Context) error {
	if !e.session.begun[e.branch.name] {
		if _, err := e.begin(ctx, engine.Turn{}); err != nil {
			return err
		}
	}
	mark, err := e.f.monitor.Taint(ctx, e.ref)
	if err != nil || mark.Covers(e.label) {
		return err
	}
	t := engine.Turn{Ref: engine.Ref{Turn: e.branch.turn}, Start: &e.label}
	if s := e.label.Sources; len(s) == 0 || s[0].Kind != remoteKind { // a remote file is named in the label
		t.Items = []event.Item{{Kind: "compacted_history", Trust: e.label.Level}}
	}
	_, err = e.begin(ctx, t)
	if errors.Is(err, engine.ErrSealed) { // that turn is over, and nobody said a word in this one
		t.Ref.Turn = ""
		_, err = e.begin(ctx, t)
	}
	return err
}

// begin tells the monitor of a turn. A branch that is new to it starts from what the
// request holds up to here.
func (e *entry) begin(ctx context.Context, t engine.Turn) (engine.Opening, error) {
	t.Ref.Session, t.Ref.Branch = e.ref.Session, e.ref.Branch
	t.Agent, t.Plain = e.who.Agent, e.f.plain
	if e.f.hosts != nil {
		t.HostTools = e.f.hosts(e.who.Agent)
	}
	if e.f.controls != nil {
		t.ControlTools = e.f.controls(e.who.Agent)
	}
	if e.who.Keeps != nil {
		t.ControlTools = append(slices.Clone(t.ControlTools), e.who.Keeps.Tools()...)
	}
	t.Sender.Provider = "llm"
	if e.who.Agent != "" {
		t.Sender.Provider = e.who.Agent
	}
	t.Sender.IsOwner, t.Sender.Unknown = e.who.Owner, !e.who.Owner
	if e.parent == "" && e.who.Child {
		e.parent = e.who.Parent
		if e.parent != "" && !e.who.Trusted {
			e.parent = e.scoped(e.parent)
		}
	}
	if e.parent != "" && e.parent != e.session.name { // what the user wants was said there
		t.Sender.SpawnedBy = e.parent
	}
	if !e.session.begun[e.branch.name] && t.Start == nil {
		start := e.label
		t.Start, t.Forked = &start, true
	}
	opening, err := e.f.monitor.Begin(ctx, t, engine.DeferWrite())
	if err != nil {
		return opening, fmt.Errorf("enter conversation: %w", err)
	}
	e.session.begun[e.branch.name] = true
	e.branch.turn = opening.Turn
	if opening.Notice != "" || opening.Command != "" || e.opening.Turn == "" {
		e.opening = opening
	}
	return opening, nil
}

// keep remembers the bytes read so far, and those without the last message: harnesses
// change marks in it when the next one comes.
func (e *entry) keep() {
	if e.r.Hints.Previous != "" || len(e.messages) == 0 || e.at == e.session.top || len(e.shown) > 0 {
		return // what was kept from the model stands in these bytes as it came
	}
	last := e.offset + len(e.messages) - 1
	if last < e.r.Known {
		return
	}
	inside := e.before != nil && e.before != e.session.top // before the first message it could be any conversation
	if inside && last > e.r.Known && e.messages[len(e.messages)-1].Role != format.System {
		e.r.Keep(last-1, e.before)
	}
	e.r.Keep(last, e.at)
}

// unseen is the label of what nobody saw being made.
func unseen(kind string) trust.Label {
	source := trust.Source{Kind: kind, Detail: "nobody saw where it came from"}
	return trust.Label{Level: trust.Untrusted, Sensitivity: trust.Internal, Sources: []trust.Source{source}}
}
