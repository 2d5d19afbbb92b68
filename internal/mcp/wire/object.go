package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// Object is a JSON object that was read: its values, as they are spelt, in order.
type Object []member

type member struct {
	key   string
	value []byte
	at    int // where the value begins
}

// ReadObject reads one. Two keys that differ only in case are an error, and so is anything after the object.
func ReadObject(src []byte) (Object, error) {
	d := read(src)
	defer d.release()
	o, err := d.object(src, nil, nil)
	if err != nil {
		return nil, err
	}
	return o, d.end()
}

// Get is the value that stands under a key, nil where there is none.
func (o Object) Get(key string) []byte {
	for i := range o {
		if o[i].key == key {
			return o[i].value
		}
	}
	return nil
}

// Text is the string that stands under a key, "" where there is none.
func (o Object) Text(key string) string { return textOf(o.Get(key)) }

// Each visits the values in order.
func (o Object) Each(visit func(key string, value []byte) error) error {
	for i := range o {
		if err := visit(o[i].key, o[i].value); err != nil {
			return err
		}
	}
	return nil
}

// Members visits the keys of one JSON object, in order. Two keys that differ only in case
// are an error, and so is anything after the object: then none is visited.
func Members(object []byte, visit func(key string, value []byte) error) error {
	o, err := ReadObject(object)
	if err != nil {
		return err
	}
	return o.Each(visit)
}

// Texts joins the parts of a content that is texts and nothing else, line by line. A single one that is spelt as it is
// stands in content itself.
func Texts(content []byte) (texts []byte, only bool) {
	d := read(content)
	defer d.release()
	if d.PeekKind() != '[' {
		return nil, false
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, false
	}
	texts = content[:0:0]
	own := false
	for n := 0; d.PeekKind() == '{'; n++ {
		part, err := d.object(content, d.parts[:0], nil)
		text := part.Get("text")
		if err != nil || len(part) != 2 || string(part.Get("type")) != `"text"` || len(text) == 0 || text[0] != '"' {
			return nil, false
		}
		if n == 0 && bytes.IndexByte(text, '\\') < 0 {
			texts = text[1 : len(text)-1 : len(text)-1]
			continue
		}
		if !own {
			texts, own = append(make([]byte, 0, len(content)), texts...), true
		}
		if n > 0 {
			texts = append(texts, '\n')
		}
		if texts, err = jsontext.AppendUnquote(texts, text); err != nil {
			return nil, false
		}
	}
	if kind := d.PeekKind(); kind != ']' {
		return nil, false
	}
	_, err := d.ReadToken()
	return texts, err == nil && d.end() == nil
}

// reader is a decoder that is used again: each message takes one.
type reader struct {
	jsontext.Decoder
	buffer bytes.Buffer
	parts  [4]member // where parts of a content are read into, one after the other
	twins  error     // keys that could be taken for one another, the first pair
	below  error     // such keys in what was read along
}

var readers = sync.Pool{New: func() any { return new(reader) }}

// read is a reader of a text, to be released.
func read(src []byte) *reader {
	d := readers.Get().(*reader) //nolint:forcetypeassert // nothing else is in the pool
	d.buffer = *bytes.NewBuffer(src)
	d.Reset(&d.buffer)
	d.twins, d.below = nil, nil
	return d
}

// release gives the reader back, without the message it has read.
func (d *reader) release() {
	d.buffer, d.parts = bytes.Buffer{}, [4]member{}
	d.Reset(&d.buffer)
	readers.Put(d)
}

// object reads the object that comes next in src, into room. What stands below a key for which inner names an object is
// read into that, where it is one itself.
func (d *reader) object(src []byte, room Object, inner func(key string) *Object) (Object, error) {
	if d.PeekKind() != '{' {
		return nil, errors.New("it is no object")
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, plain(err)
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadValue()
		if err != nil {
			return nil, plain(err)
		}
		key, err := word(name)
		if err != nil {
			return nil, plain(err)
		}
		if twin := room.twin(key); twin != "" && d.twins == nil {
			d.twins = fmt.Errorf("keys %q and %q differ only in case", twin, key)
		}
		from, to, err := d.value(src, key, inner)
		if err != nil {
			return nil, err
		}
		room = append(room, member{key, src[from:to:to], from})
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, plain(err)
	}
	return room, nil
}

// value reads the value that comes next, and says where it stands.
func (d *reader) value(src []byte, key string, inner func(key string) *Object) (from, to int, err error) {
	if inner != nil && d.PeekKind() == '{' {
		if into := inner(key); into != nil {
			from = d.next(src)
			above := d.twins
			d.twins = d.below
			*into, err = d.object(src, make(Object, 0, 4), nil)
			d.twins, d.below = above, d.twins
			return from, int(d.InputOffset()), err
		}
	}
	value, err := d.ReadValue()
	to = int(d.InputOffset())
	return to - len(value), to, plain(err)
}

// next is where the object begins that comes next: behind a colon and blanks.
func (d *reader) next(src []byte) int {
	at := int(d.InputOffset())
	return at + bytes.IndexByte(src[at:], '{')
}

// end is an error where something follows, or where keys could be taken for one another.
func (d *reader) end() error {
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the object")
	}
	return d.twins
}

// words are the names that most messages are made of, as JSON spells them: no string is made of them each time.
var words = func() map[string]string {
	out := map[string]string{}
	for _, w := range []string{
		"jsonrpc", "id", "method", "params", "result", "error", "name", "arguments", "_meta", "uri", "cursor", "taskId",
		"progressToken", "content", "structuredContent", "isError", "resultType", "type", "text", "requestState", "inputResponses",
		"tools/call", "tools/list", "resources/read", "prompts/get", "ping", "notifications/progress", "claudecode/toolUseId",
		"io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientInfo", "io.modelcontextprotocol/clientCapabilities",
	} {
		out[`"`+w+`"`] = w
	}
	return out
}()

// word is a JSON string.
func word(value []byte) (string, error) {
	if w, ok := words[string(value)]; ok {
		return w, nil
	}
	s, err := jsontext.AppendUnquote(nil, value)
	return string(s), err
}

// manyKeys is from where on twins are looked for in an object with more work than it is worth:
// such an object is not one of the protocol's, and what stands in it is judged elsewhere.
const manyKeys = 64

// twin is the key that could be taken for another.
func (o Object) twin(key string) string {
	if len(o) > manyKeys {
		return ""
	}
	for i := range o {
		if nearly(key, o[i].key) != "" {
			return o[i].key
		}
	}
	return ""
}

// plain says where the text is no JSON, in few words.
func plain(err error) error {
	var s *jsontext.SyntacticError
	if errors.As(err, &s) {
		return fmt.Errorf("byte %d: %w", s.ByteOffset, s.Err)
	}
	return err
}
