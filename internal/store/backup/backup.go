// Package backup copies the log of a data folder and what belongs to it: into another folder, back, and into a database.
package backup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/internal/store/sqlite"
)

// Copied is what a backup holds, or what was taken from one.
type Copied struct {
	Folder string       `json:"folder"`
	Files  []string     `json:"files"`
	Report store.Report `json:"report"` // of the copy's log: every chain was checked
	Kept   string       `json:"kept,omitzero"`
}

// besides are the files of a data folder that belong into a backup beside the log; the second
// list holds secrets.
var (
	besides = []string{datafolder.PolicyName, "definitions.jsonl"}
	secrets = []string{"tokens.json", "people.json", "push.json", "words.key"}
)

// Backup copies the log, whole and at one moment, and what belongs to it into a new folder, and
// checks the copy. A server may run meanwhile. Tokens and the key of the log's hashes are
// secrets: they are copied where somebody asks for them.
func Backup(ctx context.Context, p datafolder.Paths, folder string, withSecrets bool) (c Copied, err error) {
	if p.Store != "" {
		return c, errors.New("backup: the log is in PostgreSQL, use its own tools (pg_dump, or copies of the cluster)")
	}
	if err := p.CheckLog(); err != nil {
		return c, err
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		return c, fmt.Errorf("backup: %w (give a folder that does not exist yet)", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(folder))
		}
	}()
	r, err := sqlite.OpenReadOnly(ctx, p.DB())
	if err != nil {
		return c, fmt.Errorf("backup: %w", err)
	}
	to := datafolder.Paths{Data: folder}
	if err := errors.Join(r.Copy(ctx, to.DB()), r.Close()); err != nil {
		return c, fmt.Errorf("backup: %w", err)
	}
	files := besides
	if withSecrets {
		files = append(files[:len(files):len(files)], secrets...)
	}
	if c.Files, err = copyFiles(p.Data, folder, files); err != nil {
		return c, fmt.Errorf("backup: %w", err)
	}
	if c.Files, err = copyPolicy(p, folder, c.Files); err != nil {
		return c, fmt.Errorf("backup: %w", err)
	}
	if c.Report, err = checkCopy(ctx, to); err != nil {
		return c, fmt.Errorf("backup: %w", err)
	}
	c.Folder, c.Files = folder, append([]string{filepath.Base(to.DB())}, c.Files...)
	return c, nil
}

// copyPolicy copies a policy file that is not in the data folder, under the name it would have there.
func copyPolicy(p datafolder.Paths, folder string, files []string) ([]string, error) {
	if p.Config == "" || datafolder.Absolute(p.Config) == datafolder.Absolute(filepath.Join(p.Data, datafolder.PolicyName)) {
		return files, nil
	}
	raw, err := os.ReadFile(p.Config)
	if err != nil {
		return nil, err
	}
	if err := datafolder.Replace(filepath.Join(folder, datafolder.PolicyName), raw, 0o600); err != nil {
		return nil, err
	}
	if !slices.Contains(files, datafolder.PolicyName) {
		files = append(files, datafolder.PolicyName)
	}
	return files, nil
}

// errBrokenCopy is a log whose chains do not hold together.
var errBrokenCopy = errors.New("the log in it does not hold together")

func checkCopy(ctx context.Context, p datafolder.Paths) (store.Report, error) {
	r, err := sqlite.OpenReadOnly(ctx, p.DB())
	if err != nil {
		return store.Report{}, err
	}
	report, err := r.Verify(ctx, nil)
	if err := errors.Join(err, r.Close()); err != nil {
		return report, err
	}
	if !report.OK() {
		return report, fmt.Errorf("%w: %s", errBrokenCopy, report.Breaks[0])
	}
	return report, nil
}

