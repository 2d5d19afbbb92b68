// Package wire reads what MCP clients and servers write: JSON-RPC messages, one per line or
// one per event of a stream. It reads strictly, because what it accepts is passed on byte
// for byte to programs that may read leniently: a message that two parsers could take
// differently is none. It does no I/O of its own beyond the readers it is given.
//
// Invariants:
//   - a Message that was read is one JSON object in UTF-8, in which no key of the envelope, of
//     params or of result stands twice, in whatever case;
//   - Raw is what was read, and nothing else is ever made of it.
package wire

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Kind is what a message is.
type Kind uint8

// The kinds of messages; the zero one is no message at all.
const (
	Nothing Kind = iota
	Request
	Notification
	Response
)

// Message is one JSON-RPC message. The slices point into Raw.
type Message struct {
	Raw    []byte
	ID     []byte // a string or an integer as JSON; nil in a notification
	Method string // "" in a response
	Params []byte // an object as JSON; nil: none
	Result []byte // JSON of a response; nil in one that is an error
	Error  []byte // an object as JSON; nil: none

	params, result Object // the same, where they are objects: a message is read once
}

// Codes of JSON-RPC errors.
const (
	CodeParse    = -32700
	CodeRequest  = -32600
	CodeParams   = -32602
	CodeInternal = -32603
	// CodeHeader is that of a header which says something else than the body.
	CodeHeader = -32020
)

// Fault is why a message is not taken, with what its sender is answered.
type Fault struct {
	Code int
	Text string
	ID   []byte // of the request, where it could be read; nil: it could not
}

func (f *Fault) Error() string { return f.Text }

// Kind tells a request from a notification and a response.
func (m *Message) Kind() Kind {
	switch {
	case m.Method != "" && m.ID != nil:
		return Request
	case m.Method != "":
		return Notification
	case m.ID != nil && (m.Result != nil || m.Error != nil):
		return Response
	}
	return Nothing
}

// Key is the id as a key of a table: 0 and "0" differ, and spellings of one string do not.
func (m *Message) Key() string { return idKey(m.ID) }

func idKey(id []byte) string {
	if len(id) > 0 && id[0] == '"' {
		if text, err := jsontext.AppendUnquote(nil, id); err == nil {
			return `"` + string(text)
		}
	}
	return string(id)
}

// maxID bounds the id of a request: it is kept while the request is open.
const maxID = 1024

// batches is why a batch is not taken.
const batches = "batches are not taken: send one message at a time"

// Batched are the parts of a line that is a batch, which revision 2025-03-26 knew; nil where it is none.
func Batched(line []byte) []jsontext.Value {
	d := jsontext.NewDecoder(bytes.NewReader(line))
	if d.PeekKind() != '[' {
		return nil
	}
	if _, err := d.ReadToken(); err != nil {
		return nil
	}
	var out []jsontext.Value
	for d.PeekKind() == '{' {
		v, err := d.ReadValue()
		if err != nil || Get(v, "jsonrpc") == nil {
			return nil // something else that begins so
		}
		out = append(out, v.Clone())
	}
	return out
}

// Read reads one message. The error is a *Fault.
func Read(raw []byte) (*Message, error) {
	m := &Message{Raw: raw}
	body := bytes.TrimSpace(raw)
	if len(body) == 0 || body[0] != '{' {
		text := "a message is one JSON object"
		if len(body) > 0 && body[0] == '[' {
			text = batches
		}
		return nil, &Fault{Code: CodeRequest, Text: text}
	}
	envelope, below, err := m.open(body)
	if err != nil {
		return nil, &Fault{Code: CodeParse, Text: "the message cannot be read: " + err.Error()}
	}
	version := false
	var late error // the first fault that leaves the id readable
	for _, e := range envelope {
		if err := m.member(e.key, e.value, &version); late == nil {
			late = err
		}
	}
	var fault *Fault
	switch {
	case errors.As(late, &fault):
	case !version:
		fault = &Fault{Code: CodeRequest, Text: `jsonrpc is not "2.0"`}
	default:
		fault = m.whole(below)
	}
	if fault != nil {
		fault.ID = m.ID
		return nil, fault
	}
	return m, nil
}

