package proxy

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/tidemark/tidemark/internal/llm/format"
)

// lease is a buffer for one request. Whole conversations go through here with every model
// call: making room anew each time would cost more than reading them. The buffer is lent
// out again only when nobody can look at it any more.
type lease struct {
	pool  *sync.Pool
	buf   []byte
	sums  *format.Sums // of what was read into it
	users atomic.Int32
}

// leastLent and mostLent bound what is kept for later.
const (
	leastLent = 64 << 10
	mostLent  = 8 << 20
)

// lend gives out an empty buffer with room for so many bytes. The caller is its first user.
func lend(pool *sync.Pool, size int) *lease {
	l := &lease{}
	if size >= leastLent && size <= mostLent {
		l.pool = pool
		if kept, ok := pool.Get().(*[]byte); ok && cap(*kept) > size {
			l.buf = (*kept)[:0]
		}
	}
	if l.buf == nil {
		l.buf = make([]byte, 0, size+size/8+512) // the next request will be a little longer
	}
	l.users.Store(1)
	return l
}

// keep takes the buffer out of use for good: somebody may hold on to parts of it.
func (l *lease) keep() { l.pool = nil }

// done ends one use.
func (l *lease) done() {
	if l.users.Add(-1) == 0 && l.pool != nil {
		buf := l.buf[:0]
		l.pool.Put(&buf)
	}
}

var errClosed = errors.New("read request: it is closed")

// leasedReader reads a leased buffer. Transports may close a body while they still read
// it: after Close has returned nothing is read.
type leasedReader struct {
	mu   sync.Mutex
	l    *lease
	rest []byte // nil once closed
	shut bool
}

func (l *lease) reader(data []byte) *leasedReader {
	l.users.Add(1)
	return &leasedReader{l: l, rest: data}
}

// Read implements io.Reader.
func (r *leasedReader) Read(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.shut {
		return 0, errClosed
	}
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// writeTo implements bodyWriter. The buffer stays lent while it is written, closed or not.
func (r *leasedReader) writeTo(w io.Writer, most int64) (int64, error) {
	r.mu.Lock()
	if r.shut {
		r.mu.Unlock()
		return 0, errClosed
	}
	ready := r.rest[:min(int64(len(r.rest)), most)]
	r.rest = r.rest[len(ready):]
	r.l.users.Add(1)
	r.mu.Unlock()
	defer r.l.done()
	n, err := w.Write(ready)
	return int64(n), err
}

// Close implements io.Closer. It may be called more than once.
func (r *leasedReader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.shut {
		r.shut, r.rest = true, nil
		r.l.done()
	}
	return nil
}
