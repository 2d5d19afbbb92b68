package warrant

import (
	"github.com/tidemark/tidemark/internal/warrant/leaves"
	"github.com/tidemark/tidemark/internal/warrant/shell"
)

// Watch tells where what watches the agent stands; nil changes nothing.
func (c *Context) Watch(s *shell.Station) {
	if s == nil || s == c.station {
		return
	}
	c.station = s
	c.reader().Watch(*s)
}

// Works tells in which folder the call at hand works; "": nobody says.
func (c *Context) Works(folder string) { c.reader().Works(folder) }

// reader reads commands, and knows what they must not touch.
func (c *Context) reader() *shell.Reader {
	if c.shell == nil {
		c.shell = shell.NewReader()
		c.shell.Remember(&c.past)
	}
	return c.shell
}

// overseen judges a value of any tool that is a file or an address of what watches the
// agent, and what is typed into a shell; false: it is neither.
func (j *judging) overseen(l *leaves.Leaf) bool {
	switch {
	case !l.Quoted || l.Later:
	case j.tool().param(l.Path).typed:
		j.command(l)
		return true
	case j.c.reader().Touches(l.Text, j.tool().takesAll) && !j.c.index.Said(l.Text):
		j.bad(true, "it touches what watches the agent", l.Path, l.Text)
		return true
	}
	return false
}
