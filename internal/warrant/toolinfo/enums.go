package toolinfo

import (
	"fmt"
	"slices"
)

// Act is what a tool does. The zero Act is Unknown.
type Act uint8

// The acts.
const (
	Unknown Act = iota
	Read        // looks something up, or computes
	Create      // makes something new of the user's own
	Change      // changes what exists
	Delete      // removes, cancels, revokes
	Send        // tells somebody something, publishes
	Pay         // spends or commits money
	Execute     // runs a program, a command, a job
	Grant       // gives access, changes credentials, lets somebody in
)

var actNames = []string{"unknown", "read", "create", "change", "delete", "send", "pay", "execute", "grant"}

// String is the word for it.
func (a Act) String() string { return word(actNames, uint8(a)) }

// MarshalText writes the word.
func (a Act) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads the word.
func (a *Act) UnmarshalText(b []byte) error { return parse(a, "act", actNames, b) }

// Gravity is how much a call can do that cannot be taken back. The zero Gravity is High.
type Gravity uint8

// The gravities, gravest first.
const (
	High Gravity = iota // outward, irreversible, or not understood
	Low                 // a reversible change of the user's own, or a read that reaches a chosen address
	None                // reads and computes
)

var gravityNames = []string{"high", "low", "none"}

// String is the word for it.
func (g Gravity) String() string { return word(gravityNames, uint8(g)) }

// MarshalText writes the word.
func (g Gravity) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalText reads the word.
func (g *Gravity) UnmarshalText(b []byte) error { return parse(g, "gravity", gravityNames, b) }

// Role is what a parameter is for. The zero Role is Unclear.
type Role uint8

// The roles.
const (
	Unclear    Role = iota
	Target          // who or what is reached outside
	Command         // what is run
	Credential      // a secret
	Content         // what is said or stored
	Selector        // what is looked up or acted on
	Amount          // how much
	Control         // flags, limits, formats
)

var roleNames = []string{"unknown", "target", "command", "credential", "content", "selector", "amount", "control"}

// String is the word for it.
func (r Role) String() string { return word(roleNames, uint8(r)) }

// MarshalText writes the word.
func (r Role) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads the word.
func (r *Role) UnmarshalText(b []byte) error { return parse(r, "role", roleNames, b) }

// Kind is what the values of a parameter look like. The zero Kind says nothing.
type Kind uint8

// The kinds.
const (
	Plain Kind = iota
	Email
	URL
	Host
	IBAN
	Phone
	Path
	ID
	Person
	Date
	Money
	Code
	Text
	Audience // people nobody can list: anyone, the public
)

var kindNames = []string{"none", "email", "url", "host", "iban", "phone", "path", "id", "person", "date", "money",
	"code", "text", "audience"}

// kindWords are for people.
var kindWords = []string{"", "e-mail address", "URL", "host", "bank account", "phone number", "file path", "id",
	"person or group", "date or time", "sum of money", "program text", "text", "audience"}

// String is the word for it.
func (k Kind) String() string { return word(kindNames, uint8(k)) }

// MarshalText writes the word.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads the word.
func (k *Kind) UnmarshalText(b []byte) error { return parse(k, "kind", kindNames, b) }

func word(names []string, i uint8) string {
	if int(i) < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%d", i)
}

func parse[T ~uint8](to *T, what string, names []string, b []byte) error {
	i := slices.Index(names, string(b))
	if i < 0 {
		return fmt.Errorf("read %s: %q is none of %v", what, b, names)
	}
	*to = T(i)
	return nil
}
