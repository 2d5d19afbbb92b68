package eventstream_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tidemark/tidemark/internal/llm/eventstream"
	"github.com/tidemark/tidemark/internal/llm/format"
)

// framed writes a frame the way the service does, apart from the code that is tried.
func framed(payload string, headers ...string) []byte {
	var head, out []byte
	for i := 0; i < len(headers); i += 2 {
		head = append(append(append(head, byte(len(headers[i]))), headers[i]...), 7)
		head = append(binary.BigEndian.AppendUint16(head, uint16(len(headers[i+1]))), headers[i+1]...)
	}
	out = binary.BigEndian.AppendUint32(out, uint32(16+len(head)+len(payload)))
	out = binary.BigEndian.AppendUint32(out, uint32(len(head)))
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
	out = append(append(out, head...), payload...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
}

func chunk(data string) []byte {
	payload := fmt.Sprintf(`{"bytes":%q,"p":"abc"}`, base64.StdEncoding.EncodeToString([]byte(data)))
	return framed(payload, ":event-type", "chunk", ":content-type", "application/json", ":message-type", "event")
}

func typed(name, data string) []byte {
	return framed(data, ":event-type", name, ":content-type", "application/json", ":message-type", "event")
}

func read(t testing.TB, kind eventstream.Kind, in []byte) (string, error) {
	t.Helper()
	whole, err := io.ReadAll(eventstream.NewReader(bytes.NewReader(in), kind))
	slow, slowly := io.ReadAll(eventstream.NewReader(iotest.OneByteReader(bytes.NewReader(in)), kind))
	if string(whole) != string(slow) || (err == nil) != (slowly == nil) {
		t.Fatalf("cut in bytes: got %q and %v, want %q and %v", slow, slowly, whole, err)
	}
	return string(whole), err
}

func TestFramesAreEventsAndEventsFrames(t *testing.T) {
	for _, c := range []struct {
		name string
		kind eventstream.Kind
		in   []byte
		want string
		back []byte
	}{
		{"chunks", eventstream.Chunks, slicesOf(chunk(`{"type":"ping"}`), chunk("{\n\"type\":\"x\"}")), "data: {\"type\":\"ping\"}\n\ndata: { \"type\":\"x\"}\n\n",
			slicesOf(bare(`{"type":"ping"}`), bare(`{ "type":"x"}`))},
		{"typed", eventstream.Typed, typed("messageStart", `{"role":"assistant"}`), "event: messageStart\ndata: {\"role\":\"assistant\"}\n\n", typed("messageStart", `{"role":"assistant"}`)},
		{"exception", eventstream.Chunks, framed(`{"message":"slow down"}`, ":exception-type", "throttlingException", ":content-type", "application/json", ":message-type", "exception"),
			"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"throttlingException\",\"message\":\"slow down\"}}\n\n",
			framed(`{"message":"slow down"}`, ":exception-type", "throttlingException", ":content-type", "application/json", ":message-type", "exception")},
	} {
		got, err := read(t, c.kind, c.in)
		if err != nil || got != c.want {
			t.Errorf("%s: got %q and %v, want %q", c.name, got, err, c.want)
		}
		var out bytes.Buffer
		if _, err := eventstream.NewWriter(&out, c.kind).Write([]byte(got)); err != nil || !bytes.Equal(out.Bytes(), c.back) {
			t.Errorf("%s: back: got %q and %v, want %q", c.name, out.Bytes(), err, c.back)
		}
	}
}

func slicesOf(all ...[]byte) []byte { return bytes.Join(all, nil) }

func bare(data string) []byte {
	return framed(fmt.Sprintf(`{"bytes":%q}`, base64.StdEncoding.EncodeToString([]byte(data))),
		":event-type", "chunk", ":content-type", "application/json", ":message-type", "event")
}

// Nothing of a frame that cannot be read in one way is given out.
func TestBrokenFramesEndTheStream(t *testing.T) {
	good := chunk(`{"type":"ping"}`)
	changed := func(at int) []byte { b := bytes.Clone(good); b[at] ^= 1; return b }
	for name, in := range map[string][]byte{
		"length": changed(3), "length of headers": changed(7), "checksum of lengths": changed(9), "header": changed(14),
		"payload": changed(len(good) - 6), "checksum": changed(len(good) - 1), "no kind": framed(`{}`, ":event-type", "chunk"),
		"another event":     framed(`{}`, ":event-type", "other", ":message-type", "event"),
		"header twice":      framed(`{}`, ":event-type", "chunk", ":event-type", "chunk", ":message-type", "event"),
		"no bytes":          framed(`{"p":"x"}`, ":event-type", "chunk", ":message-type", "event"),
		"bytes twice":       framed(`{"bytes":"e30=","bytes":"e30="}`, ":event-type", "chunk", ":message-type", "event"),
		"bytes of no base":  framed(`{"bytes":"%%"}`, ":event-type", "chunk", ":message-type", "event"),
		"payload of no use": framed(`[]`, ":event-type", "chunk", ":message-type", "event"),
	} {
		got, err := read(t, eventstream.Chunks, in)
		if !errors.Is(err, format.ErrRefused) || got != "" {
			t.Errorf("%s: got %q and %v, want nothing and a refusal", name, got, err)
		}
	}
	if _, err := read(t, eventstream.Chunks, good[:len(good)-3]); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a cut frame: got %v, want an unexpected end", err)
	}
	if got, err := read(t, eventstream.Typed, typed("a\nevent: b", `{}`)); err == nil {
		t.Errorf("a name of two lines: got %q, want a refusal", got)
	}
	if got, err := read(t, eventstream.Typed, typed("error", `{}`)); err == nil {
		t.Errorf("an event named like a failure: got %q, want a refusal", got)
	}
}

// Whatever comes in, what is given out is whole events, and going back and forth changes nothing more.
func FuzzFrames(f *testing.F) {
	for _, seed := range [][]byte{chunk(`{"type":"ping"}`), typed("messageStop", `{"stopReason":"tool_use"}`), framed(``, ":message-type", "error", ":error-code", "x"), []byte("0123456789abcdef")} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, in []byte, chunks bool) {
		kind := eventstream.Typed
		if chunks {
			kind = eventstream.Chunks
		}
		events, _ := read(t, kind, in)
		if events != "" && !strings.HasSuffix(events, "\n\n") {
			t.Fatalf("got %q, want whole events", events)
		}
		frames, err := eventstream.Frames([]byte(events), kind)
		if err != nil {
			t.Fatalf("frames of %q: %v", events, err)
		}
		if again, err := read(t, kind, frames); err != nil || strings.Count(again, "\n\n") != strings.Count(events, "\n\n") {
			t.Fatalf("got %q and %v, want the events of %q", again, err, events)
		}
	})
}
