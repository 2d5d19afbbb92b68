package installation

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"runtime"
	"time"

	"github.com/tidemark/tidemark/internal/base/memlimit"
	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/httpapi"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/internal/store/postgres"
	"github.com/tidemark/tidemark/internal/store/retention"
	"github.com/tidemark/tidemark/internal/store/rows"
	"github.com/tidemark/tidemark/internal/store/sqlite"
)

// sessionMemory is how many bytes sessions may take in memory, about.
func sessionMemory(cfg *config.Config) int64 {
	if cfg.Server.Memory > 0 {
		return cfg.Server.Memory
	}
	return memlimit.Share(memlimit.Given())
}

// held is how many bytes of sessions are held where they may take so many: the collector needs half as much again.
func held(memory int64) int64 { return max(memory/8*5, 1) }

// NewMonitor makes the engine as a file has it.
func NewMonitor(cfg *config.Config, opts engine.Options) (*engine.Monitor, error) {
	opts.Policy, opts.Now, opts.Rand, opts.Approvers = cfg.Policy, time.Now, rand.Reader, &cfg.Approvals.Who
	opts.MaxHeard, opts.Processors = held(sessionMemory(cfg)), runtime.GOMAXPROCS(0)
	return engine.New(opts)
}

// KeptLog is a log that a server writes and reads.
type KeptLog interface {
	engine.Store
	engine.Shared
	shownLog
	Asks(ctx context.Context, now int64) ([]store.Asked, error)
	Close() error
}

// shownLog is a log as people look at it, and have it forget.
type shownLog interface {
	httpapi.Log
	retention.Log
}

// ReadLog opens the log for looking at.
func ReadLog(ctx context.Context, p datafolder.Paths) (*rows.Reader, error) {
	if p.Store != "" {
		r, err := postgres.OpenReadOnly(ctx, p.Store)
		if err != nil {
			return nil, err
		}
		return r.Reader, nil
	}
	key, err := headKeyOf(p)
	if err != nil {
		return nil, err
	}
	r, err := sqlite.OpenReader(ctx, p.DB(), sqlite.Options{Key: key})
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	return r.Reader, nil
}

// HeadKey is what the file is signed with that says where the log stood.
func HeadKey(key []byte) []byte { return datafolder.Derive(key, "where the log stood") }

// headKeyOf is the same for whoever opens the log without a server; nil where the folder has no key.
func headKeyOf(p datafolder.Paths) ([]byte, error) {
	key, err := datafolder.KeyOf(p)
	if key == nil || err != nil {
		return nil, err
	}
	return HeadKey(key), nil
}

// CountsKey is what the counts of reports are signed with.
func CountsKey(key []byte) []byte { return datafolder.Derive(key, "counts of reports") }

// WriteLog opens the log for writing, beside servers where there may be any.
func WriteLog(ctx context.Context, p datafolder.Paths) (KeptLog, *rows.Reader, error) {
	if p.Store != "" {
		s, err := postgres.Open(ctx, p.Store, postgres.Options{})
		if err != nil {
			return nil, nil, err
		}
		return s, s.Reader.Reader, nil
	}
	key, err := headKeyOf(p)
	if err != nil {
		return nil, nil, err
	}
	s, err := sqlite.Open(ctx, p.DB(), sqlite.Options{Key: key})
	if err != nil {
		return nil, nil, fmt.Errorf("open log: %w", err)
	}
	return s, s.Reader.Reader, nil
}

// CheckStore says what is wrong with an address of a log; nil for none.
func CheckStore(address string) error {
	if address == "" || postgres.Is(address) {
		return nil
	}
	return errors.New("--store: want postgres://user@host/database, or nothing for the file in the data folder")
}

// StoreName is an address of a log for people: without what could be a secret.
func StoreName(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "PostgreSQL"
	}
	return u.Scheme + "://" + u.Host + u.Path
}

// storeVariable names the database with the log where no flag does.
const storeVariable = "TIDEMARK_STORE"

// FindStore is the address of the database with the log: as given, or from the environment. It may
// hold a password, so that a variable is the better place.
func FindStore(given string) (string, error) {
	if given == "" {
		given = os.Getenv(storeVariable)
	}
	return given, CheckStore(given)
}
