package conversation

import (
	"context"
	"strings"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/tool"
)

// Answered notes what the client got for this request, in the form it will send back, and the
// id by which it may refer to it. A part that is not noted is a stranger's when it returns.
func (v *Visit) Answered(ctx context.Context, id string, parts []format.Part) error {
	mark, err := v.f.monitor.Taint(ctx, v.Ref)
	if err != nil {
		return err
	}
	m := memory{mark.Join(v.at.label), v.Ref.Session}
	for _, text := range outputs(parts) {
		v.wrote(text, tidemark.RecalledOutput, m)
		texts([]byte(text), func(s string) { v.wrote(s, tidemark.RecalledOutput, m) }) // an answer in JSON is handed on by its fields
	}
	v.session.mu.Lock()
	v.session.forgetUnnamed(parts)
	for i := range parts {
		if p := &parts[i]; p.Kind == format.Call {
			name, args := v.CallName(p.Name, p.Args)
			v.session.note(p, &called{name: name, args: args, sum: callSum(name, args)})
			texts(p.Args, func(s string) { v.wrote(s, recalledArgument, m) })
		}
	}
	v.session.mu.Unlock()
	if id != "" {
		v.f.mu.Lock()
		v.f.answers.put(answerKey{v.tenant, id}, v.at)
		v.f.mu.Unlock()
	}
	return nil
}

// wrote remembers a text of a model's.
func (v *Visit) wrote(text string, kind tidemark.RecalledKind, m memory) {
	if text = trimmed(text); text != "" {
		v.f.remember(v.tenant, kind, digest(text), m)
		v.f.note(v.tenant, text, m)
	}
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
	for _, text := range outputs(parts) {
		out = append(out, digest(text))
	}
	return out
}

// outputs are the texts of an answer, each and all in one: some clients join them.
func outputs(parts []format.Part) []string {
	var out []string
	var all strings.Builder
	texts := 0
	for i := range parts {
		p := &parts[i]
		if p.Kind != format.Text && p.Kind != format.Thinking || trimmed(p.Text) == "" {
			continue
		}
		out = append(out, p.Text)
		if p.Kind == format.Text {
			texts++
			all.WriteString(p.Text)
		}
	}
	if texts > 1 {
		out = append(out, all.String())
	}
	return out
}
