package format

import "strings"

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
}

// offers reports whether a member of the request offers tools.
func offers(api API, key string) bool {
	switch api {
	case Chat:
		return key == "tools" || key == "functions" || key == "web_search_options"
	case Messages:
		return key == "tools" || key == "mcp_servers"
	case Responses, Gemini:
		return key == "tools"
	}
	return false
}

// toolset reads the value of a member that offers tools.
func (p *parser) toolset(key string, at span) toolset {
	var set toolset
	add := func(place span, t Tool) branch {
		set.tools = append(set.tools, t)
		set.bytes += 128 + len(t.Name) + len(t.Description) + len(t.Schema)
		return branch{at: place.moved(-at.start), name: t.Name}
	}
	if key == "web_search_options" { // the member itself is the tool
		add(at, Tool{Name: "web_search", Hosted: true})
		return set
	}
	read := p.oneTool(key)
	elements := p.list
	if p.api == Gemini {
		elements = p.oneOrMany
	}
	for _, e := range elements(at, key) {
		p.pool = p.pool[:0]
		o := p.object(e, "tool")
		if p.api == Gemini {
			set.kids = append(set.kids, p.geminiTool(o, at.start, add))
			continue
		}
		if inner, ok := o.get("tools"); ok && o.str("type") == "namespace" {
			b := branch{at: e.moved(-at.start)}
			space := o.str("name")
			for _, t := range p.list(inner, "tools") {
				tool := read(p.object(t, "tool"))
				tool.Name = Spaced(space, tool.Name)
				b.kids = append(b.kids, add(t, tool))
			}
			set.kids = append(set.kids, b)
			continue
		}
		set.kids = append(set.kids, add(e, read(o)))
	}
	return set
}

// oneTool is how an element of a member is read.
func (p *parser) oneTool(key string) func(object) Tool {
	switch {
	case key == "functions":
		return func(o object) Tool { return o.function("parameters") }
	case key == "mcp_servers":
		return func(o object) Tool { return Tool{Name: o.str("name"), Hosted: true} }
	case p.api == Chat:
		return object.chatTool
	case p.api == Messages:
		return object.anthropicTool
	}
	return object.responsesTool
}

func (o object) function(schema string) Tool {
	return Tool{Name: o.str("name"), Description: o.str("description"), Schema: o.bytes(schema)}
}

func (o object) chatTool() Tool {
	for _, key := range []string{"function", "custom"} {
		if at, ok := o.get(key); ok {
			return o.p.object(at, key).function("parameters")
		}
	}
	return Tool{Name: o.str("type"), Hosted: true}
}

// anthropicTool reads a tool of the client, a tool that Anthropic defines and the client
// runs (it has a name too), or one that Anthropic runs.
func (o object) anthropicTool() Tool {
	t := o.function("input_schema")
	kind := o.str("type")
	for _, hosted := range []string{"web_search_", "web_fetch_", "code_execution_", "tool_search_tool_", "mcp_toolset"} {
		t.Hosted = t.Hosted || strings.HasPrefix(kind, hosted)
	}
	if t.Name == "" {
		t.Name = o.str("mcp_server_name")
	}
	if t.Name == "" {
		t.Name = kind
	}
	return t
}

func (o object) responsesTool() Tool {
	kind := o.str("type")
	switch kind {
	case "function", "custom":
		return o.function("parameters")
	case "mcp":
		return Tool{Name: o.str("server_label"), Hosted: true}
	case "local_shell", "apply_patch", "computer_use_preview", "computer":
		return Tool{Name: choiceName(kind)}
	case "shell":
		t := Tool{Name: kind}
		if at, ok := o.get("environment"); ok {
			t.Hosted = strings.HasPrefix(o.p.object(at, "environment").str("type"), "container")
		}
		return t
	}
	return Tool{Name: kind, Hosted: true}
}

// choiceName names a tool that has only a type as its calls are named.
func choiceName(kind string) string {
	if kind == "computer_use_preview" {
		return "computer"
	}
	return kind
}

// geminiTool reads a tool object: declared functions, and members that are hosted tools.
func (p *parser) geminiTool(o object, base int, add func(span, Tool) branch) branch {
	b := branch{at: o.at.moved(-base)}
	for _, f := range o.fields {
		member := span{f.at, f.end}
		if p.is(f.span, 'n') {
			b.kids = append(b.kids, branch{at: member.moved(-base)})
			continue
		}
		if f.key != "functionDeclarations" {
			b.kids = append(b.kids, add(member, Tool{Name: f.key, Hosted: f.key != "computerUse"}))
			continue
		}
		group := branch{at: member.moved(-base)}
		for _, e := range p.oneOrMany(f.span, f.key) {
			d := p.object(e, "function declaration")
			t := d.function("parameters")
			if t.Schema == nil {
				t.Schema = d.bytes("parametersJsonSchema")
			}
			group.kids = append(group.kids, add(e, t))
		}
		b.kids = append(b.kids, group)
	}
	return b
}
