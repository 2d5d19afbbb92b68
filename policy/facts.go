package policy

import (
	"slices"
	"strings"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/internal/warrant/shell"
)

// Deed is what a call does.
type Deed = warrant.Deed

// Evidence is what stands behind a slot of a call.
type Evidence = warrant.Evidence

// SlotKind is what a slot of a call is: who it goes to, what it is done to.
type SlotKind = warrant.Kind

// Fact is a plain question about a call.
type Fact = warrant.Fact

// Slot is the slots of a kind or, where Path is not empty, those of one argument.
type Slot struct {
	Kind SlotKind
	Path string
}

// Facts are what is known about a call beyond its arguments: what it does, what stands
// behind each slot of it, and who has said something. They are worked out when a rule asks.
// Without them a rule sees the worst.
type Facts interface {
	Deed() Deed
	Is(f Fact) bool
	// Evidence is the least of some slots; found is false where there are none.
	Evidence(of Slot) (least Evidence, found bool)
	// Values are what stands in the slots of a kind: who it goes to, what it is done to, how much.
	Values(of SlotKind) []string
	// Fault is what speaks against a slot of a kind beyond a lack of evidence, in words; empty: nothing does.
	Fault(of SlotKind) string
}

// factMemory is what the policy knows by itself: the call writes a file that an agent reads back as its own.
const factMemory Fact = 255

// factNames are the questions with a plain answer that a condition can ask.
var factNames = map[string]Fact{
	"acts": warrant.FactActs, "argued": warrant.FactArgued, "outside": warrant.FactOutside, "spoken": warrant.FactSpoken,
	"delegated": warrant.FactDelegated, "workspace": warrant.FactWorkspace, "danger": warrant.FactDanger, "memory": factMemory,
	"dictated": warrant.FactDictated,
}

// retired are names that conditions could ask once, and what says it now.
var retired = map[string]string{
	"origin": "warrant", "asked": `warrant.act != "none"`, "linked": "warrant.object", "claimed": "warrant.aim", "inside": "argued",
	"plain": "warrant", "priced": "warrant.measure", "reaches": "warrant.cargo", "known": `act != "unknown"`, "grave": "act",
}

// The worst there is, for a call nobody knows anything about.
var worstFacts = map[Fact]bool{warrant.FactActs: true, warrant.FactArgued: true, warrant.FactOutside: true, warrant.FactDanger: true}

// asksFacts reports whether some condition of the scope, or of the file it is in, asks.
func (s *scope) asksFacts(f *facts) bool {
	if s.warrants() != nil || slices.ContainsFunc(f.trustRules, func(t *trustRule) bool { return t.binds }) {
		return true
	}
	list := s.root().preset
	for _, l := range s.layers {
		list = append(list[:len(list):len(list)], l.rules...)
	}
	for _, u := range list {
		if u.when != nil && u.when.facts || u.past.slots() {
			return true
		}
	}
	for _, p := range s.policies {
		if p.when != nil && p.when.facts {
			return true
		}
	}
	return false
}

func (a *activation) deed() Deed {
	if a.in.Facts == nil {
		return warrant.Unknown
	}
	return a.in.Facts.Deed()
}

func (a *activation) fact(f Fact) bool {
	if f == factMemory {
		return a.set != nil && a.in.Args != nil && (a.set.Memory(&a.in) != "" || a.set.commandWritesMemory(&a.in))
	}
	if a.in.Facts == nil {
		return worstFacts[f]
	}
	return a.in.Facts.Is(f)
}

// evidences is a map from slot or argument to evidence. It can be asked about one; it
// cannot be listed.
type evidences struct {
	askable
	of Facts
}

var _ traits.Mapper = evidences{}

// Find is the evidence for a slot or argument.
func (o evidences) Find(key ref.Val) (ref.Val, bool) {
	s, ok := key.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(key), false
	}
	if o.of == nil {
		return types.String("none"), true
	}
	of := Slot{Path: string(s)}
	if kind, ok := warrant.KindNamed(of.Path); ok {
		of = Slot{Kind: kind}
	}
	least, found := o.of.Evidence(of)
	if !found {
		return types.String(warrant.Free), true
	}
	return types.String(least.String()), true
}

// Get is Find for the index operator.
func (o evidences) Get(key ref.Val) ref.Val {
	v, _ := o.Find(key)
	return v
}

// Contains reports whether there is such a slot.
func (o evidences) Contains(key ref.Val) ref.Val {
	v, ok := o.Find(key)
	if !ok {
		return v
	}
	return types.Bool(v != types.String(warrant.Free))
}

// Value is itself.
func (o evidences) Value() any { return o }

// deeds is a map from the name of an effect to whether the call's command has it. It is
// worked out from the arguments when a condition asks, once. It cannot be listed.
type deeds struct {
	askable
	of *activation
}

var _ traits.Mapper = deeds{}

// Find is whether the command has the effect. A name that is none is an error.
func (d deeds) Find(key ref.Val) (ref.Val, bool) {
	s, ok := key.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(key), false
	}
	e, ok := shell.Named(string(s))
	if !ok {
		return types.NewErr("%s", unknownEffect(string(s))), false
	}
	return types.Bool(d.of.effects().Has(e)), true
}

// Get is Find for the index operator.
func (d deeds) Get(key ref.Val) ref.Val {
	v, _ := d.Find(key)
	return v
}

// Contains is Find for the operator in.
func (d deeds) Contains(key ref.Val) ref.Val { return d.Get(key) }

// Value is itself.
func (d deeds) Value() any { return d }

func unknownEffect(name string) string {
	return "a command has no effect " + short(plainMessage(name)) + ": there are " + strings.Join(shell.EffectNames(), ", ")
}

// effects are what the call's command does; the worst where the arguments cannot be read.
func (a *activation) effects() shell.Effects {
	if !a.looked {
		a.looked, a.does = true, shell.Worst
		if a.set != nil && a.in.Args != nil {
			if fields, err := a.in.Args.Fields(); err == nil {
				a.does = a.set.effects(a.in.Tool, fields)
			}
		}
	}
	return a.does
}
