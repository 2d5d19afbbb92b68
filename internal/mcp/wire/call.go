package wire

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Asked is what a request names, as far as the gate looks at it. Values are raw JSON, nil
// where they are missing.
type Asked struct {
	Name      string // params.name
	TaskID    string // params.taskId
	Cursor    string // params.cursor
	Arguments []byte // params.arguments
	State     []byte // params.requestState: of a request that is repeated with answers
	Answers   []byte // params.inputResponses
	Meta      Object // params._meta
}

// Rest is what leaves with a request: its params without _meta, requestState and inputResponses.
func (m *Message) Rest() ([]byte, error) {
	return Cut(orEmpty(m.Params), "_meta", "requestState", "inputResponses")
}

// Ask reads the params of a request. Arguments, where there are some, are an object.
func (m *Message) Ask() (*Asked, error) {
	a := &Asked{}
	err := m.params.Each(func(key string, value []byte) error {
		var ok bool
		switch key {
		case "name":
			a.Name, ok = text(value)
		case "uri":
			_, ok = text(value)
		case "taskId":
			a.TaskID, ok = text(value)
		case "cursor":
			a.Cursor, ok = text(value)
		case "arguments":
			a.Arguments, ok = value, value[0] == '{'
		case "requestState":
			a.State = value
			return nil
		case "inputResponses":
			a.Answers = value
			return nil
		case "_meta":
			if value[0] != '{' {
				return &Fault{Code: CodeParams, Text: "params._meta is no object", ID: m.ID}
			}
			var err error
			a.Meta, err = ReadObject(value)
			return err
		default:
			ok = nearly(key, "name", "uri", "taskId", "cursor", "arguments", "requestState", "inputResponses", "_meta") == ""
		}
		if !ok {
			return &Fault{Code: CodeParams, Text: "params." + key + " is not of its kind", ID: m.ID}
		}
		return nil
	})
	if err != nil {
		if fault, ok := err.(*Fault); ok { //nolint:errorlint // it is ours, unwrapped
			return nil, fault
		}
		return nil, &Fault{Code: CodeParams, Text: "params cannot be read: " + err.Error(), ID: m.ID}
	}
	return a, nil
}

func orEmpty(object []byte) []byte {
	if object == nil {
		return []byte("{}")
	}
	return object
}

func text(value []byte) (string, bool) {
	s, err := word(value)
	return s, err == nil
}

// Text is the string that stands under a key of an object, "" where there is none.
func Text(object []byte, key string) string { return textOf(Get(object, key)) }

func textOf(value []byte) string {
	if len(value) == 0 || value[0] != '"' {
		return ""
	}
	s, _ := text(value)
	return s
}

// Get is the value that stands under a chain of keys, nil where there is none.
func Get(object []byte, keys ...string) []byte {
	for _, want := range keys {
		if len(object) == 0 || object[0] != '{' {
			return nil
		}
		o, _ := ReadObject(object) // what cannot be read has nothing
		object = o.Get(want)
	}
	return object
}

// Put is an object with one value exchanged or added; everything else stays as it was.
func Put(object []byte, key string, value []byte) ([]byte, error) {
	o, err := ReadObject(object)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(object)+len(key)+len(value)+8)
	for _, m := range o {
		if m.key == key {
			out = append(append(out, object[:m.at]...), value...)
			return append(out, object[m.at+len(m.value):]...), nil
		}
	}
	open := bytes.IndexByte(object, '{') + 1
	if out, err = jsontext.AppendQuote(append(out, object[:open]...), key); err != nil {
		return nil, err
	}
	out = append(append(out, ':'), value...)
	if rest := bytes.TrimSpace(object[open:]); len(rest) > 0 && rest[0] != '}' {
		out = append(out, ',')
	}
	return append(out, object[open:]...), nil
}

// Cut is an object without some of its keys; everything else keeps its bytes.
func Cut(object []byte, keys ...string) ([]byte, error) {
	out := []byte{'{'}
	err := Members(object, func(key string, value []byte) error {
		if slices.Contains(keys, key) {
			return nil
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		var err error
		if out, err = jsontext.AppendQuote(out, key); err != nil {
			return err
		}
		out = append(append(out, ':'), value...)
		return nil
	})
	return append(out, '}'), err
}
