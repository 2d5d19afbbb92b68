package report

import (
	"math"
	"slices"
	"sort"
	"time"
)

// part is what happened in a span of hours since 1970: one hour of the last days, a whole day before. What became of a question counts
// where it was asked.
type part struct {
	from, to       int64 // to is no longer of it
	oldest, newest int64 // times of its records
	totals         Totals
	rows           table[rowKey, row, *row]
	audits         table[auditKey, AuditRow, *AuditRow]
	items          table[itemKey, ItemRow, *ItemRow]
	verifiers      table[string, VerifierRow, *VerifierRow]
	shadows        table[shadowKey, ShadowRow, *ShadowRow]
	streaks        streaks
}

func newPart(from, to int64) *part { return &part{from: from, to: to, streaks: streaks{}} }

// How fine parts are, and how much of them is kept.
const (
	dayHours  = 24
	fineHours = 3 * dayHours // of which each hour is kept for itself
	maxKept   = 50_000       // rows of all parts; with more, the oldest parts become one
)

// hourOf is the hour of a time, also of one before 1970.
func hourOf(t int64) int64 { return down(t, int64(time.Hour)) / int64(time.Hour) }

// down is the multiple of a unit that is not above n.
func down(n, unit int64) int64 {
	over := n % unit
	if over < 0 {
		over += unit
	}
	if n < math.MinInt64+over {
		return n / unit * unit // nothing below it has a number
	}
	return n - over
}

// at is the part of a time. It is made if there is none, and days that are over become one part each.
func (b *Builder) at(t int64) *part {
	hour := hourOf(t)
	if b.newest == 0 || t > b.newest {
		b.newest = t
		if floor := down(hour-fineHours, dayHours); floor > b.floor {
			b.floor = floor
			b.fold()
		}
	}
	i, found := b.find(hour)
	if !found {
		b.bound()
		i, found = b.find(hour)
	}
	if !found {
		b.begin(i, hour)
	}
	return b.parts[i]
}

// find is where the part of an hour is, or belongs.
func (b *Builder) find(hour int64) (i int, found bool) {
	i = sort.Search(len(b.parts), func(i int) bool { return b.parts[i].to > hour })
	return i, i < len(b.parts) && b.parts[i].from <= hour
}

// begin makes the part of an hour, between those before and after it.
func (b *Builder) begin(i int, hour int64) {
	p := newPart(hour, hour+1)
	if hour < b.floor {
		p.from = down(hour, dayHours)
		p.to = p.from + dayHours
	}
	if i > 0 {
		p.from = max(p.from, b.parts[i-1].to)
	}
	if i < len(b.parts) {
		p.to = min(p.to, b.parts[i].from)
	}
	b.parts = slices.Insert(b.parts, i, p)
}

// fold makes one part of the hours of each day that is below the floor.
func (b *Builder) fold() {
	for i := 0; i < len(b.parts) && b.parts[i].from < b.floor; i++ {
		p := b.parts[i]
		for i+1 < len(b.parts) && b.parts[i+1].from < b.floor && down(b.parts[i+1].from, dayHours) == down(p.from, dayHours) {
			b.join(i)
		}
		p.to = max(p.to, down(p.from, dayHours)+dayHours)
		if p.from = down(p.from, dayHours); i > 0 {
			p.from = max(p.from, b.parts[i-1].to)
		}
	}
}

// bound joins the oldest parts while there are too many rows in all. It is looked at before a part begins.
func (b *Builder) bound() {
	kept := 0
	for _, p := range b.parts {
		kept += p.size()
	}
	for kept > maxKept && len(b.parts) > 1 {
		kept -= b.parts[0].size() + b.parts[1].size()
		b.join(0)
		kept += b.parts[0].size()
	}
}

// join puts a part into the one before it.
func (b *Builder) join(i int) {
	p, next := b.parts[i], b.parts[i+1]
	m := moved{map[*row]*row{}, map[*AuditRow]*AuditRow{}}
	p.add(next, m, maxPartSample)
	p.to = next.to
	b.parts = slices.Delete(b.parts, i+1, i+2)
	for _, list := range b.open {
		for _, q := range list {
			if q.in == next {
				q.in, q.row, q.audit = p, m.rows[q.row], m.audits[q.audit]
			}
		}
	}
}

// moved is which rows of a part are which of another one that it was added to.
type moved struct {
	rows   map[*row]*row
	audits map[*AuditRow]*AuditRow
}

// sum is everything since a time as one part.
func (b *Builder) sum(since time.Time) (*part, moved) {
	sum, m := newPart(0, 0), moved{map[*row]*row{}, map[*AuditRow]*AuditRow{}}
	for _, p := range b.parts {
		if since.IsZero() || p.to > hourOf(since.UnixNano()) {
			sum.add(p, m, maxSample)
		}
	}
	return sum, m
}

// see notes that there is a record.
func (p *part) see(t int64) {
	if p.oldest == 0 || t < p.oldest {
		p.oldest = t
	}
	p.newest = max(p.newest, t)
}

// size is about how many rows a part holds.
func (p *part) size() int {
	n := len(p.rows.list) + len(p.audits.list) + len(p.items.list) + len(p.verifiers.list) + len(p.shadows.list) + len(p.streaks)
	for _, r := range p.rows.list {
		n += len(r.answers.kept) / 16
	}
	return n
}

// add adds another part, the later one, and keeps so many answers of each row.
func (p *part) add(o *part, m moved, answers int) {
	if o.oldest != 0 {
		p.see(o.oldest)
		p.see(o.newest)
	}
	p.totals.add(&o.totals)
	for _, r := range o.rows.list {
		to := p.rows.at(r.key())
		to.add(r)
		to.answers.join(&r.answers, answers)
		m.rows[r] = to
	}
	for _, r := range o.audits.list {
		to := p.audits.at(r.key())
		to.add(r)
		m.audits[r] = to
	}
	p.items.add(&o.items)
	p.verifiers.add(&o.verifiers)
	p.shadows.add(&o.shadows)
	for k, s := range o.streaks {
		if p.streaks[k] == nil {
			p.streaks[k] = &streak{}
		}
		p.streaks[k].add(*s)
	}
	p.streaks.bound(maxStreaks)
}
