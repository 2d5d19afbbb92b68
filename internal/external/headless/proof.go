package headless

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Proof says that a program was tried, and which file that was.
type Proof struct {
	Program string    `json:"program"`
	Path    string    `json:"path"`
	File    string    `json:"file"` // that the path leads to
	Size    int64     `json:"size"`
	Changed time.Time `json:"changed"`
	Version string    `json:"version"`
	// Revision is that of the recipe it was started by.
	Revision int       `json:"revision,omitzero"`
	Tried    time.Time `json:"tried"`
	Faults   []string  `json:"faults,omitzero"` // none: it sends nothing but what it is given
}

// identify fills in which file a path leads to.
func (p *Proof) identify(path string) error {
	file, err := filepath.EvalSymlinks(path)
	if err != nil {
		return fmt.Errorf("find program: %w", err)
	}
	info, err := os.Stat(file)
	if err != nil {
		return fmt.Errorf("find program: %w", err)
	}
	p.Path, p.File, p.Size, p.Changed = path, file, info.Size(), info.ModTime().UTC()
	return nil
}

// holds reports whether the path leads to what was tried, and that was found good.
func (p *Proof) holds(path string, r *Recipe) error {
	if p == nil {
		return errUntried
	}
	now := Proof{}
	if err := now.identify(path); err != nil {
		return err
	}
	switch {
	case now.Path != p.Path, now.File != p.File, now.Size != p.Size, !now.Changed.Equal(p.Changed):
		return fmt.Errorf("%w: it changed since %s", errUntried, p.Tried.Format(time.DateTime))
	case p.Revision != r.Revision:
		return fmt.Errorf("%w: it is started otherwise since", errUntried)
	case len(p.Faults) > 0:
		return fmt.Errorf("it was tried and does more than answer: %s", p.Faults[0])
	}
	return nil
}

// Good reports whether a program was tried and does nothing but answer.
func (p *Proof) Good() bool { return p != nil && len(p.Faults) == 0 }

// ReadProofs reads the proofs of a file, by program. A file that is not there has none.
func ReadProofs(path string) (map[string]*Proof, error) {
	out := map[string]*Proof{}
	text, err := os.ReadFile(path)
	switch {
	case os.IsNotExist(err):
		return out, nil
	case err != nil:
		return nil, fmt.Errorf("read what was tried: %w", err)
	}
	if err := strictjson.Unmarshal(text, &out); err != nil {
		return nil, fmt.Errorf("read what was tried: %w", err)
	}
	return out, nil
}

// WriteProof adds one to the file.
func WriteProof(path string, p *Proof) error {
	all, err := ReadProofs(path)
	if err != nil {
		all = map[string]*Proof{} // what cannot be read proves nothing
	}
	all[p.Program] = p
	text, err := strictjson.MarshalIndent(all)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = os.WriteFile(path, append(text, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep what was tried: %w", err)
	}
	return nil
}
