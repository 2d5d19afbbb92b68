package box

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tidemark/tidemark/internal/base/filelock"
)

// Leftovers clears the folders of boxes whose owners were ended before they could, all of which lie in one folder, and returns those
// that hold something a person has not been asked about yet.
func Leftovers(boxes string) ([]string, error) {
	entries, err := os.ReadDir(boxes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for boxes: %w", err)
	}
	var kept []string
	var errs []error
	for _, e := range entries {
		state := filepath.Join(boxes, e.Name())
		if exists(filepath.Join(state, "aside")) {
			kept = append(kept, state)
		}
		lock, err := os.OpenFile(filepath.Join(state, "lock"), os.O_RDWR, 0)
		if err != nil {
			continue // no box, or one that is made or cleared right now
		}
		if mine, err := filelock.Try(lock); err == nil && mine {
			errs = append(errs, clearState(state))
		}
		_ = lock.Close()
	}
	return kept, errors.Join(errs...)
}
