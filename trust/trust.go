// Package trust holds the two orders everything else stands on: how far content
// is trusted, and how sensitive it is. It is pure and imports nothing of ours.
//
// Invariants:
//   - the zero Level is the least trusted, the zero Label untrusted and private;
//   - Join is associative, commutative and idempotent, and never improves a label;
//   - an unknown name is an error, never a default.
package trust

import "fmt"

// Level says how far content is trusted. The zero value is Untrusted.
type Level uint8

// The six levels, least trusted first so that the zero value is the safe one.
const (
	Untrusted Level = iota // web pages, unknown senders
	External               // mail, chat: known sources that others control
	Shared                 // memory and rooms that others write to
	Local                  // files and command output of this machine
	Owner                  // the verified owner's own words
	System                 // system prompt, operator configuration
)

// NumLevels is how many levels there are; tables are indexed by Level.
const NumLevels = 6

var levelNames = [NumLevels]string{"untrusted", "external", "shared", "local", "owner", "system"}

// Levels lists all levels, most trusted first, as people read them.
func Levels() [NumLevels]Level {
	return [NumLevels]Level{System, Owner, Local, Shared, External, Untrusted}
}

// ParseLevel returns the level of that exact name.
func ParseLevel(name string) (Level, error) {
	for i, n := range levelNames {
		if n == name {
			return Level(i), nil
		}
	}
	return Untrusted, fmt.Errorf("unknown trust level %q (want system, owner, local, shared, external or untrusted)", name)
}

// known is the level itself; a number that names none counts as the worst.
func (l Level) known() Level {
	if l > System {
		return Untrusted
	}
	return l
}

// String is the level's name.
func (l Level) String() string { return levelNames[l.known()] }

// Join is the less trusted of both.
func (l Level) Join(m Level) Level { return min(l.known(), m.known()) }

// Distrust ranks the level for conditions people write: 0 is system, 5 is untrusted.
func (l Level) Distrust() int { return int(System - l.known()) }

// AppendText writes the name behind b.
func (l Level) AppendText(b []byte) ([]byte, error) { return append(b, l.String()...), nil }

// MarshalText writes the name.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText accepts only a known name.
func (l *Level) UnmarshalText(b []byte) error {
	v, err := ParseLevel(string(b))
	if err != nil {
		return err
	}
	*l = v
	return nil
}
