// Package load reads tidemark.yaml, and the candidate that it may name, from the disk.
package load

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/policy"
)

// Error is a policy file that cannot be used. Rendered is the whole report, with
// each place, its line and a caret.
type Error struct {
	File     string
	Faults   configfile.Faults
	Rendered string
}

func (e *Error) Error() string {
	n := len(e.Faults.Only(configfile.Error))
	return fmt.Sprintf("%s: %d fault(s)\n%s", e.File, n, e.Rendered)
}

// Read reads and checks a policy file; "" is the shipped defaults.
func Read(path string) (*config.Config, configfile.Faults, error) {
	return ReadWith(path, os.LookupEnv)
}

// ReadWith is Read with another environment.
func ReadWith(path string, env func(string) (string, bool)) (*config.Config, configfile.Faults, error) {
	var src []byte
	if path != "" {
		var err error
		if src, err = Text(path); err != nil {
			return nil, nil, err
		}
	}
	cfg, faults := config.Parse(path, src, env)
	if faults.Err() != nil {
		return nil, faults, &Error{File: path, Faults: faults, Rendered: faults.Render(src)}
	}
	return cfg, faults, nil
}

// Text is what a policy file says.
func Text(path string) ([]byte, error) {
	src, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("read policy: %s does not exist", path)
	}
	if err != nil {
		return nil, fmt.Errorf("read policy: %w", err)
	}
	return src, nil
}

// Shadow reads the candidate policy that a file names, relative to it; nil: none.
func Shadow(path string, cfg *config.Config) (*policy.Set, error) {
	if cfg.Shadow == "" {
		return nil, nil
	}
	file := cfg.Shadow
	if !filepath.IsAbs(file) {
		file = filepath.Join(filepath.Dir(path), file)
	}
	src, err := Text(file)
	if err != nil {
		return nil, err
	}
	set, faults := config.Policy(file, src)
	if faults.Err() != nil {
		return nil, &Error{File: file, Faults: faults, Rendered: faults.Render(src)}
	}
	return set, nil
}

// Schema is the JSON Schema of a policy file, for editors.
func Schema() []byte { return config.SchemaFile }
