// Package contract has what was understood of a message in each of its forms: as a model drew it, as the log keeps it, and as calls
// are judged by it. It is pure.
package contract

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/tool"
)

// Kept is a contract as the log keeps it, and as calls are judged by it: without
// secrets that its words may hold.
func Kept(c *intent.Contract, redacted func(string) string) *event.Contract {
	out := &event.Contract{Opens: c.Opens, Delegates: c.Delegates, Why: redacted(c.Why)}
	for _, a := range c.Acts {
		p := event.Promise{Tool: a.Tool, Most: a.Most}
		for name, source := range a.Args {
			if p.Args == nil {
				p.Args = map[string]string{}
			}
			p.Args[name] = redacted(source)
		}
		out.Acts = append(out.Acts, p)
	}
	itemsTo(out, c, redacted)
	return out
}

// itemsTo writes what a contract of the second form says into the log's form of it.
func itemsTo(out *event.Contract, c *intent.Contract, redacted func(string) string) {
	out.Form, out.Assents = c.V, c.Assents
	for _, i := range c.Items {
		it := event.ContractItem{Tool: i.Tool, Quote: redacted(i.Quote), Need: i.Need, Times: i.Times}
		it.Per, it.If = redacted(i.Per), redacted(i.If)
		for _, a := range i.Args {
			kept := event.ContractArg{Arg: a.Arg, How: a.How, Of: redacted(a.Of)}
			for _, w := range a.What {
				kept.What = append(kept.What, redacted(w))
			}
			it.Args = append(it.Args, kept)
		}
		out.Items = append(out.Items, it)
	}
	for _, r := range c.Reads {
		out.Reads = append(out.Reads, redacted(r.What))
	}
	for _, f := range c.Follow {
		out.Follow = append(out.Follow, redacted(f.Source))
	}
	for _, b := range c.Never {
		out.Never = append(out.Never, event.Ban{Act: b.Act, What: redacted(b.What)})
	}
}

// Judged is the contract of a message as judgement takes it; nil: there is none, and
// the words alone count.
func Judged(c *event.Contract) *warrant.Contract {
	if c == nil || c.Failed != "" {
		return nil
	}
	out := &warrant.Contract{Opens: c.Opens, Delegates: c.Delegates}
	for _, a := range c.Acts {
		out.Acts = append(out.Acts, warrant.Promise{Tool: a.Tool, Args: maps.Clone(a.Args), Most: a.Most})
	}
	if binds(c) {
		out.Mandate = mandateOf(c)
	}
	return out
}

// binds reports whether a contract is judged by its items. All of the second form are. One of the first form can be read
// into items too (mandate.FirstForm), which asks far more than its acts do: it says too little of where values come from. It is
// judged by its acts until items hold more, and this is the one place that says so.
func binds(c *event.Contract) bool { return c.Form == intent.ItemsVersion }

// mandateOf are the items of a contract of either form, as judgement takes them.
func mandateOf(c *event.Contract) *mandate.Mandate {
	out := &mandate.Mandate{Reads: slices.Clone(c.Reads), Follow: slices.Clone(c.Follow), Assents: c.Assents}
	for n, i := range c.Items {
		if i.Tool == "" {
			continue // it was taken back
		}
		it := mandate.Item{
			ID: fmt.Sprintf("m%d.%d", c.Word, n+1), Tool: tool.Name(i.Tool), Quote: i.Quote, Step: i.Need != "asked", Times: i.Times,
			Per: i.Per, If: i.If, Pin: i.Pin, Args: map[string][]mandate.Source{},
		}
		for _, a := range i.Args {
			it.Args[a.Arg] = append(it.Args[a.Arg], mandate.Source{How: mandate.HowNamed(a.How), What: slices.Clone(a.What), Of: a.Of})
		}
		out.Items = append(out.Items, it)
	}
	for _, b := range c.Never {
		out.Never = append(out.Never, mandate.Ban(b))
	}
	if c.Form != intent.ItemsVersion {
		var acts []mandate.Promise
		for _, a := range c.Acts {
			acts = append(acts, mandate.Promise{Tool: tool.Name(a.Tool), Args: a.Args, Most: a.Most})
		}
		out.Items, out.Unquoted = mandate.FirstForm(fmt.Sprintf("m%d", c.Word), acts), true
	}
	return out
}
