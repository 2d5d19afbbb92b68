package warrant

import (
	"path"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/leaves"
	"github.com/tidemark/tidemark/internal/warrant/meaning"
	"github.com/tidemark/tidemark/tool"
)

// maxNeeded bounds how many packages of manifests are remembered.
const maxNeeded = 8192

var (
	manifests = list("manifests")
	vendored  = list("vendored")
)

// wordInPath reports whether a folder of a path, or one that is hidden, is among some.
func wordInPath(file string, names map[string]bool) bool {
	for part := range strings.SplitSeq(strings.ToLower(path.Dir(strings.ReplaceAll(file, `\`, "/"))), "/") {
		if names[part] || len(part) > 2 && part[0] == '.' && part != ".." {
			return true
		}
	}
	return false
}

// onePackage is the one spelling of a package's name: managers take no notice of case and of
// which sign stands between its words.
func onePackage(name string) string {
	return strings.NewReplacer("_", "-", ".", "-").Replace(strings.ToLower(name))
}

// spellings are the ways in which people write a package's name.
func spellings(name string) []string {
	out := []string{name}
	for _, sign := range []string{"-", "_", "."} {
		if s := strings.NewReplacer("-", sign, "_", sign, ".", sign).Replace(name); s != name {
			out = append(out, s)
		}
	}
	return out
}

// saidPackage reports whether the user named a package, in any spelling, or a manifest of the
// workspace that nobody wrote in this conversation does.
func (c *Context) saidPackage(name string) bool {
	for _, s := range spellings(name) {
		if c.index.Said(s) {
			return true
		}
	}
	return c.needed[onePackage(name)]
}

// needs keeps the packages that a manifest of the workspace names: the file that says what the
// work needs, read by one of the host's own tools as it was before the agent changed it.
func (c *Context) needs(m *meaning.Meaning, values []leaves.Leaf, r *Result) {
	if !c.workspace(m) || r.Tainted || r.Failed || tool.IsShell(m.Tool) {
		return
	}
	for i := range values {
		l := &values[i]
		base := strings.ToLower(path.Base(l.Text))
		named := manifests[base] || strings.HasPrefix(base, "requirements") && strings.HasSuffix(base, ".txt")
		if !l.Quoted || !named || wordInPath(l.Text, vendored) || len(c.past.fit(l.Text)) > 0 || c.past.Came(l.Text) {
			continue
		}
		for _, p := range dependencies(base, string(r.Content)) {
			if len(c.needed) < maxNeeded {
				c.needed[onePackage(p)] = true
			}
		}
	}
}
