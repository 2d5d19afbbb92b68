package warrant

import "github.com/tidemark/tidemark/tool"

// Hosted are the tools among some that are the host's own, by their names: the usual ones of
// a host that has a shell.
func Hosted(list []tool.Definition) map[string]bool {
	own, shell := map[string]bool{}, false
	for _, d := range list {
		name := tool.Name(d.Name)
		shell = shell || shells[name]
		if hosted(name) {
			own[name] = true
		}
	}
	if !shell {
		return nil
	}
	return own
}

// Sealed adds values of the user's own words of which only hashes under a key were kept: a
// log holds no secrets, and what was in it before a restart was still said.
func (c *Context) Sealed(key []byte, sums []string) { c.index.Sealed(key, sums) }
