package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/tidemark/tidemark/internal/installation"
	"github.com/tidemark/tidemark/internal/reports/replay"
	"github.com/tidemark/tidemark/internal/store"
)

// transcripts are what is to be replayed.
type transcripts struct {
	units iter.Seq2[replay.Unit, error]
	bytes int64 // in all, for the bar; 0 where nobody knows
	close func() error
}

// transcripts finds what the arguments name. Files are opened one after another, when it
// is their turn.
func (e *env) transcripts(ctx context.Context, format string, args []string) (*transcripts, error) {
	if format == logFormat {
		if len(args) > 0 {
			return nil, errors.New("replay: the log is in the data folder: give --data, and no files")
		}
		return e.logTranscripts(ctx)
	}
	var f replay.Format
	if format != "" {
		var err error
		if f, err = replay.ParseFormat(format); err != nil {
			return nil, fmt.Errorf("replay: --format: %w", err)
		}
	}
	if len(args) == 0 {
		return nil, errors.New("replay: give files or folders with transcripts, or - for standard input")
	}
	in := &transcripts{close: func() error { return nil }}
	var files []string
	for _, arg := range args {
		found, size, err := findTranscripts(arg)
		if err != nil {
			return nil, fmt.Errorf("replay: %w", err)
		}
		files = append(files, found...)
		in.bytes += size
	}
	if slices.Contains(files, "-") {
		in.bytes = 0
	}
	in.units = func(yield func(replay.Unit, error) bool) {
		for _, name := range files {
			if !e.eachUnit(ctx, name, f, yield) {
				return
			}
		}
	}
	return in, nil
}

// findTranscripts is the file itself, or the JSON files below a folder.
func findTranscripts(arg string) (files []string, size int64, err error) {
	if arg == "-" {
		return []string{arg}, 0, nil
	}
	err = filepath.WalkDir(arg, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if ext := filepath.Ext(path); path != arg && ext != ".jsonl" && ext != ".json" {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		files, size = append(files, path), size+info.Size()
		return nil
	})
	return files, size, err
}

func (e *env) eachUnit(ctx context.Context, name string, f replay.Format, yield func(replay.Unit, error) bool) bool {
	r := e.stdin(ctx)
	shown := "stdin"
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return yield(replay.Unit{}, err)
		}
		defer file.Close()
		r, shown = file, name
	}
	for u, err := range replay.Units(shown, r, f) {
		if !yield(u, err) {
			return false
		}
	}
	return true
}

// logTranscripts are the sessions of the installation's log, newest first.
func (e *env) logTranscripts(ctx context.Context) (*transcripts, error) {
	log, err := e.openLog(ctx)
	if err != nil {
		return nil, err
	}
	return &transcripts{close: log.Close, units: func(yield func(replay.Unit, error) bool) {
		query := store.SessionQuery{Limit: store.MaxLimit}
		for {
			page, err := log.Sessions(ctx, query)
			if err != nil {
				yield(replay.Unit{}, err)
				return
			}
			for _, s := range page {
				query.After = s.Name
				if u, err := logUnit(ctx, log, s.Name); !yield(u, err) {
					return
				}
			}
			if len(page) < store.MaxLimit {
				return
			}
		}
	}}, nil
}

func logUnit(ctx context.Context, log *installation.Log, name string) (replay.Unit, error) {
	run, err := replay.FromLog(name, log.Load(ctx, name, 0), log.Monitor.Arguments)
	if err != nil {
		return replay.Unit{}, fmt.Errorf("session %q: %w", name, err)
	}
	return replay.Ready(run), nil
}
