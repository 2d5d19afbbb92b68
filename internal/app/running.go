package app

import (
	"github.com/tidemark/tidemark/internal/base/build"
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
