package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/event"
)

// Use is how often something that people allowed for good let a call through, and when it last did.
type Use struct {
	ID    string `json:"id"`
	Times int    `json:"times"`
	Last  int64  `json:"last"` // Unix nanoseconds
}

// maxUses is how many are counted: more than can be in force. Those that were used longest ago go.
const maxUses = 2000

// used counts a call that something for good let through. What holds in one session is counted there.
func (b *Builder) used(now int64, d *event.Decided) {
	lasts := func(begin string) bool { return strings.HasPrefix(d.Spent, begin) }
	if d.Gated || !d.Runs() || !slices.ContainsFunc([]string{"always-", "reads-", "standing."}, lasts) {
		return
	}
	u := b.uses[d.Spent]
	if u == nil {
		if len(b.uses) >= maxUses {
			oldest := slices.MinFunc(slices.Collect(maps.Values(b.uses)), func(x, y *Use) int {
				return cmp.Or(cmp.Compare(x.Last, y.Last), cmp.Compare(x.ID, y.ID))
			})
			delete(b.uses, oldest.ID)
		}
		u = &Use{ID: d.Spent}
		b.uses[d.Spent] = u
	}
	u.Times, u.Last = u.Times+1, max(u.Last, now)
}

// Uses are those that were used, by their id.
func (b *Builder) Uses() map[string]Use {
	out := make(map[string]Use, len(b.uses))
	for id, u := range b.uses {
		out[id] = *u
	}
	return out
}

// keptUses are the uses as they are written down.
func (b *Builder) keptUses() []Use {
	return slices.SortedFunc(maps.Values(b.Uses()), func(x, y Use) int { return cmp.Compare(x.ID, y.ID) })
}
