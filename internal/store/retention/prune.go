package retention

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store"
)

// info is what is known of a session before it is pruned.
type info struct {
	last   int64 // time of its last record
	due    bool  // something of it is to be taken out
	idle   bool  // something is, if nothing was added to it of late
	people []person
	of     string // the session that a ticket was given in; empty: it is no log of a ticket
}

// pruning is one Prune under way.
type pruning struct {
	log      Log
	request  Request
	out      *Result
	cuts     map[string]int64 // by what: records older than this lose it
	sessions map[string]*info
	names    []string // of the sessions, in the order in which they began
	done     int64
	total    int64
}

func (p *pruning) run(ctx context.Context) error {
	head, err := p.log.Head(ctx)
	if err != nil {
		return err
	}
	p.total = head.Records
	if err := p.cut(ctx); err != nil {
		return err
	}
	if err := p.look(ctx); err != nil {
		return err
	}
	for _, name := range p.names {
		if err := p.session(ctx, name); err != nil {
			return fmt.Errorf("session %q: %w", name, err)
		}
	}
	p.tell(p.total)
	return nil
}

func (p *pruning) tell(done int64) {
	if p.request.Progress != nil {
		p.request.Progress(min(done, p.total), p.total)
	}
}

// cut works out how old a record may be. Where there is a bound on bytes, it is the hour after which so many came in.
func (p *pruning) cut(ctx context.Context) error {
	sized := false
	for what, l := range p.request.Limits {
		p.cuts[what] = math.MinInt64
		if l.Age > 0 {
			p.cuts[what] = p.request.Now.Add(-l.Age).UnixNano()
		}
		sized = sized || l.Bytes > 0
	}
	if !sized {
		return nil
	}
	const hour = int64(3600e9)
	sizes := map[string]map[int64]int64{}
	for what := range p.request.Limits {
		sizes[what] = map[int64]int64{}
	}
	err := p.each(ctx, func(rec *audit.Record, e *event.Event) {
		for what, n := range e.Sizes() {
			if of := sizes[what]; of != nil {
				of[rec.Time/hour] += n
			}
		}
	})
	if err != nil {
		return err
	}
	for what, l := range p.request.Limits {
		if l.Bytes == 0 {
			continue
		}
		hours := make([]int64, 0, len(sizes[what]))
		for h := range sizes[what] {
			hours = append(hours, h)
		}
		slices.Sort(hours)
		kept := int64(0)
		for _, h := range slices.Backward(hours) {
			if kept += sizes[what][h]; kept > l.Bytes {
				p.cuts[what] = max(p.cuts[what], (h+1)*hour)
				break
			}
		}
	}
	return nil
}

// each visits every record of a session that can be pruned, in the order of the log. One that cannot be read is left as
// it is.
func (p *pruning) each(ctx context.Context, visit func(rec *audit.Record, e *event.Event)) error {
	q := store.EntryQuery{Session: p.request.Session, Limit: store.MaxLimit}
	for {
		page, err := p.log.Since(ctx, q)
		if err != nil || len(page) == 0 {
			return err
		}
		for i := range page {
			name := page[i].Session
			ends := strings.HasPrefix(name, store.PairLogs) || strings.HasPrefix(name, event.BoxLogs)
			if name == "" || strings.HasPrefix(name, store.Own) && !ends {
				continue // what they hold counts for all, and has no end
			}
			if e, err := event.FromRecord(page[i].Record); err == nil {
				visit(&page[i].Record, &e)
			}
		}
		q.After = page[len(page)-1].ID
		p.tell(q.After / 2)
	}
}

// look finds the sessions that something is to be taken out of.
func (p *pruning) look(ctx context.Context) error {
	p.sessions = map[string]*info{}
	return p.each(ctx, func(rec *audit.Record, e *event.Event) {
		s := p.sessions[rec.Session]
		if s == nil {
			s = &info{}
			p.sessions[rec.Session] = s
			p.names = append(p.names, rec.Session)
		}
		s.last = max(s.last, rec.Time)
		if e.Box != nil && strings.HasPrefix(rec.Session, event.BoxLogs) && s.of == "" {
			s.of = e.Box.Session
		}
		for _, who := range peopleOf(e) {
			if !slices.Contains(s.people, who) {
				s.people = append(s.people, who)
			}
			s.due = s.due || p.request.Person != "" && who.spoke && who.is(p.request.Person)
		}
		for what, n := range e.Sizes() {
			if n > 0 && rec.Time < p.before(what) {
				s.due, s.idle = s.due || what != event.PruneEvents, s.idle || what == event.PruneEvents
			}
		}
	})
}

// before is the time before which records lose something.
func (p *pruning) before(what string) int64 {
	if cut, ok := p.cuts[what]; ok {
		return cut
	}
	return math.MinInt64
}

