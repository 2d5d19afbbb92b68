// Package strictjson is the one place that knows which JSON library we use. It
// rejects what two parsers could read differently: duplicate keys, invalid UTF-8,
// trailing bytes, nesting deeper than MaxDepth and, in objects of free form, keys that
// differ only in case. (A struct takes a key in its exact spelling alone.)
package strictjson

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is the deepest nesting accepted. Nothing an agent says needs more.
const MaxDepth = 200

// ErrTooDeep is returned for nesting beyond MaxDepth.
var ErrTooDeep = errors.New("nested too deeply")

// Value is a raw JSON value, kept byte for byte.
type Value = jsontext.Value

// Unmarshal decodes exactly one value. Unknown fields are ignored: hosts add some.
func Unmarshal(data []byte, v any) error {
	if err := checkDepth(data); err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return plain(err)
	}
	return checkCase(v)
}

// UnmarshalKnown is Unmarshal that refuses unknown fields too.
func UnmarshalKnown(data []byte, v any) error {
	if err := checkDepth(data); err != nil {
		return err
	}
	return plain(json.Unmarshal(data, v, json.RejectUnknownMembers(true)))
}

// Marshal encodes v; map keys are sorted so that equal values give equal bytes.
func Marshal(v any) ([]byte, error) {
	return json.Marshal(v, json.Deterministic(true))
}

// MarshalIndent is Marshal for people.
func MarshalIndent(v any) ([]byte, error) {
	return json.Marshal(v, json.Deterministic(true), jsontext.WithIndent("  "))
}

// Append encodes v onto b.
func Append(b []byte, v any) ([]byte, error) {
	out, err := json.Marshal(v)
	return append(b, out...), err
}

// Write encodes v to w.
func Write(w io.Writer, v any) error { return json.MarshalWrite(w, v, json.Deterministic(true)) }

func plain(err error) error {
	var s *jsontext.SyntacticError
	if errors.As(err, &s) {
		return fmt.Errorf("invalid JSON at byte %d: %w", s.ByteOffset, s.Err)
	}
	var m *json.SemanticError
	if errors.As(err, &m) {
		if m.JSONPointer != "" {
			return fmt.Errorf("JSON value at %s does not fit: want %v", m.JSONPointer, m.GoType)
		}
		return fmt.Errorf("JSON value does not fit: want %v", m.GoType)
	}
	return err
}

// checkDepth looks at brackets outside strings. It runs before the parser so that
// hostile nesting costs one scan.
func checkDepth(data []byte) error {
	depth, inString := 0, false
	for i := 0; i < len(data); i++ {
		c := data[i]
		if inString {
			switch c {
			case '\\':
				i++
			case '"':
				inString = false
			}
			continue
		}
		switch c {
		case '"':
			inString = true
		case '{', '[':
			if depth++; depth > MaxDepth {
				return fmt.Errorf("%w: more than %d levels at byte %d", ErrTooDeep, MaxDepth, i)
			}
		case '}', ']':
			depth--
		}
	}
	return nil
}

// Canonical is a JSON text as RFC 8785 writes it: two that say the same are the same bytes. Whole numbers keep all their
// digits, because two that a float cannot tell apart are two. What is given stays as it is.
func Canonical(raw []byte) ([]byte, error) {
	value := jsontext.Value(raw).Clone()
	if err := value.Canonicalize(jsontext.CanonicalizeRawInts(false)); err != nil {
		return nil, err
	}
	return value, nil
}
