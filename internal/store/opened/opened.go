// Package opened is a log as an embedding program holds it: it opens one, gives it to a monitor and closes it, and need not
// know what a record is.
package opened

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/internal/store/notify"
)

// Store is a log that is open. Give it to one Monitor, and close it when that is no longer used.
type Store struct {
	port  Port
	taken atomic.Bool
	close func() error
	done  context.Context // ends with Close
}

// Port is what a Store is made of.
type Port struct {
	Log    engine.Store
	Shared engine.Shared // nil: nobody else writes to it
	// Listen tells what other programs record, until its context ends; nil: nobody else does.
	Listen func(ctx context.Context, heard func(session string, reach notify.Reach))
	Verify func(ctx context.Context, seen func(done, total int64)) (store.Report, error)
	Close  func() error
}

// New makes a Store.
func New(p Port) *Store {
	ctx, cancel := context.WithCancel(context.Background())
	return &Store{port: p, done: ctx, close: sync.OnceValue(func() error {
		cancel()
		return p.Close()
	})}
}

// ErrTaken is returned for a store that a monitor has already: two would judge by halves of what happened.
var ErrTaken = errors.New("this store is another monitor's; open one for each")

// Take hands a store to a monitor, once.
func Take(s *Store) (Port, error) {
	if s.taken.Swap(true) {
		return Port{}, ErrTaken
	}
	return s.port, nil
}

// Listen has what other programs record told, until the store is closed.
func Listen(s *Store, log *notify.Store) {
	if s.port.Listen != nil {
		go s.port.Listen(s.done, log.Elsewhere)
	}
}

// Verify says whether the chains of the log are unbroken. An error names the first break, or why nobody could look.
func (s *Store) Verify(ctx context.Context) error {
	report, err := s.port.Verify(ctx, nil)
	if err != nil {
		return fmt.Errorf("verify the log: %w", err)
	}
	if !report.OK() {
		return fmt.Errorf("verify the log: %d breaks, the first: %+v", len(report.Breaks), report.Breaks[0])
	}
	return nil
}

// Close closes the log. Doing it twice is as doing it once.
func (s *Store) Close() error { return s.close() }
