package httpapi

import (
	"maps"
	"slices"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/strictjson"
)

// declaration is where a tool or a result can ask for caution (CAU-08): MCP metadata and
// annotations, or the metadata of an OpenClaw skill. Only a plain true counts, and it
// only ever switches caution on.
type declaration struct {
	Meta        strictjson.Value `json:"_meta"`
	Annotations strictjson.Value `json:"annotations"`
	Metadata    strictjson.Value `json:"metadata"`
	Function    strictjson.Value `json:"function"`
}

// declaresCaution reads a tool's definition or a result.
func declaresCaution(object strictjson.Value) bool {
	var d declaration
	if object.Kind() != '{' || strictjson.Unmarshal(object, &d) != nil {
		return false
	}
	return flagged(d.Meta) || flagged(d.Annotations) || flagged(d.Metadata) || flagged(d.Function)
}

// flagged looks for caution in an object, or in one of the names it may stand under.
func flagged(object strictjson.Value) bool {
	var f struct {
		Caution  strictjson.Value `json:"caution"`
		OpenClaw strictjson.Value `json:"openclaw"`
		Tidemark strictjson.Value `json:"tidemark"`
		Hint     strictjson.Value `json:"cautionHint"`
		Spaced   strictjson.Value `json:"tidemark/caution"`
		Meta     strictjson.Value `json:"metadata"`
	}
	if object.Kind() != '{' || strictjson.Unmarshal(object, &f) != nil {
		return false
	}
	for _, v := range []strictjson.Value{f.Caution, f.Hint, f.Spaced} {
		if v.Kind() == 't' {
			return true
		}
	}
	return flagged(f.OpenClaw) || flagged(f.Tidemark) || flagged(f.Meta)
}

// The bounds on what is kept of a host's tools.
const (
	maxDefinitions = 256
	maxDescription = 500
)

// definitions are the tools as the host describes them, for per-task constraints, and
// the names of those that ask for caution.
func definitions(tools []hook.Tool) (list []intent.Definition, cautious []string) {
	for _, t := range tools {
		raw := t.Raw()
		if declaresCaution(raw) {
			cautious = append(cautious, t.Name())
		}
		if len(list) < maxDefinitions {
			list = append(list, definition(t.Name(), raw))
		}
	}
	return list, cautious
}

func definition(name string, raw strictjson.Value) intent.Definition {
	type schema struct {
		Properties map[string]strictjson.Value `json:"properties"`
	}
	type body struct {
		Description string `json:"description"`
		Parameters  schema `json:"parameters"`
		Input       schema `json:"input_schema"`
		InputSchema schema `json:"inputSchema"`
	}
	var d struct {
		body
		Function body `json:"function"`
	}
	out := intent.Definition{Name: name}
	if raw.Kind() != '{' || strictjson.Unmarshal(raw, &d) != nil {
		return out
	}
	for _, b := range []body{d.body, d.Function} {
		if out.Description == "" {
			out.Description = cut(b.Description, maxDescription)
		}
		for _, s := range []schema{b.Parameters, b.Input, b.InputSchema} {
			for _, p := range slices.Sorted(maps.Keys(s.Properties)) {
				if len(out.Params) < 32 {
					out.Params = append(out.Params, cut(p, 64))
				}
			}
		}
	}
	return out
}

func cut(s string, n int) string {
	for i := range s {
		if i >= n {
			return s[:i]
		}
	}
	return s
}
