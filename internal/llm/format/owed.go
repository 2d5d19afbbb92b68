package format

import "github.com/tidemark/tidemark/internal/base/strictjson"

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
	case o.Kind == "apply_patch_call":
		return strictjson.Value(head + `,"status":"failed","output":` + text + `}`)
	}
	return nil
}

// owed puts what settles open calls before everything else that is new.
func (e *editor) owed(edit *Edit) {
	if e.r.API != Responses {
		return
	}
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
		edit.Messages = append(items, e.single()...)
	}
}

// insertItems puts items at the beginning of the list.
func (e *editor) insertItems(items []strictjson.Value) {
	at := e.r.list.start + 1
	var text []byte
	for i, item := range items {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, item...)
	}
	if e.p.b[skipSpace(e.p.b, at)] != ']' {
		text = append(text, ',')
	}
	e.put(span{at, at}, text)
}

// single is the user's message where the input is a text, as an entry of a list.
func (e *editor) single() []strictjson.Value {
	if e.r.list.key == "" || !e.p.is(e.r.list.span, '"') {
		return nil
	}
	return []strictjson.Value{append(append([]byte(`{"role":"user","content":`), e.p.raw(e.r.list.span)...), '}')}
}
