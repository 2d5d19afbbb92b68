package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/event"
)

// Options say what is shown.
type Options struct {
	Since    time.Time // what began before is not shown, in whole hours of the last days and whole days before (UTC); the zero time: all
	MinAsked int       // how often something must have happened to be suggested about; 10 if not positive
}

// Bounds of what is kept, whatever the log holds.
const (
	maxRows = 2000   // of each table; the rest are one row
	maxOpen = 20_000 // questions without an end
	others  = "(others)"
)

// Builder folds records into counts, from which reports are made. It is not safe for concurrent use.
type Builder struct {
	parts   []*part                         // the oldest first
	open    map[string]map[string]*question // by session and id
	waiting int                             // questions in open
	uses    map[string]*Use                 // of what was allowed for good, by id
	newest  int64
	floor   int64 // hour before which parts are whole days
}

type (
	rowKey   struct{ rule, tool, kind string }
	auditKey struct{ source, tool string }
	itemKey  struct{ session, id, giver, tool, missing string }
)

// row is a Row that still grows.
type row struct {
	Row
	answers sample
}

// question is one without an end: not answered, or approved and not spent.
type question struct {
	in       *part // when it was asked
	row      *row
	audit    *AuditRow // of the block it is about, if any
	asked    int64
	ends     int64 // when it expires or, once approved, lapses
	approved bool
}

// New starts to count.
func New() *Builder {
	return &Builder{open: map[string]map[string]*question{}, uses: map[string]*Use{}, floor: math.MinInt64}
}

// Add counts a record. Records of other kinds cost next to nothing. One that cannot be read counts for nothing, however often it is
// tried.
func (b *Builder) Add(r audit.Record) error {
	var e event.Event
	switch event.Kind(r.Kind) {
	case event.CallDecided, event.Answered, event.TryFailed, event.GrantRevoked:
		var err error
		if e, err = event.FromRecord(r); err != nil {
			return fmt.Errorf("report: %w", err)
		}
		if d := e.Decided; d != nil && !slices.Contains([]string{"allow", "confine", "confirm", "deny"}, d.Effect) {
			return fmt.Errorf("report: session %q: a call with effect %q", r.Session, d.Effect)
		}
	}
	p := b.at(r.Time)
	p.see(r.Time)
	if e.Kind == "" {
		return nil
	}
	b.lapse(r.Session, r.Time)
	switch e.Kind {
	case event.CallDecided:
		if e.Decided.LookUp == "" { // else it is the monitor's own, and no call of an agent
			b.decided(p, r.Session, r.Time, e.Decided)
			b.used(r.Time, e.Decided)
		}
	case event.Answered:
		b.answered(p, r.Session, r.Time, e.Answer)
	case event.TryFailed:
		p.totals.WrongCodes++
	case event.GrantRevoked:
		p.totals.Revoked++
	}
	return nil
}

func (b *Builder) decided(p *part, session string, now int64, d *event.Decided) {
	switch d.Effect {
	case "allow", "confine":
		p.totals.Allowed++
		if d.Effect == "confine" {
			p.totals.Confined++
		}
		b.through(p, session, d)
	case "confirm":
		p.totals.Held++
		p.row(d).Held++
	case "deny":
		p.totals.Denied++
		p.row(d).Denied++
	}
	p.totals.Calls++
	var blocked *AuditRow
	again := d.Effect == "confirm" && (d.Ask == nil || d.Ask.Replaces != "") // with the opinion it had the first time
	if d.Opinion != nil && !again {
		blocked = p.opinion(d)
	}
	if d.Ruling != nil {
		p.ruling(d.Ruling)
	}
	p.shadow(d)
	p.item(session, d)
	if d.Ask != nil {
		b.ask(p, session, now, d, blocked)
	}
}

// through counts what let a call run.
func (b *Builder) through(p *part, session string, d *event.Decided) {
	switch {
	case strings.HasPrefix(d.Spent, "grant-"), strings.HasPrefix(d.Spent, "always-"),
		strings.HasPrefix(d.Spent, "reads-"):
		p.totals.ByGrant++
	case d.Spent != "":
		p.totals.ByApproval++
		b.drop(session, d.Spent)
	}
	if o := d.Opinion; o != nil && (o.Settled == "allow" || o.Settled == "warn") {
		p.totals.ByAuditor++
	}
	if d.Ruling != nil && d.Ruling.Allow {
		p.totals.ByVerifier++
	}
}

