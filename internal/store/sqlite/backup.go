package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"

	"modernc.org/sqlite"
)

// Copy writes the log as it is now to a file that must not exist, mode 0600. Others may write
// to the log meanwhile; what they add after it began is not in the copy.
func (r *Reader) Copy(ctx context.Context, path string) error {
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("copy the log: %s is there already", path)
	}
	if err := create(path); err != nil {
		return err
	}
	if err := r.copyTo(ctx, path); err != nil {
		return errors.Join(unavailable("copy the log", err), os.Remove(path))
	}
	return nil
}

func (r *Reader) copyTo(ctx context.Context, path string) error {
	c, err := r.DB().Conn(ctx)
	if err != nil {
		return err
	}
	err = c.Raw(func(raw any) error {
		from, ok := raw.(interface {
			NewBackup(to string) (*sqlite.Backup, error)
		})
		if !ok {
			return fmt.Errorf("this driver (%T) makes no backups", raw)
		}
		b, err := from.NewBackup(path)
		if err != nil {
			return err
		}
		_, err = b.Step(-1) // all at once: one state of the log, and writers are not held up
		return errors.Join(err, b.Finish())
	})
	return errors.Join(err, c.Close())
}
