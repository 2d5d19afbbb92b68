package grounds

import (
	"github.com/tidemark/tidemark/internal/warrant/leaves"
	"github.com/tidemark/tidemark/internal/warrant/meaning"
	"github.com/tidemark/tidemark/tool"
)

// Finding is one value of a call and where it came from.
type Finding struct {
	Path    string `json:"path"`
	Role    string `json:"role"` // target, credential, command, object, other, embedded, address
	Value   string `json:"value"`
	Origin  Origin `json:"-"`
	From    string `json:"origin"`
	Where   string `json:"where"`             // in words
	Excerpt string `json:"excerpt,omitempty"` // what stands around it there
}

// Grounds is what one call stands on. It answers what rules ask.
type Grounds struct {
	Tool     *meaning.Meaning
	Findings []Finding // strictest origin first within a role
	Danger   string    // what a command line would do: oversight, pipe-to-shell, unreadable, persist, breaks-out, wreck, secret, from-text, installs, sends, leaks; plants of a file
	Decisive string    // the value behind Danger

	asked, delegated, linked, workspace, outside, inside, plain bool
	claimed, spoken, priced                                     bool
	worst                                                       map[string]Origin
}

// Act is what the call does.
func (g *Grounds) Act() string { return g.Tool.Act.String() }

// Known answers what can be said of any call of a tool without looking at its values.
func (c *Context) Known(name, toolName string) (value, ok bool) {
	switch name {
	case "outside":
		return c.external, true
	case "inside":
		return c.local, true
	case "delegated":
		return c.user.delegates, true
	case "spoken":
		return len(c.user.tokens) > 0, true
	case "priced":
		return c.user.priced, true
	case "acts":
		return c.Meaning(toolName).Act != meaning.Read, true
	}
	return false, false
}

// Is answers a plain question about the call.
func (g *Grounds) Is(name string) bool {
	switch name {
	case "known":
		return g.Tool.Known
	case "acts":
		return g.Tool.Act != meaning.Read
	case "grave":
		return g.Tool.Gravity == meaning.High
	case "reaches":
		return g.worst["address"] != None
	case "asked":
		return g.asked
	case "delegated":
		return g.delegated
	case "linked":
		return g.linked
	case "workspace":
		return g.workspace
	case "outside":
		return g.outside
	case "inside":
		return g.inside
	case "claimed":
		return g.claimed
	case "plain":
		return g.plain
	case "danger":
		return g.Danger != ""
	case "spoken":
		return g.spoken
	case "priced":
		return g.priced
	}
	return false
}

// Origin is the strictest origin among the values of a role, or of one argument.
func (g *Grounds) Origin(what string) string {
	if o, ok := g.worst[what]; ok {
		return o.String()
	}
	out := None
	for _, f := range g.Findings {
		if f.Path == what {
			out = min(out, f.Origin)
		}
	}
	return out.String()
}

var roles = []string{"target", "credential", "command", "object", "other", "embedded", "address", "amount", "path"}

// Of says what a call stands on.
func (c *Context) Of(name string, args *tool.Args) *Grounds {
	m := c.Meaning(name)
	g := &Grounds{Tool: m, outside: c.external, inside: c.local, delegated: c.user.delegates, worst: map[string]Origin{}}
	for _, r := range roles {
		g.worst[r] = None
	}
	g.asked, g.spoken, g.priced = c.asked(m), len(c.user.tokens) > 0, c.user.priced
	fields, err := args.Fields()
	values := leaves.Of(fields)
	if err != nil || len(values) > leaves.Most {
		for _, r := range roles {
			g.worst[r] = Unseen
		}
		g.Danger = "unreadable"
		return g
	}
	g.plain = len(values) == 0
	c.weigh(g, m, values)
	return g
}
