package talk

import (
	"context"
	"strings"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/internal/door/llm/wire"
	"github.com/tidemark/tidemark/tool"
)

// Left notes what the client got for this request, in the form it will send back, and the
// id by which it may refer to it. A part that is not noted is a stranger's when it returns.
func (v *Visit) Left(ctx context.Context, id string, parts []wire.Part) error {
	mark, err := v.f.monitor.Taint(ctx, v.Ref)
	if err != nil {
		return err
	}
	m := memory{mark.Join(v.at.label), v.Ref.Session}
	for _, text := range outputs(parts) {
		v.f.remember(v.tenant, tidemark.RecalledOutput, digest(text), m)
		v.f.note(v.tenant, recentText{memory: m, text: trimmed(text)})
	}
	v.room.mu.Lock()
	for i := range parts {
		if p := &parts[i]; p.Kind == wire.Call {
			name, args := v.CallName(p.Name, p.Args)
			v.room.calls[callKey(p)] = &called{name: name, args: args, sum: callSum(name, args)}
			texts(p.Args, func(s string) { v.f.note(v.tenant, recentText{memory: m, text: trimmed(s), argument: true}) })
		}
	}
	v.room.mu.Unlock()
	if id != "" {
		v.f.mu.Lock()
		v.f.answers.put(answerKey{v.tenant, id}, v.at)
		v.f.mu.Unlock()
	}
	return nil
}

// Output is what the parts are known by, for the log.
func (v *Visit) Output(parts []wire.Part) []tool.Digest {
	var out []tool.Digest
	for _, text := range outputs(parts) {
		out = append(out, digest(text))
	}
	return out
}

// outputs are the texts of an answer, each and all in one: some clients join them.
func outputs(parts []wire.Part) []string {
	var out []string
	var all strings.Builder
	texts := 0
	for i := range parts {
		p := &parts[i]
		if p.Kind != wire.Text && p.Kind != wire.Thinking || trimmed(p.Text) == "" {
			continue
		}
		out = append(out, p.Text)
		if p.Kind == wire.Text {
			texts++
			all.WriteString(p.Text)
		}
	}
	if texts > 1 {
		out = append(out, all.String())
	}
	return out
}
