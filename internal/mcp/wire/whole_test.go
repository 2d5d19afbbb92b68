package wire_test

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tidemark/tidemark/internal/mcp/wire"
)

func TestABodyIsReadWholeHoweverItComes(t *testing.T) {
	const limit = 3 << 20
	long := []byte(strings.Repeat("0123456789abcdef", limit/16+1))
	for _, size := range []int{0, 1, 511, 512, 513, 4096, 1<<20 - 1, 1 << 20, 1<<20 + 1, 2<<20 + 7, limit, limit + 1} {
		for name, said := range map[string]int64{
			"nobody says how long it is": -1, "it is said": int64(size), "less is said": int64(size / 2), "more is said": int64(size) + 100,
		} {
			for how, wrap := range map[string]func(io.Reader) io.Reader{
				"at once": func(r io.Reader) io.Reader { return r }, "by halves": iotest.HalfReader, "with its end": iotest.DataErrReader,
			} {
				got, err := wire.Whole(wrap(bytes.NewReader(long[:size])), said, limit)
				switch {
				case size > limit || said > limit:
					if !errors.Is(err, wire.ErrSize) {
						t.Errorf("%d bytes, %s, %s: got %v, want ErrSize", size, name, how, err)
					}
				case err != nil || !bytes.Equal(got, long[:size]):
					t.Errorf("%d bytes, %s, %s: got %d, %v", size, name, how, len(got), err)
				}
			}
		}
	}
	if _, err := wire.Whole(iotest.ErrReader(io.ErrUnexpectedEOF), 10, 100); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a body that breaks off: got %v", err)
	}
}

// What a body takes in memory is bounded by what has come, whatever its sender says.
// MCP-34, MCP-39
func TestABodyTakesLittleMoreThanItsLength(t *testing.T) {
	const size = 8 << 20
	long := strings.Repeat("x", size)
	stream := func() { _, _ = wire.NewEvents(strings.NewReader("data: "+long[:size-10]+"\n\n"), 2*size).Next() }
	for name, tt := range map[string]struct {
		read func()
		most uint64
	}{
		"its length is said":      {func() { _, _ = wire.Whole(strings.NewReader(long), size, 2*size) }, size + size/4},
		"nobody says its length":  {func() { _, _ = wire.Whole(strings.NewReader(long), -1, 2*size) }, 2*size + size/4},
		"more is said than comes": {func() { _, _ = wire.Whole(strings.NewReader("x"), 2*size, 2*size) }, 2 << 20},
		"a line":                  {func() { _, _ = wire.NewLines(strings.NewReader(long+"\n"), 2*size).Next() }, 3*size + size/4}, // the test makes one
		"an event":                {stream, 3*size + size/4},                                                                       // as above
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		tt.read()
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > tt.most {
			t.Errorf("%s: it took %d bytes, want at most %d", name, took, tt.most)
		}
	}
}

// However an event is written, it is the same bytes.
func TestALongEventIsWrittenAsAShortOne(t *testing.T) {
	for _, n := range []int{1, 100, 64 << 10, 70 << 10, 1 << 20} {
		for _, lines := range []int{1, 3} {
			line := strings.Repeat("y", n/lines)
			ev := &wire.Event{ID: "7", HasID: true, Name: "message", Retry: "5", Data: []byte(strings.Repeat(line+"\n", lines-1) + line)}
			var got bytes.Buffer
			if err := ev.Write(&got); err != nil || !bytes.Equal(got.Bytes(), ev.Append(nil)) {
				t.Errorf("%d bytes in %d lines: got %d, %v", n, lines, got.Len(), err)
			}
		}
	}
}
