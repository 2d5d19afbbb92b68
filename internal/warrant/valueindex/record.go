package valueindex

// siblingPlaces bounds in how many records of a shard a value is looked for, siblingLength how
// long a field may be that something is called by.
const (
	siblingPlaces = 4
	siblingLength = 60
)

// Siblings are the short fields that stand beside a value in the records where it is a whole
// field, the latest results first: what free text may call such a record by. It ends when
// visit says so.
func (x *Index) Siblings(value string, visit func(text string) bool) {
	for i := len(x.shards) - 1; i >= 0; i-- {
		// visit may ask the index something else: the query is read anew for each shard, and
		// what it finds is kept before anybody is told
		if !x.look(value) {
			return
		}
		var at []uint32
		x.shards[i].eachWhole(&x.lex, &x.q, fieldLimit, func(h hit) bool {
			at = append(at, h.seg)
			return len(at) < siblingPlaces
		})
		for _, seg := range at {
			if !x.shards[i].beside(seg, visit) {
				return
			}
		}
	}
}

// beside visits the short fields of a field's record, and reports whether to go on.
func (c *corpus) beside(seg uint32, visit func(text string) bool) bool {
	rec := c.segs[seg].rec
	first := c.recs[rec].first
	for s := first; int(s) < len(c.segs) && s-first < recordLimit; s++ {
		if c.segs[s].rec != rec || s == seg {
			continue
		}
		if text := string(c.segText(s)); len(text) <= siblingLength && !visit(text) {
			return false
		}
	}
	return true
}
