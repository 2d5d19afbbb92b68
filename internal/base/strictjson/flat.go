package strictjson

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Leaf is one value of a JSON text, with where in it the value stands.
type Leaf struct{ Path, Text string }

// Flat takes a JSON text apart so that each value stands there as it is, not as JSON spells
// it. What cannot be taken apart, because it was cut or is no JSON, comes last as it is.
func Flat(text string) []Leaf {
	var out []Leaf
	d := jsontext.NewDecoder(bytes.NewReader([]byte(text)), jsontext.AllowDuplicateNames(true))
	_ = collect(d, "", &out) // how far it got is all that matters
	rest := strings.Trim(text[min(int(d.InputOffset()), len(text)):], " ,:")
	if rest != "" {
		out = append(out, Leaf{"(rest)", rest})
	}
	return out
}

// collect appends the leaves of the next value.
func collect(d *jsontext.Decoder, path string, out *[]Leaf) error {
	if d.StackDepth() > MaxDepth {
		return ErrTooDeep
	}
	switch d.PeekKind() {
	case '{':
		return collectObject(d, path, out)
	case '[':
		return collectArray(d, path, out)
	case '"':
		t, err := d.ReadToken()
		if err == nil {
			*out = append(*out, Leaf{path, t.String()})
		}
		return err
	}
	raw, err := d.ReadValue()
	if err == nil {
		*out = append(*out, Leaf{path, string(raw)})
	}
	return err
}

func collectObject(d *jsontext.Decoder, path string, out *[]Leaf) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		below := name.String()
		if path != "" {
			below = path + "." + below
		}
		if err := collect(d, below, out); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

func collectArray(d *jsontext.Decoder, path string, out *[]Leaf) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for i := 0; d.PeekKind() != ']'; i++ {
		if err := collect(d, fmt.Sprintf("%s[%d]", path, i), out); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}
