package endpoint

import "fmt"

// Secret is text that never prints.
type Secret string

const hidden = "[secret]"

// String hides the secret.
func (Secret) String() string { return hidden }

// GoString hides it from %#v too.
func (Secret) GoString() string { return hidden }

// Format hides it from every verb: some print the bytes of what they do not know.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(hidden)) }

// MarshalText hides it from encoders.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }
