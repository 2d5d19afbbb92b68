package backup

import (
	"context"
	"errors"
	"fmt"

	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/internal/store/postgres"
	"github.com/tidemark/tidemark/internal/store/sqlite"
)

// Migrate copies the log of a data folder, on which no server may run, into the empty database that the paths name. The
// log is checked before, the copy after: both must end in the same head. The file stays as it is.
func Migrate(ctx context.Context, p datafolder.Paths, progress func(done, total int64)) (report store.Report, err error) {
	if p.Store == "" {
		return report, errors.New("migrate: where to? (--store postgres://user@host/database)")
	}
	if err := (datafolder.Paths{Data: p.Data}).CheckLog(); err != nil {
		return report, err
	}
	held, err := datafolder.Lock(p)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, held.Close()) }()
	from, err := sqlite.OpenReadOnly(ctx, p.DB())
	if err != nil {
		return report, fmt.Errorf("migrate: %w", err)
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	before, err := from.Verify(ctx, progress)
	if err != nil {
		return report, fmt.Errorf("migrate: %w", err)
	}
	if !before.OK() {
		return before, fmt.Errorf("migrate: the log is not whole, nothing was copied: %w", before.Err())
	}
	key, err := datafolder.LoadKey(p.Key())
	if err != nil {
		return report, err
	}
	to, err := postgres.Open(ctx, p.Store, postgres.Options{})
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	if err := postgres.CheckKey(ctx, to, key, p.Key()); err != nil {
		return report, err
	}
	if err := to.Copy(ctx, from.Reader); err != nil {
		return report, fmt.Errorf("migrate: %w", err)
	}
	if report, err = to.Verify(ctx, progress); err != nil {
		return report, fmt.Errorf("migrate: %w", err)
	}
	if !report.OK() || report.Head != before.Head || report.Records != before.Records || report.Sessions != before.Sessions {
		return report, errors.Join(fmt.Errorf("migrate: the copy ends in %d:%s, what was copied in %d:%s",
			report.Head.Batch, report.Head.Hash, before.Head.Batch, before.Head.Hash), report.Err())
	}
	return report, nil
}
