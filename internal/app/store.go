package app

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/build"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/installation"
	"github.com/tidemark/tidemark/internal/people/signin"
	"github.com/tidemark/tidemark/internal/policies"
	"github.com/tidemark/tidemark/internal/store/checkpoints"
	"github.com/tidemark/tidemark/internal/store/notify"
	"github.com/tidemark/tidemark/internal/store/patient"
	"github.com/tidemark/tidemark/internal/store/postgres"
	"github.com/tidemark/tidemark/internal/store/sqlite"
)

// openStore opens the log: in the data folder, or in the database that the paths name.
func (a *App) openStore(ctx context.Context, key []byte) error {
	if a.opts.Paths.Store == "" {
		log, err := sqlite.Open(ctx, a.opts.Paths.DB(), sqlite.Options{Key: installation.HeadKey(key)})
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
	if now, err := policies.OnDisk(a.policy.Paths()); err != nil || now.Version != version {
		a.opts.Logger.Error("another server of the log judges by a policy that this one does not have; give both the same file",
			"theirs", version, "file", policies.Source(now.File), "version", now.Version, "error", err)
		return
	}
	if _, err := a.policy.TakeUp(true); err != nil {
		a.opts.Logger.Error("policy not reloaded; the old one stays in force", "error", err)
	}
}

// tellPolicy tells other servers which policy is in force here.
func (a *App) tellPolicy(ctx context.Context) {
	if a.shared == nil {
		return
	}
	if err := a.shared.Tell(ctx, policyWord+a.policy.Judges().Version); err != nil {
		a.opts.Logger.Warn("other servers were not told of the policy", "error", err)
	}
}

func (a *App) proven() installation.ProvenLog {
	return installation.Proven(a.log, a.patient, a.anchorBreaks)
}

// openCheckpoints has conversations that are let go kept in the data folder. Without a key nothing can be sealed, and nothing is kept.
// What was left by a server that had more room, or kept some, is removed.
func (a *App) openCheckpoints(opts *engine.Options) error {
	folder := a.opts.Paths.Checkpoints()
	if len(opts.Key) == 0 || a.config.Server.Checkpoints == 0 {
		return checkpoints.Clear(folder)
	}
	kept, err := checkpoints.Open(folder, datafolder.Derive(opts.Key, "names of checkpoints"), a.config.Server.Checkpoints)
	if err != nil {
		return err
	}
	opts.Checkpoints, opts.Program = kept, build.ID()
	return nil
}