// open reads the envelope, and what stands in its parts.
func (m *Message) open(body []byte) (envelope Object, below, err error) {
	d := read(body)
	defer d.release()
	envelope, err = d.object(body, make(Object, 0, 4), func(key string) *Object {
		switch key {
		case "params":
			return &m.params
		case "result":
			return &m.result
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return envelope, d.below, d.end()
}

// Param is a value of the params, nil where there is none.
func (m *Message) Param(key string) []byte { return m.params.Get(key) }

// EachResult visits the values of a result that is an object, in order.
func (m *Message) EachResult(visit func(key string, value []byte) error) error {
	return m.result.Each(visit)
}

// member takes one key of the envelope. Those nobody knows are somebody's own.
func (m *Message) member(key string, value []byte, version *bool) error {
	switch key {
	case "jsonrpc":
		*version = string(value) == `"2.0"`
	case "id":
		if !goodID(value) {
			return &Fault{Code: CodeRequest, Text: "the id is neither a string nor an integer"}
		}
		m.ID = value
	case "method":
		text, err := word(value)
		if err != nil || len(text) == 0 || len(text) > maxID {
			return &Fault{Code: CodeRequest, Text: "the method is no name"}
		}
		if near := nearMethod(text); near != "" {
			return &Fault{Code: CodeRequest, Text: fmt.Sprintf("the method %q could be taken for %q", text, near)}
		}
		m.Method = text
	case "params":
		if value[0] != '{' {
			return &Fault{Code: CodeParams, Text: "params is no object"}
		}
		m.Params = value
	case "result":
		m.Result = value
	case "error":
		if value[0] != '{' {
			return &Fault{Code: CodeRequest, Text: "error is no object"}
		}
		m.Error = value
	default:
		if near := nearly(key, "jsonrpc", "id", "method", "params", "result", "error"); near != "" {
			return &Fault{Code: CodeRequest, Text: fmt.Sprintf("the key %q could be taken for %q", key, near)}
		}
	}
	return nil
}

// judged are the methods that gates look at.
var judged = []string{
	"tools/call", "tools/list", "resources/read", "resources/list", "resources/templates/list", "prompts/get", "prompts/list",
	"completion/complete", "sampling/createMessage", "elicitation/create", "roots/list", "tasks/update", "tasks/result", "initialize",
	"server/discover", "ping", "notifications/cancelled", "notifications/progress", "notifications/message", "notifications/initialized",
}

// nearMethod is the method that a lenient reader could take another for: it differs in its case, in blanks, or in signs that are
// not seen. "" if there is none.
func nearMethod(method string) string {
	bare := strings.Map(func(r rune) rune {
		if r <= ' ' || r >= 0x7f {
			return -1
		}
		return r
	}, method)
	for _, known := range judged {
		if method != known && strings.EqualFold(bare, known) {
			return known
		}
	}
	return ""
}

// nearly is the name that a lenient reader could take a key for; "" if there is none.
func nearly(key string, names ...string) string {
	for _, name := range names {
		if key != name && strings.EqualFold(key, name) {
			return name
		}
	}
	return ""
}

// whole looks whether the parts make one message.
func (m *Message) whole(unclear error) *Fault {
	answers := m.Result != nil || m.Error != nil
	switch {
	case m.Method == "" && !answers:
		return &Fault{Code: CodeRequest, Text: "there is no method"}
	case m.Method != "" && answers, m.Result != nil && m.Error != nil:
		return &Fault{Code: CodeRequest, Text: "the message asks and answers at once"}
	case answers && m.ID == nil:
		return &Fault{Code: CodeRequest, Text: "an answer without an id"}
	}
	if m.Error != nil && unclear == nil {
		_, unclear = ReadObject(m.Error)
	}
	if unclear != nil {
		return &Fault{Code: CodeRequest, Text: "the message cannot be read: " + unclear.Error()}
	}
	return nil
}

// goodID takes strings and integers, as MCP has it: never null, never a fraction.
func goodID(value []byte) bool {
	if len(value) == 0 || len(value) > maxID {
		return false
	}
	if value[0] == '"' {
		return true
	}
	digits := strings.TrimPrefix(string(value), "-")
	return digits != "" && strings.Trim(digits, "0123456789") == "" && string(value) != "-0"
}
