package replay

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/trust"
)

// Show is a question as the person reads it: what is asked, the call with each argument's
// value as it is (secrets apart), what made the context distrusted, and what the user
// had asked for.
func Show(q *tidemark.Question) string {
	var b strings.Builder
	b.WriteString(q.Prompt)
	fmt.Fprintf(&b, "\nCall: %s", q.Tool)
	for _, v := range valuesOf(q.Args) {
		fmt.Fprintf(&b, "\n  %s: %s", v.path, v.text)
	}
	for _, v := range q.Values {
		fmt.Fprintf(&b, "\n%s", tidemark.Whence(v))
	}
	for _, s := range q.Sources {
		fmt.Fprintf(&b, "\nContext holds: %s", tidemark.Evidence(trust.Label{Sources: []trust.Source{s}}))
	}
	for _, w := range q.Words {
		fmt.Fprintf(&b, "\nYou said: %s", w.Text)
	}
	return b.String()
}

// value is one value of a call's arguments, with where in them it stands.
type value struct{ path, text string }

// valuesOf takes arguments apart so that each value stands there as it is, not as JSON
// spells it. What cannot be taken apart, because it was cut or is no JSON, comes last as
// it is.
func valuesOf(args string) []value {
	var out []value
	d := jsontext.NewDecoder(bytes.NewReader([]byte(args)), jsontext.AllowDuplicateNames(true))
	_ = collect(d, "", &out) // how far it got is all that matters
	rest := strings.Trim(args[min(int(d.InputOffset()), len(args)):], " ,:")
	if rest != "" {
		out = append(out, value{"(rest)", rest})
	}
	return out
}

// collect appends the leaves of the next value.
func collect(d *jsontext.Decoder, path string, out *[]value) error {
	if d.StackDepth() > strictjson.MaxDepth {
		return strictjson.ErrTooDeep
	}
	switch d.PeekKind() {
	case '{':
		return collectObject(d, path, out)
	case '[':
		return collectArray(d, path, out)
	case '"':
		t, err := d.ReadToken()
		if err == nil {
			*out = append(*out, value{path, t.String()})
		}
		return err
	}
	raw, err := d.ReadValue()
	if err == nil {
		*out = append(*out, value{path, string(raw)})
	}
	return err
}

func collectObject(d *jsontext.Decoder, path string, out *[]value) error {
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

func collectArray(d *jsontext.Decoder, path string, out *[]value) error {
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
