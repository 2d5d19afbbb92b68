// Package tool describes tools as hosts define them, what an agent asks of them and what
// comes back: calls, results, their digests and the spelling of tool names. It is pure and imports
// nothing of ours.
//
// Invariants:
//   - a digest is taken over the exact bytes, length-prefixed, never over re-encoded JSON;
//   - Name is idempotent: Name(Name(x)) == Name(x).
package tool

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
)

// Definition is a tool as its host describes it to the model. Everything but the name may
// be missing. It is written by whoever wrote the tool: heard, and not obeyed.
type Definition struct {
	Name        string
	Description string
	Schema      []byte // JSON Schema of the parameters
	ReadOnly    *bool  // MCP readOnlyHint, as given
	Destructive *bool  // MCP destructiveHint, as given
	OpenWorld   *bool  // MCP openWorldHint, as given

	// Host says whether the tool is the host's own, as the door declares it that handed it
	// in; nil: it cannot tell. Where one tool of a session says so, those that do not are
	// others'.
	Host *bool

	// Looks says that a call only asks, as the door knows that handed it in: it is no tool of anybody's, but a way by which
	// the protocol itself asks a server something.
	Looks bool

	Reading *Reading // what a model read in the above; nil: none has
}

// Call is what the agent asks a tool to do. Args are the exact bytes of the JSON object.
type Call struct {
	ID   string // the host's id for the call, may be empty
	Name string // as the host spells it
	Args []byte
}

// Result is what came back from a call.
type Result struct {
	CallID  string
	Name    string
	Args    []byte // of the call, where the host repeats them
	Content []byte
	Error   bool
	Labels  Labels // what its server says of it
}

// Digest identifies a call (or content) by its exact bytes.
type Digest [sha256.Size]byte

// String is the digest in hex.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// AppendText writes hex behind b.
func (d Digest) AppendText(b []byte) ([]byte, error) { return hex.AppendEncode(b, d[:]), nil }

// MarshalText writes hex.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads hex of the exact length.
func (d *Digest) UnmarshalText(b []byte) error {
	if len(b) != 2*len(d) {
		return fmt.Errorf("digest of %d characters, want %d", len(b), 2*len(d))
	}
	_, err := hex.Decode(d[:], b)
	return err
}

// Digest covers the normalised name and the exact argument bytes.
func (c Call) Digest() Digest {
	name := Name(c.Name)
	var stack [512]byte
	b := binary.AppendUvarint(stack[:0], uint64(len(name)))
	b = append(b, name...)
	b = binary.AppendUvarint(b, uint64(len(c.Args)))
	b = append(b, c.Args...)
	return sha256.Sum256(b)
}

// DigestOf is the digest of plain content.
func DigestOf(content []byte) Digest { return sha256.Sum256(content) }

// Name is the one spelling of a tool's name that policy knows: lower case, '-' and
// blanks as '_', surrounding blanks gone. Hosts disagree on these and on nothing else.
func Name(s string) string {
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c == '_' {
			continue // nearly all of them: this is on the path of every call
		}
		if c >= 'A' && c <= 'Z' || c == '-' || c == ' ' || c >= 0x80 || c < 0x20 {
			return slowName(s)
		}
	}
	return s
}

func slowName(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == ' ' {
			return '_'
		}
		return r
	}, strings.ToLower(strings.TrimSpace(s)))
}
