// Package facts is what a policy may ask about one call, answered from the conversation it is made in. It is pure.
package facts

import (
	"slices"

	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

// Call is what stands behind a call, worked out when a rule asks for the first time.
type Call struct {
	Of    *warrant.Context
	Name  string
	Args  *tool.Args
	Found *warrant.Warrant // nil: nobody asked yet

	Unargued, Inside bool // the branch has seen less than the rest of the session
	UserUnheard, Led bool // nobody can hear the user, and nothing came in from elsewhere; it runs what was written after others spoke
}

var _ policy.Facts = (*Call)(nil)

func (f *Call) get() *warrant.Warrant {
	if f.Found == nil {
		f.Found = f.read()
	}
	return f.Found
}

func (f *Call) read() (w *warrant.Warrant) {
	switch {
	case f.Led:
		f.Of.Led(func() { w = f.Of.Of(f.Name, f.Args) })
	case f.UserUnheard:
		f.Of.Wordless(func() { w = f.Of.Of(f.Name, f.Args) })
	default:
		f.Of.Within(!f.Unargued, !f.Inside, func() { w = f.Of.Of(f.Name, f.Args) })
	}
	return w
}

// Judged is what stands behind the call.
func (f *Call) Judged() *warrant.Warrant { return f.get() }

// Keys are the parameters that hold credentials. Asking for them is no question about the call.
func (f *Call) Keys() []string {
	if f.Found != nil {
		return f.Found.Paths(warrant.Key)
	}
	return f.read().Paths(warrant.Key)
}

// Words are the warrant in one line, for the log; empty where no rule asked for it.
func (f *Call) Words(asked policy.Facts) string {
	if asked == nil || f.Found == nil {
		return ""
	}
	return f.Found.String()
}

// Deed implements policy.Facts.
func (f *Call) Deed() policy.Deed { return f.get().Deed }

// Evidence implements policy.Facts.
func (f *Call) Evidence(of policy.Slot) (policy.Evidence, bool) {
	if of.Path != "" {
		return f.get().LeastAt(of.Path)
	}
	return f.get().Least(of.Kind)
}

// Is implements policy.Facts. Most rules end at what needs no look at the values.
func (f *Call) Is(fact policy.Fact) bool {
	if v, ok := f.Of.Is(fact, f.Name); ok {
		argues, beyond := fact == warrant.FactArgued, fact == warrant.FactOutside
		return f.Led && (argues || beyond) || v && !(argues && f.Unargued) && !(beyond && f.Inside)
	}
	switch fact {
	case warrant.FactActs:
		return f.get().Deed != warrant.Read
	case warrant.FactDanger:
		return f.get().Danger
	case warrant.FactDictated:
		return f.Of.Dictated(f.Args)
	case warrant.FactContained:
		return f.get().Danger && f.get().Contained
	case warrant.FactInterferes:
		return f.get().Interferes
	}
	return false
}

// Values implements policy.Facts.
func (f *Call) Values(slot policy.SlotKind) []string {
	var out []string
	for i := range f.get().Slots {
		if s := &f.Found.Slots[i]; s.Kind == slot && !slices.Contains(out, s.Value) {
			out = append(out, s.Value)
		}
	}
	return out
}

// Fault implements policy.Facts, without anything that was read.
func (f *Call) Fault(slot policy.SlotKind) string { return f.get().Fault(slot) }
