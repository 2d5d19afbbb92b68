package installation

import (
	"context"
	"errors"
	"time"

	"github.com/tidemark/tidemark/internal/config/load"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store/checkpoints"
	"github.com/tidemark/tidemark/internal/store/retention"
)

// Prune takes out of an installation's log what the request says, beside a running server or without one. Limits that
// the request does not name are those of the policy file.
func Prune(ctx context.Context, p datafolder.Paths, r retention.Request) (out retention.Result, err error) {
	if len(r.Limits) == 0 && r.Person == "" {
		cfg, _, err := load.Read(p.Config)
		if err != nil {
			return out, err
		}
		if r.Limits = cfg.Retention.Limits; len(r.Limits) == 0 {
			return out, errors.New("prune: how much is to be kept? (--content 30d and the like, or a section retention in the policy file)")
		}
	}
	if err := p.CheckLog(); err != nil {
		return out, err
	}
	if r.Dry {
		log, err := ReadLog(ctx, p)
		if err != nil {
			return out, err
		}
		out, err = retention.Look(ctx, log, r)
		return out, errors.Join(err, log.Close())
	}
	log, _, err := WriteLog(ctx, p)
	if err != nil {
		return out, err
	}
	out, err = retention.Prune(ctx, log, r)
	if out.Records > 0 { // a server that runs does so itself, of the sessions that it is about
		err = errors.Join(err, checkpoints.Clear(p.Checkpoints()))
	}
	return out, errors.Join(err, log.Close())
}

// Holds are what must not be pruned of an installation's log.
func Holds(ctx context.Context, p datafolder.Paths) ([]retention.Hold, error) {
	if err := p.CheckLog(); err != nil {
		return nil, err
	}
	log, err := ReadLog(ctx, p)
	if err != nil {
		return nil, err
	}
	holds, _, err := retention.Holds(ctx, log)
	return holds, errors.Join(err, log.Close())
}

// SetHold begins or ends a hold.
func SetHold(ctx context.Context, p datafolder.Paths, h event.Hold) error {
	if err := p.CheckLog(); err != nil {
		return err
	}
	log, _, err := WriteLog(ctx, p)
	if err != nil {
		return err
	}
	return errors.Join(retention.SetHold(ctx, log, h, time.Now()), log.Close())
}
