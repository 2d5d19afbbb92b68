package policy

import (
	"fmt"
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

	static  []part // rules without a condition, and defaults no rule can change
	conds   []cond
	open    []int // layers whose default waits for their conditions
	classes []class
	index   []uint16 // class by band and mask; nil when there is one class
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
	acts   bool      // the policy closes this tool
}

// class is a set of contexts in which the same declarative policies hold.
type class struct {
	iteration int
	policies  []*declared
	clean     []*declared // those that hold in a clean context at the same iteration
}

func (s *Set) newRow(name string) *row {
	r := &row{set: s, name: name, boxed: types.String(name)}
	for i, l := range s.scope.layers {
		r.addLayer(i, l)
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
	r.classify(plain)
	r.cells = make([]atomic.Pointer[cell], len(r.classes)*trust.NumLevels*4)
	r.addTraits()
	return r
}

// addLayer splits a layer into what is known now and what a condition decides.
func (r *row) addLayer(i int, l layer) {
	matched, waits := false, false
	for _, u := range l.rules {
		switch {
		case !u.tools.has(r.name):
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

// classify numbers the contexts that differ for this tool.
func (r *row) classify(policies []*declared) {
	if len(policies) == 0 && len(r.set.scope.root().steps) == 0 {
		r.classes = []class{{}}
		return
	}
	known := map[string]uint16{}
	for band := range len(r.set.bounds) + 1 {
		iteration := 0
		if band > 0 {
			iteration = r.set.bounds[band-1]
		}
		clean := holding(policies, 1<<trust.System, iteration)
		for mask := range masks {
			c := class{iteration, holding(policies, uint8(mask), iteration), clean}
			r.index = append(r.index, r.number(known, c))
		}
	}
}

func holding(policies []*declared, mask uint8, iteration int) []*declared {
	var out []*declared
	for _, p := range policies {
		if p.holds(mask, iteration) {
			out = append(out, p)
		}
	}
	return out
}

// number is the class's number, a new one if there is none like it. Iterations
// are kept apart only where the taint policy differs.
func (r *row) number(known map[string]uint16, c class) uint16 {
	depth := 0
	for i, st := range r.set.scope.root().steps {
		if c.iteration >= st.from {
			depth = i + 1
		}
	}
	key := fmt.Sprint(depth, c.policies, c.clean) // pointers: the policies are the same or not
	n, ok := known[key]
	if !ok {
		n = uint16(len(r.classes))
		known[key] = n
		r.classes = append(r.classes, c)
	}
	return n
}
