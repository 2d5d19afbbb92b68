package seal_test

import (
	stdlib "compress/flate"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/flate"
)

// What deflating a quarter of a megabyte costs, by the module and by the library: it is done with everything that is read.
func BenchmarkDeflate(b *testing.B) {
	var text strings.Builder
	for i := 0; text.Len() < 256<<10; i++ {
		fmt.Fprintf(&text, `{"id":%d,"from":"mira%d@kontor.example","subject":"Harbour dinner %d","unread":%t},`, i*7919, i%97, i%31, i%3 == 0)
	}
	module, err := flate.NewWriter(io.Discard, flate.BestSpeed)
	if err != nil {
		b.Fatal(err)
	}
	library, err := stdlib.NewWriter(io.Discard, stdlib.BestSpeed)
	if err != nil {
		b.Fatal(err)
	}
	for name, w := range map[string]interface {
		io.WriteCloser
		Reset(io.Writer)
	}{"module": module, "library": library} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				w.Reset(io.Discard)
				_, _ = io.WriteString(w, text.String()) // it is discarded
				_ = w.Close()
			}
		})
	}
}
