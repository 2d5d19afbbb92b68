package approval

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/trust"
)

// Standing is what a person said holds from then on, in every session of an agent: calls of a tool that do the same
// to the same aim or, with Reads, that a tool only looks. It is of one definition of the tool and ends with it.
// The zero Standing covers nothing.
type Standing struct {
	ID      string
	Session string // in which it was asked
	Agent   string
	Tool    string      // normalised
	Pin     string      // the definition of the tool it was given for
	Ceiling trust.Level // never covers a context less trusted than the one it was given in
	Keeps   Kept
	Reads   bool
	By      string // who gave it
	Given   int64  // Unix nanoseconds
	Used    int64  // when a call was last let through by it, to a day
}

// The bounds of what is allowed for good.
const (
	StandingIdle = 30 * 24 * time.Hour
	StandingLife = 90 * 24 * time.Hour
)

// Over reports whether it has ended. That a tool only looks ends with the definition, and by being taken back.
func (s *Standing) Over(now int64) bool {
	return !s.Reads && now >= s.Until()
}

// Until is when it ends if nothing uses it; 0: it does not by itself.
func (s *Standing) Until() int64 {
	if s.Reads {
		return 0
	}
	return min(s.Given+int64(StandingLife), max(s.Given, s.Used)+int64(StandingIdle))
}

// Covers reports whether it lets a call through that is asked about for nothing but what a mandate lacks.
func (s *Standing) Covers(c Held, now int64) bool {
	switch {
	case s.Reads || c.Danger || c.Open || s.Over(now):
		return false
	case s.Agent != c.Agent || s.Tool != c.Tool || s.Pin == "" || s.Pin != c.Pin || c.Level < s.Ceiling:
		return false
	case c.Counts != nil && !c.Counts(s.By):
		return false
	}
	return s.Keeps.Act == c.Act && s.Keeps.Lasts() && s.Keeps.stands(c)
}

// Lasts reports whether calls like this one can be allowed for good: they do something that can be undone, to somebody or
// somewhere that is known.
func (k *Kept) Lasts() bool { return k.Act != "" && k.Salt != "" && len(k.Aims) > 0 && !k.Grave() }

// stands reports whether a call has the same aims, and nothing else in it that nobody stands for: every other argument is
// the one that was shown, or no more than it, or the user's own or said, or a text that is looked at.
func (k *Kept) stands(c Held) bool {
	if k.Tool != c.Tool || c.Args == nil {
		return false
	}
	fields, err := c.Args.Fields()
	if err != nil {
		return false
	}
	have := flat(fields)
	for path := range k.Fixed {
		if have[path] == nil {
			return false
		}
	}
	for path, v := range have {
		want, fixed := k.Fixed[path]
		d, plain := k.digest(path, v)
		switch {
		case slices.Contains(k.Free, path) || fixed && plain && d == want:
		case !fixed || slices.Contains(k.Aims, path):
			return false
		case !k.within(path, v, nil) && (c.Vouched == nil || !c.Vouched(path)):
			return false
		}
	}
	return true
}

// OpensAlways says for people what a call of a mandate opens for good.
func (k *Kept) OpensAlways() string {
	var same, more []string
	for _, path := range slices.Sorted(maps.Keys(k.Fixed)) {
		switch _, measured := k.Most[path]; {
		case slices.Contains(k.Aims, path):
			same = append(same, path)
		case measured:
			more = append(more, fmt.Sprintf("%s up to %v", path, k.Most[path]))
		default:
			more = append(more, path+" as it is here, or as you say it")
		}
	}
	if len(k.Free) > 0 {
		more = append(more, "another "+strings.Join(k.Free, ", ")+", which is still looked at")
	}
	out := k.Tool + " with the same " + strings.Join(same, ", ")
	if len(more) > 0 {
		out += ", " + strings.Join(more, ", ")
	}
	return out + "; in every session of this agent, until it is unused for 30 days, or 90 have passed"
}

// String says for people what it lets through.
func (s *Standing) String() string {
	if s.Reads {
		return s.Tool + " only reads, as long as its definition stays as it is"
	}
	return s.Keeps.OpensAlways()
}
