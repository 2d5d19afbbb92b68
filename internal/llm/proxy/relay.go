package proxy

import (
	"context"
	"io"
	"net/http"
	"time"
)

// flushWriter sends every piece at once.
type flushWriter struct {
	w       io.Writer
	control *http.ResponseController
}

func (f *flushWriter) Write(b []byte) (int, error) {
	n, err := f.w.Write(b)
	if err == nil {
		err = f.control.Flush()
	}
	return n, err
}

// idleReader gives up on an upstream that stands still. The time between reads, while a
// call is decided or the client is slow, does not count.
type idleReader struct {
	io.Reader
	limit time.Duration
	timer *time.Timer
}

func newIdleReader(r io.Reader, limit time.Duration, giveUp context.CancelFunc) *idleReader {
	t := time.AfterFunc(limit, giveUp)
	t.Stop()
	return &idleReader{Reader: r, limit: limit, timer: t}
}

func (r *idleReader) Read(b []byte) (int, error) {
	r.timer.Reset(r.limit)
	defer r.timer.Stop()
	return r.Reader.Read(b)
}
