package mandate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Contracts of the first form list acts, and say of each argument that the owner said it, that it is to be looked up,
// that the agent words it, or that some content decides. They are read into the same items. What they do not say costs:
// no act has words of its own, so the whole message is its quote, and what is looked up has no source.

// Promise is one act of the first form.
type Promise struct {
	Tool string            // by its canonical name
	Args map[string]string // user:<literal>, lookup, delegated or agent
	Most int
}

// FirstForm are the items of acts; id begins their names.
func FirstForm(id string, acts []Promise) []Item {
	var out []Item
	for n, a := range acts {
		it := Item{ID: fmt.Sprintf("%s.%d", id, n+1), Tool: a.Tool, Times: a.Most, Args: map[string][]Source{}}
		for _, arg := range slices.Sorted(maps.Keys(a.Args)) {
			literal, said := strings.CutPrefix(a.Args[arg], "user:")
			switch {
			case said:
				it.Args[arg] = []Source{{How: Said, What: []string{literal}}}
			case a.Args[arg] == "lookup":
				it.Args[arg] = []Source{{How: From}}
			case a.Args[arg] == "agent":
				it.Args[arg] = []Source{{How: Write}}
			default: // what some content decides no item holds
				it.Args[arg] = []Source{{}}
			}
		}
		out = append(out, it)
	}
	return out
}

// small are the deeds whose objects may be any record that was looked up.
var small = map[string]bool{"tidy": true, "create": true, "change": true}

// lookedUp is why a value is not one that may be looked up anywhere: what no source is named for holds what is done to
// things that can be put right, and never whom it concerns, keys, or what something grave is done to.
func (p *pass) lookedUp(v *Value) string {
	if v.Role == Object && small[p.call.Deed] && p.records.seen(v.Text) {
		return ""
	}
	return "I could not tell that it belongs to what you named"
}
