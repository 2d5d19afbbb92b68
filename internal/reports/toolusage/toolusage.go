// Package toolusage says of every tool that is known what the monitor takes it for, and what
// became of its latest calls.
//
// It reads a log that is handed in, and does no other I/O.
package toolusage

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/explain"
	"github.com/tidemark/tidemark/internal/reports/definitions"
	"github.com/tidemark/tidemark/internal/reports/recordsearch"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// Tool is one of them.
type Tool struct {
	Name     string `json:"name"`
	Act      string `json:"act" doc:"what a call of it is taken for, by its name"`
	Why      string `json:"why" doc:"what in its name says so"`
	Response string `json:"response" doc:"what its result brings into the context"`
	Because  string `json:"because" doc:"the rule that says so"`
	Source   bool   `json:"source"`
	Sink     bool   `json:"sink"`
	Caution  bool   `json:"caution" doc:"what follows its result is audited"`
	Named    bool   `json:"named" doc:"the policy speaks of it: by an override, an annotation or a rule"`
	Calls    int64  `json:"calls" doc:"among the latest records"`
	Held     int64  `json:"held"`
	Denied   int64  `json:"denied"`

	Definitions []Definition `json:"definitions,omitzero" doc:"each text that holds now; absent: nobody described it"`
}

// Definition is one text of a tool, and what a call of it is taken for by that text.
type Definition struct {
	By    string `json:"by" doc:"the MCP server that offers it, or the agent whose host described it"`
	Hash  string `json:"hash" doc:"stands for this text and its hints: annotations.TOOL.onlyReads takes it"`
	Act   string `json:"act" doc:"what a call is taken for"`
	Why   string `json:"why" doc:"what says so"`
	Reads string `json:"onlyReads,omitzero" doc:"who says that it only reads: policy, or the name of a person; absent: nobody"`
}

// OnlyReads reports whether somebody says so.
func (d Definition) OnlyReads() bool { return d.Reads != "" }

// Does is what a call is taken for, by its definitions, or by its name where there is none.
func (t *Tool) Does() string {
	if len(t.Definitions) == 0 {
		return t.Act
	}
	var acts []string
	for i := range t.Definitions {
		if act := t.Definitions[i].Act; !slices.Contains(acts, act) {
			acts = append(acts, act)
		}
	}
	return strings.Join(acts, " or ")
}

// Known is what else is known of tools.
type Known struct {
	Definitions *definitions.Book
	Lasting     func(context.Context) ([]engine.GrantView, error) // what people said for good
}

// latest is how many pages of decisions are counted.
const latest = 10

// Of lists the tools that the policy names and those that were called lately, by name.
func Of(ctx context.Context, set *policy.Set, log recordsearch.Log, also Known) ([]Tool, error) {
	known := map[string]*Tool{}
	for _, name := range set.Tools() {
		known[name] = &Tool{Name: name, Named: true}
	}
	f := recordsearch.Filter{Kind: "call.decided"}
	for range latest {
		rows, next, err := recordsearch.Newest(ctx, log, nil, &f, store.MaxLimit)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			if d := rows[i].Decided; d != nil {
				t := known[d.Tool]
				if t == nil {
					t = &Tool{Name: d.Tool}
					known[d.Tool] = t
				}
				t.count(d.Effect)
			}
		}
		if f.Before = next; next == 0 {
			break
		}
	}
	if err := also.describe(ctx, set, known); err != nil {
		return nil, err
	}
	out := make([]Tool, 0, len(known))
	for _, t := range known {
		x := explain.Tool(set, t.Name, trust.Untrusted, []byte("{}"))
		t.Act, t.Response, t.Because = x.Act, x.Response.String(), x.Why
		t.Source, t.Sink, t.Caution = x.Source, x.Sink, x.Caution
		t.Why = toolinfo.Of(tool.Definition{Name: t.Name}).Why
		out = append(out, *t)
	}
	slices.SortFunc(out, func(a, b Tool) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// describe adds the definitions of the tools, and the tools that somebody described and nobody called.
func (k *Known) describe(ctx context.Context, set *policy.Set, tools map[string]*Tool) error {
	latest, err := k.Definitions.Latest(ctx)
	if err != nil {
		return err
	}
	said, err := k.Lasting(ctx)
	if err != nil {
		return err
	}
	for name, all := range latest {
		t := tools[name]
		if t == nil {
			t = &Tool{Name: name}
			tools[name] = t
		}
		for i := range all {
			t.Definitions = append(t.Definitions, defined(set, &all[i], said))
		}
		slices.SortFunc(t.Definitions, func(a, b Definition) int { return cmp.Or(cmp.Compare(a.By, b.By), cmp.Compare(a.Hash, b.Hash)) })
	}
	return nil
}

// defined is what one definition is taken for, and by whose word it only reads.
func defined(set *policy.Set, l *definitions.Latest, said []engine.GrantView) Definition {
	x := explain.Call(set, l.Tool, trust.Untrusted, []byte("{}"), explain.Example{Tools: []tool.Definition{l.Definition}})
	out := Definition{
		By: cmp.Or(l.Server, l.Agent), Hash: mandate.Defined(&l.Definition), Act: x.Act, Why: toolinfo.Of(l.Definition).Why,
	}
	if set.OnlyReads(l.Tool, out.Hash) {
		out.Reads = "policy"
		return out
	}
	for i := range said {
		if g := &said[i]; g.Reads && g.Pin == out.Hash && slices.Contains(g.Tools, l.Tool) && (l.Server != "" || g.Agent == l.Agent) {
			out.Reads = g.By
		}
	}
	return out
}

func (t *Tool) count(effect string) {
	t.Calls++
	switch effect {
	case "confirm":
		t.Held++
	case "deny":
		t.Denied++
	}
}
