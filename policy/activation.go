package policy

import (
	"fmt"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/tidemark/tidemark/internal/warrant/shell"
	"github.com/tidemark/tidemark/tool"
)

// activation is what a condition can see. It is pooled: an evaluation makes no map.
type activation struct {
	in   Input
	set  *Set    // that asks
	name ref.Val // the tool's name, boxed once per tool
	open bool
	err  error
	said answers // room for what comes of it

	looked bool // does is known
	does   shell.Effects

	gathered bool // texts are known
	texts    []string
	later    bool // a word of a command is decided when it runs
}

// activate takes an activation from the pool.
func (s *Set) activate() *activation { return s.acts.Get().(*activation) }

// release gives it back, empty but for its room.
func (s *Set) release(a *activation) {
	*a = activation{said: answers{parts: a.said.parts[:0]}}
	s.acts.Put(a)
}

var _ cel.Activation = (*activation)(nil)

// openArgs makes sure that the arguments can be read, once.
func (a *activation) openArgs() error {
	if !a.open {
		a.open = true
		if err := a.in.Args.Check(); err != nil {
			a.err = fmt.Errorf("read arguments: %w", err)
		}
	}
	return a.err
}

// Parent is nil: there is nothing else to see.
func (a *activation) Parent() cel.Activation { return nil }

// ResolveName is the value of a variable.
func (a *activation) ResolveName(name string) (any, bool) {
	switch name {
	case "tool":
		return a.name, true
	case "args":
		return (*arguments)(a.in.Args), true
	case "taint":
		return types.Int(a.in.Taint.Distrust()), true
	case "iteration":
		return types.Int(a.in.Iteration), true
	case "agent":
		return types.String(a.in.Agent), true
	case "provider":
		return types.String(a.in.Provider), true
	case "tainted":
		return types.Bool(a.in.Tainted), true
	case "sensitive":
		return types.Bool(a.in.Sensitive), true
	case "act":
		return types.String(a.deed().String()), true
	case "warrant":
		return evidences{of: a.in.Facts}, true
	case "does":
		return deeds{of: a}, true
	}
	if f, ok := factNames[name]; ok {
		return types.Bool(a.fact(f)), true
	}
	if v, ok := a.history(name); ok {
		return v, true
	}
	return a.slot(name)
}

func (a *activation) history(name string) (any, bool) {
	h := a.in.History
	switch name {
	case "calls":
		return counts{of: h, what: History.Calls}, true
	case "results":
		return counts{of: h, what: History.Results}, true
	case "approved":
		return counts{of: h, what: History.Approved}, true
	case "denied":
		if h != nil {
			return types.Int(h.Denied()), true
		}
		return types.IntZero, true
	case "steps":
		if h != nil {
			return types.Int(h.Steps()), true
		}
		return types.IntZero, true
	}
	return nil, false
}

// counts is a map from tool to number in which a missing tool counts 0. It can be
// asked about one tool; it cannot be listed.
type counts struct {
	askable
	of   History
	what func(History, string) int64
}

var _ traits.Mapper = counts{}

// Find is the number for a tool.
func (c counts) Find(key ref.Val) (ref.Val, bool) {
	s, ok := key.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(key), false
	}
	if c.of == nil {
		return types.IntZero, true
	}
	return types.Int(c.what(c.of, tool.Name(string(s)))), true
}

// Get is Find for the index operator.
func (c counts) Get(key ref.Val) ref.Val {
	v, _ := c.Find(key)
	return v
}

// Contains reports whether the tool counts at least 1.
func (c counts) Contains(key ref.Val) ref.Val {
	v, ok := c.Find(key)
	if !ok {
		return v
	}
	return types.Bool(v.(types.Int) > 0)
}

// Value is itself: there is no plain map behind it.
func (c counts) Value() any { return c }
