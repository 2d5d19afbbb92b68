package installation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tidemark/tidemark/internal/datafolder"
)

// Purge deletes a data folder. It must be one, no server may run on it, and nothing in it may be under a legal hold.
func Purge(ctx context.Context, p datafolder.Paths) error {
	const what = "purge: %w"
	if p.Store != "" {
		return fmt.Errorf(what, errors.New("the log is in a database, which its administrator deletes"))
	}
	if _, err := datafolder.FindRunning(p); err == nil {
		return fmt.Errorf(what, errors.New("a server runs on "+p.Data))
	} else if !errors.Is(err, datafolder.ErrNotRunning) {
		return fmt.Errorf(what, err)
	}
	if _, err := os.Stat(p.Tokens()); err != nil {
		return fmt.Errorf(what, fmt.Errorf("%s is no data folder: %w", p.Data, err))
	}
	if p.CheckLog() == nil {
		holds, err := Holds(ctx, p)
		if err != nil {
			return fmt.Errorf(what, err)
		}
		if len(holds) > 0 {
			return fmt.Errorf(what, fmt.Errorf("%d legal holds keep it (tidemark log hold)", len(holds)))
		}
	}
	if home, err := os.UserHomeDir(); err != nil || filepath.Clean(p.Data) == filepath.Clean(home) {
		return fmt.Errorf(what, errors.New("the data folder is the home"))
	}
	if err := os.RemoveAll(p.Data); err != nil {
		return fmt.Errorf(what, err)
	}
	return nil
}
