package app

import (
	"context"
	"iter"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/store/patient"
	"github.com/tidemark/tidemark/internal/store/postgres"
)

// SharedWritten keeps what models and tools wrote where several servers have one log: beside it, so that each of them knows
// what the others' models and tools wrote. What Written is for one server.
type SharedWritten struct {
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
	Notes(ctx context.Context, after int64) iter.Seq2[postgres.Note, error]
	Renote(ctx context.Context, upTo int64, bodies iter.Seq[[]byte]) error
}

// NewSharedWritten makes one.
func NewSharedWritten(n Notes, logger *slog.Logger) *SharedWritten {
	return &SharedWritten{notes: n, logger: logger}
}

// renoteFor is how long writing everything anew may take, and reading it at the start.
const renoteFor = time.Minute

// Kept visits the records of all servers.
func (w *SharedWritten) Kept(visit func([]byte)) bool {
	ctx, cancel := context.WithTimeout(context.Background(), renoteFor)
	defer cancel()
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.read(ctx, func(n *postgres.Note) { visit(n.Body) })
	if err != nil {
		w.logger.Warn("what models and tools wrote is not all there; texts that nobody knows count as anybody's", "error", err)
	}
	w.base = w.size
	return err == nil
}

// read visits what is new.
// Preconditions: mu is held.
func (w *SharedWritten) read(ctx context.Context, visit func(*postgres.Note)) error {
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
func (w *SharedWritten) News(ctx context.Context) (out [][]byte, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	err = w.read(ctx, func(n *postgres.Note) {
		if !n.Own {
			out = append(out, n.Body)
		}
	})
	return out, err
}

// Keep takes a record. Settle makes others know it.
func (w *SharedWritten) Keep(record []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending = append(w.pending, record)
	w.size += int64(len(record))
}

// Settle returns when other servers find what was kept.
func (w *SharedWritten) Settle(ctx context.Context) error {
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
func (w *SharedWritten) Full() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.size > 2*w.base+writtenSlack
}

// Replace writes anew what there was up to what this server has read. What others noted since stays, and is read next.
func (w *SharedWritten) Replace(records func(func([]byte) bool)) {
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
func (w *SharedWritten) Close() error { return nil }

// takeOver brings what a file holds to the other servers, once: the folder had a log of its own before.
func (w *SharedWritten) takeOver(ctx context.Context, path string, key []byte) error {
	if _, err := os.Stat(path); err != nil {
		return nil //nolint:nilerr // most have none
	}
	file, err := OpenWritten(path, key, w.logger)
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

// shelf is what servers of one log have in common for a while.
type shelf interface {
	Use(ctx context.Context, p postgres.Place, now int64) (first bool, err error)
	Lookup(ctx context.Context, id string, now int64) (body []byte, err error)
	Reshelve(ctx context.Context, begins string, now int64,
		change func(there map[string][]byte) (put []postgres.Place, gone []string, err error)) error
	Tell(ctx context.Context, word string) error
}

// waited is what servers have in common beside their log, waited for as long as the log itself: those who wait for one another would
// wait in turn for a database that is silent.
type waited struct {
	*postgres.Store
	patient *patient.Store
}

var (
	_ shelf = waited{}
	_ Notes = waited{}
)

func (a *App) waited() waited { return waited{a.shared, a.patient} }

func (w waited) Use(ctx context.Context, p postgres.Place, now int64) (first bool, err error) {
	err = w.patient.Do(ctx, func(ctx context.Context) (err error) { first, err = w.Store.Use(ctx, p, now); return err })
	return first, err
}

func (w waited) Lookup(ctx context.Context, id string, now int64) (body []byte, err error) {
	err = w.patient.Do(ctx, func(ctx context.Context) (err error) { body, err = w.Store.Lookup(ctx, id, now); return err })
	return body, err
}

func (w waited) Reshelve(
	ctx context.Context, begins string, now int64, change func(there map[string][]byte) (put []postgres.Place, gone []string, err error),
) error {
	return w.patient.Do(ctx, func(ctx context.Context) error { return w.Store.Reshelve(ctx, begins, now, change) })
}

func (w waited) Tell(ctx context.Context, word string) error {
	return w.patient.Do(ctx, func(ctx context.Context) error { return w.Store.Tell(ctx, word) })
}

func (w waited) Note(ctx context.Context, bodies [][]byte) error {
	return w.patient.Do(ctx, func(ctx context.Context) error { return w.Store.Note(ctx, bodies) })
}

func (w waited) Notes(ctx context.Context, after int64) iter.Seq2[postgres.Note, error] {
	return patient.Stream(ctx, w.patient, func(ctx context.Context) iter.Seq2[postgres.Note, error] { return w.Store.Notes(ctx, after) })
}
