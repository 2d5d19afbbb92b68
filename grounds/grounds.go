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
	"maps"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/meaning"
	"github.com/tidemark/tidemark/tool"
)

// Context is what one conversation has said and read. It is not safe for concurrent use.
type Context struct {
	user     user
	words    string          // the user's, in canonical form with a blank around each
	run      string          // the same without blanks
	chunks   map[string]bool // the user's, as written, in lower case
	operator string          // words of the operator
	own      map[string]bool // ids our own acts gave back
	refused  map[string]bool // values of calls the owner turned down
	index    *index
	tools    map[string]*meaning.Meaning
	host     bool // the agent works on this machine: it has a shell
	external bool // something from outside this machine came in
	local    bool // something of this machine came in
}

// New is a conversation in which nothing was said.
func New() *Context {
	return &Context{
		words: " ", chunks: map[string]bool{}, own: map[string]bool{}, refused: map[string]bool{}, index: newIndex(),
		tools: map[string]*meaning.Meaning{},
	}
}

// User adds a message of the user's own.
func (c *Context) User(text string) {
	c.user.hear(text)
	n := canon(text)
	c.words += n + " "
	c.run += " " + strings.ReplaceAll(n, " ", "")
	for _, chunk := range strings.Fields(text) {
		chunk = strings.ToLower(strings.Trim(chunk, trims))
		c.chunks[chunk] = true
		if _, host := hostOf(chunk); strings.Contains(host, ".") {
			c.chunks[host] = true
		}
	}
	for _, m := range mail.FindAllString(text, -1) {
		c.chunks[strings.ToLower(strings.Trim(m, trims))] = true
	}
}

// System adds words of the operator.
func (c *Context) System(text string) { c.operator = " " + canon(text) + " " }

// Tools tells what the host offers.
func (c *Context) Tools(list []meaning.Definition) {
	for _, d := range list {
		m := meaning.Of(d)
		c.tools[m.Tool] = m
		c.host = c.host || m.Act == meaning.Execute
	}
}

// maxTools bounds how many tools are understood by their name alone.
const maxTools = 4096

// Meaning is what is understood of a tool.
func (c *Context) Meaning(name string) *meaning.Meaning {
	name = tool.Name(name)
	m := c.tools[name]
	if m == nil {
		m = meaning.Of(meaning.Definition{Name: name})
		if len(c.tools) < maxTools {
			c.tools[name] = m
			c.host = c.host || m.Act == meaning.Execute
		}
	}
	return m
}

// Refuse remembers the decisive value of a call that the owner turned down.
func (c *Context) Refuse(g *Grounds) {
	for _, f := range g.Findings {
		if n := canon(f.Value); f.Origin <= Authored && len(n) >= 4 {
			c.refused[n] = true
		}
	}
}

// Outside notes that something from beyond this machine came in.
func (c *Context) Outside() { c.external = true }

// Heard adds words of somebody who does not speak for the user.
func (c *Context) Heard(text string) { c.index.add(text, false, true) }

// Result is what a call brought back.
type Result struct {
	Tool    string
	Args    *tool.Args
	Content string
	Told    bool // the policy says what the tool's results are worth, so its name does not
	Trusted bool // it does not count as content from outside
}

// Result adds what a call brought back.
func (c *Context) Result(r Result) {
	m := c.Meaning(r.Tool)
	fields, _ := r.Args.Fields() // unreadable ones name nothing
	switch m.Act {
	case meaning.Read, meaning.Execute, meaning.Unknown:
	default:
		for id := range newIDs(r.Content) {
			c.own[canon(id)] = true
		}
		return
	}
	values := leaves("", fields)
	external := !r.Trusted
	if !r.Told {
		external = !c.isLocal(m, fields)
		if m.Act == meaning.Execute {
			external = slices.ContainsFunc(values, func(l leaf) bool { return network.MatchString(l.text) })
		}
	}
	if external {
		c.external = true
	} else {
		c.local = true
	}
	named := slices.ContainsFunc(values, func(l leaf) bool { return l.quoted && c.said(l.text) })
	c.index.add(r.Content, named, external)
}

var (
	outward     = set("web url http browser internet online mail email inbox message messages slack calendar drive fetch page webpage mcp issue issues pr ticket tickets")
	inWorkspace = set("file files dir directory directories folder path code symbol symbols grep glob ls tree workspace repo repository notebook str replace editor multi text range lines in by content contents definition references project todo output")
)

// isLocal reports whether a tool reads what is on this machine: it says nothing but that,
// and the agent works here.
func (c *Context) isLocal(m *meaning.Meaning, args map[string]any) bool {
	words := nameWords(m.Tool)
	for _, w := range words {
		if outward[w] {
			return false
		}
	}
	if m.Reaches {
		return false
	}
	for k := range args {
		for _, w := range nameWords(k) {
			if addressNames[stem(w)] {
				return false
			}
		}
	}
	for _, w := range words {
		if !inWorkspace[w] && !isVerb(w) {
			return false
		}
	}
	return c.host || len(words) == 1 && isVerb(words[0])
}

var addressNames = set("url uri link href website webhook endpoint site webpage domain host")

func isVerb(w string) bool { return meaning.Verb(w) != meaning.Unknown }

// leaf is one plain value among arguments.
type leaf struct {
	path   string // of the parameter, lists without index
	text   string
	quoted bool // it was a text, not a number
	flag   bool
}

// maxLeaves bounds how many values of a call are looked at; a call with more is not
// understood.
const maxLeaves = 2000

// leaves are the plain values of arguments, in a fixed order.
func leaves(path string, v any) []leaf {
	switch v := v.(type) {
	case map[string]any:
		var out []leaf
		for _, k := range slices.Sorted(maps.Keys(v)) {
			p := k
			if path != "" {
				p = path + "." + k
			}
			out = append(out, leaves(p, v[k])...)
		}
		return out
	case []any:
		var out []leaf
		for _, e := range v {
			if _, nested := e.(map[string]any); nested {
				out = append(out, leaves(path+"[]", e)...)
			} else {
				out = append(out, leaves(path, e)...)
			}
		}
		return out
	case string:
		return []leaf{{path: path, text: v, quoted: true}}
	case bool:
		return []leaf{{path: path, text: formatted(v), flag: true}}
	case nil:
		return nil
	}
	return []leaf{{path: path, text: formatted(v)}}
}
