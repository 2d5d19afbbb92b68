package policy

import "strings"

// wild reports whether s matches a pattern of literal characters, * (any run) and
// ? (any one). It needs no memory and at most len(pattern)*len(s) steps.
func wild(pattern, s string) bool {
	p, i, star, mark := 0, 0, -1, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, i
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == s[i]):
			p++
			i++
		case star >= 0:
			mark++
			p, i = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

func hasWild(s string) bool { return strings.ContainsAny(s, "*?") }

// wildPath is wild for segments: * stays inside one, ** spans any number of them.
func wildPath(pattern, path []string) bool {
	p, i, star, mark := 0, 0, -1, 0
	for i < len(path) {
		switch {
		case p < len(pattern) && pattern[p] == "**":
			star, mark = p, i
			p++
		case p < len(pattern) && wild(pattern[p], path[i]):
			p++
			i++
		case star >= 0:
			mark++
			p, i = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == "**" {
		p++
	}
	return p == len(pattern)
}

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
		if wild(g, name) {
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
