package installation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/tidemark/tidemark/internal/config/load"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/external/anchors"
	"github.com/tidemark/tidemark/internal/store"
)

// Signer signs checkpoints of the log. Servers of one log, which share the key, sign alike.
func Signer(key []byte) anchors.Signer {
	return anchors.NewSigner(datafolder.Derive(key, "checkpoints of the log"))
}

// CheckAnchors holds a log against checkpoints that were written down elsewhere: those in a file or, where none is given, in the file
// that the policy file names. They must be signed by the key of this data folder, or by the one that is given. It says how many it found.
func CheckAnchors(ctx context.Context, p datafolder.Paths, log *Log, file, key string) ([]store.Break, int, error) {
	if file == "" {
		cfg, _, err := load.Read(p.Config)
		if err != nil || cfg.Anchors == nil || cfg.Anchors.File == "" {
			return nil, 0, err
		}
		file = cfg.Anchors.File
	}
	k, err := anchorKey(p, key)
	if err != nil {
		return nil, 0, err
	}
	return anchors.CheckFile(ctx, log.Reader, file, k)
}

func anchorKey(p datafolder.Paths, given string) (anchors.Key, error) {
	if given != "" {
		k, err := anchors.ParseKey(given)
		if err != nil {
			return k, fmt.Errorf("read the key of the anchors: %w", err)
		}
		return k, nil
	}
	if _, err := os.Stat(p.Key()); err != nil {
		return anchors.Key{}, fmt.Errorf("read the key of the anchors: %w (give it with --anchor-key)", err)
	}
	raw, err := datafolder.LoadKey(p.Key())
	if err != nil {
		return anchors.Key{}, err
	}
	return Signer(raw).Key, nil
}

// Checkpoint is a signed note of where the log stands, to be kept elsewhere; AnchorKey is by what others check it.
func Checkpoint(ctx context.Context, p datafolder.Paths) (note []byte, err error) {
	if err := p.CheckLog(); err != nil {
		return nil, err
	}
	key, err := datafolder.LoadKey(p.Key())
	if err != nil {
		return nil, err
	}
	log, err := ReadLog(ctx, p)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	head, err := log.Head(ctx)
	if err != nil {
		return nil, err
	}
	return Signer(key).Sign(head, time.Now()), nil
}

// AnchorKey is the key by which others check the checkpoints of this log, as programs that read signed notes take it.
func AnchorKey(p datafolder.Paths) (string, error) {
	k, err := anchorKey(p, "")
	return k.String(), err
}
