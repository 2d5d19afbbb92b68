// Package grounds says what a call stands on: what it does, where each value in it came
// from, whether the user asked for such a thing, and whether anything ties it to what
// they said. Rules look at these facts; this package decides nothing. It is pure.
//
// Invariants:
//   - only the user's own words and the operator's make a value theirs; whatever a result
//     says, the best it can do is belong to a record the user named;
//   - what cannot be found is Unseen, what cannot be understood is grave;
//   - more content from outside never improves an origin beyond that.
package grounds

import (
	"slices"

	"github.com/tidemark/tidemark/internal/warrant/leaves"
	"github.com/tidemark/tidemark/internal/warrant/meaning"
	"github.com/tidemark/tidemark/internal/warrant/origin"
	"github.com/tidemark/tidemark/internal/warrant/shell"
	"github.com/tidemark/tidemark/tool"
)

// Context is what one conversation has said and read. It is not safe for concurrent use.
type Context struct {
	user     user
	index    *origin.Index
	shell    *shell.Reader
	own      map[string]bool // ids our own acts gave back
	refused  map[string]bool // values of calls the owner turned down
	tools    map[string]*meaning.Meaning
	offered  map[string]bool // tools the host has told of
	host     bool            // the agent works on this machine: it has a shell
	external bool            // something from outside this machine came in
	local    bool            // something of this machine came in
}

// New is a conversation in which nothing was said.
func New() *Context { return NewSized(0) }

// NewSized is a conversation of which about limit bytes are known exactly; 0 means
// 16 MiB. Of what is older only the words are known, and those as free text.
func NewSized(limit int) *Context {
	return &Context{
		index: origin.New(limit), own: map[string]bool{}, refused: map[string]bool{}, tools: map[string]*meaning.Meaning{}, offered: map[string]bool{},
	}
}

// User adds a message of the user's own.
func (c *Context) User(text string) {
	c.user.hear(text)
	c.index.User(text)
}

// Sealed adds values of the user's own words of which only hashes under a key were kept.
func (c *Context) Sealed(key []byte, sums []string) { c.index.Sealed(key, sums) }

// System adds words of the operator.
func (c *Context) System(text string) { c.index.System(text) }

// Tools tells what the host offers.
func (c *Context) Tools(list []tool.Definition) {
	for _, d := range list {
		m := meaning.Of(d)
		c.tools[m.Tool] = m
		if len(c.tools) > maxTools {
			return // more than any agent is offered
		}
		c.offered[m.Tool] = true
		c.host = c.host || commandTools[m.Tool]
	}
}

// maxTools bounds how many tools are understood by their name alone.
const maxTools = 4096

// Meaning is what is understood of a tool.
func (c *Context) Meaning(name string) *meaning.Meaning {
	name = tool.Name(name)
	m := c.tools[name]
	if m == nil {
		m = meaning.Of(tool.Definition{Name: name})
		if len(c.tools) < maxTools {
			c.tools[name] = m
		}
	}
	return m
}

// maxKept bounds how many ids and refused values are kept, and their size.
const maxKept = 4096

// keep adds a value to a bounded set in its one spelling.
func keep(set map[string]bool, value string, shortest int) {
	if n := origin.Normal(value); len(n) >= shortest && len(n) <= maxKept && len(set) < maxKept {
		set[n] = true
	}
}

// Refuse remembers the decisive value of a call that the owner turned down.
func (c *Context) Refuse(g *Grounds) {
	for _, f := range g.Findings {
		if f.Origin <= Authored {
			keep(c.refused, f.Value, 4)
		}
	}
}

// Inside notes that something of this machine came in.
func (c *Context) Inside() { c.local = true }

// Outside notes that something from beyond this machine came in.
func (c *Context) Outside() { c.external = true }

// Heard adds words of somebody who does not speak for the user.
func (c *Context) Heard(text string) {
	c.index.Result(origin.Result{Content: []byte(text), External: true})
}

// Result is what a call brought back.
type Result struct {
	Tool    string
	Step    uint64
	Args    *tool.Args
	Content string
	Told    bool // the policy says what the tool's results are worth, so its name does not
	Trusted bool // it does not count as content from outside
	Failed  bool // the tool reported an error
	Tainted bool // it counts as that, wherever it came from: what was written while tainted, what a sub-agent says
}

// Result adds what a call brought back.
func (c *Context) Result(r Result) {
	m := c.Meaning(r.Tool)
	if len(c.offered) == 0 && commandTools[m.Tool] && !r.Failed {
		c.host = true // the host never says what it offers, and has just run a command
	}
	fields, _ := r.Args.Fields() // unreadable ones name nothing
	switch m.Act {
	case meaning.Read, meaning.Execute, meaning.Unknown:
	default:
		c.remember(r.Content)
		if r.Tainted || r.Told && !r.Trusted || !r.Told && tellsMore(r.Content, leaves.Of(fields)) {
			c.external = true // but what it echoes must not vouch for itself: it is not indexed
		}
		return
	}
	values := leaves.Of(fields)
	external := !r.Trusted
	if !r.Told {
		external = !c.isLocal(m, fields)
		if m.Act == meaning.Execute {
			external = !runsLines(m) || c.bringsIn(m, values)
		}
	}
	external = external || r.Tainted
	if external {
		c.external = true
	} else {
		c.local = true
	}
	named := slices.ContainsFunc(values, func(l leaves.Leaf) bool { return l.Quoted && c.index.Said(l.Text) })
	c.index.Result(origin.Result{Tool: m.Tool, Step: r.Step, Named: named, External: external, Free: document(m, fields) || r.Tainted, Content: []byte(r.Content)})
}

// remember keeps the ids that an answer of our own act gives at its top.
func (c *Context) remember(content string) {
	v, ok := origin.Parse([]byte(content))
	if !ok || v.Shape != origin.Object {
		return
	}
	for i := range v.Kids {
		k := &v.Kids[i]
		if words := leaves.NameWords(k.Key); k.Shape == origin.Scalar && len(words) > 0 && words[len(words)-1] == "id" {
			keep(c.own, k.Text, 1)
		}
	}
}
