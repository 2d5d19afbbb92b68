package warrant

import (
	"path"
	"regexp"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/leaves"
	"github.com/tidemark/tidemark/internal/warrant/meaning"
	"github.com/tidemark/tidemark/tool"
)

// maxNeeded bounds how many packages of manifests are remembered.
const maxNeeded = 8192

var manifests = list("manifests")

// packageName is a name of a package in a manifest, in any of the usual forms.
var packageName = regexp.MustCompile(`@?[A-Za-z0-9][A-Za-z0-9_.-]*(?:/[A-Za-z0-9][A-Za-z0-9_.-]*)*`)

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
		if !l.Quoted || !named || c.past.find(l.Text) != nil || c.past.Came(l.Text) {
			continue
		}
		for _, p := range packageName.FindAllString(r.Content, maxNeeded) {
			if len(c.needed) < maxNeeded && len(p) > 1 {
				c.needed[onePackage(strings.TrimRight(p, ".-"))] = true
			}
		}
	}
}
