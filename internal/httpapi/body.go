package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"sync"
)

// maxPooled keeps one huge request from pinning its buffer for ever.
const maxPooled = 256 << 10

// buffers are reused between requests. Nothing that outlives a request points into one:
// decoding copies.
type buffers struct{ pool sync.Pool }

func (b *buffers) get() *bytes.Buffer {
	if buf, ok := b.pool.Get().(*bytes.Buffer); ok {
		return buf
	}
	return new(bytes.Buffer)
}

func (b *buffers) put(buf *bytes.Buffer) {
	if buf.Cap() <= maxPooled {
		buf.Reset()
		b.pool.Put(buf)
	}
}

// readJSON reads a whole JSON body into buf.
func (a *API) readJSON(w http.ResponseWriter, r *http.Request, buf *bytes.Buffer) *Problem {
	if p := checkBody(r, a.maxBody); p != nil {
		return p
	}
	if n := r.ContentLength; n > 0 && n <= maxPooled {
		buf.Grow(int(n) + bytes.MinRead) // what ReadFrom wants to have free at the end
	}
	_, err := buf.ReadFrom(http.MaxBytesReader(w, r.Body, a.maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return tooLargeBody(a.maxBody)
	case err != nil:
		return badRequest("the body ended before it was complete")
	case buf.Len() == 0:
		return badRequest("the body is empty")
	}
	return nil
}

// checkBody refuses by header alone what is too large or not JSON.
func checkBody(r *http.Request, limit int64) *Problem {
	if r.ContentLength > limit {
		return tooLargeBody(limit)
	}
	if !isJSON(r.Header.Get("Content-Type")) {
		return notRead("the body must be application/json").with("Accept", "application/json")
	}
	if e := r.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return notRead("compressed bodies are not read").with("Accept-Encoding", "identity")
	}
	return nil
}

func notRead(why string) *Problem {
	return newProblem(http.StatusUnsupportedMediaType, "media-type", why)
}

// tooLargeBody closes the connection too: what is left of the body is not worth reading.
func tooLargeBody(limit int64) *Problem {
	return newProblem(http.StatusRequestEntityTooLarge, "too-large", fmt.Sprintf("the body is larger than %d bytes", limit)).
		with("Connection", "close")
}

func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	media, params, err := mime.ParseMediaType(contentType)
	charset := params["charset"]
	return err == nil && media == "application/json" && (charset == "" || strings.EqualFold(charset, "utf-8"))
}
