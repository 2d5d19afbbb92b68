package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/trust"
)

// Presets are the names of the shipped presets; the first is what an empty file is.
func Presets() []string {
	out := make([]string, len(presets))
	for i := range presets {
		out[i] = presets[i].name
	}
	return out
}

// PresetText is a shipped preset in the language of any file. A preset of modes has no file of its
// own; it is written as the keys that say the same.
func PresetText(name string) (string, error) {
	i := slices.Index(Presets(), name)
	if i < 0 {
		return "", fmt.Errorf("there is no preset %q (there are %s)", name, strings.Join(Presets(), ", "))
	}
	if src, err := presetFiles.ReadFile("presets/" + name + ".yaml"); err == nil {
		return string(src), nil
	}
	var b strings.Builder
	b.WriteString("# By the level of the context alone.\ntaintPolicy:\n")
	for j, l := range trust.Levels() {
		fmt.Fprintf(&b, "  %s: %s\n", l, entry{effect: presets[i].modes[j]}.word())
	}
	fmt.Fprintf(&b, "maxIterations: %d\n", presets[i].cap)
	return b.String(), nil
}

// Schema is the keys of a policy file as JSON Schema. It is taken from what Parse asks for, so
// that no key is missing; the Reserved ones are described by whoever reads them.
func Schema() ([]byte, error) {
	shape := configfile.Take(func(root *configfile.Node) {
		r := newReader(root)
		r.readGroups(root.Get("groups"))
		r.Fields(root, r.fields())
		r.finish()
	})
	return strictjson.Marshal(shape.Schema())
}
