package warrant

import (
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/shell"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
)

// What the names of a tool and of its parameters say stays the same from call to call, so it
// is found once.

// callable is what a tool is by its names, whatever it is called with.
type callable struct {
	m        *toolinfo.Meaning
	words    []string // of its name, without what most tools share
	points   bool     // it does something to an element of a page
	reveals  bool     // it reads secrets
	takesAll bool     // it takes the content of whole folders
	params   map[string]*parameter
}

// parameter is what a parameter is by its name.
type parameter struct {
	unseen  toolinfo.Param // what it is for, before its value was looked at
	last    string         // the last word of its name
	address bool           // it holds an address
	typed   bool           // what it holds is typed into a program that runs
}

// callable is what is known of a tool by its names.
func (c *Context) callable(m *toolinfo.Meaning) *callable {
	t := c.callables[m.Tool]
	if t != nil && t.m == m {
		return t
	}
	words := c.unshared(m)
	t = &callable{
		m: m, words: words, points: points(arguments.NameWords(unprefixed(m.Tool))),
		reveals: anyOf(words, secrets), takesAll: shell.TakesAll(arguments.NameWords(m.Tool)), params: map[string]*parameter{},
	}
	if len(c.callables) < maxTools {
		c.callables[m.Tool] = t
	}
	return t
}

// maxParams bounds how many parameters of a tool are remembered: whoever calls it names them.
const maxParams = 256

// param is what is known of a parameter by its name.
func (t *callable) param(path string) *parameter {
	p := t.params[path]
	if p == nil {
		path = strings.Clone(path) // it is part of what the tool was called with
		p = &parameter{
			unseen: t.m.Unseen(path), last: arguments.LastWord(path), address: addressed(path), typed: shell.Typed(t.m.Tool, path),
		}
		if len(t.params) < maxParams && len(path) < 200 {
			t.params[path] = p
		}
	}
	return p
}

// resolve is what a value of the call at hand is for.
func (j *judging) resolve(l *arguments.Leaf) *toolinfo.Param {
	for i := range j.seen {
		if s := &j.seen[i]; s.leaf == l && s.m == j.m {
			return &s.param
		}
	}
	s := &j.seen[j.next%len(j.seen)]
	j.next++
	s.leaf, s.m, s.param = l, j.m, j.m.Seen(j.tool().param(l.Path).unseen, l.Text)
	return &s.param
}

// seen is what a value was found to be for. It is asked about several times.
type seen struct {
	leaf  *arguments.Leaf
	m     *toolinfo.Meaning
	param toolinfo.Param
}

// tool is what is known of the tool that is judged.
func (j *judging) tool() *callable {
	if j.known == nil || j.known.m != j.m { // a wrapper is judged before what it holds
		j.known = j.c.callable(j.m)
	}
	return j.known
}
