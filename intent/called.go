package intent

import (
	"maps"
	"slices"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// SignatureOf is a tool as its definition has it, without what it says of itself. A schema that cannot be read has no parameters.
func SignatureOf(name string, schema []byte) Signature {
	out := Signature{Name: name}
	var s struct {
		Properties map[string]strictjson.Value `json:"properties"`
	}
	if len(schema) == 0 || strictjson.Unmarshal(schema, &s) != nil {
		return out
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		var p struct {
			Type strictjson.Value   `json:"type"`
			Enum []strictjson.Value `json:"enum"`
		}
		kind := ""
		if strictjson.Unmarshal(s.Properties[name], &p) == nil && p.Type.Kind() == '"' {
			_ = strictjson.Unmarshal(p.Type, &kind) // a type that is no text is left out
		}
		out.Params = append(out.Params, Parameter{Name: name, Type: kind, Choices: choicesOf(p.Enum)})
	}
	return out
}

// Called is a tool that nobody described, as a call of it shows it: its name, and of its arguments those whose names can say nothing
// but what an argument is. An agent chose them, and what it has read may have chosen for it: no value is looked at, and any other
// name is left out, so that a value under it is in no item.
func Called(name string, args []byte, plain func(argument string) bool) Signature {
	out := Signature{Name: name}
	var fields map[string]strictjson.Value
	if len(args) == 0 || strictjson.Unmarshal(args, &fields) != nil {
		return out
	}
	for _, arg := range slices.Sorted(maps.Keys(fields)) {
		if len(out.Params) < maxArguments && identifier(arg) == arg && plain(arg) {
			out.Params = append(out.Params, Parameter{Name: arg, Type: kinds[byte(fields[arg].Kind())]})
		}
	}
	return out
}

// kinds are what values are, by the sign that they begin with.
var kinds = map[byte]string{'"': "string", '0': "number", 't': "boolean", 'f': "boolean", '[': "array", '{': "object"}

// With is a request with one tool more. Where there is room for it only before the others, it stands there: it is what is asked about.
func (r *Request) With(s Signature) Request {
	out := Request{Words: r.Words, Tools: append(slices.Clip(r.Tools), s)}
	if out.Shown() < len(out.Tools) {
		out.Tools = append([]Signature{s}, r.Tools...)
	}
	return out
}

// Shown is how many of the tools, from the first on, a model is shown.
func (r *Request) Shown() int {
	n, _ := r.listed()
	return n
}
