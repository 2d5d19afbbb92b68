package format

import "strings"

// responsesItem reads an entry of Responses' input.
func (p *parser) responsesItem(at span) Message {
	o := p.object(at, "item")
	m := Message{Start: at.start, End: at.end}
	kind := o.str("type")
	switch kind {
	case "", "message":
		m.Role = role(o.str("role"))
		if content, ok := o.get("content"); ok {
			m.Parts = p.content(nil, content, (*parser).openPart)
		}
		return m
	case "reasoning":
		m.Role, m.Parts = Assistant, []Part{{Kind: Thinking, Text: o.reasoning()}}
		return m
	}
	if part, ok := o.responsesCall(kind); ok {
		m.Role, m.Parts = Assistant, []Part{part}
		return m
	}
	if name, ok := strings.CutSuffix(kind, "_output"); ok {
		m.Role, m.Parts = ToolRole, []Part{o.responsesResult(clientTool(name))}
		return m
	}
	m.Parts = []Part{p.other(at)}
	return m
}

// clientTool names the tool of a call type that has no name of its own.
func clientTool(kind string) string {
	switch kind {
	case "local_shell_call", "shell_call", "apply_patch_call", "computer_call", "tool_search_call":
		return strings.TrimSuffix(kind, "_call")
	}
	return ""
}

// responsesCall reads calls: those the client runs and those the provider ran.
func (o object) responsesCall(kind string) (Part, bool) {
	part := Part{Kind: Call, CallID: o.str("call_id"), Name: clientTool(kind)}
	if part.CallID == "" {
		part.CallID = o.str("id")
	}
	switch kind {
	case "function_call":
		part.Name, part.Args = o.spaced(), o.args("arguments")
	case "custom_tool_call":
		part.Name, part.Args = o.spaced(), o.freeText("input")
	case "local_shell_call", "shell_call":
		part.Args = o.bytes("action")
	case "apply_patch_call":
		part.Args = o.bytes("operation")
	case "computer_call":
		if part.Args = o.bytes("action"); part.Args == nil {
			part.Args = append(append([]byte(`{"actions":`), o.bytes("actions")...), '}')
		}
	case "tool_search_call":
		part.Args = o.args("arguments")
	case "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call":
		part = Part{Kind: Hosted, CallID: part.CallID, Name: strings.TrimSuffix(kind, "_call"), Text: string(o.p.raw(o.at))}
	case "mcp_call", "mcp_list_tools":
		part = Part{Kind: Hosted, CallID: part.CallID, Name: o.str("name"), Text: string(o.p.raw(o.at))}
	default:
		return Part{}, false
	}
	return part, true
}

// Spaced is the name of a tool in a namespace of Responses: the same name in two of them is
// two tools.
func Spaced(namespace, name string) string {
	if namespace == "" || name == "" {
		return name
	}
	return namespace + "__" + name
}

func (o object) spaced() string { return Spaced(o.str("namespace"), o.str("name")) }

func (o object) responsesResult(name string) Part {
	part := Part{Kind: Result, CallID: o.str("call_id"), Name: name}
	if part.CallID == "" {
		part.CallID = o.str("id")
	}
	if output, ok := o.get("output"); ok {
		part.Text = o.p.flat(output)
	} else if content, ok := o.get("tools"); ok {
		part.Text = o.p.flat(content)
	}
	part.Error = o.str("status") == "failed"
	return part
}

// reasoning is the model's own words, or their sealed form.
func (o object) reasoning() string {
	var lines []string
	for _, key := range []string{"summary", "content"} {
		if at, ok := o.get(key); ok {
			o.p.gather(&lines, "", at, 0)
		}
	}
	if len(lines) == 0 {
		return o.str("encrypted_content")
	}
	return strings.Join(lines, "\n")
}
