package install

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Unchanged reports whether there is nothing to do.
func (p *Plan) Unchanged() bool { return len(p.Changes) == 0 }

// Apply does what was planned: all of it, or nothing. The record comes first, so that a
// hook that runs meanwhile compares with what is meant to be there. A plan that is out of
// date is refused; Lock keeps it from becoming so.
func (p *Plan) Apply(now time.Time) error {
	for _, c := range p.Changes {
		if err := p.fresh(c); err != nil {
			return err
		}
	}
	record := p.w.recordFile(p.Agent)
	before, err := p.read(record)
	if err != nil {
		return fmt.Errorf("read record of installation: %w", err)
	}
	if !same(before, p.before) {
		return fmt.Errorf("write settings: %s was changed by somebody else just now; try again", record)
	}
	if err := p.keepAll(record, now); err != nil {
		return err
	}
	for i, c := range p.Changes {
		if err := p.write(c); err != nil {
			return errors.Join(err, p.back(p.Changes[:i]), p.restore(record, before))
		}
	}
	p.tidy()
	return nil
}

// same tells no file from an empty one.
func same(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

// keepAll keeps the copies and the record.
func (p *Plan) keepAll(record string, now time.Time) error {
	for _, c := range p.Changes {
		backup, err := p.keep(c)
		if err != nil {
			return err
		}
		if p.record != nil {
			backedUp(p.record, c, backup)
			p.record.Folders = append(p.record.Folders, missing(filepath.Dir(c.Path))...)
		}
	}
	if p.memory != nil {
		return p.restore(record, *p.memory)
	}
	if p.record == nil {
		return p.restore(record, nil)
	}
	if p.record.Time.IsZero() {
		p.record.Time = now.UTC()
	}
	raw, err := strictjson.MarshalIndent(p.record)
	if err != nil {
		return fmt.Errorf("write record of installation: %w", err)
	}
	return p.restore(record, append(raw, '\n'))
}

func backedUp(m *settings.Record, c Change, backup string) {
	for i := range m.Files {
		if e := &m.Files[i]; e.Hash == settings.Hash(c.New) && e.Backup == "" {
			e.Backup = backup
		}
	}
}

// keep copies the file to the data folder. Beside it a copy could be loaded by the agent.
func (p *Plan) keep(c Change) (string, error) {
	if c.Old == nil {
		return "", nil
	}
	for n := 1; ; n++ {
		name := filepath.Join(p.w.Data, "backups", fmt.Sprintf("%s-%s.tidemark-backup-%d", p.Agent, filepath.Base(c.Path), n))
		kept, err := p.read(name)
		switch {
		case err != nil:
			return "", fmt.Errorf("keep a copy: %w", err)
		case kept == nil:
			return name, p.restore(name, c.Old)
		case bytes.Equal(kept, c.Old):
			return name, nil
		}
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
func (p *Plan) fresh(c Change) error {
	now, err := p.read(c.Path)
	if err != nil {
		return err
	}
	if !same(now, c.Old) {
		return fmt.Errorf("write settings: %s was changed by somebody else just now; try again", c.Path)
	}
	return nil
}

func (p *Plan) write(c Change) error {
	s, err := p.w.reach(c.Path)
	if err != nil {
		return err
	}
	defer s.close()
	if c.New == nil {
		return s.remove()
	}
	return s.write(c.New, c.Mode)
}

// back undoes what was written before something failed.
func (p *Plan) back(done []Change) error {
	var errs []error
	for _, c := range done {
		errs = append(errs, p.write(Change{Path: c.Path, Old: c.New, New: c.Old, Mode: c.before}))
	}
	return errors.Join(errs...)
}

// tidy removes folders that were made for the installation and are empty again.
func (p *Plan) tidy() {
	for i := len(p.made) - 1; i >= 0; i-- {
		if s, err := p.w.reach(p.made[i]); err == nil {
			_ = s.remove() // one that is not empty stays
			s.close()
		}
	}
}

// restore gives a file of the data folder these contents; nil removes it.
func (p *Plan) restore(path string, contents []byte) error {
	s, err := p.w.reach(path)
	if err != nil {
		return err
	}
	defer s.close()
	if contents != nil {
		return s.write(contents, 0o600)
	}
	if err := s.root.Remove(s.rel); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove record of installation: %w", err)
	}
	return nil
}
