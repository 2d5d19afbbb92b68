package policy

import (
	"errors"

	"cel.dev/cel-go/common/types"

	"github.com/tidemark/tidemark/tool"
)

// ask evaluates the tool's conditions and adds what they say to a decision.
func (r *row) ask(in *Input, at moment, c *cell, d Decision) Decision {
	a := r.set.activate()
	defer r.set.release(a)
	a.in, a.set, a.name = *in, r.set, r.boxed
	a.in.Taint = at.level
	if r.name == "" {
		a.name = types.String(tool.Name(in.Tool))
	}
	said := &a.said
	said.hear(r, a, at)
	d.LogContext, d.PersistGraph = d.LogContext || said.log, d.PersistGraph || said.persist
	switch {
	case len(said.parts) == 0:
		return d
	case len(said.parts) > 1 || said.only < 0:
		return r.merge(c, d, said.parts)
	}
	known := c.with[said.only].Load()
	if known == nil {
		m := r.merge(c, c.Decision, said.parts)
		known = &m
		c.with[said.only].Store(known)
	}
	out := *known
	out.LogContext, out.PersistGraph = d.LogContext, d.PersistGraph
	return out
}

// answers are what the conditions of a tool say about one call.
type answers struct {
	parts        []part
	only         int  // the condition whose part it is, if there is but one and it is as compiled; else -1
	matched      int  // bits of the layers in which a rule matched
	skipped      bool // some could not be asked for want of arguments
	log, persist bool
}

// hear asks all conditions, then adds the defaults of layers in which none held.
func (s *answers) hear(r *row, a *activation, at moment) {
	for i := range r.conds {
		k := &r.conds[i]
		if k.policy != nil && !k.policy.holds(at.mask, at.iteration) {
			continue
		}
		if k.preset && r.explicit[at.level] {
			continue
		}
		if k.when.args && a.in.Args == nil {
			s.skipped = true
			continue
		}
		if !k.when.possible(a) {
			continue
		}
		if holds, err := k.when.holds(a); err != nil || holds && (k.past == nil || k.past.holds(a, k.Rule)) {
			s.add(k, i, err)
		}
	}
	r.bound(a, s)
	if r.needs != nil && !r.explicit[at.level] && a.in.Args != nil {
		r.needs.lacks(a, s)
	}
	for _, l := range r.open {
		if s.matched&(1<<l) == 0 {
			s.parts, s.only = append(s.parts, s.unmatched(r, l)), -1
		}
	}
}

// add takes a condition that holds, or one that erred: that denies, and asks where an argument
// is larger than a condition may look through.
func (s *answers) add(k *cond, i int, err error) {
	switch {
	case k.preset:
	case k.policy == nil:
		s.matched |= 1 << k.layer
	default:
		s.log, s.persist = s.log || k.policy.log, s.persist || k.policy.persist
		if !k.acts {
			return // it only asks for evidence
		}
	}
	s.parts, s.only = append(s.parts, k.part), i
	if err != nil {
		p := &s.parts[len(s.parts)-1]
		switch {
		case errors.Is(err, errTooLarge): // no fault of the rule's: a person can look where it cannot
			p.Text, p.Rule = largeText(p.Rule), RuleTooLarge
			p.Effect, p.Error = Confirm, true
		case errors.Is(err, errLater):
			p.Text, p.Effect, p.Error = laterText(p.Rule), Confirm, true
		default:
			p.Effect, p.Text, p.Error = Deny, errorText(err), true
		}
		s.only = -1
	}
}

// unmatched is the say of a layer in which no rule matched: its default or, where
// rules could not be asked for want of arguments, the best that could come of them.
func (s *answers) unmatched(r *row, l int) part {
	best := r.set.scope.layers[l].defaultPart()
	for i := range r.conds {
		if k := &r.conds[i]; s.skipped && k.policy == nil && k.layer == l && k.when.args && k.Effect > best.Effect {
			best = k.part
			best.Text = "depending on its arguments: " + k.Text
		}
	}
	return best
}
