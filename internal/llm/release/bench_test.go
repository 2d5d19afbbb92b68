package release_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/llm/release"
)

// textEvents is a stream of n text deltas.
const textEvents = 2000

// BenchmarkText is the cost of text that passes, per event; io.Copy beside it.
func BenchmarkText(b *testing.B) {
	for _, api := range formats {
		in := []byte(stream(api, []saying{{text: strings.Repeat("lorem", textEvents)}}))
		b.Run(fmt.Sprint("format ", api), func(b *testing.B) {
			j := newJudge(b)
			b.ReportAllocs()
			b.SetBytes(int64(len(in)))
			for b.Loop() {
				if _, err := release.Stream(b.Context(), release.Options{API: api}, io.Discard, bytes.NewReader(in), j); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/textEvents, "ns/event")
		})
		b.Run(fmt.Sprint("copy ", api), func(b *testing.B) {
			b.SetBytes(int64(len(in)))
			for b.Loop() {
				if _, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{bytes.NewReader(in)}, make([]byte, 16<<10)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestTextCostsNextToNoMemory keeps the promise the benchmark shows: less than one
// allocation for each event of text.
func TestTextCostsNextToNoMemory(t *testing.T) {
	j := newJudge(t)
	for _, api := range formats {
		in := []byte(stream(api, []saying{{text: strings.Repeat("lorem", textEvents)}}))
		n := testing.AllocsPerRun(5, func() {
			if _, err := release.Stream(t.Context(), release.Options{API: api}, io.Discard, bytes.NewReader(in), j); err != nil {
				t.Fatal(err)
			}
		})
		if n > textEvents {
			t.Errorf("format %d: got %v allocations for %d events", api, n, textEvents)
		}
	}
}
