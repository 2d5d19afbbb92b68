package httpapi

import (
	_ "embed" // what fields are
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// fieldsText says what the fields of types are that have no doc tags: those of packages that know nothing of HTTP. A line is
// "Schema.field: what it is"; "*.field" holds for every schema that has no line of its own for it.
//
//go:embed fields.txt
var fieldsText string

// describeFields completes the document: everything that is sent or answered says what it is.
func describeFields(doc *huma.OpenAPI) {
	about := map[string]string{}
	for line := range strings.Lines(fieldsText) {
		if name, text, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && !strings.HasPrefix(name, "#") {
			about[name] = text
		}
	}
	for name, s := range doc.Components.Schemas.Map() {
		describeProperties(about, name, s)
	}
}

// describeProperties does so for one schema and those that stand inside it.
func describeProperties(about map[string]string, name string, s *huma.Schema) {
	if s == nil {
		return
	}
	for field, p := range s.Properties {
		at := name + "." + field
		if p.Description == "" {
			p.Description = about[at]
		}
		if p.Description == "" {
			p.Description = about["*."+field]
		}
		describeProperties(about, at, p)
	}
	describeProperties(about, name, s.Items)
	if more, ok := s.AdditionalProperties.(*huma.Schema); ok {
		describeProperties(about, name, more)
	}
}
