package policy

import (
	"strings"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/tidemark/tidemark/internal/warrant/shell"
)

// Facts are what is known about a call beyond its arguments: what it does, where the
// values in it came from, and whether the user asked for such a thing. They are worked
// out when a rule asks. Without them a rule sees the worst.
type Facts interface {
	// Act is what the call does: read, create, change, delete, send, pay, execute, grant
	// or unknown.
	Act() string
	// Is answers one of the names in factNames.
	Is(name string) bool
	// Origin is where the values of a role ("target", "command", …) or of one argument by
	// its path came from: the worst of them; "none" where there is no such value.
	Origin(what string) string
}

// factNames are the questions with a plain answer that a condition can ask.
var factNames = []string{
	"known",     // what the tool does could be told
	"acts",      // it changes something, here or outside
	"grave",     // what it does is hard to take back, or cannot be told
	"reaches",   // it reads from an address the caller chose
	"asked",     // the user asked for this kind of act
	"delegated", // the user asked to follow what some content says
	"linked",    // something in it ties it to what the user said
	"workspace", // it stays on this machine, where the agent works
	"outside",   // something from beyond this machine has come in
	"inside",    // something of this machine has come in
	"claimed",   // a target of the user's own is also argued for by content
	"plain",     // it has no arguments
	"danger",    // it is a command that leaves, stays behind or wrecks
	"spoken",    // the user has said something
	"priced",    // the user has named a sum
	"memory",    // it writes a file that an agent reads back as its own
}

// The worst there is, for a call nobody knows anything about.
var worstFacts = map[string]bool{"acts": true, "grave": true, "reaches": true, "outside": true, "danger": true}

// asksFacts reports whether some condition of the scope, or of the file it is in, asks.
func (s *scope) asksFacts() bool {
	list := s.root().preset
	for _, l := range s.layers {
		list = append(list[:len(list):len(list)], l.rules...)
	}
	for _, u := range list {
		if u.when != nil && u.when.facts {
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

// origins is a map from role or argument to origin. It can be asked about one; it
// cannot be listed.
type origins struct {
	askable
	of Facts
}

var _ traits.Mapper = origins{}

// Find is the origin of a role or argument.
func (o origins) Find(key ref.Val) (ref.Val, bool) {
	s, ok := key.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(key), false
	}
	if o.of == nil {
		return types.String("unseen"), true
	}
	return types.String(o.of.Origin(string(s))), true
}

// Get is Find for the index operator.
func (o origins) Get(key ref.Val) ref.Val {
	v, _ := o.Find(key)
	return v
}

// Contains reports whether there is such a value.
func (o origins) Contains(key ref.Val) ref.Val {
	v, ok := o.Find(key)
	if !ok {
		return v
	}
	return types.Bool(v != types.String("none"))
}

// Value is itself.
func (o origins) Value() any { return o }

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
