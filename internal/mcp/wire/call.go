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
	Meta      []byte // params._meta
}

// Rest is what leaves with a request: its params without _meta, requestState and inputResponses.
func (m *Message) Rest() ([]byte, error) {
	return Cut(orEmpty(m.Params), "_meta", "requestState", "inputResponses")
}

// Ask reads the params of a request. Arguments, where there are some, are an object.
func (m *Message) Ask() (*Asked, error) {
	a := &Asked{}
	err := Members(orEmpty(m.Params), func(key string, value []byte) error {
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
			if a.Meta = value; value[0] != '{' {
				return &Fault{Code: CodeParams, Text: "params._meta is no object", ID: m.ID}
			}
			return nil
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
	s, err := jsontext.AppendUnquote(nil, value)
	return string(s), err == nil
}

// Text is the string that stands under a key of an object, "" where there is none.
func Text(object []byte, key string) string {
	v := Get(object, key)
	if len(v) == 0 || v[0] != '"' {
		return ""
	}
	s, _ := text(v)
	return s
}

// Get is the value that stands under a chain of keys, nil where there is none.
func Get(object []byte, keys ...string) []byte {
	for _, want := range keys {
		var found []byte
		if len(object) == 0 || object[0] != '{' {
			return nil
		}
		_ = Members(object, func(key string, value []byte) error { // what cannot be read has nothing
			if key == want {
				found = value
			}
			return nil
		})
		object = found
	}
	return object
}

// Put is an object with one value exchanged or added; everything else stays as it was.
func Put(object []byte, key string, value []byte) ([]byte, error) {
	begin, end := -1, -1
	err := walk(object, func(k string, from, to int) error {
		if k == key {
			begin, end = from, to
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(object)+len(key)+len(value)+8)
	if begin >= 0 {
		out = append(append(out, object[:begin]...), value...)
		return append(out, object[end:]...), nil
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
