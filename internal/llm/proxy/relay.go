package proxy

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"
)

// headAfter is how long a header may wait for the first text of its answer: where both go in one
// piece, the client is woken once.
const headAfter = time.Millisecond

// flushWriter sends every piece at once, the header with the first of them or a moment after it
// was known. Whoever makes one closes it.
type flushWriter struct {
	w       io.Writer
	control *http.ResponseController

	mu   sync.Mutex
	head *time.Timer // guarded by mu; nil: the header is out
}

func newFlushWriter(w http.ResponseWriter) *flushWriter {
	f := &flushWriter{w: w, control: http.NewResponseController(w)}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.head = time.AfterFunc(headAfter, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.head != nil {
			f.head = nil
			_ = f.control.Flush() // a client that is gone is noticed at the first write
		}
	})
	return f
}

// close leaves the header to whoever ends the answer.
func (f *flushWriter) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.head != nil {
		f.head.Stop()
		f.head = nil
	}
}

func (f *flushWriter) Write(b []byte) (int, error) {
	f.close() // it goes along
	f.mu.Lock()
	defer f.mu.Unlock()
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
