package report

import (
	"cmp"
	"slices"

	"github.com/tidemark/tidemark/internal/event"
)

// ask opens a question. One that stands in for another is the same question.
func (b *Builder) ask(p *part, session string, now int64, d *event.Decided, blocked *AuditRow) {
	q := &question{in: p, row: p.row(d), audit: blocked, asked: now, ends: d.Ask.Expires}
	if old := b.open[session][d.Ask.Replaces]; old != nil && !old.approved {
		b.drop(session, d.Ask.Replaces)
		q.in, q.row, q.audit, q.asked = old.in, old.row, old.audit, old.asked
	} else {
		q.row.Asked++
		p.totals.Asked++
	}
	if b.waiting >= maxOpen {
		b.evict()
	}
	if b.open[session] == nil {
		b.open[session] = map[string]*question{}
	}
	if b.open[session][d.Ask.ID] == nil {
		b.waiting++
	}
	b.open[session][d.Ask.ID] = q
}

// answered counts a vote on questions that are open.
func (b *Builder) answered(p *part, session string, now int64, a *event.Answer) {
	if a.Grant != nil {
		p.totals.Grants++
	}
	if a.Verdict == event.Agree {
		return // it is still open
	}
	for _, id := range a.IDs {
		q := b.open[session][id]
		if q == nil || q.approved {
			continue // nobody asked it, or it is answered already
		}
		q.row.answers.add(max(0, now-q.asked))
		yes := a.Verdict == "approve"
		q.in.streaks.add(session, q.row.key(), yes && a.Grant == nil)
		if !yes {
			q.row.No++
			q.in.totals.No++
			b.drop(session, id)
			continue
		}
		q.row.Yes++
		q.in.totals.Yes++
		if q.audit != nil {
			q.audit.Overridden++
		}
		if a.Grant != nil { // the grant is what will be used
			b.drop(session, id)
			continue
		}
		q.approved, q.ends = true, a.Until
	}
}

func (b *Builder) drop(session, id string) {
	if b.open[session][id] == nil {
		return
	}
	delete(b.open[session], id)
	b.waiting--
	if len(b.open[session]) == 0 {
		delete(b.open, session)
	}
}

// over reports whether the question's time is up. An approval without an end has none.
func (q *question) over(now int64) bool { return now >= q.ends && (!q.approved || q.ends > 0) }

// close counts a question whose time is up.
func (q *question) close(to *Row) {
	if q.approved {
		to.Unused++
	} else {
		to.Expired++
	}
}

// lapse closes the questions of a session whose time was up when its next record was
// written. Those of other sessions wait: their answers may come later in the log.
func (b *Builder) lapse(session string, now int64) {
	for id, q := range b.open[session] {
		if q.over(now) {
			b.end(q)
			b.drop(session, id)
		}
	}
}

func (b *Builder) end(q *question) {
	q.close(&q.row.Row)
	if !q.approved {
		q.in.totals.Expired++
	}
}

// evict closes the half of all open questions that end first. So many sessions without
// another record have ended with their question unanswered.
func (b *Builder) evict() {
	type entry struct {
		session, id string
		q           *question
	}
	var all []entry
	for session, list := range b.open {
		for id, q := range list {
			all = append(all, entry{session, id, q})
		}
	}
	slices.SortFunc(all, func(x, y entry) int {
		return cmp.Or(cmp.Compare(x.q.ends, y.q.ends), cmp.Compare(x.session, y.session), cmp.Compare(x.id, y.id))
	})
	for _, e := range all[:len(all)/2] {
		b.end(e.q)
		b.drop(e.session, e.id)
	}
}

// ended sums what is open by row of a sum, as of the last record: expired, pending, unused.
func (b *Builder) ended(moved moved) map[*row]Row {
	out := map[*row]Row{}
	for _, list := range b.open {
		for _, q := range list {
			to := moved.rows[q.row]
			if to == nil {
				continue // asked before the report begins
			}
			r := out[to]
			switch {
			case q.over(b.newest):
				q.close(&r)
			case !q.approved:
				r.Pending++
			}
			out[to] = r
		}
	}
	return out
}

// streaks counts how often the same question was answered in one session.
type streaks map[streakKey]*streak

type streakKey struct {
	session string
	row     rowKey
}

type streak struct{ yes, other int }

// maxStreaks bounds how many are kept; the shortest are forgotten first.
const maxStreaks = 1_000

func (s streaks) add(session string, r rowKey, yes bool) {
	one := streak{other: 1}
	if yes {
		one = streak{yes: 1}
	}
	k := streakKey{session, r}
	if s[k] == nil {
		s.bound(maxStreaks - 1)
		s[k] = &streak{}
	}
	s[k].add(one)
}

func (s *streak) add(o streak) { s.yes, s.other = s.yes+o.yes, s.other+o.other }

// bound forgets the shortest until there are no more than so many.
func (s streaks) bound(most int) {
	for least := 1; len(s) > most; least++ {
		for key, old := range s {
			if old.yes <= least {
				delete(s, key)
			}
		}
	}
}

// best is the longest streak of each row in which every answer was yes.
func (s streaks) best() map[rowKey]int {
	out := map[rowKey]int{}
	for k, v := range s {
		if v.other == 0 {
			out[k.row] = max(out[k.row], v.yes)
		}
	}
	return out
}
