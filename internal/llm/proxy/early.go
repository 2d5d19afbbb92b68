package proxy

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/tidemark/tidemark/internal/llm/format"
)

// A conversation is repeated with every request, and the provider has had all of it but
// the end. That part is sent on while the end still comes in: it says nothing new to
// anybody. What is new waits until the request is judged, and so does the end of the
// request, without which a provider can do nothing. A request that must be changed or
// refused is broken off.

// sent remembers, for one upstream, which beginnings of requests it was given.
type sent struct {
	mu         sync.Mutex
	young, old map[sentKey]struct{} // guarded by mu
}

type sentKey struct {
	tenant string
	sum    format.Sum
}

// maxSent is how many blocks of a generation are remembered.
const maxSent = 1 << 16

func (s *sent) has(tenant string, sum format.Sum) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := sentKey{tenant, sum}
	if _, ok := s.young[key]; ok {
		return true
	}
	_, ok := s.old[key]
	return ok
}

// known is how many bytes of a request the provider has had before as they are.
func (s *sent) known(tenant string, sums []format.Sum) int {
	n := 0
	for n < len(sums) && s.has(tenant, sums[n]) {
		n++
	}
	return n * format.BlockSize
}

func (s *sent) add(tenant string, sums []format.Sum) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.young)+len(sums) > maxSent || s.young == nil {
		s.young, s.old = make(map[sentKey]struct{}), s.young
	}
	for _, sum := range sums {
		s.young[sentKey{tenant, sum}] = struct{}{}
	}
}

// forget is for a conversation that is changed on its way: it is not sent early again.
func (s *sent) forget(tenant string, sums []format.Sum) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sum := range sums {
		delete(s.young, sentKey{tenant, sum})
		delete(s.old, sentKey{tenant, sum})
	}
}

// leastEarly is how much of a request must be known before it is worth the trouble.
const leastEarly = 4 * format.BlockSize

// earlyRequest is a request that is on its way before it is judged.
type earlyRequest struct {
	body   *heldBody
	cancel context.CancelFunc
	answer chan answered
	over   bool
}

type answered struct {
	resp *http.Response
	err  error
}

var errBrokenOff = errors.New("the request was broken off")

// sendKnown sends on what is known of a request that is being read into lent; checked is
// how many of its blocks were looked at before.
func (x *exchange) sendKnown(lent *lease, checked int) int {
	sums := lent.sums.Blocks()
	for checked >= 0 && checked < len(sums) {
		if !x.u.sent.has(x.who.tenant, sums[checked]) {
			return -1 // what follows is new too
		}
		checked++
	}
	known := max(checked, 0) * format.BlockSize
	if known < leastEarly {
		return checked
	}
	if x.early == nil {
		x.startEarly(lent)
	}
	x.early.body.allow(known)
	return checked
}

// maySendEarly reports whether nobody could want to change the request but the monitor.
func (x *exchange) maySendEarly() bool {
	packed := len(x.r.Header["Content-Encoding"]) > 0
	if x.wantsKept() {
		return false // results may have to be taken out of it
	}
	asItIs := x.u.Sign == nil && !x.rt.wrapped && x.carrier == nil // a signature stands for all of it, an envelope is taken apart
	return x.rt.way == judged && x.r.ContentLength >= leastEarly && !packed && asItIs && !x.u.Handshake && !x.p.seesRequests()
}

// startEarly begins to send. The body reads the buffer as it fills.
func (x *exchange) startEarly(lent *lease) {
	ctx, cancel := context.WithCancel(x.out.Context())
	f := &heldBody{lent: lent, buf: lent.buf[:x.r.ContentLength]}
	f.more.L = &f.mu
	out := x.out.Clone(ctx)
	setHeaders(out.Header)
	out.Body, out.ContentLength = f.reader(), x.r.ContentLength
	out.GetBody = func() (io.ReadCloser, error) { return f.reader(), nil }
	x.early = &earlyRequest{body: f, cancel: cancel, answer: make(chan answered, 1)}
	lent.users.Add(1)
	go func(a *earlyRequest) {
		defer lent.done()
		resp, err := x.u.transport.RoundTrip(out) //nolint:bodyclose // whoever takes the answer closes it
		a.answer <- answered{resp, err}
	}(x.early)
}

// release lets the rest go and waits for the answer.
func (a *earlyRequest) release() (*http.Response, error) {
	a.over = true
	a.body.allow(len(a.body.buf))
	got := <-a.answer
	return got.resp, got.err
}

// breakOff ends a request that was not released.
func (a *earlyRequest) breakOff() {
	if a == nil || a.over {
		return
	}
	a.over = true
	a.body.end()
	a.cancel()
	if got := <-a.answer; got.resp != nil {
		_ = got.resp.Body.Close()
	}
}

// heldBody is a buffer that is read while it is being filled, up to where it may be.
type heldBody struct {
	lent *lease
	buf  []byte // all of it; only what is let go may be looked at

	mu    sync.Mutex
	more  sync.Cond
	free  int  // guarded by mu; how many bytes may go
	ended bool // guarded by mu; no more will
}

// allow lets everything before end go.
func (f *heldBody) allow(end int) {
	f.mu.Lock()
	f.free = max(f.free, end)
	f.mu.Unlock()
	f.more.Broadcast()
}

func (f *heldBody) end() {
	f.mu.Lock()
	f.ended = true
	f.mu.Unlock()
	f.more.Broadcast()
}

func (f *heldBody) reader() *heldReader {
	f.lent.users.Add(1)
	return &heldReader{f: f}
}

// heldReader reads a held body from its beginning. Transports may close a body while they
// still read it: after Close has returned nothing is read.
type heldReader struct {
	f    *heldBody
	at   int  // guarded by f.mu
	shut bool // guarded by f.mu
}

// Read implements io.Reader. It waits for what may go.
func (r *heldReader) Read(b []byte) (int, error) {
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	ready, err := r.ready()
	if err != nil {
		return 0, err
	}
	n := copy(b, ready)
	r.at += n
	return n, nil
}

// writeTo implements bodyWriter. The buffer stays lent while it is written, closed or not.
func (r *heldReader) writeTo(w io.Writer, most int64) (written int64, err error) {
	for written < most {
		r.f.mu.Lock()
		ready, err := r.ready()
		if err != nil {
			r.f.mu.Unlock()
			if errors.Is(err, io.EOF) {
				return written, nil
			}
			return written, err
		}
		ready = ready[:min(int64(len(ready)), most-written)]
		r.at += len(ready)
		r.f.lent.users.Add(1)
		r.f.mu.Unlock()
		n, err := w.Write(ready)
		r.f.lent.done()
		written += int64(n)
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// ready waits for what may go next.
// Preconditions: f.mu is held.
func (r *heldReader) ready() ([]byte, error) {
	f := r.f
	for r.at >= f.free && r.at < len(f.buf) && !f.ended && !r.shut {
		f.more.Wait()
	}
	switch {
	case r.shut:
		return nil, errClosed
	case f.ended:
		return nil, errBrokenOff
	case r.at >= len(f.buf):
		return nil, io.EOF
	}
	return f.buf[r.at:f.free], nil
}

// Close implements io.Closer. It may be called more than once.
func (r *heldReader) Close() error {
	r.f.mu.Lock()
	first := !r.shut
	r.shut = true
	r.f.mu.Unlock()
	r.f.more.Broadcast()
	if first {
		r.f.lent.done()
	}
	return nil
}
