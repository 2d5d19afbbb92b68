package wire

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Canonical is one spelling for all spellings of a JSON value, so that two programs which
// write the same value agree: sorted keys, no white space, strings and fractions in their
// shortest form (RFC 8785). Integers stay as they are written, because rounding them as the
// RFC does would make two different values one.
func Canonical(value []byte) ([]byte, error) {
	var v any
	if err := strictjson.Unmarshal(value, &v); err != nil { // depth, and keys that differ in case
		return nil, err
	}
	out, err := jsontext.AppendFormat(nil, value,
		jsontext.ReorderRawObjects(true), jsontext.CanonicalizeRawFloats(true), jsontext.CanonicalizeRawInts(false))
	if err != nil {
		return nil, plain(err)
	}
	return bytes.TrimSpace(out), nil
}

// Escape writes the line ends that some readers of streams know, and JSON does not, so that no
// reader finds one inside a message. They can stand only in strings, so the value stays what it is.
func Escape(message []byte) []byte {
	for _, sep := range separators {
		if bytes.Contains(message, sep.raw) {
			message = bytes.ReplaceAll(message, sep.raw, sep.escaped)
		}
	}
	return message
}

var separators = []struct{ raw, escaped []byte }{
	{[]byte("\u2028"), []byte(`\u2028`)}, {[]byte("\u2029"), []byte(`\u2029`)}, {[]byte("\u0085"), []byte(`\u0085`)},
}
