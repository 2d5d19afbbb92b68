package policy

import "github.com/tidemark/tidemark/internal/base/glob"

// toolset is a list of tools by name or pattern.
type toolset struct {
	names map[string]bool
	globs []string
}

func (t toolset) has(name string) bool {
	if t.names[name] {
		return true
	}
	for _, g := range t.globs {
		if glob.Match(g, name) {
			return true
		}
	}
	return false
}

func everyTool() toolset { return toolset{globs: []string{"*"}} }

func tools(names ...string) toolset {
	t := toolset{names: make(map[string]bool, len(names))}
	for _, n := range names {
		t.names[n] = true
	}
	return t
}
