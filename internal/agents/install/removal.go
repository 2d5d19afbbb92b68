package install

import (
	"bytes"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/agents/settings"
)

// Removal plans taking everything out again. What others changed since stays.
func Removal(w World, agent string) (*Plan, error) {
	a, err := find(agent)
	if err != nil {
		return nil, err
	}
	p := &Plan{Agent: a.Name, Title: a.Title, w: w}
	m, err := p.recall()
	if err != nil {
		return nil, err
	}
	files, err := a.files(w, Options{})
	if err != nil {
		return nil, err
	}
	entries := guess(files)
	if m != nil {
		entries, p.made = m.Files, m.Folders
	}
	for _, e := range entries {
		if err := p.take(e, files); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// guess is what an installation without a record would have written.
func guess(files []file) []settings.Entry {
	var out []settings.Entry
	for _, f := range files {
		e := settings.Entry{Path: f.Path, Own: f.Own != nil, Comments: f.Comments}
		for _, d := range f.Edits {
			e.Parts = append(e.Parts, settings.Part{Path: d.Path, List: d.List, Value: d.Value})
		}
		if f.block != nil {
			e.Block = unknownBlock
		}
		out = append(out, e)
	}
	return out
}

// take plans the removal from one file.
func (p *Plan) take(e settings.Entry, files []file) error {
	at, err := p.w.reach(e.Path)
	if err != nil {
		return err
	}
	defer at.close()
	src, err := at.read()
	if err != nil || src == nil {
		return err
	}
	var next []byte
	switch {
	case e.Own:
		if !p.unchanged(e, src, files) {
			return nil
		}
	case e.Block != "":
		if _, _, _, ok := settings.Around(src); !ok && bytes.Contains(src, []byte(settings.MarkBegin)) {
			p.note(e.Path + ": Tidemark's marks are within a text, or one is gone, so what is there stays; " +
				"look at it, and remove it by hand")
		}
		next = cutBlock(src, e.Ended, blockOf(e, headsOf(files, e.Path)))
		if e.New && len(bytes.TrimSpace(next)) == 0 {
			next = nil
		}
	default:
		if next, err = p.takeParts(e, at.path, src); err != nil {
			return err
		}
	}
	p.change(file{File: catalogue.File{Path: at.path}}, src, next, at.perm())
	return nil
}

// unchanged reports whether a file that is all ours still is.
func (p *Plan) unchanged(e settings.Entry, src []byte, files []file) bool {
	if settings.Hash(src) == e.Hash {
		return true
	}
	for _, f := range files {
		if f.Path == e.Path && f.isOurs(src) {
			return true
		}
	}
	if p.known {
		p.note(e.Path + " was changed by somebody else, so it stays; look at it, and remove it by hand")
	}
	return false
}

// takeParts is a JSON file without our parts.
func (p *Plan) takeParts(e settings.Entry, path string, src []byte) ([]byte, error) {
	if settings.IsBlank(src) {
		return src, nil
	}
	t, err := openText(path, src, e.Comments)
	if err != nil {
		return nil, err
	}
	t.undo, t.guessed = e.Undo, !p.known
	for _, part := range e.Parts {
		if err := t.remove(p.w, part); err != nil {
			return nil, err
		}
	}
	if err := t.sweep(); err != nil {
		return nil, err
	}
	switch {
	case len(t.Root.Values) > 0:
	case e.New:
		return nil, nil
	case e.Blank != nil:
		return []byte(*e.Blank), nil
	}
	return t.Src, nil
}

func headsOf(files []file, path string) string {
	for _, f := range files {
		if f.Path == path {
			return f.heads
		}
	}
	return ""
}
