package headless

import (
	"fmt"
	"maps"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// catalog is a list of models that a program prints and reads: what stands in it decides which tools it sends.
type catalog struct {
	Argv   []string                    `json:"argv"`   // prints it
	List   string                      `json:"list"`   // the member that lists the models
	Key    string                      `json:"key"`    // of a model: its name
	File   string                      `json:"file"`   // that it is read from
	System string                      `json:"system"` // of a model: its instructions
	Set    map[string]strictjson.Value `json:"set"`    // of the model
}

// of is the catalogue with the one model that is asked, and nothing that it could do.
func (c *catalog) of(printed []byte, model, system string) ([]byte, error) {
	var all map[string]strictjson.Value
	var list []map[string]strictjson.Value
	if err := strictjson.Unmarshal(printed, &all); err != nil {
		return nil, fmt.Errorf("read its models: %w", err)
	}
	if err := strictjson.Unmarshal(all[c.List], &list); err != nil {
		return nil, fmt.Errorf("read its models: %w", err)
	}
	for _, m := range list {
		var name string
		if strictjson.Unmarshal(m[c.Key], &name) != nil || name != model {
			continue
		}
		m = maps.Clone(m)
		maps.Copy(m, c.Set)
		text, err := strictjson.Marshal(system)
		if err != nil {
			return nil, err
		}
		m[c.System] = text
		return strictjson.Marshal(map[string]any{c.List: []any{m}})
	}
	return nil, fmt.Errorf("it has no model %q", model)
}
