package format

// hider is what a change of the tools comes to: what goes, and what is left to choose.
type hider struct {
	all    bool
	hidden map[string]bool
	left   map[string]bool // names of tools that stay
	full   map[string]bool // members that still offer something
}

func (h *hider) hides(name string) bool { return h.all || name != "" && h.hidden[name] }

// goes reports whether a branch goes as a whole.
func (h *hider) goes(b branch) bool {
	if len(b.kids) == 0 {
		return h.hides(b.name)
	}
	for _, k := range b.kids {
		if !h.goes(k) {
			return false
		}
	}
	return true
}

// tools removes tools and repairs what refers to them.
func (e *editor) tools(edit Edit) {
	h := &hider{all: edit.NoTools, hidden: map[string]bool{}, left: map[string]bool{}, full: map[string]bool{}}
	for _, name := range edit.Hide {
		h.hidden[name] = true
	}
	changed := false
	for _, set := range e.r.sets {
		for _, t := range set.tools {
			if h.hides(t.Name) {
				changed = true
				continue
			}
			h.left[t.Name] = true
			h.full[set.key] = true
		}
	}
	if !changed {
		return
	}
	for _, set := range e.r.sets {
		e.hideFrom(h, set)
	}
	e.r.dialect.choices(e, h)
}

func (e *editor) hideFrom(h *hider, set offer) {
	if len(set.tools) == 0 {
		return
	}
	if !h.full[set.key] && set.key != e.r.dialect.keepsEmpty {
		e.gone[set.key] = true
		return
	}
	e.prune(h, set.kids, set.Start)
}

// prune removes those branches that go, and looks into those that stay.
func (e *editor) prune(h *hider, kids []branch, base int) {
	spans := make([]span, len(kids))
	for i, k := range kids {
		spans[i] = k.at.Moved(base)
		if !h.goes(k) {
			e.prune(h, k.kids, base)
		}
	}
	e.siblings(spans, func(i int) bool { return h.goes(kids[i]) })
}

// openChoice repairs tool_choice in OpenAI's formats. "required" stays while there is a
// tool to take.
func (e *editor) openChoice(h *hider) {
	if !h.full["tools"] {
		e.gone["tool_choice"] = true
		e.gone["parallel_tool_calls"] = true
		return
	}
	f, ok := e.field("tool_choice")
	if !ok || !e.starts(f, '{') {
		return
	}
	o := e.object(f)
	if o.str("type") != "allowed_tools" {
		if !h.left[o.chosen()] {
			e.put(f.span, []byte(`"auto"`))
		}
		return
	}
	if inner, ok := o.get("allowed_tools"); ok {
		o = e.p.object(inner, "allowed_tools")
	}
	list, ok := o.get("tools")
	if !ok {
		return
	}
	allowed := e.p.list(list, "tools")
	// Nothing left of what was allowed must not become everything.
	if !e.filter(allowed, func(at int) bool { return h.left[e.p.object(at, "allowed tool").chosen()] }) {
		e.put(f.span, []byte(`"none"`))
	}
}

// filter keeps the elements of a list that pass. If none does it reports false and
// leaves the list alone.
func (e *editor) filter(all []int, pass func(int) bool) bool {
	some := false
	gone, spans := make([]bool, len(all)), make([]span, len(all))
	for i, at := range all {
		gone[i], spans[i] = !pass(at), e.p.doc.Span(at)
		some = some || !gone[i]
	}
	if some {
		e.siblings(spans, func(i int) bool { return gone[i] })
	}
	return some
}

// chosen names the tool that an OpenAI choice is about.
func (o object) chosen() string {
	for _, key := range []string{"function", "custom"} {
		if at, ok := o.get(key); ok {
			return o.p.object(at, key).str("name")
		}
	}
	for _, name := range []string{o.str("server_label"), o.spaced()} {
		if name != "" {
			return name
		}
	}
	return choiceName(o.str("type"))
}

// drop removes a member of an object.
func (e *editor) drop(o object, key string) {
	spans := make([]span, len(o.fields))
	for i, f := range o.fields {
		spans[i] = span{Start: f.at, End: f.End}
	}
	e.siblings(spans, func(i int) bool { return o.fields[i].key == key })
}

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
