package format

import (
	"bytes"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// responsesDialect is OpenAI's Responses.
var responsesDialect = &dialect{
	name: "responses",

	list:     "input",
	unlisted: true,
	entry:    (*parser).responsesItem,
	single:   (*parser).responsesText,
	system:   "instructions",
	stored:   "prompt",
	prompt:   (*parser).blocks,
	offers:   []string{"tools"},
	tools:    func(p *parser, s *toolset, key string) { p.eachTool(s, key, object.responsesTool) },

	block:     typedText,
	newSystem: joinedText,
	setSystem: (*editor).systemMember,
	choices:   (*editor).openChoice,
	settle:    (*editor).settleOwed,

	reader:    func() answerReader { return &responses{items: map[int]*item{}} },
	callParts: []string{"name", "arguments", "callid"},
	keepAlive: commentAlive,
	failure:   responsesFailure,
	problem:   openProblem,
	idPrefix:  "resp_",
	keepsID:   true,
	whole:     responsesWhole,
	events:    responsesEvents,
}

// responsesText reads an input that is a text.
func (p *parser) responsesText(at int) (Message, bool) {
	if !p.is(at, '"') {
		return Message{}, false
	}
	place := p.doc.Span(at)
	return Message{Role: User, Parts: []Part{{Kind: Text, Text: p.str(at, "input")}}, Start: place.Start, End: place.End}, true
}

// responsesItem reads an entry of input.
func (p *parser) responsesItem(at int) Message {
	o := p.object(at, "item")
	m := o.message(Unknown)
	kind := o.str("type")
	switch kind {
	case "", "message":
		m.Role = role(o.str("role"))
		if content, ok := o.get("content"); ok {
			m.Parts = p.content(nil, content, (*parser).openPart)
		}
		return m
	case "reasoning", "compaction", "compaction_summary":
		m.Role, m.Parts = Assistant, o.reasoning()
		return m
	case "item_reference":
		m.Role, m.Parts = Assistant, []Part{{Kind: Stored, CallID: o.str("id")}}
		return m
	case approvalAnswer:
		m.Role, m.Parts = ToolRole, []Part{o.approval()}
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
		part = hostedPart(strings.TrimSuffix(kind, "_call"), part.CallID, o.p.raw(o.at))
	case "mcp_call", "mcp_list_tools":
		part = hostedPart(o.str("name"), part.CallID, o.p.raw(o.at))
	case "program", "program_output":
		part = hostedPart("program", part.CallID, o.p.raw(o.at))
	case approvalItem:
		part.Name, part.Args = Spaced(o.str("server_label"), o.str("name")), o.args("arguments")
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
		o.p.brought(&part, output)
	} else if content, ok := o.get("tools"); ok {
		part.Text = o.p.flat(content)
	}
	part.Error = o.str("status") == "failed"
	return part
}

// approval reads what the client answers to a call that the provider would run.
func (o object) approval() Part {
	part := Part{Kind: Approval, CallID: o.str("approval_request_id"), Text: o.str("reason")}
	at, ok := o.get("approve")
	if !ok || !o.p.is(at, 't') && !o.p.is(at, 'f') {
		o.p.fail(o.at, "approve is neither true nor false")
		return part
	}
	part.Args = bytes.Clone(o.p.raw(at))
	return part
}

// reasoning is the model's own words, each as it came, and their sealed form.
func (o object) reasoning() []Part {
	var lines []string
	for _, key := range []string{"summary", "content"} {
		if at, ok := o.get(key); ok {
			o.p.gather(&lines, "", at, 0)
		}
	}
	if sealed := o.str("encrypted_content"); sealed != "" {
		lines = append(lines, sealed)
	}
	var out []Part
	for _, line := range lines {
		out = append(out, Part{Kind: Thinking, Text: line})
	}
	return out
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
	return Tool{Name: kind, Hosted: true, Sealed: kind == "image_generation" || kind == "code_interpreter" && o.ownContainer()}
}

// ownContainer reports whether code runs in a container that is made for this answer and
// reaches nothing: one that was made before may hold anything.
func (o object) ownContainer() bool {
	at, ok := o.get("container")
	if !ok || !o.p.is(at, '{') {
		return false
	}
	for _, f := range o.p.object(at, "container").fields {
		switch f.key {
		case "type", "file_ids", "memory_limit":
		default:
			return false
		}
	}
	return true
}

// choiceName names a tool that has only a type as its calls are named.
func choiceName(kind string) string {
	if kind == "computer_use_preview" {
		return "computer"
	}
	return kind
}

// Owed is a call that a provider keeps and waits for, and that nobody will run: the client
// has read our words in its place and knows nothing of it. A client of Responses that goes
// on from the stored answer cannot settle it, so we do.
type Owed struct {
	Kind   string // the type of the call's item
	CallID string
	Text   string // why it did not run
}

// Output is the item that settles the call, in our words. It is nil for a kind of call that
// only something real can settle, such as a picture of a screen.
func (o Owed) Output() strictjson.Value {
	head := `{"type":"` + o.Kind + `_output","call_id":` + string(quoted(o.CallID))
	text := string(quoted(o.Text))
	switch {
	case o.CallID == "":
	case o.Kind == "function_call", o.Kind == "custom_tool_call", o.Kind == "local_shell_call":
		return strictjson.Value(head + `,"output":` + text + `}`)
	case o.Kind == "shell_call":
		return strictjson.Value(head + `,"output":[{"stdout":"","stderr":` + text + `,"outcome":{"type":"exit","exit_code":126}}]}`)
	case o.Kind == approvalItem:
		return strictjson.Value(`{"type":"` + approvalAnswer + `","approval_request_id":` + string(quoted(o.CallID)) +
			`,"approve":false,"reason":` + text + `}`)
	case o.Kind == "apply_patch_call":
		return strictjson.Value(head + `,"status":"failed","output":` + text + `}`)
	}
	return nil
}

// settleOwed puts what settles open calls before everything else that is new.
func (e *editor) settleOwed(edit *Edit) {
	var items []strictjson.Value
	for _, o := range edit.Owed {
		if item := o.Output(); item != nil {
			items = append(items, item)
		}
	}
	switch {
	case len(items) == 0:
	case edit.Messages != nil:
		edit.Messages = append(items, edit.Messages...)
	case e.r.isList:
		e.insertItems(items)
	default:
		edit.Messages = append(items, e.singleItem()...)
	}
}

// insertItems puts items at the beginning of the list.
func (e *editor) insertItems(items []strictjson.Value) {
	at := e.r.list.Start + 1
	var text []byte
	for i, item := range items {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, item...)
	}
	if e.p.doc.Start(e.p.b, at, 0); e.p.doc.Peek() != ']' {
		text = append(text, ',')
	}
	e.put(span{Start: at, End: at}, text)
}

// singleItem is the user's message where the input is a text, as an entry of a list.
func (e *editor) singleItem() []strictjson.Value {
	if e.r.list.key == "" || !e.starts(e.r.list, '"') {
		return nil
	}
	raw := e.p.b[e.r.list.Start:e.r.list.End]
	return []strictjson.Value{append(append([]byte(`{"role":"user","content":`), raw...), '}')}
}
