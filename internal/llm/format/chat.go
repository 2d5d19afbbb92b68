package format

import (
	"bytes"
	"fmt"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// chatDialect is OpenAI's Chat Completions. The system prompt is the messages the list
// starts with.
var chatDialect = &dialect{
	name: "chat",

	list:        "messages",
	entry:       (*parser).chatMessage,
	fetchesData: true,
	offers:      []string{"tools", "functions", "web_search_options", "plugins", "search_parameters", "enable_search"},
	hidesHosted: true,
	plain:       chatMembers,
	tools:       (*parser).chatTools,

	setSystem: (*editor).chatSystem,
	choices:   (*editor).chatChoices,

	reader:    func() answerReader { return &chat{} },
	callParts: []string{"name", "arguments", "toolcalls", "functioncall", "function", "custom"},
	keepAlive: commentAlive,
	failure:   chatFailure,
	problem:   openProblem,
	idPrefix:  "chatcmpl-",
	whole:     chatWhole,
	events:    chatEvents,
}

// chatMessage reads an entry of messages.
func (p *parser) chatMessage(at int) Message {
	o := p.object(at, "message")
	m := o.message(role(o.str("role")))
	content, has := o.get("content")
	if m.Role == ToolRole {
		part := Part{Kind: Result, CallID: o.str("tool_call_id"), Name: o.str("name")}
		if has {
			part.Text = p.flat(content)
			p.brought(&part, content)
		}
		m.Parts = append(m.Parts, part)
		return m
	}
	for _, key := range []string{"reasoning_content", "reasoning"} {
		if at, ok := o.get(key); ok && p.is(at, '"') {
			m.Parts = append(m.Parts, Part{Kind: Thinking, Text: p.str(at, key)})
		}
	}
	if has {
		m.Parts = p.content(m.Parts, content, (*parser).openPart)
	}
	if text := o.str("refusal"); text != "" {
		m.Parts = append(m.Parts, Part{Kind: Text, Text: text})
	}
	if at, ok := o.get("audio"); ok {
		m.Parts = append(m.Parts, p.chatAudio(at, m.Role))
	}
	if calls, ok := o.get("tool_calls"); ok {
		for _, c := range p.list(calls, "tool_calls") {
			m.Parts = append(m.Parts, p.chatCall(c))
		}
	}
	if call, ok := o.get("function_call"); ok {
		f := p.object(call, "function_call")
		m.Parts = append(m.Parts, Part{Kind: Call, Name: f.str("name"), Args: f.args("arguments")})
	}
	return m
}

// chatAudio reads a sound that stands beside the words. Of one that the model made clients send the id.
func (p *parser) chatAudio(at int, from Role) Part {
	if from == Assistant && p.is(at, '{') {
		if id := p.free(at).id(); id != "" {
			return Part{Kind: Stored, CallID: id}
		}
	}
	return Part{Kind: Media}
}

// id is the member of that name where it is a text.
func (o object) id() string {
	at, ok := o.get("id")
	if !ok || !o.p.is(at, '"') {
		return ""
	}
	return o.p.doc.Text(at)
}

func (p *parser) chatCall(at int) Part {
	o := p.object(at, "tool call")
	id := o.str("id")
	if f, ok := o.get("function"); ok {
		f := p.object(f, "function")
		return Part{Kind: Call, CallID: id, Name: f.str("name"), Args: f.args("arguments")}
	}
	if c, ok := o.get("custom"); ok {
		c := p.object(c, "custom call")
		return Part{Kind: Call, CallID: id, Name: c.str("name"), Args: c.freeText("input")}
	}
	return p.other(at)
}

func (p *parser) chatTools(s *toolset, key string) {
	switch key {
	case "web_search_options": // the member itself is the tool
		s.add(p.doc.Span(0), webSearch)
	case "search_parameters":
		if !p.is(0, '{') || p.object(0, key).str("mode") != "off" {
			s.add(p.doc.Span(0), webSearch)
		}
	case "enable_search":
		if !p.is(0, 'f') {
			s.add(p.doc.Span(0), webSearch)
		}
	case "plugins":
		p.eachTool(s, key, object.chatPlugin)
	case "functions":
		p.eachTool(s, key, func(o object) Tool { return o.function("parameters") })
	default:
		p.eachTool(s, key, object.chatTool)
	}
}

// webSearch is a search that the provider makes before the model answers, or while it does.
var webSearch = Tool{Name: "web_search", Hosted: true}

// chatPlugin reads what some providers run around the model. What they do to files and
// answers of the conversation brings nothing from outside.
func (o object) chatPlugin() Tool {
	switch id := o.str("id"); id {
	case "web":
		return webSearch
	case "file-parser", "response-healing":
		return Tool{Name: id}
	default:
		return Tool{Name: id, Hosted: true}
	}
}

func (o object) chatTool() Tool {
	for _, key := range []string{"function", "custom"} {
		if at, ok := o.get(key); ok {
			return o.p.object(at, key).function("parameters")
		}
	}
	return Tool{Name: o.str("type"), Hosted: true}
}

func (e *editor) chatChoices(h *hider) {
	e.openChoice(h)
	f, ok := e.field("function_call")
	switch {
	case !ok:
	case !h.full["functions"]:
		e.gone[f.key] = true
	case e.starts(f, '{') && !h.left[e.object(f).str("name")]:
		e.put(f.span, []byte(`"auto"`))
	}
}

// chatSystem changes the system prompt, and the list where it is replaced.
func (e *editor) chatSystem(edit Edit) {
	if edit.System == nil && edit.Notice == "" {
		if edit.Messages != nil {
			e.setList(edit.Messages)
		}
		return
	}
	if edit.Messages != nil {
		e.setList(e.newPrompt(edit.Messages, edit))
		return
	}
	run, next := e.promptRun()
	name := "system"
	if len(run) > 0 {
		name = e.p.object(e.p.load(run[len(run)-1]), "message").str("role")
	}
	if edit.System == nil {
		e.noticeInRun(run, next, promptMessage(name, marked(edit.Notice)))
		return
	}
	text := bytes.Join(promptMessages(name, edit), []byte{','})
	switch {
	case len(run) == 0 && len(text) == 0:
	case len(run) == 0:
		e.insertFirst(text, next)
	case len(text) > 0:
		e.put(span{Start: run[0].Start, End: run[len(run)-1].End}, text)
	case next.End > 0:
		e.put(span{Start: run[0].Start, End: next.Start}, nil)
	default:
		e.put(span{Start: run[0].Start, End: run[len(run)-1].End}, nil)
	}
}

// insertFirst puts messages before all others.
func (e *editor) insertFirst(text []byte, next span) {
	at := e.r.list.Start + 1
	if next.End > 0 {
		at = next.Start
		text = append(text, ',')
	}
	e.put(span{Start: at, End: at}, text)
}

// noticeInRun puts a notice after the messages the list starts with.
func (e *editor) noticeInRun(run []span, next span, message []byte) {
	all := run
	if next.End > 0 {
		all = append(run[:len(run):len(run)], next)
	}
	old := make([]bool, len(all))
	last := -1
	for i, at := range run {
		parts := e.p.chatMessage(e.p.load(at)).Parts
		if old[i] = len(parts) == 1 && isNotice(parts[0].Text); !old[i] {
			last = i
		}
	}
	if last < 0 && len(run) > 0 { // nothing but old notices: the new one takes their place
		e.put(span{Start: run[0].Start, End: run[len(run)-1].End}, message)
		return
	}
	e.siblings(all, func(i int) bool { return old[i] })
	if last < 0 {
		e.insertFirst(message, next)
		return
	}
	e.put(span{Start: run[last].End, End: run[last].End}, append([]byte{','}, message...))
}

// promptRun is the system messages the list starts with, and the one after them.
func (e *editor) promptRun() (run []span, next span) {
	d := &e.p.doc
	for i := e.r.list.Start + 1; ; {
		d.Start(e.p.b, i, 0)
		if d.Peek() == ',' {
			_ = d.Expect(',') // it was looked at
		}
		if d.Peek() == ']' {
			return run, span{}
		}
		at := span{Start: d.Pos()}
		m := e.p.object(e.p.load(at), "message")
		at = d.Span(0)
		if e.p.err != nil || role(m.str("role")) != System {
			return run, at
		}
		run = append(run, at)
		i = at.End
	}
}

func promptMessage(role, text string) []byte {
	out := append([]byte(`{"role":`), quoted(role)...)
	return append(append(append(out, `,"content":`...), quoted(text)...), '}')
}

func promptMessages(role string, edit Edit) [][]byte {
	var out [][]byte
	if edit.System != nil && *edit.System != "" {
		out = append(out, promptMessage(role, *edit.System))
	}
	if edit.Notice != "" {
		out = append(out, promptMessage(role, marked(edit.Notice)))
	}
	return out
}

// newPrompt is a list from outside with its system prompt changed.
func (e *editor) newPrompt(list []strictjson.Value, edit Edit) []strictjson.Value {
	name := "system"
	var kept []strictjson.Value
	for len(list) > 0 {
		p := newParser(list[0], e.r.dialect)
		m, err := p.outsideEntry()
		if err != nil || m.Role != System {
			break
		}
		name = p.object(0, "message").str("role")
		if edit.System == nil && (len(m.Parts) != 1 || !isNotice(m.Parts[0].Text)) {
			kept = append(kept, list[0])
		}
		list = list[1:]
	}
	for _, text := range promptMessages(name, edit) {
		kept = append(kept, text)
	}
	return append(kept, list...)
}

func chatFailure(out, text []byte, _ bool) []byte {
	return fmt.Appendf(out,
		"data: {\"error\":{\"message\":%s,\"type\":\"server_error\",\"param\":null,\"code\":\"server_error\"}}\n\n", text)
}

func chatWhole(s *Speech) []byte {
	out := chatEnvelope(s, "chat.completion", jsonObject{
		"index": 0, "message": jsonObject{"role": "assistant", "content": s.Text, "refusal": nil}, "logprobs": nil, "finish_reason": "stop",
	})
	out["usage"] = jsonObject{"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
	return encode(out)
}

func chatEvents(s *Speech) []byte {
	var out []byte
	for _, choice := range []jsonObject{
		{"index": 0, "delta": jsonObject{"role": "assistant", "content": s.Text}, "finish_reason": nil},
		{"index": 0, "delta": jsonObject{}, "finish_reason": "stop"},
	} {
		out = fmt.Appendf(out, "data: %s\n\n", encode(chatEnvelope(s, "chat.completion.chunk", choice)))
	}
	return append(out, "data: [DONE]\n\n"...)
}

func chatEnvelope(s *Speech, kind string, choice jsonObject) jsonObject {
	return jsonObject{"id": s.ID, "object": kind, "created": s.Created, "model": s.Model, "choices": []any{choice}}
}
