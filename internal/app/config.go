package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/base/memlimit"
	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/policy"
)

// ConfigError is a policy file that cannot be used. Rendered is the whole report, with
// each place, its line and a caret.
type ConfigError struct {
	File     string
	Faults   configfile.Faults
	Rendered string
}

func (e *ConfigError) Error() string {
	n := len(e.Faults.Only(configfile.Error))
	return fmt.Sprintf("%s: %d fault(s)\n%s", e.File, n, e.Rendered)
}

// ReadConfig reads and checks a policy file; "" is the shipped defaults.
func ReadConfig(path string) (*config.Config, configfile.Faults, error) {
	return readConfig(path, os.LookupEnv)
}

func readConfig(path string, env func(string) (string, bool)) (*config.Config, configfile.Faults, error) {
	var src []byte
	if path != "" {
		var err error
		if src, err = readPolicy(path); err != nil {
			return nil, nil, err
		}
	}
	cfg, faults := config.Parse(path, src, env)
	if faults.Err() != nil {
		return nil, faults, &ConfigError{File: path, Faults: faults, Rendered: faults.Render(src)}
	}
	return cfg, faults, nil
}

func readPolicy(path string) ([]byte, error) {
	src, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("read policy: %s does not exist", path)
	}
	if err != nil {
		return nil, fmt.Errorf("read policy: %w", err)
	}
	return src, nil
}

// ReadShadow reads the candidate policy that a file names, relative to it; nil: none.
func ReadShadow(path string, cfg *config.Config) (*policy.Set, error) {
	if cfg.Shadow == "" {
		return nil, nil
	}
	file := cfg.Shadow
	if !filepath.IsAbs(file) {
		file = filepath.Join(filepath.Dir(path), file)
	}
	src, err := readPolicy(file)
	if err != nil {
		return nil, err
	}
	set, faults := config.Policy(file, src)
	if faults.Err() != nil {
		return nil, &ConfigError{File: file, Faults: faults, Rendered: faults.Render(src)}
	}
	return set, nil
}

// Schema is the JSON Schema of a policy file, for editors.
func Schema() []byte { return config.SchemaFile }

// sessionMemory is how many bytes sessions may take in memory, about.
func sessionMemory(cfg *config.Config) int64 {
	if cfg.Server.Memory > 0 {
		return cfg.Server.Memory
	}
	return memlimit.Share(memlimit.Given())
}

// memoryLine says what sessions may take in memory, and why so much.
func memoryLine(cfg *config.Config, given int64) string {
	const what = "sessions take at most %d MB together"
	switch {
	case cfg.Server.Memory > 0:
		return fmt.Sprintf(what+" (server.sessionMemoryMB)", cfg.Server.Memory>>20)
	case given <= 0:
		return fmt.Sprintf(what+": nobody says what the machine has (server.sessionMemoryMB says another bound)", memlimit.Share(given)>>20)
	}
	return fmt.Sprintf(what+": a quarter of the %d MB that are given here, and at most 512 (server.sessionMemoryMB says another bound)",
		memlimit.Share(given)>>20, given>>20)
}
