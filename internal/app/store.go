package app

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/httpapi"
	"github.com/tidemark/tidemark/internal/people/approvalproof"
	"github.com/tidemark/tidemark/internal/people/signin"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/internal/store/notify"
	"github.com/tidemark/tidemark/internal/store/patient"
	"github.com/tidemark/tidemark/internal/store/postgres"
	"github.com/tidemark/tidemark/internal/store/retention"
	"github.com/tidemark/tidemark/internal/store/rows"
	"github.com/tidemark/tidemark/internal/store/sqlite"
)

// keptLog is a log that a server writes and reads.
type keptLog interface {
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

// openStore opens the log: in the data folder, or in the database that the paths name.
func (a *App) openStore(ctx context.Context, key []byte) error {
	if a.opts.Paths.Store == "" {
		log, err := sqlite.Open(ctx, a.opts.Paths.DB(), sqlite.Options{Key: headKey(key)})
		if err != nil {
			return fmt.Errorf("open log: %w", err)
		}
		a.log, a.patient = log, patient.New(log, a.config.Server.Deadline)
		return nil
	}
	log, err := postgres.Open(ctx, a.opts.Paths.Store, postgres.Options{Limit: cmp.Or(a.config.Server.Deadline, patient.DefaultLimit)})
	if err != nil {
		return err
	}
	a.log, a.shared, a.patient = log, log, patient.New(log, a.config.Server.Deadline)
	return nil
}

// watchStore is how often a database is asked whether it takes records, while nothing else is written.
const watchStore = time.Second

// checkAlike refuses a server whose key is another than that of the first server of the log: it could not
// know again what others kept, and would find everything lost.
func (a *App) checkAlike(ctx context.Context, key []byte) error {
	if a.shared == nil {
		return nil
	}
	alike, err := a.shared.Alike(ctx, "words.key", datafolder.Derive(key, "which key this is"))
	if err != nil {
		return err
	}
	if !alike {
		return fmt.Errorf("open log: %s is another key than that of the other servers of this log "+
			"(copy words.key and tokens.json from the data folder of one of them)", a.opts.Paths.Key())
	}
	return nil
}

// handshakeSecret is what lines of plugins are signed with: drawn at each start, unless other servers must
// know them too.
func (a *App) handshakeSecret(key []byte) io.Reader {
	if a.shared == nil {
		return rand.Reader
	}
	return bytes.NewReader(datafolder.Derive(key, "lines of plugins"))
}

// policyWord begins what servers tell each other when one has taken up a policy.
const policyWord = "policy "

// listen wakes whoever waits here for what other servers record, and takes up the policy that
// they do, until the server stops.
func (a *App) listen(ctx context.Context, f *notify.Store) {
	lost := func(err error) { a.opts.Logger.Warn("other servers of the log are not heard", "error", err) }
	a.shared.Listen(ctx, func(n postgres.News) {
		if version, ok := strings.CutPrefix(n.Word, policyWord); ok {
			a.follow(version)
			return
		}
		if n.Word == signin.SignedOutWord || n.Session == "" { // or anything may have been missed
			if err := a.desk.Refresh(ctx); err != nil {
				a.opts.Logger.Warn("who was signed out elsewhere may still look here", "error", err)
			}
		}
		if n.Word == signin.SignedOutWord {
			return
		}
		f.Elsewhere(n.Session, n.Reach)
	}, lost)
}

// follow takes up the policy that another server has, if this one's file says the same. It was proven
// there.
func (a *App) follow(version string) {
	if a.Monitor.Policy().Version() == version {
		return
	}
	if now, err := OnDisk(a.paths()); err != nil || now.Version != version {
		a.opts.Logger.Error("another server of the log judges by a policy that this one does not have; give both the same file",
			"theirs", version, "file", from(now.File), "version", now.Version, "error", err)
		return
	}
	if _, err := a.takeUp(true); err != nil {
		a.opts.Logger.Error("policy not reloaded; the old one stays in force", "error", err)
	}
}

// tellPolicy tells other servers which policy is in force here.
func (a *App) tellPolicy(ctx context.Context) {
	if a.shared == nil {
		return
	}
	if err := a.shared.Tell(ctx, policyWord+a.Judges().Version); err != nil {
		a.opts.Logger.Warn("other servers were not told of the policy", "error", err)
	}
}

// readLog opens the log for looking at.
func readLog(ctx context.Context, p datafolder.Paths) (*rows.Reader, error) {
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

// headKey is what the file is signed with that says where the log stood.
func headKey(key []byte) []byte { return datafolder.Derive(key, "where the log stood") }

// headKeyOf is the same for whoever opens the log without a server; nil where the folder has no key.
func headKeyOf(p datafolder.Paths) ([]byte, error) {
	key, err := datafolder.KeyOf(p)
	if key == nil || err != nil {
		return nil, err
	}
	return headKey(key), nil
}

// countsKey is what the counts of reports are signed with.
func countsKey(key []byte) []byte { return datafolder.Derive(key, "counts of reports") }

// writeLog opens the log for writing, beside servers where there may be any.
func writeLog(ctx context.Context, p datafolder.Paths) (keptLog, *rows.Reader, error) {
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

// proofs is what a check of the whole log reads.
type proofs interface {
	Verify(ctx context.Context, progress func(done, total int64)) (store.Report, error)
	approvalproof.Log
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