// item counts what an item of the mandate did for a call: it let it run, or held less than was asked for.
func (p *part) item(session string, d *event.Decided) {
	i, ask := d.Item, d.Ask != nil && d.Ask.Replaces == ""
	if i == nil || !ask && (d.Effect != "allow" || i.ID == "") {
		return
	}
	k := itemKey{session, i.ID, i.Giver, d.Tool, strings.Join(i.Missing, "\x00")}
	if i.ID == "" {
		k.session = "" // of no item: what is missing is the same in every session
	}
	if r := p.items.at(k); ask {
		r.Asked++
	} else {
		r.Allowed++
	}
}

func (p *part) row(d *event.Decided) *row { return p.rows.at(rowKey{d.Rule, d.Tool, d.Kind}) }

// opinion counts what the auditor said. It returns the row if the call was blocked
// because of it.
func (p *part) opinion(d *event.Decided) *AuditRow {
	o := d.Opinion
	r := p.audits.at(auditKey{o.Source, d.Tool})
	r.Asked++
	if o.Cached {
		r.Cached++
	}
	switch {
	case o.Failed != "":
		r.Failed++
		return nil
	case o.Answer == "consistent", o.Answer == "asked", o.Answer == "step":
		r.Consistent++
	case o.Answer == "inconsistent", o.Answer == "neither":
		r.Inconsistent++
	default:
		r.Unsure++
	}
	if o.Settled != "block" {
		return nil
	}
	r.Blocked++
	return r
}

func (p *part) ruling(r *event.Ruling) {
	v := p.verifiers.at(r.By)
	if r.Allow {
		v.Allowed++
	} else {
		v.Denied++
	}
	if r.Failed {
		v.Failed++
	}
	if r.Cached {
		v.Cached++
	}
}

// Report is what the records so far say. More may be added after.
func (b *Builder) Report(o Options) Report {
	if o.MinAsked <= 0 {
		o.MinAsked = 10
	}
	sum, moved := b.sum(o.Since)
	out := Report{Totals: sum.totals, Questions: []Row{}, Auditor: []AuditRow{}, Verifier: []VerifierRow{}, Items: []ItemRow{}}
	if sum.oldest != 0 {
		out.From, out.To = time.Unix(0, sum.oldest).UTC(), time.Unix(0, b.newest).UTC()
	}
	ended := b.ended(moved)
	best := sum.streaks.best()
	for _, r := range sum.rows.list {
		end := ended[r]
		done := r.finish(end)
		done.streak = best[r.key()]
		out.Totals.Expired += end.Expired
		out.Totals.Pending += end.Pending
		out.Questions = append(out.Questions, done)
	}
	for _, r := range sum.audits.list {
		out.Auditor = append(out.Auditor, *r)
	}
	for _, r := range sum.verifiers.list {
		out.Verifier = append(out.Verifier, *r)
	}
	for _, r := range sum.items.list {
		out.Items = append(out.Items, *r)
	}
	out.sort()
	out.Shadow = shadowRows(sum.shadows.list)
	out.Suggestions = out.suggest(o.MinAsked)
	return out
}

func (r *Report) sort() {
	slices.SortFunc(r.Questions, func(x, y Row) int {
		return cmp.Or(cmp.Compare(y.Asked, x.Asked), cmp.Compare(y.Denied, x.Denied),
			cmp.Compare(x.Rule, y.Rule), cmp.Compare(x.Tool, y.Tool), cmp.Compare(x.Kind, y.Kind))
	})
	slices.SortFunc(r.Auditor, func(x, y AuditRow) int {
		return cmp.Or(cmp.Compare(y.Asked, x.Asked), cmp.Compare(x.Source, y.Source), cmp.Compare(x.Tool, y.Tool))
	})
	slices.SortFunc(r.Verifier, func(x, y VerifierRow) int { return cmp.Compare(x.By, y.By) })
	slices.SortFunc(r.Items, func(x, y ItemRow) int {
		return cmp.Or(cmp.Compare(y.Asked, x.Asked), cmp.Compare(y.Allowed, x.Allowed), cmp.Compare(x.Session, y.Session),
			cmp.Compare(x.ID, y.ID), cmp.Compare(x.Giver, y.Giver), cmp.Compare(x.Tool, y.Tool), slices.Compare(x.Missing, y.Missing))
	})
}

// finish is the row with what is still open put where it belongs.
func (r *row) finish(open Row) Row {
	out := r.Row
	out.Expired += open.Expired
	out.Pending += open.Pending
	out.Unused += open.Unused
	if n := out.Answered(); n > 0 {
		out.YesShare = float64(out.Yes) / float64(n)
	}
	out.MedianMs, out.P90Ms = r.answers.quantile(0.5)/1e6, r.answers.quantile(0.9)/1e6
	return out
}
