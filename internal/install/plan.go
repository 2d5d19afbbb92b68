package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Change is one file before and after. Nil contents are a file that is not there.
type Change struct {
	Path string
	Old  []byte
	New  []byte
	Mode os.FileMode
}

// Plan is all that an installation or its removal would do. Nothing is done before Apply.
type Plan struct {
	Agent   string
	Title   string
	Program string // "" where it was not found
	Version string
	Changes []Change // only files that differ
	Notes   []string // what the person should know

	w      World
	record *manifest // nil removes it
	known  bool      // a record is there
	made   []string  // folders that go too, if nothing is in them by then
}

// Prepare plans an installation.
func Prepare(ctx context.Context, w World, agent string, o Options) (*Plan, error) {
	a, err := find(agent)
	if err != nil {
		return nil, err
	}
	p := &Plan{Agent: a.name, Title: a.title, w: w, Notes: a.notes}
	p.Program, p.Version = a.locate(ctx, w)
	old, err := readManifest(w, a.name)
	if err != nil { // it is written anew; what is ours is told by its looks
		p.Notes = append(p.Notes[:len(p.Notes):len(p.Notes)], err.Error())
	}
	p.known = old != nil
	hash, err := hashFile(w.Hook)
	if err != nil {
		return nil, fmt.Errorf("find the hook program: %w", err)
	}
	files, err := a.files(w, o)
	if err != nil {
		return nil, err
	}
	p.record = &manifest{
		Agent: a.name, Version: p.Version, Project: w.Project, Managed: w.Managed, Hook: w.Hook, HookHash: hash,
		Timeout: o.Timeout.Milliseconds(), Wait: o.Wait.Milliseconds(), Sender: o.Sender,
	}
	if old != nil {
		p.record.Folders = old.Folders
	}
	planned := map[string][]byte{}
	for _, f := range files {
		if err := p.add(f, old.entry(f.path), planned); err != nil {
			return nil, a.byHand(err, f)
		}
	}
	if old != nil && len(p.Changes) == 0 && old.HookHash == hash {
		p.record.Time = old.Time
	}
	p.advise(a)
	return p, nil
}

// files are the files of an installation here.
func (a *agent) files(w World, o Options) ([]file, error) {
	path, err := a.path(w)
	if err != nil {
		return nil, err
	}
	return a.plan(path, command{w: w, agent: a.name, o: o})
}

func (p *Plan) advise(a *agent) {
	if p.Program == "" {
		p.Notes = append(p.Notes[:len(p.Notes):len(p.Notes)], a.title+" was not found on PATH; the settings are written for when it is there")
	}
	if a.name == "claude" && p.Program != "" && !atLeast(p.Version, "2.1.295") {
		p.Notes = append(p.Notes[:len(p.Notes):len(p.Notes)], "onFailure is known from 2.1.295 on; this version ignores it, so a missing or killed hook lets tools run: update")
	}
	if p.w.Managed && a.name == "claude" {
		p.Notes = append(p.Notes[:len(p.Notes):len(p.Notes)], "allowManagedHooksOnly turns off the hooks of users and projects")
	}
}

// byHand adds what a person can write into a file that we do not touch.
func (a *agent) byHand(err error, f file) error {
	bad := new(FileError)
	if !errors.As(err, &bad) || len(f.edits) == 0 {
		return err
	}
	var b strings.Builder
	b.WriteString(bad.Rendered + "To do it by hand, add:\n")
	for _, e := range f.edits {
		how := ": "
		if e.list {
			how = ", one more element: "
		}
		fmt.Fprintf(&b, "  %s%s%s\n", strings.Join(e.path, "."), how, e.value)
	}
	return &FileError{Fault: bad.Fault, Rendered: b.String()}
}

// add plans one file.
func (p *Plan) add(f file, old entry, planned map[string][]byte) error {
	path, src, err := p.look(f.path)
	if err != nil {
		return err
	}
	was := f.path
	f.path = path
	next, e, err := p.compose(f, src, old, planned)
	if err != nil {
		return err
	}
	e.Path, e.Hash, e.Backup = was, hashOf(next), old.Backup
	e.New = old.New || src == nil
	planned[was] = next
	p.record.Files = append(p.record.Files, e)
	p.change(f, src, next)
	return nil
}

func (p *Plan) change(f file, src, next []byte) {
	if src != nil && next != nil && bytes.Equal(src, next) || src == nil && next == nil {
		return
	}
	mode := f.mode
	if mode == 0 {
		mode = 0o600
	}
	if p.w.Managed || p.w.Project != "" { // others read it too
		mode |= 0o044
	}
	p.Changes = append(p.Changes, Change{Path: f.path, Old: src, New: next, Mode: mode})
}

// look reads a file. The user's own settings may be a link to where they really are; in a
// project, which others write to, a link could lead anywhere.
func (p *Plan) look(path string) (string, []byte, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return path, nil, nil
	}
	if err != nil {
		return path, nil, fmt.Errorf("look at settings: %w", err)
	}
	if info.Mode()&os.ModeSymlink != 0 {
		if p.w.Project != "" || p.w.Managed {
			return path, nil, fmt.Errorf("read settings: %s is a link, which is not followed here", path)
		}
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return path, nil, fmt.Errorf("follow settings: %w", err)
		}
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return path, nil, fmt.Errorf("read settings: %w", err)
	}
	if src == nil {
		src = []byte{}
	}
	return path, src, nil
}

// compose is the file with our part in it.
func (p *Plan) compose(f file, src []byte, old entry, planned map[string][]byte) ([]byte, entry, error) {
	switch {
	case f.own != nil:
		if src != nil && !old.Own && !bytes.Equal(src, f.own) && !bytes.Contains(src, []byte(hookName)) {
			return nil, entry{}, refuse(f.path, nil, place(f.path, nil, 0), "this file is not Tidemark's, and cannot be joined with its own")
		}
		return f.own, entry{Own: true}, nil
	case f.block != nil:
		block, err := f.block(planned)
		if err != nil {
			return nil, entry{}, err
		}
		return addBlock(f.path, src, block, old)
	}
	if src == nil {
		src = []byte("{}\n")
	}
	t, err := openText(f.path, src, f.comments)
	if err != nil {
		return nil, entry{}, err
	}
	t.undo = old.Undo
	parts, err := t.install(p.w, f.edits, old.Parts)
	return t.src, entry{Comments: f.comments, Parts: parts, Undo: t.undo}, err
}
