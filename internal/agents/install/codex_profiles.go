package install

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Codex lays the file of a profile, p.config.toml, over the user's own when it is started
// with --profile p. One of these can turn hooks off as well, and say of a single one of ours
// that it is off or that another is trusted in its place.

// codexProfiles are the files of the profiles.
func codexProfiles(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the profiles of Codex cannot be looked for: %w", err)
	}
	var out []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".config.toml") {
			out = append(out, filepath.Join(folder, e.Name()))
		}
	}
	return out, nil
}

// codexOverlaid says which of the profiles change an entry of ours.
func codexOverlaid(w World, a *agent, profiles []string) []string {
	block, _, err := codexWants(w, a)
	var config codexConfig
	if err != nil || toml.Unmarshal([]byte(block), &config) != nil {
		return nil // said by Compare
	}
	ours, err := config.table("hooks", "state")
	if err != nil {
		return nil
	}
	var out []string
	for _, path := range profiles {
		c, err := readCodex(w, path)
		if err != nil {
			continue // said by codexAbove
		}
		for _, name := range slices.Sorted(maps.Keys(ours)) {
			theirs, err := c.table("hooks", "state", name)
			if err != nil || changes(theirs, ours[name]) {
				out = append(out,
					fmt.Sprintf("%s: hooks.state.%q is not as Tidemark wrote it, which turns the hook off in this profile", path, name))
			}
		}
	}
	return out
}

// changes reports whether an entry laid over ours makes it another.
func changes(theirs codexConfig, ours any) bool {
	was, _ := ours.(map[string]any)
	for key, v := range theirs {
		if v != was[key] && (key != "enabled" || v != true) {
			return true
		}
	}
	return false
}
