package app

import (
	"crypto/rand"
	"runtime"
	"time"

	"github.com/tidemark/tidemark/internal/base/build"
	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/store/checkpoints"
)

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

// held is how many bytes of sessions are held where they may take so many: the collector needs half as much again.
func held(memory int64) int64 { return max(memory/8*5, 1) }

func newMonitor(cfg *config.Config, o *external, opts engine.Options) (*engine.Monitor, error) {
	opts.Policy, opts.Now, opts.Rand, opts.Approvers = cfg.Policy, time.Now, rand.Reader, &cfg.Approvals.Who
	opts.MaxHeard, opts.Processors = held(sessionMemory(cfg)), runtime.GOMAXPROCS(0)
	if o != nil {
		o.advise(&opts)
	}
	return engine.New(opts)
}
