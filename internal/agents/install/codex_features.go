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

	"github.com/tidemark/tidemark/internal/agents/settings"
)

// codexConfig is a Codex file. It is asked for names in their exact spelling, as Codex reads
// them: decoding into structs would take FEATURES for features.
type codexConfig map[string]any

// table is the table at the path, empty where nothing is. Codex starts with no file that has
// something else there.
func (c codexConfig) table(path ...string) (codexConfig, error) {
	for i, name := range path {
		next, there := c[name]
		if !there {
			return nil, nil
		}
		t, ok := next.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s is not a table", strings.Join(path[:i+1], "."))
		}
		c = t
	}
	return c, nil
}

// codexSwitches are the names its hooks have among its features, the older one last.
var codexSwitches = []string{"hooks", "codex_hooks"}

// codexFiles are the files where they can stand.
func codexFiles(w World, config string) []string {
	out := []string{config}
	for _, name := range []string{"config.toml", "managed_config.toml", "requirements.toml"} {
		out = append(out, filepath.Join(w.Root, "/etc/codex", name))
	}
	for _, folder := range w.folders() {
		out = append(out, filepath.Join(folder, ".codex", "config.toml"))
	}
	return slices.Compact(slices.Sorted(slices.Values(out)))
}

// readCodex is nil where the file is not there.
func readCodex(w World, path string) (codexConfig, error) {
	src, err := w.readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var c map[string]any
	if err := toml.Unmarshal(src, &c); err != nil {
		return nil, fmt.Errorf("%s cannot be read for certain, so it may turn the hooks off: %w", path, err)
	}
	return c, nil
}

// codexAbove says which files turn the hooks off, or lock a user's hooks out.
func codexAbove(w World, a *agent) []string {
	if w.Managed { // out of reach of all that follows
		return codexUnpinned(w)
	}
	managed := a.managedToo(w) // then locking others out is what it is for
	config := w.file(a.Config)
	profiles, err := codexProfiles(filepath.Dir(config))
	out := codexOverlaid(w, a, profiles)
	if err != nil {
		out = append(out, err.Error())
	}
	for _, path := range append(codexFiles(w, config), profiles...) {
		c, err := readCodex(w, path)
		if err != nil {
			out = append(out, err.Error())
			continue
		}
		if only, there := c["allow_managed_hooks_only"]; there && only != false && !managed {
			out = append(out, fmt.Sprintf("%s: allow_managed_hooks_only is %v, which turns the hooks off", path, only))
		}
		profiles, err := c.table("profiles")
		tables := [][]string{{"features"}}
		for _, name := range slices.Sorted(maps.Keys(profiles)) {
			tables = append(tables, []string{"profiles", name, "features"})
		}
		for _, t := range tables {
			features, bad := c.table(t...)
			err = errors.Join(err, bad)
			out = append(out, offFeatures(path, strings.Join(t, "."), features)...)
		}
		if err != nil {
			out = append(out, fmt.Sprintf("%s cannot be read for certain, so it may turn the hooks off: %v", path, err))
		}
	}
	return out
}

func offFeatures(path, table string, features codexConfig) []string {
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
func (c codexConfig) carried() (string, error) {
	tables := [][]string{{"features"}}
	if profile, ok := c["profile"].(string); ok {
		tables = append(tables, []string{"profiles", profile, "features"})
	}
	off := map[string]bool{}
	for _, t := range tables {
		features, err := c.table(t...)
		if err != nil {
			return "", err
		}
		for _, name := range codexSwitches {
			if on, there := features[name]; there {
				off[name] = on == true
			}
		}
	}
	if len(off) == 0 {
		return "", nil
	}
	var b strings.Builder
	b.WriteString("[features]\n")
	for _, name := range slices.Sorted(maps.Keys(off)) {
		fmt.Fprintf(&b, "%s = %v\n", name, off[name])
	}
	return b.String() + "\n", nil
}

// trusts reports whether a Codex file as it is read holds the entries of a block, and none
// of them is turned off.
func trusts(src []byte, block string) bool {
	var have, want map[string]any
	if toml.Unmarshal(src, &have) != nil || toml.Unmarshal([]byte(block), &want) != nil {
		return false
	}
	entries, err := codexConfig(want).table("hooks", "state")
	if err != nil || !requires(have, want) {
		return false
	}
	for name := range entries {
		h, err := codexConfig(have).table("hooks", "state", name)
		w, bad := codexConfig(want).table("hooks", "state", name)
		if err != nil || bad != nil || !maps.Equal(h, w) { // an entry of ours holds texts alone
			return false
		}
	}
	return true
}

// requires reports whether the features of a block are in the file.
func requires(have, want codexConfig) bool {
	h, err := have.table("features")
	w, bad := want.table("features")
	for name, value := range w {
		if h[name] != value {
			return false
		}
	}
	return err == nil && bad == nil
}

// holdsBlock reports whether our tables are in the file, by their text and as it is read:
// the hook program looks at the text alone, Codex at what is read.
func holdsBlock(src []byte, block string) bool {
	return settings.HasBlock(src, block) && trusts(src, block)
}
