package valueindex

import "fmt"

// Class says where a value came from. The zero value is Unseen.
type Class uint8

// The classes, strictest first so that the zero value is the safe one.
const (
	Unseen   Class = iota // nowhere in the context
	Text                  // in the free text of a result
	Field                 // a structured field of a result
	Anchored              // belongs to what the user named
	System                // in the operator's words
	User                  // in the user's own words
)

var classNames = [...]string{"unseen", "text", "field", "anchored", "system", "user"}

// String is the class's name.
func (c Class) String() string {
	if int(c) >= len(classNames) {
		return classNames[Unseen]
	}
	return classNames[c]
}

// ParseClass returns the class of that exact name.
func ParseClass(name string) (Class, error) {
	for i, n := range classNames {
		if n == name {
			return Class(i), nil
		}
	}
	return Unseen, fmt.Errorf("unknown origin %q (want user, system, anchored, field, text or unseen)", name)
}

// MarshalText writes the name.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText accepts only a known name.
func (c *Class) UnmarshalText(b []byte) error {
	v, err := ParseClass(string(b))
	if err != nil {
		return err
	}
	*c = v
	return nil
}

// Finding is the best answer to where a value came from.
type Finding struct {
	Class    Class
	Tool     string // whose result it stood in
	Step     uint64
	Path     string // of the field, such as "[2].email"; also where Text stood in one
	Field    bool   // it is a structured field, or a typed part of one
	Anchor   string // the user's words that name the record
	Authored bool   // it is a field only of records that say who wrote them
	Beside   bool   // it is a field only of records beside one that the user named
	Near     bool   // a record with it has a telling word of the user's
	Named    bool   // it is free text only of results the user named
	Perhaps  bool   // it is text if the hashes that were kept do not err
	Excerpt  string // the text around it
}

// Result is what a tool brought into the context.
type Result struct {
	Tool     string
	Step     uint64
	Named    bool // the call that brought it carried the user's words
	External bool // it came from beyond this machine
	Free     bool // it is free text, whatever structure it seems to have: its writer's, not the tool's
	Content  []byte
}
