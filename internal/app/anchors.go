package app

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

// signer signs checkpoints of the log. Servers of one log, which share the key, sign alike.
func signer(key []byte) anchors.Signer {
	return anchors.NewSigner(datafolder.Derive(key, "checkpoints of the log"))
}

// startAnchors begins to write the head of the log down elsewhere, where the file says so. Of several servers of one log one does.
func (a *App) startAnchors(key []byte) (err error) {
	if !a.config.Anchors.Any() {
		return nil
	}
	if a.anchors, err = anchors.New(*a.config.Anchors, a.log, signer(key), time.Now); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	a.unanchor = cancel
	told := func(err error) { a.opts.Logger.Error("the log is not anchored", "error", err) }
	a.anchoring.Go(func() {
		if a.shared == nil {
			a.anchors.Run(ctx, told)
			return
		}
		a.shared.Lease(ctx, "anchors", func(held context.Context) { a.anchors.Run(held, told) }, told)
	})
	return nil
}

// anchored says whether the head reaches where it is written down.
func (a *App) anchored() []Part {
	if a.anchors == nil {
		return nil
	}
	status, fault := a.anchors.Status()
	p := Part{Name: "anchors", Detail: a.anchors.Detail(), OK: fault == nil, Figures: status}
	if fault != nil {
		p.Fault = fault.Error()
	}
	return []Part{p}
}

// anchorBreaks holds the log against what this server's file of anchors says.
func (a *App) anchorBreaks(ctx context.Context) ([]store.Break, error) {
	if a.anchors == nil || a.config.Anchors.File == "" {
		return nil, nil
	}
	key, err := datafolder.LoadKey(a.opts.Paths.Key())
	if err != nil {
		return nil, err
	}
	ledger, ok := a.log.(anchors.Ledger)
	if !ok {
		return nil, nil
	}
	breaks, _, err := checkAnchors(ctx, ledger, a.config.Anchors.File, signer(key).Key)
	return breaks, err
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
	return checkAnchors(ctx, log.Reader, file, k)
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
	return signer(raw).Key, nil
}

func checkAnchors(ctx context.Context, ledger anchors.Ledger, file string, k anchors.Key) ([]store.Break, int, error) {
	raw, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return []store.Break{{Problem: "the anchors are gone: there is no file " + file}}, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read the anchors: %w", err)
	}
	good, bad := anchors.ReadNotes(raw, k)
	breaks, err := anchors.Check(ctx, ledger, good)
	for _, b := range bad {
		breaks = append(breaks, store.Break{Problem: file + ": " + b.Error()})
	}
	return breaks, len(good), err
}

// Checkpoint is a signed note of where the log stands, to be kept elsewhere; AnchorKey is by what others check it.
func Checkpoint(ctx context.Context, p datafolder.Paths) (note []byte, err error) {
	if err := exists(p); err != nil {
		return nil, err
	}
	key, err := datafolder.LoadKey(p.Key())
	if err != nil {
		return nil, err
	}
	log, err := readLog(ctx, p)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	head, err := log.Head(ctx)
	if err != nil {
		return nil, err
	}
	return signer(key).Sign(head, time.Now()), nil
}

// AnchorKey is the key by which others check the checkpoints of this log, as programs that read signed notes take it.
func AnchorKey(p datafolder.Paths) (string, error) {
	k, err := anchorKey(p, "")
	return k.String(), err
}
