// Package sqlite opens a log in a file, for a program that embeds the monitor.
package sqlite

import (
	"context"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/internal/store/opened"
	"github.com/tidemark/tidemark/internal/store/sqlite"
)

// Options of a log.
type Options struct {
	Key []byte // keeps the end of the log from being cut off unseen; none: it is not kept from that
}

// Open opens the log in a file, which is made where there is none.
func Open(ctx context.Context, file string, o Options) (*tidemark.Store, error) {
	log, err := sqlite.Open(ctx, file, sqlite.Options{Key: o.Key})
	if err != nil {
		return nil, err
	}
	return opened.New(opened.Port{Log: log, Verify: log.Verify, Close: log.Close}), nil
}
