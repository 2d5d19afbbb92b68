package trust

import "fmt"

// Sensitivity says how much harm a leak would do. The zero value is Private:
// what nobody classified is not assumed to be public.
type Sensitivity int8

// The four sensitivities; a larger number leaks worse.
const (
	Public   Sensitivity = iota - 2 // anyone may read it
	Internal                        // ordinary working data
	Private                         // personal or confidential
	Secret                          // keys, credentials
)

var sensitivityNames = [...]string{"public", "internal", "private", "secret"}

// ParseSensitivity returns the sensitivity of that exact name.
func ParseSensitivity(name string) (Sensitivity, error) {
	for i, n := range sensitivityNames {
		if n == name {
			return Sensitivity(i) + Public, nil
		}
	}
	return Private, fmt.Errorf("unknown sensitivity %q (want public, internal, private or secret)", name)
}

// known is the sensitivity itself; a number that names none counts as the worst.
func (s Sensitivity) known() Sensitivity {
	if s < Public || s > Secret {
		return Secret
	}
	return s
}

// String is the sensitivity's name.
func (s Sensitivity) String() string { return sensitivityNames[s.known()-Public] }

// Join is the more sensitive of both.
func (s Sensitivity) Join(t Sensitivity) Sensitivity { return max(s.known(), t.known()) }

// AppendText writes the name behind b.
func (s Sensitivity) AppendText(b []byte) ([]byte, error) { return append(b, s.String()...), nil }

// MarshalText writes the name.
func (s Sensitivity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText accepts only a known name.
func (s *Sensitivity) UnmarshalText(b []byte) error {
	v, err := ParseSensitivity(string(b))
	if err != nil {
		return err
	}
	*s = v
	return nil
}
