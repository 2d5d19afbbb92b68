package warrant

import (
	"regexp"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/meaning"
	"github.com/tidemark/tidemark/internal/warrant/origin"
	"github.com/tidemark/tidemark/internal/warrant/shell"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
	"github.com/tidemark/tidemark/tool"
)

// Context is what one conversation has said and read. It is not safe for concurrent use.
type Context struct {
	vocabulary *vocabulary.Table
	user       heard
	said       []string // the user's messages, in lower case
	index      *origin.Index
	shell      *shell.Reader // made when the first command comes

	tools   map[string]*meaning.Meaning
	names   map[string]string // tools as their owners spell them
	namings map[string]*naming
	spelt   map[string][]vocabulary.Word // names of parameters and choices, read
	offered map[string]bool              // tools the host has told of
	host    bool                         // the agent works on this machine: it has a shell
	others  strings.Builder              // what definitions of tools say that the host does not own

	argued  bool            // anybody but the user has said something
	outside bool            // something from outside this machine came in
	papers  map[uint64]bool // steps whose result is a text somebody wrote as a whole
	lists   map[uint64]bool // steps whose result is a text that lists things and says nothing
	mails   map[string]int  // addresses in what the user pointed at: how many stand with it

	own     map[string]bool // what our own acts gave back, or were given to call things by
	things  map[string]bool // what our own acts were done to
	actedAt uint64          // the step of our last act

	contracts []*Contract
	agreed    *Contract // of the latest message; nil: none
}

// New is a conversation in which nothing was said, heard with the words of a table.
func New(table *vocabulary.Table) *Context {
	return &Context{
		vocabulary: table, user: heard{vocabulary: table, stems: map[string]bool{}}, index: origin.New(0),
		tools: map[string]*meaning.Meaning{}, names: map[string]string{}, namings: map[string]*naming{},
		spelt: map[string][]vocabulary.Word{}, offered: map[string]bool{},
		papers: map[uint64]bool{}, lists: map[uint64]bool{}, mails: map[string]int{}, own: map[string]bool{}, things: map[string]bool{},
	}
}

// gluedStop is the full stop after an address that a new sentence was written on to:
// "mail x@y.example.Then …".
var gluedStop = regexp.MustCompile(`(\.[a-z]{2,6})\.([A-Z])`)

// User adds a message of the user's own.
func (c *Context) User(text string) {
	c.agreed = nil
	text = gluedStop.ReplaceAllString(text, "$1. $2")
	u := utter(text)
	c.said = append(c.said, strings.ToLower(u.words))
	c.user.hear(&u)
	c.index.User(u.words)
	for _, p := range u.pasted {
		c.pasted(p)
	}
}

// pasted adds what others wrote and the user put into a message: content they named.
func (c *Context) pasted(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	c.argued, c.papers[0] = true, true
	c.addresses(text)
	c.index.Result(origin.Result{Named: true, External: true, Free: true, Content: []byte(text)})
}

// System adds words of the operator.
func (c *Context) System(text string) { c.index.System(text) }

var (
	shells = list("shells")
	hosts  = list("hosts")
)

// hosted reports whether a host's own tools go by a name.
func hosted(name string) bool { return shells[name] || hosts[name] }

// Tools tells what the host offers. What others say of their tools is kept: it may argue
// like any content.
func (c *Context) Tools(list []tool.Definition) {
	for _, d := range list {
		m := meaning.Of(d)
		c.tools[m.Tool], c.names[m.Tool], c.offered[m.Tool] = m, d.Name, true
		c.host = c.host || shells[m.Tool]
		if !hosted(m.Tool) {
			c.others.WriteString(d.Description + "\n")
			c.others.Write(d.Schema)
			c.others.WriteByte('\n')
		}
	}
}

// meaning is what is understood of a tool.
func (c *Context) meaning(name string) *meaning.Meaning {
	key := tool.Name(name)
	m := c.tools[key]
	if m == nil {
		m = meaning.Of(tool.Definition{Name: name})
		c.tools[key], c.names[key] = m, name
	}
	return m
}

// workspace reports whether a tool is the host's own and works on this machine. The name of
// a host's tool is one only if the host has a shell, or said nothing of its tools.
func (c *Context) workspace(m *meaning.Meaning) bool {
	return hosted(m.Tool) && (c.host || len(c.offered) == 0)
}

// says reports whether the user used one of some words.
func (c *Context) says(words map[string]bool) bool {
	for w := range words {
		if c.user.stems[w] {
			return true
		}
	}
	return false
}

// keep holds what a value looks like to the index, within bounds.
func keep(set map[string]bool, value string, shortest int) {
	if n := origin.Normal(value); len(n) >= shortest && len(n) <= 4096 && len(set) < 4096 {
		set[n] = true
	}
}

func startsURL(s string) bool {
	return strings.HasPrefix(strings.ToLower(s), "www.") || strings.Contains(s, "://")
}
