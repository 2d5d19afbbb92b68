package conversation

import (
	"context"
	"slices"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/tool"
)

// Reply is how a client may refer to an answer that the provider keeps.
type Reply struct {
	ID           string
	Items        []string // ids of its pieces
	Conversation string   // the one the provider added it to
	// Unread says that the provider may have run tools of its own for it whose results nobody
	// here has seen: it was not complete, and such tools were offered.
	Unread bool
	// Refused says that calls of it were refused: whoever asks the same again, once somebody has
	// approved of them, goes on with it.
	Refused bool
}

// Answered notes what the client got for this request, in the form it will send back, and the
// ids by which it may refer to it. A part that is not noted is a stranger's when it returns.
func (v *Visit) Answered(ctx context.Context, reply Reply, parts []format.Part) error {
	mark, err := v.f.monitor.Taint(ctx, v.Ref)
	if err != nil {
		return err
	}
	m := memory{mark.Join(v.at.label), v.Ref.Session}
	for _, text := range outputs(parts, v.begun) {
		v.wrote(text, engine.RecalledOutput, m)
		texts([]byte(text), func(s string) { v.wrote(s, engine.RecalledOutput, m) }) // an answer in JSON is handed on by its fields
	}
	for _, mark := range marks(parts) {
		v.past.remember(engine.RecalledOutput, mark, m)
	}
	v.session.mu.Lock()
	released := slices.ContainsFunc(parts, func(p format.Part) bool { return p.Kind == format.Call })
	v.at.acted = v.at.acted || released
	v.session.forgetUnnamed(parts)
	for i := range parts {
		if p := &parts[i]; p.Kind == format.Call {
			name, args := v.CallName(p.Name, p.Args)
			v.session.note(p, &called{name: name, args: args, sum: callSum(name, args)})
			texts(p.Args, func(s string) { v.wrote(s, recalledArgument, m) })
		}
	}
	v.session.mu.Unlock()
	if released || !reply.Refused {
		v.noteStart(parts, reply.Items)
	}
	v.keep(reply, m)
	v.f.makeRoom()
	v.f.compact()
	return v.f.settle(ctx)
}

// keep notes the ids by which the client may refer to the answer.
func (v *Visit) keep(reply Reply, m memory) {
	if reply.Unread {
		m.label = m.label.Join(unseen("unread_answer"))
	}
	for _, id := range reply.Items {
		v.past.remember(recalledItem, tool.DigestOf([]byte(id)), m)
	}
	v.f.mu.Lock()
	defer v.f.mu.Unlock()
	if reply.ID != "" {
		v.f.answers.put(answerKey{v.tenant, reply.ID}, answer{v.at, m.label})
	}
	if key := (answerKey{v.tenant, reply.Conversation}); reply.Conversation != "" {
		if old, ok := v.f.answers.get(key); ok { // what was said in it once stays
			m.label = m.label.Join(old.label)
		}
		v.f.answers.put(key, answer{v.at, m.label})
	}
}

// Opened notes a conversation that the provider has just made for a client, with nothing in
// it. One that nobody saw being made may hold anything.
func (f *Follower) Opened(tenant, id string) {
	if id == "" {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers.put(answerKey{tenant, id}, answer{nil, nothing()})
}

// Filled notes that somebody put something into a conversation that the provider keeps, which
// nobody here has read.
func (f *Follower) Filled(tenant, id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := answerKey{tenant, id}
	if old, ok := f.answers.get(key); ok {
		old.label = old.label.Join(unseen("stored_context"))
		f.answers.put(key, old)
	}
}

// wrote remembers a text of a model's.
func (v *Visit) wrote(text string, kind engine.RecalledKind, m memory) {
	if text = trimmed(text); text == "" {
		return
	}
	d := digest(text)
	if kind == engine.RecalledOutput {
		d = answerDigest(text)
	}
	v.past.note(kind, d, text, m)
}

// note remembers a call that was let through.
// Preconditions: mu is held.
func (r *session) note(p *format.Part, c *called) {
	if p.CallID != "" {
		r.calls[p.CallID] = c
		return
	}
	name := tool.Name(p.Name)
	r.unnamed[name] = append(r.unnamed[name], c)
	r.made[c.sum] = true
}

// forgetUnnamed makes room for the calls of another answer.
func (r *session) forgetUnnamed(parts []format.Part) {
	for i := range parts {
		if p := &parts[i]; p.Kind == format.Call && p.CallID == "" {
			clear(r.unnamed)
			return
		}
	}
}

// Output is what the parts are known by, for the log.
func (v *Visit) Output(parts []format.Part) []tool.Digest {
	var out []tool.Digest
	for _, text := range outputs(parts, v.begun) {
		out = append(out, answerDigest(text))
	}
	return append(out, marks(parts)...)
}

// marks are what the parts are known by that are no texts.
func marks(parts []format.Part) []tool.Digest {
	var out []tool.Digest
	for i := range parts {
		if p := &parts[i]; (p.Kind == format.Hosted || p.Kind == format.Media) && p.Mark != (tool.Digest{}) {
			out = append(out, p.Mark)
		}
	}
	return out
}
