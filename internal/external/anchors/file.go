package anchors

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/tidemark/tidemark/internal/store"
)

// CheckFile holds a log against the checkpoints in a file, and says how many of them are good.
func CheckFile(ctx context.Context, ledger Ledger, file string, k Key) ([]store.Break, int, error) {
	raw, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return []store.Break{{Problem: "the anchors are gone: there is no file " + file}}, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read the anchors: %w", err)
	}
	good, bad := ReadNotes(raw, k)
	breaks, err := Check(ctx, ledger, good)
	for _, b := range bad {
		breaks = append(breaks, store.Break{Problem: file + ": " + b.Error()})
	}
	return breaks, len(good), err
}
