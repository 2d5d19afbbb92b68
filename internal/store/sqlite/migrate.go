package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrations embed.FS

// appID marks a database as ours ("TIDE"), so that a wrong path never adds our tables
// to another program's data.
const appID = 0x54494445

const versionTable = "schema_version"

// migrate marks a new database as ours and brings the schema up to date. Two processes
// may do this at once; the one that loses finds the work done when it tries again.
func migrate(ctx context.Context, db *sql.DB) (from int64, err error) {
	for range 3 {
		if from, err = up(ctx, db); err == nil || ctx.Err() != nil {
			return from, err
		}
	}
	return from, err
}

// versionOf is the version that the schema has; 0: there is none, or none that can be read, which migrate finds out.
func versionOf(ctx context.Context, db *sql.DB) int64 {
	var current sql.NullInt64
	if err := db.QueryRowContext(ctx, "SELECT max(version_id) FROM "+versionTable).Scan(&current); err != nil {
		return 0
	}
	return current.Int64
}

// knownTo refuses the schema of a newer program.
func knownTo(db *sql.DB, version int64) error {
	p, err := provider(db)
	if err != nil {
		return err
	}
	sources := p.ListSources()
	return notNewer(version, sources[len(sources)-1].Version)
}

// up returns the version that the schema had before; 0: there was none.
func up(ctx context.Context, db *sql.DB) (from int64, err error) {
	if err := claim(ctx, db); err != nil {
		return 0, err
	}
	p, err := provider(db)
	if err != nil {
		return 0, err
	}
	from, target, err := p.GetVersions(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the schema's version: %w", err)
	}
	if err := notNewer(from, target); err != nil {
		return 0, err
	}
	if _, err := p.Up(ctx); err != nil {
		return 0, fmt.Errorf("migrate the schema: %w", err)
	}
	return from, nil
}

func provider(db *sql.DB) (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectSQLite3, db, files,
		goose.WithDisableGlobalRegistry(true), goose.WithTableName(versionTable))
}

// claim marks an empty database as ours. It looks again at whose it is: what another
// program has not yet folded into its file is seen only now.
func claim(ctx context.Context, db *sql.DB) error {
	if err := checkOwner(ctx, db); err != nil {
		return err
	}
	id, _, err := owner(ctx, db)
	if err != nil || id == appID {
		return err
	}
	_, err = db.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d", appID))
	return err
}

// checkOwner refuses a database of another program.
func checkOwner(ctx context.Context, db *sql.DB) error {
	id, tables, err := owner(ctx, db)
	if err == nil && id != appID && (id != 0 || tables > 0) {
		err = errForeign
	}
	return err
}

var errForeign = errors.New("the file is a database of another program, choose another path")

func owner(ctx context.Context, db *sql.DB) (id, tables int64, err error) {
	const query = `SELECT (SELECT application_id FROM pragma_application_id), (SELECT count(*) FROM sqlite_schema)`
	err = db.QueryRowContext(ctx, query).Scan(&id, &tables)
	return id, tables, err
}

// checkSchema is for readers, who change nothing.
func checkSchema(ctx context.Context, db *sql.DB) error {
	if err := checkOwner(ctx, db); err != nil {
		return err
	}
	_, tables, err := owner(ctx, db)
	if err != nil {
		return err
	}
	if tables == 0 {
		return ErrOlder
	}
	p, err := provider(db)
	if err != nil {
		return err
	}
	sources := p.ListSources()
	var current sql.NullInt64
	if err := db.QueryRowContext(ctx, "SELECT max(version_id) FROM "+versionTable).Scan(&current); err != nil {
		return fmt.Errorf("read the schema's version: %w", err)
	}
	target := sources[len(sources)-1].Version
	if current.Int64 < target {
		return ErrOlder
	}
	return notNewer(current.Int64, target)
}

// ErrOlder is returned to whoever only reads a log of an earlier version: it has to be brought up to date first.
var ErrOlder = errors.New("the log's schema is not up to date, let the server of this version open it once")

func notNewer(current, target int64) error {
	if current > target {
		return fmt.Errorf("the log's schema has version %d and this program knows %d: use the newer program", current, target)
	}
	return nil
}
