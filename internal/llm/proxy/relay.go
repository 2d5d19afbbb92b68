package proxy

import (
	"bytes"
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

// endWriter keeps a piece back that may be the end of the answer, until something follows
// it or release is called.
type endWriter struct {
	flushWriter
	marks []string
	held  []byte
}

func (e *endWriter) Write(b []byte) (int, error) {
	if err := e.release(); err != nil {
		return 0, err
	}
	for _, mark := range e.marks {
		if bytes.Contains(b, []byte(mark)) {
			e.held = bytes.Clone(b)
			return len(b), nil
		}
	}
	return e.flushWriter.Write(b)
}

func (e *endWriter) release() error {
	if len(e.held) == 0 {
		return nil
	}
	_, err := e.flushWriter.Write(e.held)
	e.held = nil
	return err
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
