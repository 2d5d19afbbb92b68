package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/audit"
	"github.com/tidemark/tidemark/event"
)

// Options say what is counted.
type Options struct {
	Since    time.Time // records before are not counted; the zero time counts all
	Until    time.Time // records at or after are not counted; the zero time counts all
	MinAsked int       // how often something must have happened to be suggested about; 10 if not positive
}

// Bounds of what is kept, whatever the log holds.
const (
	maxRows = 2000   // of each table; the rest are one row
	maxOpen = 20_000 // questions without an end
	others  = "(others)"
)

// Builder folds records into a report. It is not safe for concurrent use.
type Builder struct {
	opts      Options
	totals    Totals
	rows      map[rowKey]*row
	audits    map[auditKey]*AuditRow
	items     map[itemKey]*ItemRow
	verifiers map[string]*VerifierRow
	shadows   map[shadowKey]*ShadowRow
	open      map[string]map[string]*question // by session and id
	waiting   int                             // questions in open
	streaks   streaks
	oldest    int64
	newest    int64
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
	row      *row
	audit    *AuditRow // of the block it is about, if any
	asked    int64
	ends     int64 // when it expires or, once approved, lapses
	approved bool
}

// New starts a report.
func New(opts Options) *Builder {
	if opts.MinAsked <= 0 {
		opts.MinAsked = 10
	}
	return &Builder{
		opts: opts, rows: map[rowKey]*row{}, audits: map[auditKey]*AuditRow{}, verifiers: map[string]*VerifierRow{},
		items: map[itemKey]*ItemRow{}, shadows: map[shadowKey]*ShadowRow{}, open: map[string]map[string]*question{}, streaks: streaks{},
	}
}

// Add counts a record. Records of other kinds and times cost nothing.
func (b *Builder) Add(r audit.Record) error {
	if !b.opts.Since.IsZero() && r.Time < b.opts.Since.UnixNano() || !b.opts.Until.IsZero() && r.Time >= b.opts.Until.UnixNano() {
		return nil
	}
	if b.oldest == 0 || r.Time < b.oldest {
		b.oldest = r.Time
	}
	b.newest = max(b.newest, r.Time)
	switch event.Kind(r.Kind) {
	case event.CallDecided, event.Answered, event.TryFailed, event.GrantRevoked:
	default:
		return nil
	}
	e, err := event.FromRecord(r)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	b.lapse(r.Session, r.Time)
	switch e.Kind {
	case event.CallDecided:
		if e.Decided.LookUp != "" {
			return nil // the monitor's own, and no call of an agent
		}
		return b.decided(r.Session, r.Time, e.Decided)
	case event.Answered:
		b.answered(r.Session, r.Time, e.Answer)
	case event.TryFailed:
		b.totals.WrongCodes++
	case event.GrantRevoked:
		b.totals.Revoked++
	}
	return nil
}

func (b *Builder) decided(session string, now int64, d *event.Decided) error {
	switch d.Effect {
	case "allow", "confine":
		b.totals.Allowed++
		if d.Effect == "confine" {
			b.totals.Confined++
		}
		b.through(session, d)
	case "confirm":
		b.totals.Held++
		b.row(d).Held++
	case "deny":
		b.totals.Denied++
		b.row(d).Denied++
	default:
		return fmt.Errorf("report: session %q: a call with effect %q", session, d.Effect)
	}
	b.totals.Calls++
	var blocked *AuditRow
	again := d.Effect == "confirm" && (d.Ask == nil || d.Ask.Replaces != "") // with the opinion it had the first time
	if d.Opinion != nil && !again {
		blocked = b.opinion(d)
	}
	if d.Ruling != nil {
		b.ruling(d.Ruling)
	}
	b.shadow(d)
	b.item(session, d)
	if d.Ask != nil {
		b.ask(session, now, d, blocked)
	}
	return nil
}

// through counts what let a call run.
func (b *Builder) through(session string, d *event.Decided) {
	switch {
	case strings.HasPrefix(d.Spent, "grant-"), strings.HasPrefix(d.Spent, "always-"),
		strings.HasPrefix(d.Spent, "reads-"):
		b.totals.ByGrant++
	case d.Spent != "":
		b.totals.ByApproval++
		b.drop(session, d.Spent)
	}
	if o := d.Opinion; o != nil && (o.Settled == "allow" || o.Settled == "warn") {
		b.totals.ByAuditor++
	}
	if d.Ruling != nil && d.Ruling.Allow {
		b.totals.ByVerifier++
	}
}

