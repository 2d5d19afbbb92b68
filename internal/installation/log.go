// Package installation is what people do with the log of a data folder and with whoever has a token there, beside a server that runs or
// without one: they look, answer, export, prune, hold, verify and delete.
package installation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/tidemark/tidemark/internal/config/load"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/people/approvalproof"
	"github.com/tidemark/tidemark/internal/pins"
	"github.com/tidemark/tidemark/internal/reports/export"
	"github.com/tidemark/tidemark/internal/reports/recordsearch"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/internal/store/rows"
)

// Log is an installation's log opened for looking at, beside a running server or
// without one.
type Log struct {
	*rows.Reader
	Monitor *engine.Monitor
	Proofs  int // good proofs that the last Verify found
	Pins    *pins.Keeper
	keys    *approvalproof.Keeper
	counts  string // file of what a server counted for reports; empty: none can be read
	signs   []byte // what it is signed with
	close   func() error
}

// Close closes the log.
func (l *Log) Close() error { return l.close() }

// readOnly is a log nobody may write to: the monitor on it can look and explain only.
type readOnly struct{ *rows.Reader }

func (readOnly) Append(context.Context, string, uint64, []*event.Event) error {
	return fmt.Errorf("%w: it is open for reading only", engine.ErrUnavailable)
}

// OpenLog opens the log read-only.
func OpenLog(ctx context.Context, p datafolder.Paths) (*Log, error) {
	if err := p.CheckLog(); err != nil {
		return nil, err
	}
	r, err := ReadLog(ctx, p)
	if err != nil {
		return nil, err
	}
	return newLog(ctx, p, r, readOnly{r}, r.Close)
}

// OpenLogForAnswers opens the log for writing, for answers given while no server runs.
func OpenLogForAnswers(ctx context.Context, p datafolder.Paths) (*Log, error) {
	if err := p.CheckLog(); err != nil {
		return nil, err
	}
	s, r, err := WriteLog(ctx, p)
	if err != nil {
		return nil, err
	}
	return newLog(ctx, p, r, s, s.Close)
}

func newLog(ctx context.Context, p datafolder.Paths, r *rows.Reader, s engine.Store, done func() error) (*Log, error) {
	cfg, _, err := load.Read(p.Config)
	if err != nil {
		return nil, errors.Join(err, done())
	}
	keys, err := Keys(ctx, cfg, s, p.Store != "")
	if err != nil {
		return nil, errors.Join(err, done())
	}
	known, err := Pins(ctx, s, PinMode(cfg), false)
	if err != nil {
		return nil, errors.Join(err, done())
	}
	key, err := datafolder.KeyOf(p)
	if err != nil {
		return nil, errors.Join(err, done())
	}
	m, err := NewMonitor(cfg, engine.Options{Store: s, Prover: keys, Shared: r, Key: key})
	if err != nil {
		return nil, errors.Join(err, done())
	}
	l := &Log{Reader: r, Monitor: m, Pins: known, keys: keys, close: done}
	if key != nil {
		l.counts, l.signs = p.Counts(), CountsKey(key)
	}
	return l, nil
}

// Oldest are the records after some id, in the order of the log, as many as are asked for.
func (l *Log) Oldest(ctx context.Context, q store.EntryQuery) ([]store.Entry, error) {
	return Oldest(ctx, l, q)
}

// Oldest reads page after page of a log, as many records as are asked for.
func Oldest(ctx context.Context, log interface {
	Since(ctx context.Context, q store.EntryQuery) ([]store.Entry, error)
}, q store.EntryQuery) ([]store.Entry, error) {
	var out []store.Entry
	for most := q.Limit; len(out) < most; {
		q.Limit = min(most-len(out), store.MaxLimit)
		page, err := log.Since(ctx, q)
		if err != nil || len(page) == 0 {
			return out, err
		}
		out = append(out, page...)
		q.After = page[len(page)-1].ID
	}
	return out, nil
}

// Newest are the last records that fit, newest first, as many as are asked for.
func (l *Log) Newest(ctx context.Context, f recordsearch.Filter, most int) ([]store.Entry, error) {
	var out []store.Entry
	for {
		rows, next, err := recordsearch.Newest(ctx, l.Reader, l.Monitor.Arguments, &f, most-len(out))
		if err != nil {
			return nil, err
		}
		for i := range rows {
			out = append(out, rows[i].Entry)
		}
		if f.Before = next; next == 0 || len(out) >= most {
			return out, nil
		}
	}
}

// Arguments are those of a call as the log of a session keeps them, opened with the key of the data folder.
func (l *Log) Arguments(session, kept string) string { return l.Monitor.Arguments(session, kept) }

// ExportTo is where and how records are written.
type ExportTo struct {
	File     string // which must not exist; "": Out
	Out      io.Writer
	Progress func(done, total int64)
}

// Export writes the records that fit.
func Export(ctx context.Context, log *Log, f *recordsearch.Filter, to ExportTo) (n int64, err error) {
	if to.File == "" {
		return export.Write(ctx, log.Reader, f, to.Out, to.Progress)
	}
	file, err := os.OpenFile(to.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, fmt.Errorf("export: %w", err)
	}
	n, err = export.Write(ctx, log.Reader, f, file, to.Progress)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return 0, errors.Join(err, os.Remove(to.File)) // half a file would look like a whole one
	}
	return n, nil
}
