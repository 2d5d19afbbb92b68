package policy

import (
	"maps"
	"slices"
	"sync/atomic"

	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/trust"
)

// cell is a decision that depends on the context alone, with the rank of each
// reason, and what it becomes when one condition of the tool holds.
type cell struct {
	Decision
	ranks []rank
	with  []atomic.Pointer[Decision] // by condition, once it was worked out
}

// Judge decides one call, or with nil Args what may become of the tool at all.
// It answers for in.Agent. A tool without conditions costs a table lookup.
func (s *Set) Judge(in *Input) Decision {
	if len(s.agents) > 0 {
		s = s.For(in.Agent)
	}
	r := s.row(in.Tool)
	in.row, in.judged = r, in.Tool
	at := momentOf(in)
	c := r.cell(at, in.Tainted, in.Sensitive)
	d := c.Decision
	for _, p := range s.turn {
		if p.when == nil && p.holds(at.mask, at.iteration) {
			d.LogContext, d.PersistGraph = d.LogContext || p.log, d.PersistGraph || p.persist
		}
	}
	if len(r.conds) == 0 && r.needs == nil && len(s.facts.readers) == 0 {
		return d
	}
	return r.ask(in, at, c, d)
}

// May are what looks at each call of a tool in a context of that level and may ask or refuse: the rules of the file, and, where the
// file does not say itself what happens there, the needs of its act and the rules of the preset.
func (s *Set) May(name string, level trust.Level) []Reason {
	r := s.row(name)
	var out []Reason
	if level < trust.NumLevels && !r.explicit[level] {
		out = s.needs.reasons(warrant.DeedOf(name))
	}
	for i := range r.conds {
		if k := &r.conds[i]; !k.preset && k.Effect != Allow || k.preset && level < trust.NumLevels && !r.explicit[level] {
			out = append(out, k.Reason)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.facts.readers)) {
		t := s.facts.readers[name]
		what := "what it brings may go to its readers only, from then on"
		if !t.tools.has(r.name) {
			if warrant.DeedOf(r.name) == warrant.Read {
				continue
			}
			what = "where " + name + " has brought something in, only its readers may be told"
		}
		out = append(out, Reason{Rule: t.rule, Effect: t.otherwise, Text: what})
	}
	return out
}

// Visible reports whether the model should see the tool (layer 1). It asks Judge,
// with no arguments: there is no second policy.
func (s *Set) Visible(in *Input) bool {
	if in.Args == nil {
		return !s.Judge(in).Hidden
	}
	bare := *in
	bare.Args = nil
	return !s.Judge(&bare).Hidden
}

// moment is the part of an Input that tables are indexed by.
type moment struct {
	level     trust.Level
	mask      uint8
	iteration int
}

func momentOf(in *Input) moment {
	c := moment{level: in.Taint, iteration: max(in.Iteration, 0)}
	if c.level > trust.System {
		c.level = trust.Untrusted // a number that names no level
	}
	c.mask = in.Levels&(masks-1) | 1<<c.level
	return c
}

// cell looks the context up, and works it out the first time.
func (r *row) cell(at moment, tainted, sensitive bool) *cell {
	i := 0
	if r.classes.index != nil {
		band := 0
		for band < len(r.set.bounds) && at.iteration >= r.set.bounds[band] {
			band++
		}
		i = int(r.classes.index[band*masks+int(at.mask)])
	}
	i = (i*trust.NumLevels + int(at.level)) * 4
	if tainted {
		i++
	}
	if sensitive {
		i += 2
	}
	if c := r.cells[i].Load(); c != nil {
		return c
	}
	c := r.fill(r.classes.list[i/(4*trust.NumLevels)], at.level, tainted, sensitive)
	r.cells[i].Store(c) // another goroutine may have stored the same
	return c
}

