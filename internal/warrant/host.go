package warrant

import (
	"github.com/tidemark/tidemark/internal/warrant/leaves"
	"github.com/tidemark/tidemark/internal/warrant/meaning"
	"github.com/tidemark/tidemark/internal/warrant/origin"
	"github.com/tidemark/tidemark/tool"
)

// The workspace is what the host's own tools work on. Which those are is the door's to say, and
// nobody else's: a tool of somebody's server may be called anything. Where no door says it,
// there is no workspace.

// host is what doors have said of whose tools are the host's own.
type host struct {
	named    map[string]bool // by their names
	declared map[string]bool // with a definition, which goes before
}

func (h *host) owns(name string) bool {
	if own, said := h.declared[name]; said {
		return own
	}
	return h.named[name]
}

// declare notes what stands beside a definition; nil: nothing.
func (h *host) declare(name string, own *bool) {
	if own == nil {
		return
	}
	if h.declared == nil {
		h.declared = map[string]bool{}
	}
	h.declared[name] = *own
}

func (h *host) names(list []string) {
	h.named = make(map[string]bool, len(list))
	for _, n := range list {
		h.named[tool.Name(n)] = true
	}
}

// Host tells which tools are the host's own, by the names they are called with.
func (c *Context) Host(names []string) { c.host.names(names) }

// Control tells by which tools the host's framework steers itself, by the names they are called with: plans, to-dos,
// hand-offs, the final answer, asking the user. Only the door knows that; no name tells it.
func (c *Context) Control(names []string) {
	c.control = make(map[string]bool, len(names))
	for _, n := range names {
		c.control[tool.Name(n)] = true
	}
}

// steers judges a call by which the host steers itself. It is neither an act nor a read: what it carries to another
// agent is judged there. But who shows an answer may open what it points to, and who is handed a task goes where it
// says: addresses in it are such as may be gone to.
func (j *judging) steers(values []leaves.Leaf) {
	j.w.Deed = Read
	for i := range values {
		l := &values[i]
		if !j.c.argued || !l.Quoted {
			continue
		}
		origin.EachTarget([]byte(l.Text), func(p origin.Part) bool {
			if p.Kind != origin.URL {
				return true
			}
			e, why := j.c.address(p.Text)
			if e < Followed {
				j.w.add(Cargo, l.Path, p.Text, e, why)
			}
			return e >= Followed
		})
	}
	j.w.add(Act, "", j.m.Tool, Said, "the host steers itself with it, and reaches nobody")
}

// workspace reports whether a tool is the host's own and works on this machine.
func (c *Context) workspace(m *meaning.Meaning) bool {
	return c.host.owns(m.Tool) && tool.IsHost(m.Tool)
}

// Hosted are the tools of a list that are the host's own, where some are so by their names.
func Hosted(names []string, list []tool.Definition) map[string]bool {
	var h host
	h.names(names)
	own := map[string]bool{}
	for _, d := range list {
		name := tool.Name(d.Name)
		if h.declare(name, d.Host); h.owns(name) {
			own[name] = true
		}
	}
	return own
}
