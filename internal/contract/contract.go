// Package contract has what was understood of a message in each of its forms: as a model drew it, as the log keeps it, and as calls
// are judged by it. It is pure.
package contract

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/event"
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

// itemsTo writes what a contract that lists items says into the log's form of it.
func itemsTo(out *event.Contract, c *intent.Contract, redacted func(string) string) {
	all := func(list []string) (out []string) {
		for _, s := range list {
			out = append(out, redacted(s))
		}
		return out
	}
	out.Form, out.Assents = event.Form(c.V), c.Assents
	for _, i := range c.Items {
		it := event.ContractItem{Tool: i.Tool, Quote: redacted(i.Quote), Need: i.Need, Times: i.Times}
		it.Per, it.If, it.Except, it.Or = redacted(i.Per), redacted(i.If), all(i.Except), i.Or
		for _, a := range i.Args {
			it.Args = append(it.Args, event.ContractArg{Arg: a.Arg, How: a.How, What: all(a.What), Of: redacted(a.Of), Is: all(a.Is)})
		}
		out.Items = append(out.Items, it)
	}
	for _, r := range c.Reads {
		out.Reads = append(out.Reads, redacted(r.What))
	}
	for _, f := range c.Follow {
		out.Follow = append(out.Follow, redacted(f.Source))
		if f.Limit == "" {
			continue
		}
		if out.Limits == nil {
			out.Limits = map[string]string{}
		}
		out.Limits[redacted(f.Source)] = redacted(f.Limit)
	}
	for _, b := range c.Never {
		out.Never = append(out.Never, event.Ban{Act: b.Act, What: redacted(b.What), First: b.First})
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

// binds reports whether a contract is judged by its items. All that list any are. One of the first form can be read
// into items too (mandate.FirstForm), which asks far more than its acts do: it says too little of where values come from. It is
// judged by its acts until items hold more, and this is the one place that says so.
func binds(c *event.Contract) bool { return intent.Lists(int(c.Form)) }

// mandateOf are the items of a contract of whichever form, as judgement takes them.
func mandateOf(c *event.Contract) *mandate.Mandate {
	out := &mandate.Mandate{Reads: slices.Clone(c.Reads), Follow: slices.Clone(c.Follow), Limits: c.Limits, Assents: c.Assents}
	for n, i := range c.Items {
		if i.Tool == "" {
			continue // it was taken back
		}
		it := mandate.Item{
			ID: fmt.Sprintf("m%d.%d", c.Word, n+1), Tool: tool.Name(i.Tool), Quote: i.Quote, Step: i.Need != "asked", Times: i.Times,
			Per: i.Per, If: i.If, Pin: i.Pin, Args: map[string][]mandate.Source{}, Except: slices.Clone(i.Except), Or: i.Or,
		}
		for _, a := range i.Args {
			it.Args[a.Arg] = append(it.Args[a.Arg], mandate.Source{
				How: mandate.HowNamed(a.How), What: slices.Clone(a.What), Of: a.Of, Is: slices.Clone(a.Is),
			})
		}
		out.Items = append(out.Items, it)
	}
	for _, b := range c.Never {
		out.Never = append(out.Never, mandate.Ban{Act: b.Act, What: b.What, First: b.First})
	}
	if !binds(c) {
		var acts []mandate.Promise
		for _, a := range c.Acts {
			acts = append(acts, mandate.Promise{Tool: tool.Name(a.Tool), Args: a.Args, Most: a.Most})
		}
		out.Items, out.Unquoted = mandate.FirstForm(fmt.Sprintf("m%d", c.Word), acts), true
	}
	return out
}
