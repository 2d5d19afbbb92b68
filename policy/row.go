package policy

import (
	"encoding/binary"
	"slices"
	"sync/atomic"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/tidemark/tidemark/trust"
)

// maxBounds is how many different iterations a file may make depend on.
const maxBounds = 32

// masks is how many sets of levels a context can hold.
const masks = 1 << trust.NumLevels

// row is everything the set has to say about one tool. What depends on the
// context alone is worked out once per context and kept in cells.
type row struct {
	set    *Set
	name   string  // empty for tools that nothing names
	boxed  ref.Val // the name, for conditions
	traits Traits
	sink   bool
	note   annotation
	trust  []*trustRule
	memory bool

	caution, cautionFixed bool

	explicit [trust.NumLevels]bool // the file itself says what happens to the tool there

	static  []part // rules without a condition, and defaults no rule can change
	conds   []cond
	needs   *table // of the scope; nil: calls need no warrant
	open    []int  // layers whose default waits for their conditions
	classes classes
	cells   []atomic.Pointer[cell]
}

// part is one rule's say in a decision.
type part struct {
	Reason
	rank  rank
	shows bool // of a refusal: the tool stays visible
}

// rank orders what is equally strict: the earlier one is named as the deciding rule.
type rank uint8

const (
	rankStatic rank = iota
	rankDanger      // of a preset: the call itself, whatever the context
	rankTaint
	rankPolicy
	rankTrifecta
	rankSink
)

// cond is a rule or policy that must be asked at each call.
type cond struct {
	part
	when   *condition
	layer  int       // of a rule
	policy *declared // of a policy; nil for a rule
	preset bool      // of a preset: it gives way to what the file says about the tool or the level
	acts   bool      // the policy closes this tool
	past   *past     // of a rule: what it asks of the session so far
}

// class is a set of contexts in which the same declarative policies hold.
type class struct {
	iteration int
	policies  []*declared
	clean     []*declared // those that hold in a clean context at the same iteration
}

func (s *Set) newRow(name string) *row {
	r := &row{set: s, name: name, boxed: types.String(name), needs: s.needs}
	for i, l := range s.scope.layers {
		r.addLayer(i, l)
	}
	for _, u := range s.scope.root().preset {
		if u.tools.has(name) {
			p := part{Reason: u.reason, rank: rankTaint, shows: true}
			r.conds = append(r.conds, cond{part: p, when: u.when, layer: -1, preset: true})
		}
	}
	var plain []*declared
	for _, p := range s.scope.policies {
		acts := p.remove.has(name) || p.block.has(name)
		switch {
		case p.when != nil && (acts || p.log || p.persist):
			r.conds = append(r.conds, cond{part: r.policyPart(p), when: p.when, layer: -1, policy: p, acts: acts})
		case p.when == nil && acts:
			plain = append(plain, p)
		}
	}
	r.classes = s.common // shared by all tools that no such policy names
	if len(plain) > 0 {
		r.classes = s.classify(plain)
	}
	r.cells = make([]atomic.Pointer[cell], len(r.classes.list)*trust.NumLevels*4)
	for _, l := range trust.Levels() {
		r.explicit[l] = s.scope.root().mode(name, l, 0).pos.Line > 0 // an agent can only add to a preset
	}
	r.addTraits()
	return r
}

// addLayer splits a layer into what is known now and what a condition decides.
func (r *row) addLayer(i int, l layer) {
	matched, waits := false, false
	for _, u := range l.rules {
		switch {
		case !u.tools.has(r.name):
		case u.past != nil:
			waits = true
			when := condition{args: true}
			if u.when != nil {
				when = *u.when
				when.args = true // what is offered does not hang on what ran: the reason tells what must come first
			}
			r.conds = append(r.conds, cond{part: part{Reason: u.reason, shows: true}, when: &when, layer: i, past: u.past})
		case u.when == nil:
			matched = true
			r.static = append(r.static, part{Reason: u.reason})
		default:
			waits = true
			r.conds = append(r.conds, cond{part: part{Reason: u.reason, shows: u.when.args}, when: u.when, layer: i})
		}
	}
	switch {
	case matched || l.def == Allow:
	case waits:
		r.open = append(r.open, i)
	default:
		r.static = append(r.static, l.defaultPart())
	}
}

func (l layer) defaultPart() part {
	return part{Reason: Reason{Rule: l.rule, Effect: l.def, Text: defaultText(l.def), Pos: l.pos.String()}}
}

func (r *row) policyPart(p *declared) part {
	out := part{Reason: p.reason, rank: rankPolicy, shows: !p.remove.has(r.name)}
	out.Effect = Deny
	return out
}

// bounds are the iterations at which a taint policy or declarative policy starts.
func (s *scope) bounds() []int {
	var out []int
	for _, st := range s.root().steps {
		out = append(out, st.from)
	}
	for _, p := range s.policies {
		if p.from > 0 {
			out = append(out, p.from)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// holds reports whether the policy's plain conditions hold.
func (p *declared) holds(mask uint8, iteration int) bool {
	return iteration >= p.from && (p.levels == 0 || p.levels&mask != 0)
}

// classes are the contexts that differ for a tool, and the index to find them by:
// the class for each band of iterations and mask of levels; nil if there is one class.
type classes struct {
	list  []class
	index []uint16
}

// classify numbers the contexts that differ for a tool on which these policies act.
func (s *Set) classify(policies []*declared) classes {
	steps := s.scope.root().steps
	if len(policies) == 0 && len(steps) == 0 {
		return classes{list: []class{{}}}
	}
	var out classes
	known := map[string]uint16{}
	for band := range len(s.bounds) + 1 {
		iteration := 0
		if band > 0 {
			iteration = s.bounds[band-1]
		}
		depth := 0
		for depth < len(steps) && iteration >= steps[depth].from {
			depth++
		}
		clean := holding(policies, 1<<trust.System, iteration)
		for mask := range masks {
			now := holding(policies, uint8(mask), iteration)
			key := classKey(depth, now, clean)
			n, ok := known[key]
			if !ok {
				n = uint16(len(out.list))
				known[key] = n
				out.list = append(out.list, class{iteration, pick(policies, now), pick(policies, clean)})
			}
			out.index = append(out.index, n)
		}
	}
	return out
}

// holding are the numbers of the policies that hold.
func holding(policies []*declared, mask uint8, iteration int) []int {
	var out []int
	for i, p := range policies {
		if p.holds(mask, iteration) {
			out = append(out, i)
		}
	}
	return out
}

func pick(policies []*declared, numbers []int) []*declared {
	var out []*declared
	for _, i := range numbers {
		out = append(out, policies[i])
	}
	return out
}

// classKey is the same for contexts in which the same holds. Iterations are kept
// apart only where the taint policy differs.
func classKey(depth int, now, clean []int) string {
	key := binary.AppendUvarint(nil, uint64(depth))
	for _, list := range [...][]int{now, clean} {
		key = binary.AppendUvarint(key, uint64(len(list)))
		for _, i := range list {
			key = binary.AppendUvarint(key, uint64(i))
		}
	}
	return string(key)
}
