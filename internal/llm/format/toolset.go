package format

// branch is a tool, or a list of them, at the place that goes when it is hidden. A
// branch with kids goes when all of them do.
type branch struct {
	at   span
	name string
	kids []branch
}

// toolset is the tools that one member of the request offers. Places count from the
// start of the member's value, so that a remembered toolset fits a body where it moved.
type toolset struct {
	tools []Tool
	kids  []branch
	bytes int // about how much memory it holds
	base  int // where the member's value starts, while it is read
}

// toolset reads the value of a member that offers tools.
func (p *parser) toolset(key string, at span) toolset {
	s := toolset{base: at.Start}
	p.load(at)
	p.api.tools(p, &s, key)
	s.base = 0
	return s
}

// branch is one without tools yet.
func (s *toolset) branch(at span) branch { return branch{at: at.Moved(-s.base)} }

// add takes in a tool and returns its branch.
func (s *toolset) add(at span, t Tool) branch {
	s.tools = append(s.tools, t)
	s.bytes += 128 + len(t.Name) + len(t.Description) + len(t.Schema)
	b := s.branch(at)
	b.name = t.Name
	return b
}

// eachTool reads a list of tools. Those of a namespace stand in a list of their own.
func (p *parser) eachTool(s *toolset, key string, read func(object) Tool) {
	for _, e := range p.list(0, key) {
		p.pool = p.pool[:0]
		o := p.object(e, "tool")
		inner, ok := o.get("tools")
		if !ok || o.str("type") != "namespace" {
			s.kids = append(s.kids, s.add(p.doc.Span(e), read(o)))
			continue
		}
		b := s.branch(p.doc.Span(e))
		space := o.str("name")
		for _, t := range p.list(inner, "tools") {
			tool := read(p.object(t, "tool"))
			tool.Name = Spaced(space, tool.Name)
			b.kids = append(b.kids, s.add(p.doc.Span(t), tool))
		}
		s.kids = append(s.kids, b)
	}
}

func (o object) function(schema string) Tool {
	return Tool{Name: o.str("name"), Description: o.str("description"), Schema: o.bytes(schema)}
}
