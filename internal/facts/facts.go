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

// Act implements policy.Facts.
func (f *Call) Act() string { return f.get().Deed.String() }

// Deed is Act before it has a name.
func (f *Call) Deed() warrant.Deed { return f.get().Deed }

// Least is Warrant for a kind of slot.
func (f *Call) Least(slot warrant.Kind) (warrant.Evidence, bool) { return f.get().Least(slot) }

// Is implements policy.Facts. Most rules end at what needs no look at the values.
func (f *Call) Is(name string) bool {
	if v, ok := f.Of.Is(name, f.Name); ok {
		argues, beyond := name == "argued", name == "outside"
		return f.Led && (argues || beyond) || v && !(argues && f.Unargued) && !(beyond && f.Inside)
	}
	switch name {
	case "acts":
		return f.get().Deed != warrant.Read
	case "danger":
		return f.get().Danger
	case "dictated":
		return f.Of.Dictated(f.Args)
	}
	return false
}

// Warrant implements policy.Facts.
func (f *Call) Warrant(what string) string { return f.get().Weakest(what) }

// Values implements policy.Facts.
func (f *Call) Values(slot string) []string {
	var out []string
	for i := range f.get().Slots {
		if s := &f.Found.Slots[i]; s.Kind.String() == slot && !slices.Contains(out, s.Value) {
			out = append(out, s.Value)
		}
	}
	return out
}

// Contained reports whether all the danger of a command is in files that it runs and that nobody has read.
func (f *Call) Contained() bool { return f.get().Danger && f.get().Contained }

// Interferes reports whether the answer would have hung on what nobody named.
func (f *Call) Interferes() bool { return f.get().Interferes }

// Fault says what speaks against a slot, without anything that was read.
func (f *Call) Fault(what string) string { return f.get().Fault(what) }
