package format

import (
	"bytes"
	"fmt"
	"net/url"
	"regexp"
)

// geminiDialect is Gemini's generateContent and streamGenerateContent. Its servers read keys
// in snake case as well, and take a single object for a list of one.
var geminiDialect = &dialect{
	name: "gemini",

	list:     "contents",
	camel:    true,
	entry:    (*parser).geminiContent,
	single:   (*parser).geminiSingle,
	system:   "systemInstruction",
	stored:   "cachedContent",
	prompt:   (*parser).geminiPrompt,
	offers:   []string{"tools"},
	tools:    (*parser).geminiTools,
	uploaded: uploaded,

	pathModel: true,
	block:     geminiText,
	newSystem: geminiSystem,
	setSystem: (*editor).systemMember,
	noticeIn:  (*editor).geminiNotice,
	choices:   (*editor).geminiChoices,
	resultOf:  func(text []byte) []byte { return append(append([]byte(`{"result":`), text...), '}') },

	// Clients wait for the end of the body, and take every line that is no data for an error.
	reader:    func() answerReader { return &gemini{} },
	callParts: []string{"name", "args", "partialargs", "functioncall"},
	array:     true,
	failure:   geminiFailure,
	problem:   geminiProblem,
	whole:     geminiWhole,
	events:    geminiEvents,
}

// geminiSingle reads contents that are a single object.
func (p *parser) geminiSingle(at int) (Message, bool) {
	if !p.is(at, '{') {
		return Message{}, false
	}
	return p.geminiContent(at), true
}

// geminiPrompt reads the system instruction. Some servers take a text.
func (p *parser) geminiPrompt(at int) []Part {
	if p.is(at, '"') {
		return []Part{{Kind: Text, Text: p.str(at, "systemInstruction")}}
	}
	return p.geminiContent(at).Parts
}

// geminiContent reads an entry of Gemini's contents. Without a role it is the user's.
func (p *parser) geminiContent(at int) Message {
	o := p.object(at, "content")
	m := o.message(User)
	if name := o.str("role"); name != "" {
		m.Role = role(name)
	}
	if parts, ok := o.get("parts"); ok {
		for _, e := range p.oneOrMany(parts, "parts") {
			m.Parts = append(m.Parts, p.geminiPart(e, m.Role))
		}
	}
	return m
}

// oneOrMany reads a list. Google's servers take a single object for a list of one.
func (p *parser) oneOrMany(at int, what string) []int {
	if p.is(at, '{') {
		return []int{at}
	}
	return p.list(at, what)
}

// geminiPart reads a part. It can be one thing only: which of two a server takes is its
// own affair, so two are an error.
func (p *parser) geminiPart(at int, from Role) Part {
	o := p.object(at, "part")
	out, found := p.other(at), 0
	for _, f := range o.fields {
		if p.doc.Kind(f.value) == 0 {
			continue
		}
		part, ok := o.geminiData(f)
		if !ok {
			continue
		}
		if from == Assistant && part.Kind == Media { // a model made it
			part.Mark = markOf(p.raw(f.value))
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
			return Part{Kind: Thinking, Text: p.str(f.value, f.key)}, true
		}
		return Part{Kind: Text, Text: p.str(f.value, f.key)}, true
	case "functionCall":
		c := p.object(f.value, f.key)
		part := Part{Kind: Call, CallID: c.str("id"), Name: c.str("name"), Args: c.bytes("args")}
		if len(part.Args) > 0 && part.Args[0] != '{' {
			p.fail(f.value, "the args of a functionCall are not an object")
		}
		return part, true
	case "functionResponse":
		return p.geminiResult(f.value), true
	case "inlineData", "fileData":
		return Part{Kind: Media, URL: p.remoteIn(f.key, f.value, 0)}, true
	case "executableCode", "codeExecutionResult":
		return hostedPart("codeExecution", "", p.raw(f.value)), true
	case "toolCall", "toolResponse":
		return hostedPart(f.key, "", p.raw(f.value)), true
	}
	return Part{}, false
}

func (p *parser) geminiResult(at int) Part {
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
	if len(r.fields) == 1 && p.is(r.fields[0].value, '"') {
		part.Text = p.str(r.fields[0].value, "response")
	} else {
		part.Text = p.flat(response)
	}
	p.brought(&part, response)
	return part
}

// geminiTools reads tool objects: declared functions, and members that are hosted tools.
func (p *parser) geminiTools(s *toolset, key string) {
	for _, e := range p.oneOrMany(0, key) {
		p.pool = p.pool[:0]
		s.kids = append(s.kids, p.geminiTool(s, p.object(e, "tool")))
	}
}

