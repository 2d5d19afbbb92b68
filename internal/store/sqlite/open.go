package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/internal/store/internal/group"
	"github.com/tidemark/tidemark/internal/store/rows"
	"modernc.org/sqlite"
)

// Options tune a Store. The zero value is what a server wants; how durable a commit is
// cannot be tuned.
type Options struct {
	LockWait time.Duration // how long to wait for another process's write lock; 0 means 2 s
	Readers  int           // connections for reading; 0 means 4
	// Key signs the file that says where the log stood, so that nobody without it takes commits off the log; empty: it is not signed.
	Key []byte
}

func (o Options) withDefaults() Options {
	if o.LockWait <= 0 {
		o.LockWait = 2 * time.Second
	}
	if o.Readers <= 0 {
		o.Readers = 4
	}
	return o
}

// Open opens the log at path for writing, creates it with mode 0600 if there is none,
// and brings its schema up to date. It proves that the log can be written before it returns.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	s, err := open(ctx, path, o.withDefaults())
	if err != nil {
		return nil, fmt.Errorf("open log %q: %w", path, explained(err))
	}
	return s, nil
}

func open(ctx context.Context, path string, o Options) (_ *Store, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	if err := create(path); err != nil {
		return nil, err
	}
	if err := inspect(ctx, path); err != nil {
		return nil, err
	}
	if err := writable(path); err != nil {
		return nil, err
	}
	db, from, err := begin(ctx, path, o)
	if err != nil {
		return nil, err
	}
	reader, err := openReader(ctx, path, o)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	reader.from = from
	if err := reader.whole(ctx); err != nil {
		return nil, errors.Join(err, reader.Close(), db.Close())
	}
	s := &Store{Reader: reader, from: from, db: db, writer: group.New(newWriter(path, db, o.Key))}
	go s.writer.Run()
	if err := s.Ping(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// begin brings the schema up to date, unless the end of the log may be gone, and returns the version that it had.
func begin(ctx context.Context, path string, o Options) (db *sql.DB, from int64, err error) {
	var marked [2]error // before anything is written
	for i, since := range []int64{markedSince, signedSince} {
		_, _, marked[i] = readWatermark(path, o.Key, since)
	}
	if db, err = pool(path, 1, writing(o.LockWait)); err != nil {
		return nil, 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}()
	from = versionOf(ctx, db)
	switch newer := knownTo(db, from); {
	case newer != nil: // of its files nothing is known
		err = newer
	case from >= signedSince:
		err = marked[1]
	case from >= markedSince:
		err = marked[0]
	}
	if err == nil && marked[0] == nil {
		err = markBegin(path, o.Key)
	}
	if err != nil {
		return db, from, err
	}
	from, err = migrate(ctx, db)
	return db, from, err
}

// OpenReadOnly opens the log at path for reading, beside whoever is writing it.
func OpenReadOnly(ctx context.Context, path string) (*Reader, error) {
	return OpenReader(ctx, path, Options{})
}

// OpenReader is OpenReadOnly with options of a Store, as far as they are for reading.
func OpenReader(ctx context.Context, path string, o Options) (*Reader, error) {
	r, err := openReadOnly(ctx, path, o.withDefaults())
	if err != nil {
		return nil, fmt.Errorf("open log %q: %w", path, explained(err))
	}
	return r, nil
}

func openReadOnly(ctx context.Context, path string, o Options) (*Reader, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := isFile(path); err != nil {
		return nil, err
	}
	return openReader(ctx, path, o)
}

func isFile(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("it is not a file, choose another path")
	}
	return nil
}

// inspect refuses what is not ours without leaving a trace: a connection for writing
// would already change the database's kind of journal. Where there is a write-ahead log
// nothing would change, and reading past it could show a database that never was.
func inspect(ctx context.Context, path string) error {
	if err := isFile(path); err != nil {
		return err
	}
	if _, err := os.Stat(path + "-wal"); err == nil {
		return nil
	}
	db, err := pool(path, 1, url.Values{"mode": {"ro"}, "immutable": {"1"}})
	if err != nil {
		return err
	}
	return errors.Join(checkOwner(ctx, db), db.Close())
}

// explained puts the hint first, if there is one and it was not given yet.
func explained(err error) error {
	if hint := hint(err); hint != "" && !errors.Is(err, engine.ErrUnavailable) {
		return fmt.Errorf("%s: %w", hint, readable(err))
	}
	return readable(err)
}

// Reader reads a log, beside a writer in this or another process. It is safe for concurrent
// use.
type Reader struct {
	*rows.Reader
	path string
	key  []byte
	from int64 // version that the schema had before it was opened
}

var dialect = rows.Dialect{
	Bind: func(query string) string { return query }, Zeros: `zeroblob(32)`, Empty: `x''`, Unavailable: unavailable,
}

// Stats is the size of the log, read in constant time.
func (r *Reader) Stats(ctx context.Context) (store.Stats, error) {
	var s store.Stats
	if err := r.DB().QueryRowContext(ctx, selectTip).Scan(&s.Records, &s.Sessions); err != nil {
		return store.Stats{}, unavailable("read statistics", err)
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if info, err := os.Stat(r.path + suffix); err == nil {
			s.Bytes += info.Size()
		}
	}
	return s, nil
}

func openReader(ctx context.Context, path string, o Options) (*Reader, error) {
	db, err := pool(path, o.Readers, reading(o.LockWait))
	if err != nil {
		return nil, err
	}
	if err := checkSchema(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	r := &Reader{path: path, key: o.Key, from: signedSince}
	as := dialect
	as.Stood = r.stood
	r.Reader = rows.New(db, as)
	return r, nil
}

// stood is the last commit that was acknowledged, as the file beside the log tells.
func (r *Reader) stood() (store.Head, bool, error) { return readWatermark(r.path, r.key, r.from) }

// create makes the file readable by its owner alone, before SQLite would make one for
// everybody. An existing file is not opened here: closing it again would drop the locks
// other connections of this process hold on it.
func create(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("create it (its directory must exist and be writable): %w", err)
	}
	if err := f.Close(); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// writable says whether this user may write the file and make others beside it. SQLite
// would only tell after it made some that nobody can write later.
func writable(path string) error {
	for _, p := range []string{path, filepath.Dir(path)} {
		if err := mayWrite(p); err != nil {
			return fmt.Errorf("this user must be able to write %q: %w", p, err)
		}
	}
	return nil
}

// syncDir makes a new directory entry durable. Where a directory cannot be synced the
// system does not need it.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync()
	return d.Close()
}

// checkpoint is the size of the write-ahead log, in pages, at which it is folded into
// the main file: large enough to make that rare, small enough to keep reading fast.
const checkpoint = 4000

func writing(wait time.Duration) url.Values {
	return url.Values{
		"mode":    {"rw"},        // never create: an empty log would be a session without taint
		"_txlock": {"immediate"}, // take the write lock before reading what we build on
		"_pragma": {
			busy(wait), "journal_mode(WAL)", "synchronous(FULL)", "cache_size(-16000)", "secure_delete(1)", // what was pruned is gone
			fmt.Sprintf("wal_autocheckpoint(%d)", checkpoint), "journal_size_limit(67108864)",
		},
		"_dqs": {"0"}, "_error_rc": {"1"},
	}
}

func reading(wait time.Duration) url.Values {
	return url.Values{
		"mode":    {"ro"},
		"_pragma": {busy(wait), "query_only(1)"},
		"_dqs":    {"0"}, "_error_rc": {"1"},
	}
}

func busy(wait time.Duration) string { return fmt.Sprintf("busy_timeout(%d)", wait.Milliseconds()) }

func pool(path string, size int, settings url.Values) (*sql.DB, error) {
	p := filepath.ToSlash(path)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // a drive letter
	}
	dsn := url.URL{Scheme: "file", Path: p, RawQuery: settings.Encode()}
	connector, err := sqlite.NewConnector(dsn.String())
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	return db, nil
}
