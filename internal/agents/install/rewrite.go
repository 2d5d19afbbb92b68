package install

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
)

// Rewritten is a file that somebody else made a new text for.
type Rewritten struct {
	Path     string
	Old, New []byte // nil: it is not there
}

// Rewrite plans what others worked out, under the same guarantees: all files or none, copies
// kept, a record of it. The record is theirs; nil removes it.
func Rewrite(w World, name, title string, files []Rewritten, record []byte) (*Plan, error) {
	p := &Plan{Agent: name, Title: title, w: w, memory: &record}
	var err error
	if p.before, err = p.read(w.recordFile(name)); err != nil {
		return nil, err
	}
	for _, f := range files {
		if err := p.replace(f); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *Plan) replace(f Rewritten) error {
	at, err := p.w.reach(f.Path)
	if err != nil {
		return err
	}
	defer at.close()
	src, err := at.read()
	if err != nil {
		return err
	}
	if !same(src, f.Old) {
		return fmt.Errorf("write settings: %s was changed by somebody else just now; try again", f.Path)
	}
	p.change(file{File: catalogue.File{Path: at.path}}, src, f.New, at.perm())
	return nil
}

// Read reads a settings file where this world lets it; nil where it is not there.
func (w World) Read(path string) ([]byte, error) {
	s, err := w.reach(path)
	if err != nil {
		return nil, err
	}
	defer s.close()
	return s.read()
}

// Record reads the record of a Rewrite; nil where there is none.
func (w World) Record(name string) ([]byte, error) { return w.Read(w.recordFile(name)) }

// File is where a file of the user's is.
func (w World) File(p catalogue.Place) string { return w.file(p) }

// Refuse is the error for a settings file that cannot be used, at a place in it.
func Refuse(path string, src []byte, at int, message string) error {
	return refuse(path, src, place(path, src, at), message)
}

// InHome is a file below the home, for settings that no variable moves.
func (w World) InHome(parts ...string) string {
	return filepath.Join(append([]string{w.Home}, parts...)...)
}

// Exists reports whether there is a file.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