func (p *parser) geminiTool(s *toolset, o object) branch {
	b := s.branch(p.doc.Span(o.at))
	for _, f := range o.fields {
		member := span{Start: f.at, End: f.End}
		if p.doc.Kind(f.value) == 0 {
			b.kids = append(b.kids, s.branch(member))
			continue
		}
		if f.key != "functionDeclarations" {
			b.kids = append(b.kids, s.add(member, Tool{Name: f.key, Hosted: f.key != "computerUse", Sealed: f.key == "codeExecution"}))
			continue
		}
		group := s.branch(member)
		for _, e := range p.oneOrMany(f.value, f.key) {
			d := p.object(e, "function declaration")
			t := d.function("parameters")
			if t.Schema == nil {
				t.Schema = d.bytes("parametersJsonSchema")
			}
			group.kids = append(group.kids, s.add(p.doc.Span(e), t))
		}
		b.kids = append(b.kids, group)
	}
	return b
}

// upload is the path of a file that somebody has put in Gemini's own store.
var upload = regexp.MustCompile(`^/v[0-9][0-9a-z]*/files/[0-9A-Za-z_-]+$`)

// uploaded reports whether an address of Gemini's is a file that was uploaded: it is named
// by its address, where others give it an id.
func uploaded(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" || u.User != nil {
		return false
	}
	return u.Host == "generativelanguage.googleapis.com" && upload.MatchString(u.EscapedPath())
}

func geminiText(text string) []byte { return append(append([]byte(`{"text":`), quoted(text)...), '}') }

func geminiSystem(texts []string) []byte {
	parts := make([][]byte, 0, len(texts))
	for _, t := range texts {
		parts = append(parts, geminiText(t))
	}
	return append(append([]byte(`{"parts":[`), bytes.Join(parts, []byte{','})...), "]}"...)
}

// geminiNotice is noticeInList where the list is a member and may be a single part.
func (e *editor) geminiNotice(at span, notice string) {
	o := e.p.object(e.p.load(at), "systemInstruction")
	parts, ok := o.get("parts")
	switch {
	case ok && e.p.is(parts, '['):
		e.noticeInList(e.p.doc.Span(parts), notice)
	case ok:
		place := e.p.doc.Span(parts)
		e.put(span{Start: place.Start, End: place.Start}, []byte{'['})
		e.put(span{Start: place.End, End: place.End}, append(append([]byte{','}, geminiText(marked(notice))...), ']'))
	default:
		e.put(at, geminiSystem([]string{marked(notice)}))
	}
}

func (e *editor) geminiChoices(h *hider) {
	f, ok := e.field("toolConfig")
	if !ok || !e.starts(f, '{') {
		return
	}
	o := e.object(f)
	at, ok := o.get("functionCallingConfig")
	if !ok {
		return
	}
	if !e.functionsLeft(h) {
		e.drop(o, "functionCallingConfig")
		return
	}
	c := e.p.object(at, "functionCallingConfig")
	names, ok := c.get("allowedFunctionNames")
	if !ok {
		return
	}
	all := e.p.list(names, "allowedFunctionNames")
	if len(all) == 0 || e.filter(all, func(at int) bool { return h.left[e.p.str(at, "name")] }) {
		return
	}
	e.put(e.p.doc.Span(at), []byte(`{"mode":"NONE"}`)) // what was allowed is gone: not everything, nothing
}

// functionsLeft reports whether a tool is left that the client runs.
func (e *editor) functionsLeft(h *hider) bool {
	for _, t := range e.r.Tools {
		if !t.Hosted && h.left[t.Name] {
			return true
		}
	}
	return false
}

// geminiFailure ends an event stream without a blank line: one official client raises the
// error that it reads, the other one that the stream ends too early. With it, that one would
// see no error. Where an array stands is not worth knowing: a broken one is an error as well.
func geminiFailure(out, text []byte, array bool) []byte {
	if array {
		return fmt.Appendf(out, "\n{\"error\":{\"code\":502,\"message\":%s,\"status\":\"UNAVAILABLE\"}}", text)
	}
	return fmt.Appendf(out, "data: {\"error\":{\"code\":502,\"message\":%s,\"status\":\"UNAVAILABLE\"}}\n", text)
}

func geminiProblem(status int, text string) any {
	return jsonObject{"error": jsonObject{"code": status, "message": text, "status": googleStatus(status)}}
}

// googleStatus is an HTTP status in Google's words.
func googleStatus(status int) string {
	switch status {
	case 401:
		return "UNAUTHENTICATED"
	case 403:
		return "PERMISSION_DENIED"
	case 404:
		return "NOT_FOUND"
	case 429:
		return "RESOURCE_EXHAUSTED"
	case 503:
		return "UNAVAILABLE"
	}
	if status >= 500 {
		return "INTERNAL"
	}
	return "INVALID_ARGUMENT"
}

func geminiWhole(s *Speech) []byte {
	return encode(jsonObject{
		"candidates": []any{jsonObject{
			"content": jsonObject{"role": "model", "parts": []any{jsonObject{"text": s.Text}}}, "finishReason": "STOP", "index": 0,
		}},
		"usageMetadata": jsonObject{"promptTokenCount": 0, "candidatesTokenCount": 0, "totalTokenCount": 0},
		"modelVersion":  s.Model, "responseId": s.ID,
	})
}

func geminiEvents(s *Speech) []byte { return fmt.Appendf(nil, "data: %s\n\n", geminiWhole(s)) }
