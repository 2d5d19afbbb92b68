package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/tidemark/tidemark/internal/agents/settings"
)

// Change is one file before and after. Nil contents are a file that is not there.
type Change struct {
	Path string
	Old  []byte
	New  []byte
	Mode os.FileMode // afterwards

	before os.FileMode
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
	record *settings.Record // nil removes it
	before []byte           // the record at the time of planning; nil: there was none
	known  bool             // a record is there
	made   []string         // folders that go too, if nothing is in them by then
	memory *[]byte          // of a Rewrite: the record, in the caller's form
}

// Prepare plans an installation.
func Prepare(ctx context.Context, w World, agent string, o Options) (*Plan, error) {
	a, err := find(agent)
	if err != nil {
		return nil, err
	}
	p := &Plan{Agent: a.Name, Title: a.Title, w: w, Notes: a.Notes}
	p.Program, p.Version = a.locate(ctx, w)
	old, err := p.recall()
	if err != nil {
		return nil, err
	}
	hash, err := hashProgram(w.Hook)
	if err != nil {
		return nil, fmt.Errorf("find the hook program: %w", err)
	}
	files, err := a.files(w, o)
	if err != nil {
		return nil, err
	}
	p.record = &settings.Record{
		Agent: a.Name, Version: p.Version, Project: w.Project, Managed: w.Managed, Hook: w.Hook, HookHash: hash,
		Timeout: o.Timeout.Milliseconds(), Wait: o.Wait.Milliseconds(), Sender: o.Sender, Start: o.Start, Box: o.Box,
	}
	if old != nil {
		p.record.Folders = old.Folders
	}
	planned := map[string][]byte{}
	for _, f := range files {
		if err := p.add(f, old.Entry(f.Path), planned); err != nil {
			return nil, a.byHand(err, f)
		}
	}
	if old != nil && len(p.Changes) == 0 && old.HookHash == hash {
		p.record.Time = old.Time
	}
	p.advise(a)
	return p, nil
}

// recall reads the record. One that cannot be read is written anew; what is ours is then
// told by its looks.
func (p *Plan) recall() (*settings.Record, error) {
	var err error
	if p.before, err = p.read(p.w.recordFile(p.Agent)); err != nil {
		return nil, err
	}
	old, err := readRecord(p.w, p.Agent)
	if err != nil {
		p.note(err.Error())
	}
	p.known = old != nil
	p.w = p.w.since(old)
	return old, nil
}

func (p *Plan) read(path string) ([]byte, error) {
	s, err := p.w.reach(path)
	if err != nil {
		return nil, err
	}
	defer s.close()
	return s.read()
}

// note adds a note, never to the catalogue's own list.
func (p *Plan) note(text string) { p.Notes = append(p.Notes[:len(p.Notes):len(p.Notes)], text) }

func (p *Plan) advise(a *agent) {
	if p.Program == "" {
		p.note(a.Title + " was not found on PATH; the settings are written for when it is there")
	}
	if why := a.skips(p.w); why != "" {
		p.note(why)
	}
	if p.record.Start && a.Inside() {
		p.note("its plugin starts no server: it refuses everything while none runs")
	}
	if a.Since != nil && p.Program != "" && !atLeast(p.Version, a.Since.Version) {
		p.note(a.Since.Note)
	}
	if !p.w.Managed {
		if offer := a.offer(p.w); offer != "" {
			p.note(offer)
		}
	}
	note := a.NoteUnmanaged
	if p.w.Managed {
		note = a.NoteManaged
		if len(a.Locks) == 0 {
			p.note("hooks of Tidemark in a user's settings run beside these: each call is asked about twice, and an approval counts " +
				"for one of the two; take them out there: tidemark uninstall " + a.Name)
		}
	}
	if note != "" {
		p.note(note)
	}
}

// byHand adds what a person can write into a file that we do not touch.
func (a *agent) byHand(err error, f file) error {
	bad := new(FileError)
	if !errors.As(err, &bad) || len(f.Edits) == 0 {
		return err
	}
	var b strings.Builder
	b.WriteString(bad.Rendered + "To do it by hand, add:\n")
	for _, e := range f.Edits {
		how := ": "
		if e.List {
			how = ", one more element: "
		}
		fmt.Fprintf(&b, "  %s%s%s\n", strings.Join(e.Path, "."), how, e.Value)
	}
	return &FileError{Fault: bad.Fault, Rendered: b.String()}
}

// add plans one file.
func (p *Plan) add(f file, old settings.Entry, planned map[string][]byte) error {
	at, err := p.w.reach(f.Path)
	if err != nil {
		return err
	}
	defer at.close()
	src, err := at.read()
	if err != nil {
		return err
	}
	was := f.Path
	f.Path = at.path
	next, e, err := p.compose(f, src, old, planned)
	if err != nil {
		return err
	}
	e.Path, e.Hash, e.Backup, e.Mode = was, settings.Hash(next), old.Backup, f.Mode
	e.New = old.New || src == nil
	planned[was] = next
	p.record.Files = append(p.record.Files, e)
	p.change(f, src, next, at.perm())
	return nil
}

// change notes a file that differs, be it in its mode.
func (p *Plan) change(f file, src, next []byte, perm os.FileMode) {
	same := src != nil && next != nil && bytes.Equal(src, next) && perm&f.Mode == f.Mode
	if same || src == nil && next == nil {
		return
	}
	mode := f.Mode
	if mode == 0 {
		mode = 0o600
	}
	if p.w.Managed || p.w.Project != "" { // others read it too
		mode |= 0o044
	}
	if src != nil {
		mode = perm | f.Mode
	}
	p.Changes = append(p.Changes, Change{Path: f.Path, Old: src, New: next, Mode: mode, before: perm})
}

// isOurs reports whether a file of this name is one that we wrote.
func (f file) isOurs(src []byte) bool {
	return bytes.Equal(src, f.Own) || f.alike != nil && f.alike(src)
}

// compose is the file with our part in it.
func (p *Plan) compose(f file, src []byte, old settings.Entry, planned map[string][]byte) ([]byte, settings.Entry, error) {
	switch {
	case f.Own != nil:
		if src != nil && !old.Own && !f.isOurs(src) {
			return nil, settings.Entry{}, refuseFile(f.Path, "this file is not Tidemark's, and cannot be joined with its own")
		}
		return f.Own, settings.Entry{Own: true}, nil
	case f.block != nil:
		block, err := f.block(planned)
		if err != nil {
			return nil, settings.Entry{}, err
		}
		return addBlock(f, src, block, old)
	}
	e := settings.Entry{Comments: f.Comments, Blank: old.Blank}
	if settings.IsBlank(src) {
		if src != nil && e.Blank == nil {
			was := string(src)
			e.Blank = &was
		}
		src = []byte("{}\n")
	}
	t, err := openText(f.Path, src, f.Comments)
	if err != nil {
		return nil, settings.Entry{}, err
	}
	t.undo = old.Undo
	e.Parts, err = t.install(p.w, f.Edits, old.Parts)
	e.Undo = t.undo
	return t.Src, e, err
}