// fill works out one cell.
func (r *row) fill(c class, l trust.Level, tainted, sensitive bool) *cell {
	parts := r.parts(c.policies, l, c.iteration, tainted, sensitive)
	clean := Allow
	for _, p := range r.parts(c.clean, trust.System, c.iteration, false, false) {
		clean = clean.Stricter(p.Effect)
	}
	empty := &cell{Decision: Decision{Kind: KindTaintEscalation}}
	if clean != Allow {
		empty.Kind = KindEscalate
	}
	out := &cell{Decision: r.merge(empty, empty.Decision, parts), with: make([]atomic.Pointer[Decision], len(r.conds))}
	slices.SortStableFunc(parts, partOrder)
	for _, p := range parts {
		out.ranks = append(out.ranks, p.rank)
	}
	return out
}

func partOrder(a, b part) int {
	if a.Effect != b.Effect {
		return int(a.Effect) - int(b.Effect)
	}
	return int(a.rank) - int(b.rank)
}

// parts is everything that has a say whatever the arguments, in the order of the
// architecture: static rules, taint, declarative policies, sequences.
func (r *row) parts(policies []*declared, l trust.Level, iteration int, tainted, sensitive bool) []part {
	parts := slices.Clone(r.static)
	e := r.set.scope.mode(r.name, l, iteration)
	reason := Reason{Rule: e.rule, Effect: e.effect, Text: modeText(e, r.name, l), Pos: e.pos.String()}
	parts = append(parts, part{rank: rankTaint, Reason: reason, shows: e.shows})
	for _, p := range policies {
		parts = append(parts, r.policyPart(p))
	}
	if t := r.set.facts.trifecta; r.sink && tainted && sensitive && t.effect != Allow {
		reason := Reason{Rule: "lethal-trifecta", Effect: t.effect, Text: trifectaText(r.name)}
		parts = append(parts, part{rank: rankTrifecta, Reason: reason, shows: t.shows})
	}
	if r.sink && tainted {
		parts = append(parts, part{rank: rankSink, Reason: Reason{Rule: "taint-escalation", Effect: Confirm, Text: sinkText(r.name)}})
	}
	return parts
}

// merge adds parts to a decision: the strictest wins, every reason is kept.
func (r *row) merge(c *cell, d Decision, extra []part) Decision {
	var room [16]rank
	ranks := append(room[:0], c.ranks...)
	reasons := append(make([]Reason, 0, len(d.Reasons)+len(extra)), d.Reasons...)
	for _, p := range extra {
		at := 0
		for at < len(reasons) && (reasons[at].Effect < p.Effect || reasons[at].Effect == p.Effect && ranks[at] <= p.rank) {
			at++
		}
		reasons = slices.Insert(reasons, at, p.Reason)
		ranks = slices.Insert(ranks, at, p.rank)
		switch {
		case p.Effect == Deny:
			d.Hidden = d.Hidden || !p.shows
		case p.Effect == Confirm:
			d.Hidden = d.Hidden || r.set.settings.HideConfirm
			switch {
			case p.rank == rankStatic:
				d.Kind = KindEscalate
			case p.rank == rankDanger && d.Kind != KindEscalate:
				d.Kind = KindDanger
			case d.Kind == "":
				d.Kind = KindTaintEscalation
			}
		}
	}
	d.Effect, d.Rule, d.Reasons = reasons[0].Effect, reasons[0].Rule, reasons
	if d.Effect != Confirm {
		d.Kind = ""
	}
	return d
}

// Narrow is the decision with one more reason, which comes first where it is stricter.
// It never makes a decision looser.
func (d Decision) Narrow(r Reason, kind string) Decision {
	reasons := make([]Reason, 0, len(d.Reasons)+1)
	if r.Effect >= d.Effect {
		d.Reasons = append(append(reasons, d.Reasons...), r)
		return d
	}
	d.Reasons = append(append(reasons, r), d.Reasons...)
	d.Effect, d.Rule, d.Kind = r.Effect, r.Rule, ""
	if d.Effect == Confirm {
		d.Kind = kind
	}
	return d
}
