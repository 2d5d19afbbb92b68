package box

import (
	"path"
	"slices"
	"strings"
)

// guards are the names that are looked for. Names are compared without regard to case: which of them a file system takes for the same
// is found out by asking it.
type guards struct {
	root   map[string][]string // whole paths by their first part
	any    map[string][]string
	fine   []string
	skip   []string
	git    []string
	judged []string
}

func readGuards() guards {
	return guards{
		root: byFirstPart(places.of("guard-root")), any: byFirstPart(places.of("guard-any")),
		fine: places.of("root-fine"), skip: places.of("vendored"),
		git: places.of("guard-git"), judged: places.of("judged-git"),
	}
}

func byFirstPart(paths []string) map[string][]string {
	out := map[string][]string{}
	for _, p := range paths {
		first, _, _ := strings.Cut(strings.ToLower(p), "/")
		out[first] = append(out[first], p)
	}
	return out
}

// of are the guarded paths that a name in a folder may be the beginning of. The root of a repository has more of them than other
// folders have, and there a name with a dot is guarded unless it is known to be fine.
func (g *guards) of(name string, root bool) []string {
	folded := strings.ToLower(name)
	found := g.any[folded]
	if !root {
		return found
	}
	if found = slices.Concat(found, g.root[folded]); len(found) == 0 && name[0] == '.' && !g.isFine(name) {
		return []string{name}
	}
	return found
}

func (g *guards) isFine(name string) bool {
	return slices.ContainsFunc(g.fine, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}
