package postgres

import (
	"context"
	"crypto/rand"
	"database/sql"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/tidemark/tidemark/internal/store/internal/group"
	"github.com/tidemark/tidemark/internal/store/rows"
)

// Schema is where our tables are, in a database that may hold others; a search_path in the
// address names another.
const Schema = "tidemark"

// Options are the bounds of a store. The zero value is what a server uses.
type Options struct {
	Readers int           // connections for reading; 0 means 8
	Limit   time.Duration // after which a commit that the database does not answer is given up; 0 means 20 s
}

// Is reports whether an address is one of a PostgreSQL database.
func Is(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}

// Open opens the log in a database, creates it if there is none, and brings its schema up to
// date. It proves that the log can be written before it returns. What the address does not say is
// taken from the environment, as psql does (PGPASSWORD, PGSSLMODE and others).
func Open(ctx context.Context, address string, o Options) (*Store, error) {
	s, err := open(ctx, address, o)
	if err != nil {
		return nil, fmt.Errorf("open log in PostgreSQL: %w", explained(err))
	}
	return s, nil
}

func open(ctx context.Context, address string, o Options) (*Store, error) {
	config, schema, err := parse(address)
	if err != nil {
		return nil, err
	}
	if err := migrate(ctx, config, schema); err != nil {
		return nil, err
	}
	id := make([]byte, 8)
	_, _ = rand.Read(id) // it never fails
	s := &Store{Reader: reader(config, schema, o), server: hex.EncodeToString(id)}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.writer = group.New(&writer{config: config, schema: schema, server: s.server, limit: o.Limit})
	go s.writer.Run()
	if err := s.Ping(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// OpenReadOnly opens the log in a database for reading, beside those who write it.
func OpenReadOnly(ctx context.Context, address string) (*Reader, error) {
	config, schema, err := parse(address)
	if err != nil {
		return nil, fmt.Errorf("open log in PostgreSQL: %w", err)
	}
	r := reader(config, schema, Options{})
	if err := r.check(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open log in PostgreSQL: %w", explained(err)), r.Close())
	}
	return r, nil
}

func reader(config *pgx.ConnConfig, schema string, o Options) *Reader {
	if o.Readers <= 0 {
		o.Readers = 8
	}
	reading := config.Copy()
	reading.AfterConnect = func(ctx context.Context, conn *pgconn.PgConn) error { // not before: a primary is told from a standby by it
		_, err := conn.Exec(ctx, `SET default_transaction_read_only = on`).ReadAll()
		return err
	}
	db := stdlib.OpenDB(*reading)
	db.SetMaxOpenConns(o.Readers)
	db.SetMaxIdleConns(o.Readers)
	return &Reader{rows.New(db, dialect), config, schema}
}

var dialect = rows.Dialect{
	Bind: bind, Zeros: `decode(repeat('00', 32), 'hex')`, Empty: `''::bytea`, Unavailable: unavailable,
	Again: lost,
}

// bind numbers the places of values.
func bind(query string) string {
	var b strings.Builder
	n := 0
	for part := range strings.SplitSeq(query, "?") {
		if n > 0 {
			b.WriteString("$" + strconv.Itoa(n))
		}
		b.WriteString(part)
		n++
	}
	return b.String()
}

var plainName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

// limits keep a server that hangs, or is gone, from holding up the others for long. What the address
// says counts before them.
var limits = map[string]string{
	"application_name": "tidemark", "search_path": Schema, "statement_timeout": "15s", "lock_timeout": "10s",
	"idle_in_transaction_session_timeout": "5s", "tcp_keepalives_idle": "10", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3",
}

func parse(address string) (config *pgx.ConnConfig, schema string, err error) {
	if !Is(address) {
		return nil, "", errors.New("want an address that begins with postgres://")
	}
	if config, err = pgx.ParseConfig(address); err != nil {
		return nil, "", err
	}
	params := maps.Clone(limits)
	maps.Copy(params, config.RuntimeParams)
	config.RuntimeParams = params
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 10 * time.Second
	}
	config.DialFunc = dial
	if schema = params["search_path"]; !plainName.MatchString(schema) {
		return nil, "", fmt.Errorf("search_path %q: want the name of one schema, in lower-case letters, digits and underscores", schema)
	}
	return config, schema, nil
}

//go:embed migrations/*.sql
var migrations embed.FS

const versionTable = "schema_version"

// migrate makes our schema, and brings it up to date. Servers that start at once do it one after
// the other.
func migrate(ctx context.Context, config *pgx.ConnConfig, schema string) error {
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx)) // which ends the lock
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock(hashtext('tidemark schema'), hashtext($1))`, schema); err != nil {
		return err
	}
	db := stdlib.OpenDB(*config)
	defer db.Close()
	p, err := provider(db)
	if err != nil {
		return err
	}
	if current, err := version(ctx, db); err == nil { // a user who may not create anything can go on with what is there
		if target := latest(p); current >= target {
			return notNewer(current, target)
		}
	}
	if _, err := conn.Exec(ctx, `CREATE SCHEMA IF NOT EXISTS `+pgx.Identifier{schema}.Sanitize()); err != nil {
		return fmt.Errorf("create schema %s: %w", schema, err)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate the schema: %w", err)
	}
	return nil
}

func provider(db *sql.DB) (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectPostgres, db, files,
		goose.WithDisableGlobalRegistry(true), goose.WithTableName(versionTable))
}

func latest(p *goose.Provider) int64 {
	sources := p.ListSources()
	return sources[len(sources)-1].Version
}

func version(ctx context.Context, db *sql.DB) (int64, error) {
	var current sql.NullInt64
	if err := db.QueryRowContext(ctx, "SELECT max(version_id) FROM "+versionTable).Scan(&current); err != nil {
		return 0, fmt.Errorf("read the schema's version: %w", err)
	}
	return current.Int64, nil
}

// check is for readers, who change nothing.
func (r *Reader) check(ctx context.Context) error {
	current, err := version(ctx, r.DB())
	if err != nil {
		return err
	}
	p, err := provider(r.DB())
	if err != nil {
		return err
	}
	if target := latest(p); current != target {
		return errors.Join(notNewer(current, target), notOlder(current, target))
	}
	return nil
}

func notNewer(current, target int64) error {
	if current > target {
		return fmt.Errorf("the log's schema has version %d and this program knows %d: use the newer program", current, target)
	}
	return nil
}

func notOlder(current, target int64) error {
	if current < target {
		return errors.New("the log's schema is not up to date, let the server of this version open it once")
	}
	return nil
}
