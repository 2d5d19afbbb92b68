// Package postgres opens a log in a database, for a program that embeds the monitor. Several programs may use one database.
package postgres

import (
	"context"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/internal/store/notify"
	"github.com/tidemark/tidemark/internal/store/opened"
	"github.com/tidemark/tidemark/internal/store/patient"
	"github.com/tidemark/tidemark/internal/store/postgres"
)

// Open opens the log in a database: postgres://…
func Open(ctx context.Context, address string) (*tidemark.Store, error) {
	log, err := postgres.Open(ctx, address, postgres.Options{Limit: patient.DefaultLimit})
	if err != nil {
		return nil, err
	}
	waits := patient.New(log, patient.DefaultLimit)
	return opened.New(opened.Port{
		Log: waits, Shared: waits.Shared(log), Verify: log.Verify,
		Listen: func(ctx context.Context, heard func(string, notify.Reach)) {
			log.Listen(ctx, func(n postgres.News) { heard(n.Session, n.Reach) }, func(error) {})
		},
		Close: func() error {
			waits.Close()
			return log.Close()
		},
	}), nil
}
