package config

import (
	_ "embed"
	"encoding/json"
	"fmt"

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
	all["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	all["title"] = "tidemark.yaml"
	return all, nil
}
