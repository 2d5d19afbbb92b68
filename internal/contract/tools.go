package contract

import (
	"slices"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/tool"
)

// Tools are those that an agent has, as far as anybody told of them.
type Tools struct {
	Host  []string          // the host's own, by name
	Told  []tool.Definition // as the host described them
	Known []tool.Definition // all that were described
	Added []event.AddedTool // those that calls showed
}

// Signatures are the tools that are known, as a contract is drawn from them. Only the host's own describe themselves: what others say
// of their tools may argue. Where the host describes none, they are its own, and those that calls showed.
func (t *Tools) Signatures() []intent.Signature {
	own := warrant.Hosted(t.Host, t.Known)
	out := make([]intent.Signature, 0, len(t.Known))
	has := map[string]bool{}
	add := func(name string, it intent.Signature) {
		if !has[name] {
			out, has[name] = append(out, it), true
		}
	}
	if !slices.ContainsFunc(t.Told, func(d tool.Definition) bool { return len(d.Schema) > 0 || d.Description != "" }) {
		for _, name := range t.Host {
			if a, known := Host(name); known {
				add(name, Signature(&a))
			}
		}
	}
	for _, d := range t.Known {
		it := intent.SignatureOf(d.Name, d.Schema)
		if own[tool.Name(d.Name)] {
			it.Description = text.Cover(d.Description, 500)
		}
		add(tool.Name(d.Name), it)
	}
	for i := range t.Added {
		add(t.Added[i].Tool, Signature(&t.Added[i]))
	}
	return out
}

// Any reports whether there is a tool that a contract could be drawn with.
func (t *Tools) Any() bool {
	host := func(name string) bool { _, known := Host(name); return known }
	return len(t.Known)+len(t.Added) > 0 || slices.ContainsFunc(t.Host, host)
}

// Of is the tool of a call as a model is shown it: as it was described, or by what the call shows of it.
func (t *Tools) Of(call *tool.Call) event.AddedTool {
	name := tool.Name(call.Name)
	if i := slices.IndexFunc(t.Known, func(d tool.Definition) bool { return tool.Name(d.Name) == name }); i >= 0 {
		return Added(intent.SignatureOf(name, t.Known[i].Schema))
	}
	return Added(intent.Called(name, call.Args, toolinfo.PlainName))
}
