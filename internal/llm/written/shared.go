package written

import (
	"context"
	"iter"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/store/shelf"
)

// Shared keeps what models and tools wrote where several servers have one log: beside it, so that each of them knows
// what the others' models and tools wrote. What Written is for one server.
type Shared struct {
	notes  Notes
	logger *slog.Logger

	mu      sync.Mutex
	last    int64    // guarded by mu; up to which note everything was read
	pending [][]byte // guarded by mu; noted here, and known to nobody else yet
	size    int64    // guarded by mu; about how many bytes there are
	base    int64    // guarded by mu; how many there were when they were last written anew
}

// Notes are what servers of one log have in common beside it.
type Notes interface {
	Note(ctx context.Context, bodies [][]byte) error
	Notes(ctx context.Context, after int64) iter.Seq2[shelf.Note, error]
	Renote(ctx context.Context, upTo int64, bodies iter.Seq[[]byte]) error
}

// NewShared makes one.
func NewShared(n Notes, logger *slog.Logger) *Shared {
	return &Shared{notes: n, logger: logger}
}

// renoteFor is how long writing everything anew may take, and reading it at the start.
const renoteFor = time.Minute

// Kept visits the records of all servers.
func (w *Shared) Kept(visit func([]byte)) bool {
	ctx, cancel := context.WithTimeout(context.Background(), renoteFor)
	defer cancel()
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.read(ctx, func(n *shelf.Note) { visit(n.Body) })
	if err != nil {
		w.logger.Warn("what models and tools wrote is not all there; texts that nobody knows count as anybody's", "error", err)
	}
	w.base = w.size
	return err == nil
}

// read visits what is new.
// Preconditions: mu is held.
func (w *Shared) read(ctx context.Context, visit func(*shelf.Note)) error {
	for n, err := range w.notes.Notes(ctx, w.last) {
		if err != nil {
			return err
		}
		if w.last = n.ID; !n.Own {
			w.size += int64(len(n.Body))
		}
		visit(&n)
	}
	return nil
}

// News are the records of other servers since it was last asked.
func (w *Shared) News(ctx context.Context) (out [][]byte, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	err = w.read(ctx, func(n *shelf.Note) {
		if !n.Own {
			out = append(out, n.Body)
		}
	})
	return out, err
}

// Keep takes a record. Settle makes others know it.
func (w *Shared) Keep(record []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending = append(w.pending, record)
	w.size += int64(len(record))
}

// Settle returns when other servers find what was kept.
func (w *Shared) Settle(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.pending) == 0 {
		return nil
	}
	if err := w.notes.Note(ctx, w.pending); err != nil {
		return err
	}
	w.pending = nil
	return nil
}

// Full reports that there is more than twice what there was.
func (w *Shared) Full() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.size > 2*w.base+writtenSlack
}

// Replace writes anew what there was up to what this server has read. What others noted since stays, and is read next.
func (w *Shared) Replace(records func(func([]byte) bool)) {
	ctx, cancel := context.WithTimeout(context.Background(), renoteFor)
	defer cancel()
	w.mu.Lock()
	defer w.mu.Unlock()
	size := int64(0)
	err := w.notes.Renote(ctx, w.last, func(yield func([]byte) bool) {
		records(func(r []byte) bool {
			size += int64(len(r))
			return yield(r)
		})
	})
	if err != nil {
		w.logger.Warn("what models and tools wrote was not written anew; it goes on growing", "error", err)
		size = w.size
	}
	w.size, w.base = size, size
}

// Close lets go of nothing: the log is somebody else's.
func (w *Shared) Close() error { return nil }

// TakeOver brings what a file holds to the other servers, once: the folder had a log of its own before.
func (w *Shared) TakeOver(ctx context.Context, path string, key []byte) error {
	if _, err := os.Stat(path); err != nil {
		return nil //nolint:nilerr // most have none
	}
	file, err := Open(path, key, w.logger)
	if err != nil {
		return err
	}
	file.Kept(w.Keep)
	if err := file.Close(); err != nil {
		return err
	}
	if err := w.Settle(ctx); err != nil {
		return err
	}
	return os.Rename(path, path+".moved")
}
