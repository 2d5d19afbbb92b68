package conversation

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tidemark/tidemark/internal/agents/harness"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// message finds out what one message brings, and reports it if it has just happened.
func (e *entry) message(ctx context.Context, m *format.Message, now bool) (trust.Label, error) {
	switch m.Role {
	case format.User, format.ToolRole:
		return e.user(ctx, m, now)
	case format.Assistant:
		return e.assistant(m), nil
	}
	return unseen("message"), nil
}

// stored is what a piece of an answer brings of which only the id is here.
func (e *entry) stored(id string) trust.Label {
	m, ok := e.past.recognise(recalledItem, tool.DigestOf([]byte(id)))
	switch {
	case !ok:
		return unseen("history")
	case e.vouched && m.session == e.session.name:
		m.label.Level, m.label.Sources = trust.System, nil
	}
	return m.label
}

// made is what a picture brings that a model made, or what a tool of the provider's gave it: what
// the model had when it did.
func (e *entry) made(p *format.Part) trust.Label {
	if m, ok := e.past.recognise(engine.RecalledOutput, p.Mark); ok && p.Mark != (tool.Digest{}) {
		return m.label
	}
	return unseen("history")
}

// assistant is what a model's message brings: what it had before it when it wrote it.
func (e *entry) assistant(m *format.Message) trust.Label {
	l := nothing()
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Kind {
		case format.Text, format.Thinking:
			if trimmed(p.Text) != "" {
				l = l.Join(e.written(p))
			}
		case format.Stored:
			l = l.Join(e.stored(p.CallID))
		case format.Call:
			name, args := e.f.callName(e.who.Agent, p.Name, p.Args)
			if !e.session.knows(p, name, args) {
				l = l.Join(unseen("call"))
			}
		case format.Hosted, format.Media:
			l = l.Join(e.made(p))
		default:
			l = l.Join(unseen("history"))
		}
	}
	return l
}

// user is what a message in the user's place brings: results, what a harness adds, what a
// model wrote, and the user's own words.
func (e *entry) user(ctx context.Context, m *format.Message, now bool) (trust.Label, error) {
	l := nothing()
	results := false
	var words, files []string
	texts := harness.Reader{Agent: e.who.Agent, Markers: e.f.markers, Texts: textsOf(m.Parts)}
	for i := range m.Parts {
		p := &m.Parts[i]
		switch p.Kind {
		case format.Result:
			r, err := e.result(ctx, p, now)
			if err != nil {
				return trust.Label{}, err
			}
			results, l = true, l.Join(r)
		case format.Text:
			d := texts.Next(i)
			own, brought := e.divided(d)
			l = l.Join(brought)
			if own != "" {
				words = append(words, own)
			}
			if d.File != "" {
				files = append(files, d.File)
			}
		case format.Media:
			l = l.Join(media(p))
		case format.Approval:
			given, err := e.approval(p, now)
			if err != nil {
				return trust.Label{}, err
			}
			l = l.Join(given)
		default:
			l = l.Join(unseen("message"))
		}
	}
	switch {
	case len(words) == 0:
	case results || m.Role != format.User: // a harness speaks beside what tools brought
		l = l.Join(local())
	default:
		said, err := e.say(ctx, strings.Join(words, "\n"), now)
		if l = l.Join(said); err != nil {
			return l, err
		}
	}
	if !now {
		return l, nil
	}
	read, err := e.referred(ctx, files)
	return l.Join(read), err
}

func local() trust.Label { return trust.Label{Level: trust.Local, Sensitivity: trust.Internal} }

// divided tells the user's own words in a text from what models and tools wrote, and says what
// the rest is worth.
func (e *entry) divided(d harness.Split) (string, trust.Label) {
	l := nothing()
	if d.Added {
		l = local()
	}
	if d.Result || d.Report {
		l = l.Join(unseen("tool_result"))
	}
	if d.Summary != "" {
		if a := e.past.authors(d.Summary, true); a.some {
			l = l.Join(a.label)
		} else {
			l = l.Join(unseen("compacted_history"))
		}
	}
	if d.Words == "" {
		return "", l
	}
	a := e.past.authors(d.Words, e.first || e.who.Child)
	if a.some {
		l = l.Join(a.label)
	}
	switch {
	case a.most:
		if e.first && e.parent == "" {
			e.parent = a.session
		}
		return "", l
	case e.who.Child:
		return "", l.Join(unseen("sub_agent"))
	}
	return a.words, l
}

