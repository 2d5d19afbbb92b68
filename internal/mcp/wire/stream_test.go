package wire_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tidemark/tidemark/internal/mcp/wire"
)

// MCP-34
func TestALineThatIsTooLongIsSkippedAndTheNextIsRead(t *testing.T) {
	in := "\n{\"a\":1}\r\n" + strings.Repeat("x", 300_000) + "\n  \n{\"b\":2}\nhalf"
	l := wire.NewLines(iotest.HalfReader(strings.NewReader(in)), 200_000)
	for i, want := range []string{`{"a":1}`, "", `{"b":2}`} {
		line, err := l.Next()
		if i == 1 {
			if !errors.Is(err, wire.ErrSize) {
				t.Fatalf("got %v, want ErrSize", err)
			}
		} else if err != nil || string(line) != want {
			t.Fatalf("line %d: got %q, %v; want %q", i, line, err, want)
		}
	}
	if _, err := l.Next(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a line that was cut off: got %v", err)
	}
}

func TestALongLineIsReadWhole(t *testing.T) {
	long := `{"a":"` + strings.Repeat("y", 150_000) + `"}`
	line, err := wire.NewLines(strings.NewReader(long+"\n"), 200_000).Next()
	if err != nil || string(line) != long {
		t.Errorf("got %d bytes, %v", len(line), err)
	}
}

func TestEventsAreReadAsTheStandardSays(t *testing.T) {
	in := "\ufeff: hello\r\nid: 7\rdata: {\"a\":\ndata:1}\n\nevent: message\r\ndata: x\r\n\r\n:\n\nid\nretry: 50\n\ndata\n\ndata: cut"
	tests := []wire.Event{
		{ID: "7", HasID: true, Data: []byte("{\"a\":\n1}")},
		{Name: "message", Data: []byte("x")},
		{HasID: true, Retry: "50"},
		{Data: []byte{}},
	}
	for _, r := range []io.Reader{strings.NewReader(in), iotest.OneByteReader(strings.NewReader(in))} {
		s := wire.NewEvents(r, 1000)
		for i, want := range tests {
			got, err := s.Next()
			if err != nil || got.ID != want.ID || got.HasID != want.HasID || got.Name != want.Name || got.Retry != want.Retry ||
				!bytes.Equal(got.Data, want.Data) || (got.Data == nil) != (want.Data == nil) {
				t.Fatalf("event %d: got %+v, %v; want %+v", i, got, err, want)
			}
		}
		if _, err := s.Next(); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("an event that was cut off: got %v", err)
		}
	}
}

// MCP-34
func TestAnEndlessEventIsBounded(t *testing.T) {
	for _, in := range []string{"data: " + strings.Repeat("x", 4000) + "\n\n", strings.Repeat("data: xxxx\n", 4000)} {
		if _, err := wire.NewEvents(strings.NewReader(in), 1000).Next(); !errors.Is(err, wire.ErrSize) {
			t.Errorf("got %v, want ErrSize", err)
		}
	}
}

func TestNoReaderFindsALineEndInsideAMessage(t *testing.T) {
	got := wire.Escape([]byte("{\"a\":\"x\u2028data: {}\u2029\u0085\"}"))
	if want := `{"a":"x\u2028data: {}\u2029\u0085"}`; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// What is written is read back the same.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("id: 1\ndata: {}\n\n"))
	f.Add([]byte("data:a\r\rdata:b\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := wire.NewEvents(bytes.NewReader(data), 1<<16)
		var out []byte
		var all []*wire.Event
		for {
			ev, err := s.Next()
			if err != nil {
				break
			}
			all = append(all, ev)
			out = ev.Append(out)
		}
		again := wire.NewEvents(bytes.NewReader(out), 1<<20)
		for i, want := range all {
			got, err := again.Next()
			if err != nil || !slices.Equal(got.Data, want.Data) || got.ID != want.ID || got.Name != want.Name {
				t.Fatalf("event %d of %q: got %+v, %v; want %+v", i, data, got, err, want)
			}
		}
	})
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("{}\n[]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l := wire.NewLines(bytes.NewReader(data), 100)
		for {
			line, err := l.Next()
			if errors.Is(err, wire.ErrSize) {
				continue
			}
			if err != nil {
				return
			}
			if len(line) == 0 || len(line) > 100 || bytes.IndexByte(line, '\n') >= 0 {
				t.Fatalf("got the line %q", line)
			}
		}
	})
}
