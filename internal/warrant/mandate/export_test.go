package mandate

import (
	"fmt"
	"maps"
	"slices"
)

// Dump is everything that is known of records, in one order.
func Dump(r *Records) string {
	out := fmt.Sprint(r.size, r.full, r.firsts)
	for _, rec := range r.all {
		out += fmt.Sprintf("\n%d %d %+v %v %v %v", rec.step, rec.parent, rec.fields, slices.Sorted(maps.Keys(rec.called)), rec.wrote, rec.print)
	}
	for _, found := range []map[string][]int32{r.whole, r.figures, r.named} {
		out += fmt.Sprintf("\n%v", found)
	}
	for _, step := range slices.Sorted(maps.Keys(r.calls)) {
		out += fmt.Sprintf("\n%d %+v", step, *r.calls[step])
	}
	return out
}
