package app

import (
	"errors"
	"fmt"
	"os"

	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/source"
)

// ConfigError is a policy file that cannot be used. Rendered is the whole report, with
// each place, its line and a caret.
type ConfigError struct {
	File     string
	Faults   source.Faults
	Rendered string
}

func (e *ConfigError) Error() string {
	n := len(e.Faults.Only(source.Error))
	return fmt.Sprintf("%s: %d fault(s)\n%s", e.File, n, e.Rendered)
}

// ReadConfig reads and checks a policy file; "" is the shipped defaults.
func ReadConfig(path string) (*config.Config, source.Faults, error) {
	var src []byte
	if path != "" {
		var err error
		if src, err = os.ReadFile(path); err != nil {
			if errors.Is(err, os.ErrNotExist) {
				return nil, nil, fmt.Errorf("read policy: %s does not exist", path)
			}
			return nil, nil, fmt.Errorf("read policy: %w", err)
		}
	}
	cfg, faults := config.Parse(path, src, os.LookupEnv)
	if faults.Err() != nil {
		return nil, faults, &ConfigError{File: path, Faults: faults, Rendered: faults.Render(src)}
	}
	return cfg, faults, nil
}
