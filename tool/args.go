package tool

import (
	"errors"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

var errNotObject = errors.New("arguments are not a JSON object")

// Args are a call's arguments, parsed at most once and only if something asks.
// The zero Args are an empty object.
type Args struct {
	raw    []byte
	parsed bool
	fields map[string]any
	err    error

	text    string // the raw bytes, once somebody needs parts of them as text
	plain   bool   // members hold every field
	count   int
	members [maxMembers]member
}

// NewArgs wraps the exact bytes of a call.
func NewArgs(raw []byte) Args { return Args{raw: raw} }

// Reset makes a be about other bytes. It leaves alone what is not looked at before it is
// written: a decision should not pay for it.
func (a *Args) Reset(raw []byte) {
	a.raw, a.parsed, a.fields, a.err, a.text, a.plain, a.count = raw, false, nil, nil, "", false, 0
}

// Raw is the exact bytes.
func (a *Args) Raw() []byte { return a.raw }

// Fields is the parsed object. What is not a JSON object, has a key twice (in whatever
// case) or invalid UTF-8 is an error: the caller must treat it as the worst.
func (a *Args) Fields() (map[string]any, error) {
	if a.parsed {
		return a.fields, a.err
	}
	a.parsed = true
	if len(a.raw) == 0 {
		return nil, nil
	}
	if a.plain = a.plain || a.split(); a.plain {
		a.fields = a.gather()
		return a.fields, nil
	}
	var v any // decoding without a type is twice as fast as into a map
	if a.err = strictjson.Unmarshal(a.raw, &v); a.err != nil {
		return nil, a.err
	}
	var ok bool
	if a.fields, ok = v.(map[string]any); !ok {
		a.err = errNotObject
	}
	return a.fields, a.err
}

// Text is the string field of that name, if there is one.
func (a *Args) Text(field string) (string, bool) {
	f, err := a.Fields()
	if err != nil {
		return "", false
	}
	s, ok := f[field].(string)
	return s, ok
}