// item counts what an item of the mandate did for a call: it let it run, or held less than was asked for.
func (b *Builder) item(session string, d *event.Decided) {
	i, ask := d.Item, d.Ask != nil && d.Ask.Replaces == ""
	if i == nil || !ask && (d.Effect != "allow" || i.ID == "") {
		return
	}
	k := itemKey{session, i.ID, i.Giver, d.Tool, strings.Join(i.Missing, "\x00")}
	if i.ID == "" {
		k.session = "" // of no item: what is missing is the same in every session
	}
	r := keyed(b.items, k, itemKey{tool: others}, func(k itemKey) *ItemRow {
		row := &ItemRow{Session: k.session, ID: k.id, Giver: k.giver, Tool: k.tool}
		if k.missing != "" {
			row.Missing = strings.Split(k.missing, "\x00")
		}
		return row
	})
	if ask {
		r.Asked++
	} else {
		r.Allowed++
	}
}

func (b *Builder) row(d *event.Decided) *row {
	return keyed(b.rows, rowKey{d.Rule, d.Tool, d.Kind}, rowKey{others, others, ""}, func(k rowKey) *row {
		return &row{Row: Row{Rule: k.rule, Tool: k.tool, Kind: k.kind}}
	})
}

// keyed finds the row of a key, or makes it while there is room, or finds that of the rest.
func keyed[K comparable, V any](m map[K]*V, k, rest K, add func(K) *V) *V {
	if v := m[k]; v != nil {
		return v
	}
	if len(m) >= maxRows {
		k = rest
		if v := m[k]; v != nil {
			return v
		}
	}
	m[k] = add(k)
	return m[k]
}

// opinion counts what the auditor said. It returns the row if the call was blocked
// because of it.
func (b *Builder) opinion(d *event.Decided) *AuditRow {
	o := d.Opinion
	r := keyed(b.audits, auditKey{o.Source, d.Tool}, auditKey{others, others}, func(k auditKey) *AuditRow {
		return &AuditRow{Source: k.source, Tool: k.tool}
	})
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

func (b *Builder) ruling(r *event.Ruling) {
	v := keyed(b.verifiers, r.By, others, func(by string) *VerifierRow { return &VerifierRow{By: by} })
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
func (b *Builder) Report() Report {
	asOf := b.newest
	if !b.opts.Until.IsZero() {
		asOf = b.opts.Until.UnixNano()
	}
	out := Report{Totals: b.totals, Questions: []Row{}, Auditor: []AuditRow{}, Verifier: []VerifierRow{}}
	if b.oldest != 0 {
		out.From, out.To = time.Unix(0, b.oldest).UTC(), time.Unix(0, asOf).UTC()
	}
	ended := b.ended(asOf)
	best := b.streaks.best()
	for _, r := range b.rows {
		end := ended[r]
		done := r.finish(end)
		done.streak = best[r]
		out.Totals.Expired += end.Expired
		out.Totals.Pending += end.Pending
		out.Questions = append(out.Questions, done)
	}
	for _, r := range b.audits {
		out.Auditor = append(out.Auditor, *r)
	}
	for _, by := range slices.Sorted(maps.Keys(b.verifiers)) {
		out.Verifier = append(out.Verifier, *b.verifiers[by])
	}
	slices.SortFunc(out.Questions, func(x, y Row) int {
		return cmp.Or(cmp.Compare(y.Asked, x.Asked), cmp.Compare(y.Denied, x.Denied),
			cmp.Compare(x.Rule, y.Rule), cmp.Compare(x.Tool, y.Tool), cmp.Compare(x.Kind, y.Kind))
	})
	slices.SortFunc(out.Auditor, func(x, y AuditRow) int {
		return cmp.Or(cmp.Compare(y.Asked, x.Asked), cmp.Compare(x.Source, y.Source), cmp.Compare(x.Tool, y.Tool))
	})
	out.Items = []ItemRow{}
	for _, r := range b.items {
		out.Items = append(out.Items, *r)
	}
	slices.SortFunc(out.Items, func(x, y ItemRow) int {
		return cmp.Or(cmp.Compare(y.Asked, x.Asked), cmp.Compare(y.Allowed, x.Allowed), cmp.Compare(x.Session, y.Session),
			cmp.Compare(x.ID, y.ID), cmp.Compare(x.Tool, y.Tool), slices.Compare(x.Missing, y.Missing))
	})
	out.Shadow = b.shadowRows()
	out.Suggestions = out.suggest(b.opts.MinAsked)
	return out
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
