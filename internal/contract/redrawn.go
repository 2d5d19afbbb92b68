package contract

import (
	"slices"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/tool"
)

// Redrawn is what counts of a message that was read once more with one tool more: bans of either reading, and of the later one what it
// says of that tool, and what the earlier one said of others too. So a tool that comes up takes what the words order from another,
// and nothing that was not ordered before comes with it. An item that is gone keeps its place, for they are named by it.
func Redrawn(before, now *event.Contract, added string) *event.Contract {
	out := *now
	out.Items, out.Never = nil, slices.Clone(before.Never)
	out.Assents = before.Assents && now.Assents
	for _, it := range before.Items {
		if !slices.ContainsFunc(now.Items, func(n event.ContractItem) bool { return sameItem(&it, &n) }) {
			it = event.ContractItem{}
		}
		out.Items = append(out.Items, it)
	}
	for _, it := range now.Items {
		if tool.Name(it.Tool) == added {
			out.Items = append(out.Items, it)
		}
	}
	for _, b := range now.Never {
		if !slices.Contains(out.Never, b) {
			out.Never = append(out.Never, b)
		}
	}
	inBoth := func(a, b []string) []string {
		return slices.DeleteFunc(slices.Clone(a), func(x string) bool { return !slices.Contains(b, x) })
	}
	out.Reads, out.Follow = inBoth(before.Reads, now.Reads), inBoth(before.Follow, now.Follow)
	out.Follow = slices.DeleteFunc(out.Follow, func(f string) bool { return before.Limits[f] != now.Limits[f] })
	return &out
}

// sameItem reports whether two items order the same, in whichever words and order of arguments.
func sameItem(a, b *event.ContractItem) bool {
	if a.Tool != b.Tool || a.Need != b.Need || a.Per != b.Per || a.If != b.If || len(a.Args) != len(b.Args) || a.Times != b.Times {
		return false
	}
	if a.Or != b.Or || !slices.Equal(a.Except, b.Except) {
		return false
	}
	return !slices.ContainsFunc(a.Args, func(x event.ContractArg) bool {
		return !slices.ContainsFunc(b.Args, func(y event.ContractArg) bool {
			return x.Arg == y.Arg && x.How == y.How && x.Of == y.Of && slices.Equal(x.What, y.What) && slices.Equal(x.Is, y.Is)
		})
	})
}

// Signature is a tool that came up as a model is shown it.
func Signature(a *event.AddedTool) intent.Signature {
	out := intent.Signature{Name: a.Tool}
	for _, p := range a.Params {
		out.Params = append(out.Params, intent.Parameter(p))
	}
	return out
}

// Added is a tool that came up as the log keeps it.
func Added(s intent.Signature) event.AddedTool {
	out := event.AddedTool{Tool: s.Name}
	for _, p := range s.Params {
		out.Params = append(out.Params, event.AddedParameter(p))
	}
	return out
}

// hosts are the tools that agents come with and that change something, as calls of them are written here. Hooks describe none.
var hosts = map[string][]string{"exec": {"command"}, "write": {"path", "content"}, "edit": {"path"}, "apply_patch": {"patch"}}

// Host is such a tool.
func Host(name string) (a event.AddedTool, known bool) {
	params, known := hosts[name]
	a.Tool = name
	for _, p := range params {
		a.Params = append(a.Params, event.AddedParameter{Name: p, Type: "string"})
	}
	return a, known
}
