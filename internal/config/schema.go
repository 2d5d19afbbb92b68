package config

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/policy"
)

// SchemaFile is the JSON Schema of tidemark.yaml, for editors: Schema with the words of the
// documentation.
//
//go:embed tidemark.schema.json
var SchemaFile []byte

// Schema is the JSON Schema of a whole file, taken from what Parse asks for.
func Schema() (map[string]any, error) {
	raw, err := policy.Schema()
	if err != nil {
		return nil, err
	}
	var all map[string]any
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, fmt.Errorf("schema of the policy: %w", err)
	}
	d := &decoder{env: func(string) (string, bool) { return "0123456789abcdef", true }}
	own := configfile.Take(func(root *configfile.Node) {
		d.sections(root, &Config{})
	}).Schema()
	props, ok := all["properties"].(map[string]any)
	more, good := own["properties"].(map[string]any)
	if !ok || !good {
		return nil, fmt.Errorf("schema of the file: no properties in %v", own)
	}
	for _, name := range policy.Reserved() {
		if s, ok := more[name]; ok {
			props[name] = s
		}
	}
	for _, f := range formerSections {
		delete(props, f.Name)
	}
	once(all)
	all["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	all["title"] = "tidemark.yaml"
	return all, nil
}

// place is a part of a schema, by its pointer.
type place struct {
	at     string
	schema map[string]any
}

// once leaves each description of several keys where it stands first and points there from everywhere else: what a rule of an agent
// may say is what a rule of the file may, and a person reads it once.
func once(root map[string]any) {
	seen := map[string]string{}
	for queue := below(place{"#", root}); len(queue) > 0; queue = queue[1:] {
		p := queue[0]
		if keys, _ := p.schema["properties"].(map[string]any); len(keys) > 1 {
			text, err := json.Marshal(p.schema)
			if first, again := seen[string(text)]; err == nil && again {
				clear(p.schema)
				p.schema["$ref"] = first
				continue
			}
			seen[string(text)] = p.at
		}
		queue = append(queue, below(p)...)
	}
}

// below are the parts of a part, in the order of their names.
func below(p place) []place {
	var out []place
	add := func(at string, s any) {
		if m, ok := s.(map[string]any); ok {
			out = append(out, place{at, m})
		}
	}
	props, _ := p.schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(props)) {
		add(p.at+"/properties/"+name, props[name])
	}
	add(p.at+"/additionalProperties", p.schema["additionalProperties"])
	add(p.at+"/items", p.schema["items"])
	return out
}
