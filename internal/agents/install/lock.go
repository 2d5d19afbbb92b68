package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/tidemark/tidemark/internal/base/filelock"
)

// lockPause is how long to wait before another try.
const lockPause = 20 * time.Millisecond

// Lock keeps everybody else who installs or uninstalls with this data folder waiting, from
// planning to the last file. The lock ends with the process too.
func Lock(ctx context.Context, w World) (unlock func() error, err error) {
	s, err := w.reach(filepath.Join(w.Data, "install.lock"))
	if err != nil {
		return nil, err
	}
	defer s.close()
	if err := s.folders(0o600); err != nil {
		return nil, fmt.Errorf("lock data folder: %w", err)
	}
	f, err := s.root.OpenFile(s.rel, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock data folder: %w", err)
	}
	if err := s.own(f); err != nil {
		return nil, errors.Join(fmt.Errorf("lock data folder: %w", err), f.Close())
	}
	for {
		ok, err := filelock.Try(f)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("lock data folder: %w", err), f.Close())
		}
		if ok {
			return f.Close, nil
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("lock data folder: somebody else is installing: %w", ctx.Err()), f.Close())
		case <-time.After(lockPause):
		}
	}
}
