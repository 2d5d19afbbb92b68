package settings

import (
	"fmt"
	"os"
	"path/filepath"
)

// Changed says which of the programs and settings that were installed are not as they were.
func Changed(data string) []string {
	names, err := filepath.Glob(filepath.Join(data, "installed", "*.json"))
	if err != nil {
		return []string{err.Error()}
	}
	var out []string
	for _, name := range names {
		r, err := ReadRecord(name)
		if err != nil {
			out = append(out, fmt.Sprintf("%s cannot be read: %v", name, err))
			continue
		}
		if why := replaced(r); why != "" {
			out = append(out, why)
		}
		out = append(out, Reader{}.Compare(r)...)
	}
	return out
}

// replaced says what is wrong with a hook program; "" is good news. Its bytes are looked at, since a copy can have any time.
func replaced(r *Record) string {
	if r.Hook == "" {
		return ""
	}
	info, err := os.Stat(r.Hook)
	switch {
	case err != nil:
		return fmt.Sprintf("%s: the hook program is gone: %v", r.Agent, err)
	case info.Mode()&0o111 == 0:
		return fmt.Sprintf("%s: %s cannot be started any more", r.Agent, r.Hook)
	}
	raw, err := os.ReadFile(r.Hook)
	if err != nil || Hash(raw) != r.HookHash {
		return fmt.Sprintf("%s: %s is not the program that was installed (after an update: tidemark install %s)", r.Agent, r.Hook, r.Agent)
	}
	return ""
}
