// Package inventory says of every tool that is known what the monitor takes it for, and what
// became of its latest calls.
//
// It reads a log that is handed in, and does no other I/O.
package inventory

import (
	"cmp"
	"context"
	"slices"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/internal/reports/records"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/store"
	"github.com/tidemark/tidemark/trust"
)

// Tool is one of them.
type Tool struct {
	Name     string `json:"name"`
	Act      string `json:"act" doc:"what a call of it is taken for, by its name"`
	Response string `json:"response" doc:"what its result brings into the context"`
	Because  string `json:"because" doc:"the rule that says so"`
	Source   bool   `json:"source"`
	Sink     bool   `json:"sink"`
	Caution  bool   `json:"caution" doc:"what follows its result is audited"`
	Named    bool   `json:"named" doc:"the policy speaks of it: by an override, an annotation or a rule"`
	Calls    int64  `json:"calls" doc:"among the latest records"`
	Held     int64  `json:"held"`
	Denied   int64  `json:"denied"`
}

// latest is how many pages of decisions are counted.
const latest = 10

// Of lists the tools that the policy names and those that were called lately, by name.
func Of(ctx context.Context, set *policy.Set, log records.Log) ([]Tool, error) {
	known := map[string]*Tool{}
	for _, name := range set.Tools() {
		known[name] = &Tool{Name: name, Named: true}
	}
	f := records.Filter{Kind: "call.decided"}
	for range latest {
		rows, next, err := records.Newest(ctx, log, &f, store.MaxLimit)
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
	out := make([]Tool, 0, len(known))
	for _, t := range known {
		x := tidemark.Explain(set, t.Name, trust.Untrusted, []byte("{}"))
		t.Act, t.Response, t.Because = x.Act, x.Response.String(), x.Why
		t.Source, t.Sink, t.Caution = x.Source, x.Sink, x.Caution
		out = append(out, *t)
	}
	slices.SortFunc(out, func(a, b Tool) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
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
