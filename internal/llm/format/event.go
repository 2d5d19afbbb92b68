package format

import (
	"bytes"
	"fmt"
)

// Event is one event of a stream with every byte that came with it, or one element of a
// JSON array.
type Event struct {
	Raw  []byte // all of it, comments and line ends too
	Data []byte // its data: a part of Raw at At, or several lines joined when At is negative
	At   int
	Name []byte
	Gone bool // it was held, and nothing of it was let through
	Ours bool // it is none of the upstream's, which therefore did not count it

	call    *call     // the call it is part of, while held
	repeats int       // bytes of a call in it that are held already
	seq     span      // Responses: where its sequence number stands in Data
	choices []*choice // Chat: the choices whose calls are in it, while held
	pieces  []chatPiece
}

// Cost is what it adds to what is held: arguments that are said twice or three times count
// once.
func (ev *Event) Cost() int { return max(0, len(ev.Raw)-ev.repeats) }

// Blank reports whether a client sees no event in it.
func (ev *Event) Blank() bool { return len(bytes.TrimSpace(ev.Data)) == 0 }

// done reports whether it is the sign that OpenAI's servers end a stream with.
func (ev *Event) done() bool { return string(bytes.TrimSpace(ev.Data)) == "[DONE]" }

// Clone is a copy that outlives the buffer.
func (ev *Event) Clone() *Event {
	c := *ev
	c.Raw, c.Name = bytes.Clone(ev.Raw), bytes.Clone(ev.Name)
	if ev.At >= 0 {
		c.Data = c.Raw[ev.At : ev.At+len(ev.Data)]
	} else {
		c.Data = bytes.Clone(ev.Data)
	}
	return &c
}

// Replace gives the event other data.
func (ev *Event) Replace(data []byte) {
	at := ev.At
	if ev.Raw = ev.with(data); at < 0 {
		at = len(ev.Raw) - len("\n\n") - len(data)
	}
	ev.At, ev.Data = at, ev.Raw[at:at+len(data)]
}

// with is the event with other data.
func (ev *Event) with(data []byte) []byte {
	out := make([]byte, 0, len(ev.Raw)+len(data))
	if ev.At >= 0 {
		out = append(append(out, ev.Raw[:ev.At]...), data...)
		return append(out, ev.Raw[ev.At+len(ev.Data):]...)
	}
	if len(ev.Name) > 0 {
		out = append(append(append(out, "event: "...), ev.Name...), '\n')
	}
	out = append(out, "data: "...)
	from := len(out)
	out = append(out, data...)
	for i := from; i < len(out); i++ {
		if out[i] == '\n' {
			out[i] = ' ' // in JSON a line feed can only stand between values
		}
	}
	return append(out, "\n\n"...)
}

// appendTyped appends an event that is named after its type. Members are its other members,
// a format for values that are JSON already.
func appendTyped(out []byte, kind, members string, values ...any) []byte {
	out = fmt.Appendf(out, "event: %s\ndata: {\"type\":\"%s\",", kind, kind)
	return append(fmt.Appendf(out, members, values...), "}\n\n"...)
}
