package install

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/tidemark/tidemark/internal/strictjson"
)

// Unchanged reports whether there is nothing to do.
func (p *Plan) Unchanged() bool { return len(p.Changes) == 0 }

// Apply does what was planned: all of it, or nothing. The record comes first, so that a
// hook that runs meanwhile compares with what is meant to be there.
func (p *Plan) Apply(now time.Time) error {
	for _, c := range p.Changes {
		if err := c.fresh(); err != nil {
			return err
		}
	}
	record := manifestPath(p.w, p.Agent)
	before, err := os.ReadFile(record)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read record of installation: %w", err)
	}
	if err := p.note(record, now); err != nil {
		return err
	}
	for i, c := range p.Changes {
		if err := c.write(); err != nil {
			return errors.Join(err, p.back(p.Changes[:i]), restore(record, before))
		}
	}
	p.tidy()
	return nil
}

// note keeps the copies and the record.
func (p *Plan) note(record string, now time.Time) error {
	for _, c := range p.Changes {
		backup, err := p.keep(c)
		if err != nil {
			return err
		}
		if p.record != nil {
			p.record.backedUp(c, backup)
			p.record.Folders = append(p.record.Folders, missing(filepath.Dir(c.Path))...)
		}
	}
	if p.record == nil {
		return restore(record, nil)
	}
	if p.record.Time.IsZero() {
		p.record.Time = now.UTC()
	}
	raw, err := strictjson.MarshalIndent(p.record)
	if err != nil {
		return fmt.Errorf("write record of installation: %w", err)
	}
	return restore(record, append(raw, '\n'))
}

func (m *manifest) backedUp(c Change, backup string) {
	for i := range m.Files {
		if e := &m.Files[i]; e.Hash == hashOf(c.New) && e.Backup == "" {
			e.Backup = backup
		}
	}
}

// keep copies the file to the data folder. Beside it a copy could be loaded by the agent.
func (p *Plan) keep(c Change) (string, error) {
	if c.Old == nil {
		return "", nil
	}
	folder := filepath.Join(p.w.Data, "backups")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fmt.Errorf("keep a copy: %w", err)
	}
	for n := 1; ; n++ {
		name := filepath.Join(folder, fmt.Sprintf("%s-%s.tidemark-backup-%d", p.Agent, filepath.Base(c.Path), n))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, os.ErrExist) {
			if same, err := os.ReadFile(name); err == nil && bytes.Equal(same, c.Old) {
				return name, nil
			}
			continue
		}
		if err != nil {
			return "", fmt.Errorf("keep a copy: %w", err)
		}
		_, err = f.Write(c.Old)
		if err := errors.Join(err, f.Close()); err != nil {
			return "", fmt.Errorf("keep a copy: %w", err)
		}
		return name, nil
	}
}

// missing are the folders that have to be made for dir, outermost first.
func missing(dir string) []string {
	if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
		return nil
	}
	return append(missing(filepath.Dir(dir)), dir)
}

// fresh makes sure nobody wrote the file since it was looked at.
func (c Change) fresh() error {
	now, err := os.ReadFile(c.Path)
	switch {
	case errors.Is(err, os.ErrNotExist) && c.Old == nil:
		return nil
	case err != nil:
		return fmt.Errorf("read settings: %w", err)
	case c.Old == nil || !bytes.Equal(now, c.Old):
		return fmt.Errorf("write settings: %s was changed by somebody else just now; try again", c.Path)
	}
	return nil
}

func (c Change) write() error {
	if c.New == nil {
		if err := os.Remove(c.Path); err != nil {
			return fmt.Errorf("remove settings: %w", err)
		}
		return nil
	}
	mode := c.Mode
	if info, err := os.Stat(c.Path); err == nil {
		mode = info.Mode().Perm()
	}
	return replace(c.Path, c.New, mode)
}

// back undoes what was written before something failed.
func (p *Plan) back(done []Change) error {
	var errs []error
	for _, c := range done {
		errs = append(errs, Change{Path: c.Path, Old: c.New, New: c.Old, Mode: c.Mode}.write())
	}
	return errors.Join(errs...)
}

// tidy removes folders that were made for the installation and are empty again.
func (p *Plan) tidy() {
	for i := len(p.made) - 1; i >= 0; i-- {
		_ = os.Remove(p.made[i]) // one that is not empty stays
	}
}

// restore gives a file of the data folder these contents; nil removes it.
func restore(path string, contents []byte) error {
	if contents == nil {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove record of installation: %w", err)
		}
		return nil
	}
	return replace(path, contents, 0o600)
}

// replace writes a file whole or not at all.
func replace(path string, contents []byte, mode os.FileMode) error {
	dir := filepath.Dir(path)
	folder := os.FileMode(0o700)
	if mode&0o044 != 0 {
		folder = 0o755
	}
	if err := os.MkdirAll(dir, folder); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	f, err := os.CreateTemp(dir, ".tidemark-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.Write(contents)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(f.Name()))
	}
	return nil
}