// takes is what a record loses.
func (p *pruning) takes(s *info, rec *audit.Record) []string {
	if p.forgets(s) {
		return []string{event.PruneEvents}
	}
	var out []string
	for _, what := range event.PruneKinds() {
		at := rec.Time
		if what == event.PruneEvents {
			at = s.last // a session that goes on keeps what it is made of
		}
		if at < p.before(what) {
			out = append(out, what)
		}
	}
	return out
}

// forgets reports whether the person to be forgotten spoke in a session, or in the one that a ticket was given in.
func (p *pruning) forgets(s *info) bool {
	if of := p.sessions[s.of]; of != nil {
		s = of
	}
	return p.request.Person != "" && slices.ContainsFunc(s.people, func(who person) bool { return who.spoke && who.is(p.request.Person) })
}

// most is how many records are pruned in one commit: others wait for it.
const most = 128

// session prunes one session, in pieces.
func (p *pruning) session(ctx context.Context, name string) error {
	s := p.sessions[name]
	if !s.due && !p.forgets(s) && !(s.idle && s.last < p.before(event.PruneEvents)) {
		return nil
	}
	const attempts = 8 // somebody else may prune, or hold something
	for range attempts {
		holds, at, err := Holds(ctx, p.log)
		if err != nil {
			return err
		}
		if h, held := s.heldBy(name, holds); held {
			p.out.Held = append(p.out.Held, Held{name, h})
			return nil
		}
		if of := p.sessions[s.of]; of != nil { // whose ticket it is: it was named with that session
			if _, held := of.heldBy(s.of, holds); held {
				return nil
			}
		}
		if err = p.pieces(ctx, name, s, at); !errors.Is(err, engine.ErrConflict) {
			return err
		}
	}
	return errors.New("others keep pruning, try again")
}

// pieces prunes a session from where its log of retention stands, until it is done or somebody else was faster.
func (p *pruning) pieces(ctx context.Context, name string, s *info, at uint64) error {
	var records []audit.Record
	for rec, err := range p.log.Load(ctx, name, 0) {
		if err != nil {
			return err
		}
		records = append(records, rec)
	}
	piece := piece{pruning: p, session: name, at: at, records: records}
	for i := range records {
		if err := piece.take(&records[i], p.takes(s, &records[i])); err != nil {
			return err
		}
		if len(piece.edits) == most {
			if err := piece.commit(ctx); err != nil {
				return err
			}
		}
	}
	if err := piece.commit(ctx); err != nil {
		return err
	}
	if piece.any {
		p.out.Sessions++
	}
	p.done += int64(len(records))
	p.tell(p.total/2 + p.done/2)
	return nil
}

// piece is what is pruned of a session in one commit.
type piece struct {
	*pruning
	session string
	at      uint64 // records of the log of retention
	records []audit.Record
	edits   []audit.Record
	what    map[string]int64
	bytes   int64
	any     bool
}

// take takes something out of a record.
func (c *piece) take(rec *audit.Record, what []string) error {
	if len(what) == 0 {
		return nil
	}
	e, err := event.FromRecord(*rec)
	if err != nil {
		return nil //nolint:nilerr // it cannot be read, and stays as it is
	}
	before := slices.Clone(e.Pruned)
	if !e.Prune(what...) {
		return nil
	}
	body, err := e.Body()
	if err != nil {
		return err
	}
	if c.what == nil {
		c.what = map[string]int64{}
	}
	for _, w := range e.Pruned[len(before):] {
		c.what[w]++
	}
	c.bytes += int64(len(rec.Body) - len(body))
	audit.Prune(rec, body)
	c.edits = append(c.edits, *rec)
	return nil
}

// commit writes the piece, and what says so.
func (c *piece) commit(ctx context.Context) error {
	if len(c.edits) == 0 {
		return nil
	}
	r := &c.request
	if !r.Dry {
		told := &event.Pruning{
			Session: c.session, Records: int64(len(c.edits)), Bytes: c.bytes, Person: r.Person, By: r.By, Why: r.Why,
		}
		for _, w := range event.PruneKinds() {
			if *told.Of(w) = c.what[w]; c.what[w] > 0 {
				told.Before = max(told.Before, c.before(w))
			}
		}
		told.All, told.Left = store.Left(c.records)
		e := &event.Event{Kind: event.LogPruned, Time: r.Now.UnixNano(), Pruning: told}
		if err := c.log.Prune(ctx, c.at, []*event.Event{e}, c.edits); err != nil {
			return err
		}
		c.at++
	}
	for w, n := range c.what {
		c.out.What[w] += n
	}
	c.out.Records, c.out.Bytes = c.out.Records+int64(len(c.edits)), c.out.Bytes+c.bytes
	c.edits, c.what, c.bytes, c.any = nil, nil, 0, true
	return nil
}