// copyFiles copies those of the files that are there.
func copyFiles(from, to string, names []string) ([]string, error) {
	var out []string
	for _, name := range names {
		raw, err := os.ReadFile(filepath.Join(from, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := datafolder.Replace(filepath.Join(to, name), raw, 0o600); err != nil {
			return nil, err
		}
		out = append(out, name)
	}
	return out, nil
}

// Restore puts a backup in the place of what a data folder holds. The backup is checked first, no
// server may run, and a log that is there is moved aside, never removed.
func Restore(ctx context.Context, p datafolder.Paths, folder string, now time.Time) (c Copied, err error) {
	from := datafolder.Paths{Data: folder}
	if err := from.CheckLog(); err != nil {
		return c, fmt.Errorf("restore: %w", err)
	}
	if c.Report, err = checkCopy(ctx, from); errors.Is(err, sqlite.ErrOlder) {
		if from.Data, err = upgraded(ctx, from); err == nil {
			defer func() { err = errors.Join(err, os.RemoveAll(from.Data)) }()
			c.Report, err = checkCopy(ctx, from)
		}
	}
	if err != nil {
		return c, fmt.Errorf("restore: %w", err)
	}
	if err := p.Create(); err != nil {
		return c, err
	}
	lock, err := datafolder.Lock(p)
	if err != nil {
		return c, fmt.Errorf("restore: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	next := p.DB() + ".restored"
	r, err := sqlite.OpenReadOnly(ctx, from.DB())
	if err != nil {
		return c, fmt.Errorf("restore: %w", err)
	}
	if err := errors.Join(datafolder.IgnoreMissing(os.Remove(next)), r.Copy(ctx, next), r.Close()); err != nil {
		return c, fmt.Errorf("restore: %w", err)
	}
	if c.Kept, err = setAside(p, now); err != nil {
		return c, fmt.Errorf("restore: %w", err)
	}
	if err := os.Rename(next, p.DB()); err != nil {
		return c, fmt.Errorf("restore: %w", err)
	}
	if c.Files, err = copyFiles(folder, p.Data, append(besides[:len(besides):len(besides)], secrets...)); err != nil {
		return c, fmt.Errorf("restore: %w", err)
	}
	c.Folder, c.Files = folder, append([]string{filepath.Base(p.DB())}, c.Files...)
	return c, nil
}

// upgraded is a folder with the log of a backup that an earlier version made, as this one keeps it. The backup stays as it is.
func upgraded(ctx context.Context, from datafolder.Paths) (folder string, err error) {
	if folder, err = os.MkdirTemp("", "tidemark-restore-"); err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(folder))
		}
	}()
	log := filepath.Base(from.DB())
	if _, err := copyFiles(from.Data, folder, []string{log, log + "-wal"}); err != nil {
		return "", err
	}
	s, err := sqlite.Open(ctx, filepath.Join(folder, log), sqlite.Options{})
	if err != nil {
		return "", err
	}
	return folder, s.Close()
}

// setAside moves everything a restore replaces into a folder of its own; "" if there is nothing.
func setAside(p datafolder.Paths, now time.Time) (string, error) {
	names := append(besides[:len(besides):len(besides)], secrets...)
	log := filepath.Base(p.DB())
	db := []string{log, log + "-wal", log + "-shm", log + "-head", filepath.Base(p.Counts())}
	if !slices.ContainsFunc(append(db, names...), func(name string) bool {
		_, err := os.Lstat(filepath.Join(p.Data, name))
		return err == nil
	}) {
		return "", nil
	}
	old := filepath.Join(p.Data, "before-"+now.UTC().Format("20060102T150405Z"))
	if err := os.Mkdir(old, 0o700); err != nil {
		return "", err
	}
	for _, name := range db { // what is left of a log that is gone would be taken for the end of the next
		if err := datafolder.IgnoreMissing(os.Rename(filepath.Join(p.Data, name), filepath.Join(old, name))); err != nil {
			return "", err
		}
	}
	_, err := copyFiles(p.Data, old, names)
	return old, err
}
