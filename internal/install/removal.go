package install

import "bytes"

// Removal plans taking everything out again.
func Removal(w World, agent string) (*Plan, error) {
	a, err := find(agent)
	if err != nil {
		return nil, err
	}
	p := &Plan{Agent: a.name, Title: a.title, w: w}
	m, err := readManifest(w, a.name)
	if err != nil { // what is ours is told by its looks
		p.Notes = append(p.Notes, err.Error())
	}
	p.known = m != nil
	var entries []entry
	if m != nil {
		entries = m.Files
		p.made = m.Folders
	} else if entries, err = a.guess(w); err != nil {
		return nil, err
	}
	for _, e := range entries {
		if err := p.take(e); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// guess is what an installation without a record would have written.
func (a *agent) guess(w World) ([]entry, error) {
	files, err := a.files(w, Options{})
	if err != nil {
		return nil, err
	}
	var out []entry
	for _, f := range files {
		e := entry{Path: f.path, Own: f.own != nil, Comments: f.comments}
		for _, d := range f.edits {
			e.Parts = append(e.Parts, part{Path: d.path, List: d.list, Value: d.value})
		}
		if f.block != nil {
			e.Block = "?"
		}
		out = append(out, e)
	}
	return out, nil
}

// take plans the removal from one file.
func (p *Plan) take(e entry) error {
	path, src, err := p.look(e.Path)
	if err != nil || src == nil {
		return err
	}
	var next []byte
	switch {
	case e.Own:
		if !p.known && !bytes.Contains(src, []byte(hookName)) {
			return nil
		}
	case e.Block != "":
		next = cutBlock(src, e)
	default:
		t, err := openText(path, src, e.Comments)
		if err != nil {
			return err
		}
		t.undo = e.Undo
		for _, part := range e.Parts {
			if err := t.remove(p.w, part); err != nil {
				return err
			}
		}
		if err := t.sweep(); err != nil {
			return err
		}
		next = t.src
		if e.New && len(t.root.begins) == 0 {
			next = nil
		}
	}
	if e.New && e.Block != "" && len(bytes.TrimSpace(next)) == 0 {
		next = nil
	}
	p.change(file{path: path}, src, next)
	return nil
}
