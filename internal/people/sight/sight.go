// Package sight says whose sessions somebody may look into, and so which questions, records, pictures and exports they are shown. It
// is pure but for asking whose a session is.
//
// Invariant: what was not granted is hidden. The zero Sight sees nothing, and a session whose agent nobody knows is seen by those
// alone who see everything.
package sight

import (
	"context"
	"slices"

	"github.com/tidemark/tidemark/internal/base/glob"
	"github.com/tidemark/tidemark/internal/engine"
)

// Sight is what somebody may see.
type Sight struct {
	whole  bool
	agents []string // patterns of ids
	shared []Sight  // what each of several people sees; none: they are not several
}

// Shared is what all of several people see; of nobody, nothing.
func Shared(people []Sight) Sight { return Sight{shared: people} }

// Everything is the sight of whoever sees all there is.
func Everything() Sight { return Sight{whole: true} }

// Of is the sight of some agents, by patterns of their ids. Even "*" is only of sessions: what is told of all of them together, or
// of none, takes Everything.
func Of(agents []string) Sight { return Sight{agents: agents} }

// Whole reports whether it sees everything.
func (s Sight) Whole() bool { return s.whole }

// Agent reports whether it sees the sessions of an agent.
func (s Sight) Agent(id string) bool {
	if len(s.shared) > 0 {
		return !slices.ContainsFunc(s.shared, func(one Sight) bool { return !one.Agent(id) })
	}
	return s.whole || id != "" && slices.ContainsFunc(s.agents, func(p string) bool { return glob.Match(p, id) })
}

type key struct{}

// With is a context of somebody who sees so much.
func With(ctx context.Context, s Sight) context.Context { return context.WithValue(ctx, key{}, s) }

// From is what whoever a context belongs to may see; where nobody said, nothing.
func From(ctx context.Context) Sight {
	s, _ := ctx.Value(key{}).(Sight)
	return s
}

// Monitor knows whose sessions are.
type Monitor interface {
	Standing(ctx context.Context, ref engine.Ref) (engine.Standing, error)
}

// Look tells for one request or stream which sessions are seen. It is not safe for concurrent use.
type Look struct {
	Sight
	monitor Monitor
	known   map[string]bool
}

// At begins to look as whoever a context belongs to.
func At(ctx context.Context, m Monitor) *Look { return &Look{From(ctx), m, map[string]bool{}} }

// Session reports whether a session is seen. One that cannot be read is not, and is looked at again the next time.
func (l *Look) Session(ctx context.Context, name string) bool {
	if l.Whole() {
		return true
	}
	if seen, ok := l.known[name]; ok {
		return seen
	}
	s, err := l.monitor.Standing(ctx, engine.Ref{Session: name})
	if err != nil || s.Agent == "" {
		return false
	}
	if len(l.known) >= maxKnown {
		clear(l.known)
	}
	l.known[name] = l.Agent(s.Agent)
	return l.known[name]
}

// maxKnown bounds what a stream keeps.
const maxKnown = 4096
