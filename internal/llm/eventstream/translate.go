package eventstream

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/llm/format"
)

// Kind is what the frames carry. The zero Kind is none.
type Kind uint8

// The kinds.
const (
	None   Kind = iota
	Chunks      // InvokeModelWithResponseStream: each event in base64, under its format's own type
	Typed       // ConverseStream: each event as it is, its type in a header
)

// errEvent is the name of an event that says that the stream has failed.
const errEvent = "error"

// internalError is what a failure of ours is called.
const internalError = "internalServerException"

// Reader reads frames and gives events as text, one line of data each.
type Reader struct {
	r    io.Reader
	kind Kind
	in   []byte
	out  []byte
	err  error
}

// NewReader translates what r gives.
func NewReader(r io.Reader, kind Kind) *Reader { return &Reader{r: r, kind: kind} }

// Read implements io.Reader.
func (r *Reader) Read(b []byte) (int, error) {
	for len(r.out) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		r.fill()
	}
	n := copy(b, r.out)
	r.out = r.out[n:]
	return n, nil
}

// fill takes what comes next, and every frame that is complete.
func (r *Reader) fill() {
	r.out = r.out[:0:0]
	var piece [16 << 10]byte
	n, err := r.r.Read(piece[:])
	r.in = append(r.in, piece[:n]...)
	for {
		f, size, broken := next(r.in)
		if broken == nil && size > 0 {
			r.out, broken = appendEvent(r.out, f, r.kind)
		}
		if broken != nil {
			r.err = broken
			return
		}
		if size == 0 {
			break
		}
		r.in = r.in[size:]
	}
	switch {
	case errors.Is(err, io.EOF) && len(r.in) > 0:
		r.err = io.ErrUnexpectedEOF
	case err != nil:
		r.err = err
	}
}

// appendEvent writes a frame as an event.
func appendEvent(out []byte, f frame, kind Kind) ([]byte, error) {
	name := f.headers[":event-type"]
	switch f.headers[":message-type"] {
	case "event":
	case "exception":
		return appendFailure(out, f.headers[":exception-type"], messageIn(f.payload)), nil
	case "error":
		return appendFailure(out, f.headers[":error-code"], f.headers[":error-message"]), nil
	default:
		return nil, errFrame
	}
	data := f.payload
	if kind == Chunks {
		var chunk map[string]strictjson.Value // beside the bytes there is padding
		var packed []byte
		if name != "chunk" || strictjson.Unmarshal(f.payload, &chunk) != nil || strictjson.Unmarshal(chunk["bytes"], &packed) != nil {
			return nil, errFrame
		}
		name, data = "", packed
	} else if name == "" || name == errEvent || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == ':' }) {
		return nil, errFrame
	}
	if name != "" {
		out = append(append(append(out, "event: "...), name...), '\n')
	}
	out = append(out, "data: "...)
	for _, c := range data {
		if c == '\n' || c == '\r' {
			c = ' ' // in JSON they can only stand between values
		}
		out = append(out, c)
	}
	return append(out, "\n\n"...), nil
}

// messageIn is what an exception says.
func messageIn(payload []byte) string {
	var said map[string]strictjson.Value
	if strictjson.Unmarshal(payload, &said) != nil {
		return ""
	}
	for _, name := range []string{"message", "Message"} {
		var text string
		if strictjson.Unmarshal(said[name], &text) == nil && text != "" {
			return text
		}
	}
	return ""
}

// failure is an event that says that the stream has failed.
type failure struct {
	Type  string `json:"type"`
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

func appendFailure(out []byte, kind, message string) []byte {
	f := failure{Type: errEvent}
	f.Error.Type, f.Error.Message = kind, strings.ToValidUTF8(message, "\uFFFD")
	raw, err := strictjson.Marshal(f)
	if err != nil {
		raw = []byte(`{"type":"error","error":{"type":"` + internalError + `","message":""}}`)
	}
	return fmt.Appendf(out, "event: error\ndata: %s\n\n", raw)
}

// Writer takes events as text and writes frames. What is written to it must be whole events.
type Writer struct {
	w    io.Writer
	kind Kind
}

// NewWriter frames what is written, for w.
func NewWriter(w io.Writer, kind Kind) *Writer { return &Writer{w: w, kind: kind} }

// Write implements io.Writer.
func (w *Writer) Write(b []byte) (int, error) {
	out, err := Frames(b, w.kind)
	if err != nil {
		return 0, err
	}
	if len(out) > 0 {
		if _, err := w.w.Write(out); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// Frames is whole events as frames. Comments are left out.
func Frames(events []byte, kind Kind) ([]byte, error) {
	var out []byte
	for event := range bytes.SplitSeq(events, []byte("\n\n")) {
		var name, data []byte
		for line := range bytes.SplitSeq(event, []byte{'\n'}) {
			if rest, ok := bytes.CutPrefix(line, []byte("event: ")); ok {
				name = rest
			} else if rest, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
				if data != nil {
					return nil, format.ErrAmbiguous
				}
				data = rest
			}
		}
		if data == nil {
			continue
		}
		out = appendEventFrame(out, string(name), data, kind)
	}
	return out, nil
}

func appendEventFrame(out []byte, name string, data []byte, kind Kind) []byte {
	const json = "application/json"
	switch {
	case name == errEvent:
		var f failure
		if strictjson.Unmarshal(data, &f) != nil || f.Error.Type == "" || strings.Contains(f.Error.Type, "_") {
			f.Error.Type = internalError // the type is one of Anthropic's, or ours
		}
		said, err := strictjson.Marshal(map[string]string{"message": f.Error.Message})
		if err != nil {
			said = []byte(`{}`)
		}
		return appendFrame(out, said, ":exception-type", short(f.Error.Type), ":content-type", json, ":message-type", "exception")
	case kind == Chunks:
		payload := append(base64.StdEncoding.AppendEncode([]byte(`{"bytes":"`), data), `"}`...)
		return appendFrame(out, payload, ":event-type", "chunk", ":content-type", json, ":message-type", "event")
	}
	return appendFrame(out, data, ":event-type", short(name), ":content-type", json, ":message-type", "event")
}

// short is a name that fits into a header.
func short(name string) string { return name[:min(len(name), 255)] }
