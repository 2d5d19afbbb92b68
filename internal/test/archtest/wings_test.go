package archtest_test

import (
	"maps"
	"slices"
	"strings"
)

// checkWings wants that of two folders below internal at most one knows the other, whatever packages they are made of: what both need stands
// in a folder of its own below them.
func checkWings(t *tree) []string {
	out := t.findings()
	first := map[[2]string]string{} // of each pair of folders, an import that shows it
	eachImport(t, func(p *pkg, _ *file, _ int, to string) {
		from, other := folderOf(p.dir), folderOf(to)
		if from == other || !strings.HasPrefix(from, "internal/") || !strings.HasPrefix(other, "internal/") || within(p.dir, []string{"internal/test/..."}) {
			return
		}
		if _, ok := first[[2]string{from, other}]; !ok {
			first[[2]string{from, other}] = p.dir + " imports " + to
		}
	})
	for _, pair := range slices.SortedFunc(maps.Keys(first), func(a, b [2]string) int { return strings.Compare(a[0]+" "+a[1], b[0]+" "+b[1]) }) {
		if back, ok := first[[2]string{pair[1], pair[0]}]; ok && pair[0] < pair[1] {
			out.list = append(out.list, pair[0]+" and "+pair[1]+" know each other: "+first[pair]+", and "+back)
		}
	}
	return out.list
}
