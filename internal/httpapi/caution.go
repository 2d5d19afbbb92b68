package httpapi

import (
	"slices"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/tool"
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
	for _, v := range []strictjson.Value{d.Meta, d.Annotations, d.Metadata, d.Function} {
		if flagged(v, maxNested) {
			return true
		}
	}
	return false
}

// maxNested is how deep caution is looked for: function, metadata, openclaw. What is
// deeper is read over and over for nothing.
const maxNested = 3

// flagged looks for caution in an object, or in one of the names it may stand under.
func flagged(object strictjson.Value, depth int) bool {
	var f struct {
		Caution     strictjson.Value `json:"caution"`
		OpenClaw    strictjson.Value `json:"openclaw"`
		Tidemark    strictjson.Value `json:"tidemark"`
		Hint        strictjson.Value `json:"cautionHint"`
		Spaced      strictjson.Value `json:"tidemark/caution"`
		Meta        strictjson.Value `json:"_meta"`
		Annotations strictjson.Value `json:"annotations"`
		Metadata    strictjson.Value `json:"metadata"`
	}
	if depth == 0 || object.Kind() != '{' || strictjson.Unmarshal(object, &f) != nil {
		return false
	}
	for _, v := range []strictjson.Value{f.Caution, f.Hint, f.Spaced} {
		if v.Kind() == 't' {
			return true
		}
	}
	for _, v := range []strictjson.Value{f.OpenClaw, f.Tidemark, f.Meta, f.Annotations, f.Metadata} {
		if flagged(v, depth-1) {
			return true
		}
	}
	return false
}

// The bounds on what is kept of a host's tools.
const (
	maxDefinitions = 256
	maxDescription = 2000
	maxSchema      = 64 << 10
)

// describedBy are the tools as the host describes them, for rules and per-task constraints, and
// the names of those that ask for caution. Which are the host's own is its to say; nil: it
// does not.
func describedBy(tools []hook.Tool, own []string) (list []tool.Definition, cautious []string) {
	for _, t := range tools {
		raw := t.Raw()
		if declaresCaution(raw) {
			cautious = append(cautious, t.Name())
		}
		if len(list) < maxDefinitions {
			d := definition(t.Name(), raw)
			if own != nil {
				is := slices.Contains(own, t.Name())
				d.Host = &is
			}
			list = append(list, d)
		}
	}
	return list, cautious
}

func definition(name string, raw strictjson.Value) tool.Definition {
	type body struct {
		Description strictjson.Value `json:"description"`
		Parameters  strictjson.Value `json:"parameters"`
		Input       strictjson.Value `json:"input_schema"`
		InputSchema strictjson.Value `json:"inputSchema"`
	}
	type hints struct {
		ReadOnly    *bool `json:"readOnlyHint"`
		Destructive *bool `json:"destructiveHint"`
		OpenWorld   *bool `json:"openWorldHint"`
	}
	var d struct {
		body
		Function    strictjson.Value `json:"function"`
		Annotations strictjson.Value `json:"annotations"`
	}
	out := tool.Definition{Name: name}
	if raw.Kind() != '{' || strictjson.Unmarshal(raw, &d) != nil {
		return out
	}
	inner := d.body
	if d.Function.Kind() == '{' {
		_ = strictjson.Unmarshal(d.Function, &inner) // what cannot be read is not known
	}
	if inner.Description.Kind() == '"' {
		_ = strictjson.Unmarshal(inner.Description, &out.Description)
		out.Description = text.Cover(out.Description, maxDescription)
	}
	for _, s := range []strictjson.Value{inner.Parameters, inner.Input, inner.InputSchema} {
		if s.Kind() == '{' && len(s) <= maxSchema {
			out.Schema = slices.Clone(s)
			break
		}
	}
	var h hints
	if d.Annotations.Kind() == '{' && strictjson.Unmarshal(d.Annotations, &h) == nil {
		out.ReadOnly, out.Destructive, out.OpenWorld = h.ReadOnly, h.Destructive, h.OpenWorld
	}
	return out
}
