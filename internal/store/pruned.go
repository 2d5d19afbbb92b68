package store

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/event"
)

// remainder is what is left of the pruned records of a session.
type remainder struct {
	records int64
	hash    audit.Hash
}

func (r *remainder) add(rec *audit.Record) {
	r.records++
	r.hash = audit.Remainder(r.hash, rec)
}

// Left is what a record about pruning says of the records of a session, in their order: how many of them
// something was taken out of, and the hash over what is left of those.
func Left(records []audit.Record) (all int64, left string) {
	var r remainder
	for i := range records {
		if records[i].Pruned != (audit.Hash{}) {
			r.add(&records[i])
		}
	}
	return r.records, hex.EncodeToString(r.hash[:])
}

// taken notes a pruned record, or what is recorded of pruning.
func (c *checker) taken(rec *audit.Record) {
	if rec.Pruned != (audit.Hash{}) {
		if c.left[rec.Session] == nil {
			c.left[rec.Session] = &remainder{}
		}
		c.left[rec.Session].add(rec)
	}
	if rec.Session != RetentionLog || rec.Kind != string(event.LogPruned) {
		return
	}
	e, err := event.FromRecord(*rec)
	if err != nil {
		c.found(Break{Session: rec.Session, Seq: rec.Seq, Problem: "cannot be read: " + err.Error()})
		return
	}
	p := e.Pruning
	c.told[p.Session] = p
	if c.report.Pruned.What == nil {
		c.report.Pruned.What = map[string]int64{}
	}
	for _, what := range event.PruneKinds() {
		if n := *p.Of(what); n > 0 {
			c.report.Pruned.What[what] += n
		}
	}
	c.report.Pruned.Bytes += p.Bytes
}

// pruned compares what is left of sessions with what was recorded when something was taken out of them.
func (c *checker) pruned() {
	for _, name := range slices.Sorted(maps.Keys(c.left)) {
		left, told := c.left[name], c.told[name]
		c.report.Pruned.Sessions++
		c.report.Pruned.Records += left.records
		switch {
		case told == nil:
			problem := fmt.Sprintf("something was taken out of %d records, and no record says so", left.records)
			c.found(Break{Session: name, Problem: problem})
		case told.All != left.records || told.Left != hex.EncodeToString(left.hash[:]):
			problem := fmt.Sprintf("of %d records that were pruned not that is left which was recorded", left.records)
			c.found(Break{Session: name, Problem: problem})
		}
		delete(c.told, name)
	}
	for _, name := range slices.Sorted(maps.Keys(c.told)) {
		c.found(Break{Session: name, Problem: "pruned, as was recorded, and nothing shows that it was"})
	}
}
