package origin

// Siblings are the short fields that stand beside a value in the record where it was found
// best: what free text may call the record by.
func (x *Index) Siblings(value string, visit func(text string) bool) {
	q := &x.q
	if !q.read(&x.lex, x.seed, []byte(value)) {
		return
	}
	for i := len(x.shards) - 1; i >= 0; i-- {
		c := x.shards[i]
		var at []uint32
		c.eachWhole(&x.lex, q, fieldLimit, func(h hit) bool {
			at = append(at, h.seg)
			return len(at) < 4
		})
		for _, seg := range at {
			rec := c.segs[seg].rec
			first := c.recs[rec].first
			for s := first; int(s) < len(c.segs) && s-first < recordLimit; s++ {
				if c.segs[s].rec != rec || s == seg {
					continue
				}
				if text := string(c.segText(s)); len(text) <= 60 && !visit(text) {
					return
				}
			}
		}
	}
}
