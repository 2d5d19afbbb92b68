// Package group lets many callers append to a log in few commits. A store on a disk or behind
// a connection waits for each commit; what is appended meanwhile goes into the next one.
//
// It runs one goroutine, the writer, which alone speaks to the Committer. Invariants:
//   - a request that fails changes nothing and takes no other request with it;
//   - every caller hears of its own request, and the writer never waits for a caller.
package group

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/store"
)

// MaxBatch bounds a commit, in records, so that one caller never waits long for the others.
const MaxBatch = 256

// ErrClosed is returned to whoever comes after the writer was told to end.
var ErrClosed = errors.New("the log is closed")

// Request is one caller waiting for the writer. One without records is a probe.
type Request struct {
	Session string
	At      uint64 // records that the session must have
	Records []audit.Record
	Asks    []store.Ask    // questions among them
	Edits   []audit.Record // records of before that were pruned, to be put in the place of what is there
	Note    string         // what a store tells others about it; "": nothing
	Err     error          // the request's own outcome; the committer's until it returns

	ctx  context.Context // the caller's: ended means nobody waits
	done chan error      // holds one, so that the writer never waits for a caller
}

// Probe reports whether the request only asks whether a commit works.
func (r *Request) Probe() bool { return len(r.Records) == 0 }

// Conflict says that the session is not where the caller thinks.
func (r *Request) Conflict(records uint64) {
	r.Err = fmt.Errorf("%w: it has %d records", engine.ErrConflict, records)
}

// ErrGone is the error of an edit of a record that is not there, or is another one.
var ErrGone = errors.New("a record that was to be pruned is not there any more")

// Committer writes batches. Only the writer calls it, one call at a time.
type Committer interface {
	// Commit writes a batch in one transaction. Each request's own outcome is in its Err; an
	// error means that nothing was written for any of them, or that nobody can know.
	Commit(batch []*Request) error
	// Alone says whether a request of a batch that failed may succeed by itself.
	Alone(err error) bool
	// Taken says that the place of a record is in use: somebody else wrote it.
	Taken(err error) bool
	// End is called once, after the last commit.
	End()
}

// Writer owns what writes.
type Writer struct {
	to      Committer
	queue   chan *Request
	closing chan struct{} // closed to ask the goroutine to end
	stopped chan struct{} // closed when it has
	once    sync.Once

	batch []*Request // the goroutine's own, as is what follows
	alone int        // how many batches nobody is let run for before they are written
}

// New makes a Writer; Run is its goroutine.
func New(to Committer) *Writer {
	return &Writer{
		to: to, queue: make(chan *Request, MaxBatch), closing: make(chan struct{}), stopped: make(chan struct{}),
	}
}

// Do hands a request to the writer and waits for its answer.
func (w *Writer) Do(ctx context.Context, r *Request) error {
	if err := w.Put(ctx, r); err != nil {
		return err
	}
	return w.Wait(r)
}

// Put hands a request to the writer: the next half of Do is Wait. Requests are committed in the order
// in which they are put.
func (w *Writer) Put(ctx context.Context, r *Request) error {
	r.ctx, r.done = ctx, make(chan error, 1)
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-w.closing:
		return ErrClosed
	default:
	}
	select {
	case w.queue <- r:
		return nil
	case <-w.closing:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Wait waits for the answer to a request that was put.
func (w *Writer) Wait(r *Request) error {
	select {
	case err := <-r.done:
		return err
	case <-r.ctx.Done():
		return fmt.Errorf("stop waiting for the commit: %w", r.ctx.Err())
	case <-w.stopped:
	}
	// The writer may have answered before it stopped.
	select {
	case err := <-r.done:
		return err
	default:
		return ErrClosed
	}
}

// Close writes what is queued and ends the goroutine.
func (w *Writer) Close() {
	w.once.Do(func() { close(w.closing) })
	<-w.stopped
}

// Run is the writer's goroutine.
func (w *Writer) Run() {
	defer close(w.stopped)
	for {
		select {
		case r := <-w.queue:
			w.serve(w.gather(r))
		case <-w.closing:
			w.drain()
			w.to.End()
			return
		}
	}
}

// drain serves what was queued before the close.
func (w *Writer) drain() {
	for {
		select {
		case r := <-w.queue:
			w.serve(w.gather(r))
		default:
			return
		}
	}
}

// gather takes what else is waiting, up to a batch. It leaves out callers that are gone.
// Those just answered are let run first, for as long as that brings something and takes
// a moment: a commit costs as much as many records, and one that comes too early carries
// only half of them.
func (w *Writer) gather(r *Request) []*Request {
	w.batch = w.batch[:0]
	w.alone = max(0, w.alone-1)
	for n := 0; ; {
		if err := r.ctx.Err(); err != nil {
			r.done <- err
		} else {
			w.batch = append(w.batch, r)
			n += max(1, len(r.Records)+len(r.Edits))
		}
		if n >= MaxBatch {
			return w.batch
		}
		if len(w.queue) == 0 {
			w.yield()
		}
		select {
		case r = <-w.queue:
		default:
			return w.batch
		}
	}
}

const (
	moment = 2 * time.Millisecond // less than a commit takes
	few    = 64
)

// yield lets others run. Where that takes more than a moment very many want a processor: the writer then stands behind all of them each
// time, while those who wait for it go on waiting, and what they have for it comes without that. So it stays where it is for a few batches.
func (w *Writer) yield() {
	if w.alone > 0 {
		return
	}
	began := time.Now()
	runtime.Gosched()
	if time.Since(began) > moment {
		w.alone = few
	}
}

// Together commits requests in one batch, without the goroutine, and returns the outcome of
// each.
func (w *Writer) Together(ctx context.Context, batch []*Request) []error {
	for _, r := range batch {
		r.ctx, r.done = ctx, make(chan error, 1)
	}
	w.serve(batch)
	out := make([]error, len(batch))
	for i, r := range batch {
		out[i] = <-r.done
	}
	return out
}

// serve commits a batch and answers everybody in it. A batch that fails is tried again
// one request at a time, unless the store itself is what fails.
func (w *Writer) serve(batch []*Request) {
	if len(batch) == 0 {
		return
	}
	err := w.try(batch)
	if err != nil && len(batch) > 1 && w.to.Alone(err) {
		for i := range batch {
			if err = w.try(batch[i : i+1]); err != nil && !w.to.Alone(err) {
				w.answer(batch[i:], err)
				return
			}
			w.answer(batch[i:i+1], err)
		}
		return
	}
	w.answer(batch, err)
}

func (w *Writer) try(batch []*Request) error {
	for _, r := range batch {
		r.Err = nil
	}
	return w.to.Commit(batch)
}

// answer gives everybody their own result, or the error of the commit they shared.
func (w *Writer) answer(batch []*Request, err error) {
	for _, r := range batch {
		switch {
		case err != nil && w.to.Taken(err):
			r.Err = fmt.Errorf("%w: another process was faster", engine.ErrConflict)
		case err != nil:
			r.Err = err
		}
		r.done <- r.Err
	}
}
