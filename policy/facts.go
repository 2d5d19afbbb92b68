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

// Facts are what is known about a call beyond its arguments: what it does, what stands
// behind each slot of it, and who has said something. They are worked out when a rule asks.
// Without them a rule sees the worst.
type Facts interface {
	// Act is what the call does: read, tidy, create, change, send, delete, execute, pay, grant
	// or unknown.
	Act() string
	// Is answers one of the names in factNames.
	Is(name string) bool
	// Warrant is the weakest evidence for the slots of a kind ("act", "aim", "object", …) or
	// for one argument by its path; "free" where there is no such slot.
	Warrant(what string) string
	// Values are what stands in the slots of a kind: who it goes to, what it is done to, how much.
	Values(slot string) []string
}

// factNames are the questions with a plain answer that a condition can ask.
var factNames = []string{
	"acts",      // it changes something, here or outside
	"argued",    // somebody but the user has said something: a page, a file, a stranger
	"outside",   // something from beyond this machine has come in
	"spoken",    // the user has said something
	"delegated", // the user asked to follow what some content says
	"workspace", // it is done with the host's own tools, where the agent works
	"danger",    // it runs or puts something that leaves, stays behind or wrecks
	"memory",    // it writes a file that an agent reads back as its own
	"dictated",  // every text of it stands in the user's own words
}

// retired are names that conditions could ask once, and what says it now.
var retired = map[string]string{
	"origin": "warrant", "asked": `warrant.act != "none"`, "linked": "warrant.object", "claimed": "warrant.aim", "inside": "argued",
	"plain": "warrant", "priced": "warrant.measure", "reaches": "warrant.cargo", "known": `act != "unknown"`, "grave": "act",
}

// The worst there is, for a call nobody knows anything about.
var worstFacts = map[string]bool{"acts": true, "argued": true, "outside": true, "danger": true}

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

func (a *activation) act() string {
	if a.in.Facts == nil {
		return "unknown"
	}
	return a.in.Facts.Act()
}

func (a *activation) fact(name string) bool {
	if name == "memory" { // the policy's own knowledge
		return a.set != nil && a.in.Args != nil && (a.set.Memory(&a.in) != "" || a.set.commandWritesMemory(&a.in))
	}
	if a.in.Facts == nil {
		return worstFacts[name]
	}
	return a.in.Facts.Is(name)
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
	return types.String(o.of.Warrant(string(s))), true
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
