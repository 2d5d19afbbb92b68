package format

// geminiContent reads an entry of Gemini's contents. Without a role it is the user's.
func (p *parser) geminiContent(at span) Message {
	o := p.object(at, "content")
	m := Message{Role: User, Start: at.start, End: at.end}
	if name := o.str("role"); name != "" {
		m.Role = role(name)
	}
	if parts, ok := o.get("parts"); ok {
		for _, e := range p.oneOrMany(parts, "parts") {
			m.Parts = append(m.Parts, p.geminiPart(e))
		}
	}
	return m
}

// oneOrMany reads a list. Google's servers take a single object for a list of one.
func (p *parser) oneOrMany(at span, what string) []span {
	if p.is(at, '{') {
		return []span{at}
	}
	return p.list(at, what)
}

// geminiPart reads a part. It can be one thing only: which of two a server takes is its
// own affair, so two are an error.
func (p *parser) geminiPart(at span) Part {
	o := p.object(at, "part")
	out, found := p.other(at), 0
	for _, f := range o.fields {
		if p.is(f.span, 'n') {
			continue
		}
		part, ok := o.geminiData(f)
		if !ok {
			continue
		}
		if found++; found > 1 {
			p.fail(at, "a part is two things at once")
		}
		out = part
	}
	return out
}

func (o object) geminiData(f field) (Part, bool) {
	p := o.p
	switch f.key {
	case "text":
		if o.yes("thought") {
			return Part{Kind: Thinking, Text: p.str(f.span, f.key)}, true
		}
		return Part{Kind: Text, Text: p.str(f.span, f.key)}, true
	case "functionCall":
		c := p.object(f.span, f.key)
		part := Part{Kind: Call, CallID: c.str("id"), Name: c.str("name"), Args: c.bytes("args")}
		if len(part.Args) > 0 && part.Args[0] != '{' {
			p.fail(f.span, "the args of a functionCall are not an object")
		}
		return part, true
	case "functionResponse":
		return p.geminiResult(f.span), true
	case "inlineData", "fileData":
		return Part{Kind: Media, URL: p.remoteIn(f.key, f.span, 0)}, true
	case "executableCode", "codeExecutionResult":
		return Part{Kind: Hosted, Name: "codeExecution", Text: string(p.raw(f.span))}, true
	case "toolCall", "toolResponse":
		return Part{Kind: Hosted, Name: f.key, Text: string(p.raw(f.span))}, true
	}
	return Part{}, false
}

func (p *parser) geminiResult(at span) Part {
	o := p.object(at, "functionResponse")
	part := Part{Kind: Result, CallID: o.str("id"), Name: o.str("name")}
	response, ok := o.get("response")
	if !ok {
		return part
	}
	if !p.is(response, '{') {
		p.fail(response, "response is not an object")
		return part
	}
	r := p.free(response)
	_, part.Error = r.get("error")
	if len(r.fields) == 1 && p.is(r.fields[0].span, '"') {
		part.Text = p.str(r.fields[0].span, "response")
		return part
	}
	part.Text = p.flat(response)
	return part
}
