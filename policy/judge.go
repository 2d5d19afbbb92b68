package policy

import (
	"slices"
	"sync/atomic"

	"cel.dev/cel-go/common/types"

	"github.com/tidemark/tidemark/tool"
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
	ctx := contextOf(in)
	c := r.cell(ctx, in.Tainted, in.Sensitive)
	d := c.Decision
	for _, p := range s.turn {
		if p.when == nil && p.holds(ctx.mask, ctx.iteration) {
			d.LogContext, d.PersistGraph = d.LogContext || p.log, d.PersistGraph || p.persist
		}
	}
	if len(r.conds) == 0 {
		return d
	}
	return r.ask(in, ctx, c, d)
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

// context is the part of an Input that tables are indexed by.
type context struct {
	level     trust.Level
	mask      uint8
	iteration int
}

func contextOf(in *Input) context {
	c := context{level: in.Taint, iteration: max(in.Iteration, 0)}
	if c.level > trust.System {
		c.level = trust.Untrusted // a number that names no level
	}
	c.mask = in.Levels&(masks-1) | 1<<c.level
	return c
}

// cell looks the context up, and works it out the first time.
func (r *row) cell(ctx context, tainted, sensitive bool) *cell {
	i := 0
	if r.index != nil {
		band := 0
		for band < len(r.set.bounds) && ctx.iteration >= r.set.bounds[band] {
			band++
		}
		i = int(r.index[band*masks+int(ctx.mask)])
	}
	i = (i*trust.NumLevels + int(ctx.level)) * 4
	if tainted {
		i++
	}
	if sensitive {
		i += 2
	}
	if c := r.cells[i].Load(); c != nil {
		return c
	}
	c := r.fill(r.classes[i/(4*trust.NumLevels)], ctx.level, tainted, sensitive)
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
	parts = append(parts, part{rank: rankTaint, Reason: Reason{Rule: e.rule, Effect: e.effect, Text: modeText(e, r.name, l), Pos: e.pos.String()}})
	for _, p := range policies {
		parts = append(parts, r.policyPart(p))
	}
	if t := r.set.facts.trifecta; r.sink && tainted && sensitive && t != Allow {
		parts = append(parts, part{rank: rankTrifecta, Reason: Reason{Rule: "lethal-trifecta", Effect: t, Text: trifectaText(r.name)}})
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
			if p.rank == rankStatic {
				d.Kind = KindEscalate
			}
		}
	}
	d.Effect, d.Rule, d.Reasons = reasons[0].Effect, reasons[0].Rule, reasons
	if d.Effect != Confirm {
		d.Kind = ""
	}
	return d
}

// ask evaluates the tool's conditions.
func (r *row) ask(in *Input, ctx context, c *cell, d Decision) Decision {
	a := r.set.acts.Get().(*activation)
	a.in, a.name = *in, r.boxed
	a.in.Taint = ctx.level
	if r.name == "" {
		a.name = types.String(tool.Name(in.Tool))
	}
	var room [4]part
	parts, only := r.answers(a, ctx, &d, room[:0])
	*a = activation{}
	r.set.acts.Put(a)
	switch {
	case len(parts) == 0:
		return d
	case len(parts) > 1 || only < 0:
		return r.merge(c, d, parts)
	}
	known := c.with[only].Load()
	if known == nil {
		m := r.merge(c, c.Decision, parts)
		known = &m
		c.with[only].Store(known)
	}
	out := *known
	out.LogContext, out.PersistGraph = d.LogContext, d.PersistGraph
	return out
}

// answers are the parts of the conditions that hold, of those that err, and of
// the defaults of layers in which none held. only is the last condition that held,
// or -1 if some part says something new.
func (r *row) answers(a *activation, ctx context, d *Decision, parts []part) (_ []part, only int) {
	matched, skipped := 0, false // bits of layers
	only = -1
	failed := false
	for i := range r.conds {
		k := &r.conds[i]
		if k.policy != nil && !k.policy.holds(ctx.mask, ctx.iteration) {
			continue
		}
		if k.when.args && a.in.Args == nil {
			skipped = true
			continue
		}
		holds, err := k.when.holds(a)
		if !holds && err == nil {
			continue
		}
		if k.policy != nil {
			d.LogContext, d.PersistGraph = d.LogContext || k.policy.log, d.PersistGraph || k.policy.persist
			if !k.acts {
				continue
			}
		} else {
			matched |= 1 << k.layer
		}
		parts = append(parts, k.part)
		only = i
		if err != nil {
			failed = true
			p := &parts[len(parts)-1]
			p.Effect, p.Text, p.Error = Deny, errorText(err), true
		}
	}
	for _, l := range r.open {
		if matched&(1<<l) == 0 {
			parts, failed = r.unmatched(l, skipped, parts), true
		}
	}
	if failed {
		only = -1
	}
	return parts, only
}

// unmatched is the say of a layer in which no rule matched: its default or, where
// rules could not be asked for want of arguments, the best that could come of them.
func (r *row) unmatched(l int, skipped bool, parts []part) []part {
	best := r.set.scope.layers[l].defaultPart()
	for i := range r.conds {
		if k := &r.conds[i]; skipped && k.policy == nil && k.layer == l && k.when.args && k.Effect > best.Effect {
			best = k.part
			best.Text = "depending on its arguments: " + k.Text
		}
	}
	return append(parts, best)
}
