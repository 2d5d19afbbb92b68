package proxy

import (
	"net/http"
	"time"
)

// response remembers what was answered, and gives up on a client that reads nothing: it
// would keep its place for ever.
type response struct {
	http.ResponseWriter
	control *http.ResponseController
	idle    time.Duration
	status  int // 0 before the header went out
}

func newResponse(w http.ResponseWriter, idle time.Duration) *response {
	return &response{ResponseWriter: w, control: http.NewResponseController(w), idle: idle}
}

// WriteHeader implements http.ResponseWriter.
func (w *response) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// writeSize is how much a client must take within the limit.
const writeSize = 256 << 10

// Write implements http.ResponseWriter. The limit is for each piece; between writes, while
// a model thinks or a call is decided, there is none.
func (w *response) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	done := 0
	for {
		piece := b[done:min(len(b), done+writeSize)]
		w.limit()
		n, err := w.ResponseWriter.Write(piece)
		w.free()
		if done += n; err != nil || done >= len(b) {
			return done, err
		}
	}
}

// FlushError lets http.ResponseController flush within the limit.
func (w *response) FlushError() error {
	w.limit()
	defer w.free()
	return w.control.Flush()
}

// limit and free set a deadline and take it away; a connection that has none is written
// without.
func (w *response) limit() { _ = w.control.SetWriteDeadline(time.Now().Add(w.idle)) }
func (w *response) free()  { _ = w.control.SetWriteDeadline(time.Time{}) }

// Unwrap lets http.ResponseController reach the connection.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }
