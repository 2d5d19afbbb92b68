package warrant

import (
	"github.com/tidemark/tidemark/internal/warrant/meaning"
	"github.com/tidemark/tidemark/tool"
)

// The workspace is what the host's own tools work on. Which those are is the door's to say: it
// declares them, or gives the tools of servers names that are never the host's. Where nobody
// says, they are the usual names of a host that has a shell.

// host is what is known of the host's own tools.
type host struct {
	shell    bool            // one of them runs command lines
	declared bool            // a door has said which they are: then names tell nothing
	own      map[string]bool // those that were declared
}

// owns notes a tool that the host offers, and what the door says of whose it is.
func (c *Context) owns(name string, declared *bool) {
	if declared == nil {
		c.host.shell = c.host.shell || !c.host.declared && tool.IsShell(name)
		return
	}
	if !c.host.declared {
		c.host = host{declared: true} // what names made of it does not count
	}
	if c.host.own == nil {
		c.host.own = map[string]bool{}
	}
	if delete(c.host.own, name); *declared {
		c.host.own[name] = true
		c.host.shell = c.host.shell || tool.IsShell(name)
	}
}

// hosted reports whether a tool is one of the host's own, as far as its name tells.
func (c *Context) hosted(name string) bool {
	if c.host.declared {
		return c.host.own[name]
	}
	return tool.IsHost(name)
}

// workspace reports whether a tool is the host's own and works on this machine. The name of
// a host's tool is one only if the host has a shell, or said nothing of its tools.
func (c *Context) workspace(m *meaning.Meaning) bool {
	return c.hosted(m.Tool) && tool.IsHost(m.Tool) && (c.host.shell || c.host.declared || !c.wasOffered())
}

// wasOffered reports whether the host has told of its tools.
func (c *Context) wasOffered() bool { return len(c.offered) > 0 || c.memory.offered }

// Hosted are the tools among some that are the host's own.
func Hosted(list []tool.Definition) map[string]bool {
	var c Context
	for _, d := range list {
		c.owns(tool.Name(d.Name), d.Host)
	}
	own := map[string]bool{}
	for _, d := range list {
		if name := tool.Name(d.Name); c.hosted(name) && (c.host.shell || c.host.declared) {
			own[name] = true
		}
	}
	return own
}
