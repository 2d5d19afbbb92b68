package proxy

import (
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds the memory that a packed body may ask for. Clients of HTTP need not
// support more (RFC 9659).
const maxWindow = 8 << 20

// unpack undoes a Content-Encoding, and removes it from the header.
func unpack(r io.Reader, h http.Header) (io.Reader, *problem) {
	kind := strings.ToLower(strings.TrimSpace(strings.Join(h["Content-Encoding"], ",")))
	var out io.Reader
	var err error
	switch kind {
	case "", "identity":
		return r, nil
	case "gzip", "x-gzip":
		out, err = gzip.NewReader(r)
	case "deflate":
		out, err = zlib.NewReader(r)
	case "br":
		out = brotli.NewReader(r)
	case "zstd":
		var d *zstd.Decoder
		d, err = zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
		out = d // with one worker it starts nothing that would have to be ended
	default:
		return nil, newProblem(http.StatusUnsupportedMediaType,
			"this Content-Encoding cannot be read; send gzip, deflate, br, zstd or none")
	}
	if err != nil {
		return nil, newProblem(http.StatusBadRequest, "the body is not what its Content-Encoding says")
	}
	h.Del("Content-Encoding")
	return out, nil
}
