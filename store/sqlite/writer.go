package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"runtime"
	"sync"

	"github.com/tidemark/tidemark"
)

// maxBatch bounds a commit, in records, so that one caller never waits long for the others.
const maxBatch = 256

// writer owns the one connection that writes. Everything but the channels belongs to
// its goroutine.
type writer struct {
	db      *sql.DB
	files   files
	queue   chan *request
	closing chan struct{} // closed to ask the goroutine to end
	stopped chan struct{} // closed when it has
	once    sync.Once

	batch []*request
	conn  *connection // nil until needed, and after trouble
}

func newWriter(path string, db *sql.DB) *writer {
	return &writer{
		db:      db,
		files:   files{path: path},
		queue:   make(chan *request, maxBatch),
		closing: make(chan struct{}),
		stopped: make(chan struct{}),
	}
}

// do hands a request to the writer and waits for its answer.
func (w *writer) do(ctx context.Context, r *request) error {
	r.ctx, r.done = ctx, make(chan error, 1)
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-w.closing:
		return errClosed
	default:
	}
	select {
	case w.queue <- r:
	case <-w.closing:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-r.done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("stop waiting for the commit: %w", ctx.Err())
	case <-w.stopped:
	}
	// The writer may have answered before it stopped.
	select {
	case err := <-r.done:
		return err
	default:
		return errClosed
	}
}

func (w *writer) close() error {
	w.once.Do(func() { close(w.closing) })
	<-w.stopped
	return w.db.Close()
}

// run is the writer's goroutine.
func (w *writer) run() {
	defer close(w.stopped)
	for {
		select {
		case r := <-w.queue:
			w.serve(w.gather(r))
		case <-w.closing:
			w.drain()
			if w.conn == nil {
				_ = w.connect() // only a connection that writes leaves the log as one file
			}
			w.disconnect()
			return
		}
	}
}

// drain serves what was queued before the close.
func (w *writer) drain() {
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
// Those just answered are let run first, for as long as that brings something: a commit
// costs as much as many records, and one that comes too early carries only half of them.
func (w *writer) gather(r *request) []*request {
	w.batch = w.batch[:0]
	for n := 0; ; {
		if err := r.ctx.Err(); err != nil {
			r.done <- err
		} else {
			w.batch = append(w.batch, r)
			n += max(1, len(r.records))
		}
		if n >= maxBatch {
			return w.batch
		}
		if len(w.queue) == 0 {
			runtime.Gosched()
		}
		select {
		case r = <-w.queue:
		default:
			return w.batch
		}
	}
}

// serve commits a batch and answers everybody in it. A batch that fails is tried again
// one request at a time, unless the store itself is what fails.
func (w *writer) serve(batch []*request) {
	if len(batch) == 0 {
		return
	}
	err := w.try(batch)
	if err != nil && len(batch) > 1 && alone(err) {
		for i := range batch {
			if err = w.try(batch[i : i+1]); err != nil && !alone(err) {
				answer(batch[i:], err)
				return
			}
			answer(batch[i:i+1], err)
		}
		return
	}
	answer(batch, err)
}

// answer gives everybody their own result, or the error of the commit they shared.
func answer(batch []*request, err error) {
	for _, r := range batch {
		switch {
		case taken(err):
			r.err = fmt.Errorf("%w: another process was faster", tidemark.ErrConflict)
		case err != nil:
			r.err = err
		}
		r.done <- r.err
	}
}

// try commits a batch. Each request's own outcome is in its err; an error means that
// nothing was written for any of them.
func (w *writer) try(batch []*request) error {
	for _, r := range batch {
		r.err = nil
	}
	if w.conn == nil {
		if err := w.connect(); err != nil {
			return err
		}
	}
	if err := w.files.check(); err != nil {
		return err
	}
	err := w.conn.commit(batch)
	if err == nil {
		w.files.see()
		return nil
	}
	if rollback := w.conn.rollback(); rollback != nil || !alone(err) {
		w.disconnect() // a fresh connection knows nothing wrong
	}
	return err
}

func (w *writer) connect() error {
	if err := w.files.check(); err != nil {
		return err
	}
	conn, err := connect(w.db)
	if err != nil {
		return err
	}
	w.conn = conn
	w.files.see()
	return nil
}

func (w *writer) disconnect() {
	if w.conn == nil {
		return
	}
	w.files.wal = nil // the last connection takes it away
	w.conn.close()
	w.conn = nil
}
