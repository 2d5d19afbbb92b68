package install

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// codexConfig is what of a Codex file turns hooks on and off.
type codexConfig struct {
	Profile  string         `toml:"profile"`
	Only     bool           `toml:"allow_managed_hooks_only"`
	Features map[string]any `toml:"features"`
	Projects map[string]struct {
		Trust string `toml:"trust_level"`
	} `toml:"projects"`
	Profiles map[string]struct {
		Features map[string]any `toml:"features"`
	} `toml:"profiles"`
}

// codexSwitches are the names its hooks have among its features, the older one last.
var codexSwitches = []string{"hooks", "codex_hooks"}

// codexFiles are the files where they can stand.
func codexFiles(w World) []string {
	out := []string{filepath.Join(w.folder("CODEX_HOME", ".codex"), "config.toml")}
	for _, name := range []string{"config.toml", "managed_config.toml", "requirements.toml"} {
		out = append(out, w.etc("codex", name))
	}
	for _, folder := range w.folders() {
		out = append(out, filepath.Join(folder, ".codex", "config.toml"))
	}
	return slices.Compact(slices.Sorted(slices.Values(out)))
}

// readCodex is nil where the file is not there.
func readCodex(w World, path string) (*codexConfig, error) {
	src, err := w.readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c := new(codexConfig)
	if err := toml.Unmarshal(src, c); err != nil {
		return nil, fmt.Errorf("%s cannot be read for certain, so it may turn the hooks off: %w", path, err)
	}
	return c, nil
}

// codexAbove says which files turn the hooks off, or lock a user's hooks out.
func codexAbove(w World, _ *agent) []string {
	var out []string
	for _, path := range codexFiles(w) {
		c, err := readCodex(w, path)
		if err != nil {
			out = append(out, err.Error())
			continue
		}
		if c == nil {
			continue
		}
		if c.Only {
			out = append(out, path+": allow_managed_hooks_only is true, which turns the hooks off")
		}
		out = append(out, offFeatures(path, "features", c.Features)...)
		for _, name := range slices.Sorted(maps.Keys(c.Profiles)) {
			out = append(out, offFeatures(path, "profiles."+name+".features", c.Profiles[name].Features)...)
		}
	}
	return out
}

func offFeatures(path, table string, features map[string]any) []string {
	var out []string
	for _, name := range codexSwitches {
		if on, there := features[name]; there && on != true {
			out = append(out, fmt.Sprintf("%s: %s.%s is %v, which turns the hooks off", path, table, name, on))
		}
	}
	return out
}

// carried is what of a Codex file must be in the trial's too, so that hooks which are off
// are off there.
func (c *codexConfig) carried() string {
	if c == nil {
		return ""
	}
	off := map[string]bool{}
	for _, features := range []map[string]any{c.Features, c.Profiles[c.Profile].Features} {
		for _, name := range codexSwitches {
			if on, there := features[name]; there {
				off[name] = on == true
			}
		}
	}
	if len(off) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("[features]\n")
	for _, name := range slices.Sorted(maps.Keys(off)) {
		fmt.Fprintf(&b, "%s = %v\n", name, off[name])
	}
	return b.String() + "\n"
}

// holdsTables reports whether a TOML file as its reader sees it holds the tables of a block:
// between our marks they could be part of a text.
func holdsTables(src []byte, block string) bool {
	var have, want struct {
		Hooks struct {
			State map[string]struct {
				Trusted string `toml:"trusted_hash"`
				Enabled *bool  `toml:"enabled"`
			} `toml:"state"`
		} `toml:"hooks"`
	}
	if toml.Unmarshal(src, &have) != nil || toml.Unmarshal([]byte(block), &want) != nil {
		return false
	}
	for key, w := range want.Hooks.State {
		h := have.Hooks.State[key]
		if h.Trusted != w.Trusted || h.Enabled != nil && !*h.Enabled {
			return false
		}
	}
	return true
}