// resetCommand is what the monitor calls the command that resets trust.
const resetCommand = "reset-trust"

// say reports the user's words. Old ones that are known are not said again; a host that
// tells us what happens has said them already.
func (e *entry) say(ctx context.Context, words string, now bool) (trust.Label, error) {
	d := digest(words)
	if !now {
		if m, ok := e.past.recognise(engine.RecalledWords, d); ok && m.session == e.session.name {
			return m.label, nil
		}
	}
	if e.who.HostReports {
		open, err := e.f.monitor.Open(ctx, e.ref)
		if err != nil || open {
			return e.speaker(), err
		}
	}
	opening, err := e.begin(ctx, engine.Turn{Message: &words})
	if err != nil {
		return trust.Label{}, err
	}
	if now && opening.Command == resetCommand { // the owner vouches for what stands before it
		e.label.Level, e.label.Sources = trust.System, nil
	}
	l := trust.Label{Level: opening.Level, Sensitivity: trust.Internal}
	e.past.remember(engine.RecalledWords, d, memory{l, e.session.name})
	return l, nil
}

// speaker is what the words of whoever speaks are worth.
func (e *entry) speaker() trust.Label {
	if e.who.Owner {
		return trust.Label{Level: trust.Owner, Sensitivity: trust.Internal}
	}
	return unseen("message")
}

// result is what a tool brought. One that is part of the history is known or a stranger's.
func (e *entry) result(ctx context.Context, p *format.Part, now bool) (trust.Label, error) {
	text := trimmed(p.Text)
	d := digest(text)
	other, handed := e.past.recognise(engine.RecalledOutput, answerDigest(text))
	if !now {
		m, ok := e.past.recognise(engine.RecalledResult, d)
		switch {
		case ok:
			return m.label, nil
		case handed:
			return other.label, nil
		}
		return unseen("tool_result"), nil
	}
	if err := e.opened(ctx); err != nil {
		return trust.Label{}, err
	}
	brought := tool.Result{CallID: p.CallID, Name: p.Name, Content: []byte(text), Error: p.Error}
	o := engine.Observation{Ref: e.ref, Again: e.who.HostReports, Result: brought}
	c := e.called(p)
	if label, ok, err := e.answered(ctx, p, c); ok || err != nil {
		return label, err
	}
	if c != nil {
		o.Result.Name, o.Result.Args = c.name, c.args
	} else {
		worst := trust.Untrusted // nobody let such a call through
		o.Declared = &worst
	}
	if handed && other.session != "" && other.session != e.session.name {
		o.From = other.session
	} else if handed && (o.Declared == nil || other.label.Level < *o.Declared) {
		o.Declared = &other.label.Level
	}
	l, shown, err := e.observe(ctx, p, o)
	if err != nil && !errors.Is(err, engine.ErrSealed) { // too late for the turn's picture, not for the label
		return trust.Label{}, fmt.Errorf("enter conversation: %w", err)
	}
	if l.Level <= trust.External {
		e.past.note(engine.RecalledResult, d, text, memory{l, e.session.name})
	} else {
		e.past.remember(engine.RecalledResult, d, memory{l, e.session.name})
	}
	if shown {
		return nothing(), nil
	}
	return l, nil
}

// called is the call a result is for. Where a format gives calls no id, results come in
// the order of the calls.
func (e *entry) called(p *format.Part) *called {
	if p.CallID != "" {
		return e.session.calls[p.CallID]
	}
	name := tool.Name(p.Name)
	list := e.session.unnamed[name]
	if e.taken == nil {
		e.taken = map[string]int{}
	}
	at := e.taken[name]
	if e.taken[name]++; at >= len(list) {
		return nil
	}
	return list[at]
}

// knows reports whether a call was let through.
func (r *session) knows(p *format.Part, name string, args []byte) bool {
	if p.CallID == "" {
		return r.made[callSum(name, args)]
	}
	c := r.calls[p.CallID]
	return c != nil && tool.Name(c.name) == tool.Name(name) && (c.sum == (tool.Digest{}) || c.sum == callSum(name, args))
}

// opened makes sure that the monitor knows the branch before something comes back in it.
func (e *entry) opened(ctx context.Context) error {
	if e.session.begun[e.branch.name] {
		return nil
	}
	_, err := e.begin(ctx, engine.Turn{})
	return err
}

// textsOf are the texts of some parts, in their order.
func textsOf(parts []format.Part) []string {
	out := make([]string, len(parts))
	for i := range parts {
		out[i] = parts[i].Text
	}
	return out
}
