package box

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxConfig is the largest configuration of git that is read: one that is larger is no plain one.
const maxConfig = 64 << 10

// plainConfig reports whether a text of git's configuration has nothing but settings that run nothing. What it cannot read with
// certainty it does not call plain.
func plainConfig(text string) bool {
	if len(text) > maxConfig || strings.ContainsAny(text, "\\\x00\r") {
		return false
	}
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[':
			head, ok := strings.CutSuffix(line[1:], "]")
			if !ok {
				return false
			}
			if section, ok = configSection(head); !ok {
				return false
			}
		default:
			name, value, _ := strings.Cut(line, "=")
			if !plainSetting(section, strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)) {
				return false
			}
		}
	}
	return true
}

// configSection reads the inside of a section's brackets. A name in quotes becomes "*": names are anybody's.
func configSection(head string) (string, bool) {
	name, quoted, sub := strings.Cut(head, " ")
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return "", false
		}
	}
	if !sub {
		return strings.ToLower(name), name != ""
	}
	inner, ok := strings.CutPrefix(strings.TrimSpace(quoted), `"`)
	inner, closed := strings.CutSuffix(inner, `"`)
	return strings.ToLower(name) + ".*", ok && closed && !strings.ContainsAny(inner, `"[]`)
}

func plainSetting(section, name, value string) bool {
	key := section + "." + name
	if slices.Contains(gitSettings.of("places"), key) {
		return plainPlace(value)
	}
	keys := gitSettings.of("keys")
	return section != "" && (slices.Contains(keys, key) || slices.Contains(keys, section+".*"))
}

// plainPlace reports whether an address is one that git needs no helper of another name for.
func plainPlace(value string) bool {
	if value == "" || value[0] == '-' || strings.Contains(value, "::") || strings.ContainsAny(value, "\"'`$;|&<> \t") {
		return false
	}
	scheme, _, ok := strings.Cut(value, "://")
	return !ok || slices.Contains([]string{"https", "ssh", "git", "file", "http"}, scheme)
}

// harmless reports whether something that came into being in a repository's folder may stay.
func (s *survey) harmless(p place, known []string) bool {
	path := s.abs(p.path)
	switch base := filepath.Base(p.path); {
	case p.link != "":
		return false
	case base == "config" || base == "config.worktree":
		text, err := os.ReadFile(path) //nolint:gosec // only looked at
		return err == nil && plainConfig(string(text))
	case base == "hooks":
		entries, err := os.ReadDir(path)
		return err == nil && !slices.ContainsFunc(entries, func(e os.DirEntry) bool {
			return !e.Type().IsRegular() || !strings.HasSuffix(e.Name(), ".sample")
		})
	case base == "commondir":
		text, err := os.ReadFile(path) //nolint:gosec // only looked at
		return err == nil && filepath.Base(filepath.Dir(filepath.Dir(path))) == "worktrees" && strings.TrimSpace(string(text)) == "../.."
	case base == "gitdir":
		return filepath.Base(filepath.Dir(filepath.Dir(path))) == "worktrees" // it only says where the files are
	case base == "alternates":
		return s.knownObjects(path, known)
	}
	return false
}

// knownObjects reports whether a repository borrows objects from repositories that were there before only.
func (s *survey) knownObjects(path string, known []string) bool {
	text, err := os.ReadFile(path) //nolint:gosec // only looked at
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		if !slices.ContainsFunc(known, func(k string) bool { return filepath.Join(s.abs(k), "objects") == strings.TrimSpace(line) }) {
			return false
		}
	}
	return true
}

// leadsHome reports whether a .git file names the folder of a worktree or module of a repository that was there before, or is one
// of ours that stays guarded.
func (s *survey) leadsHome(link string, known []string) bool {
	dir, ok := gitdirOf(s.abs(link))
	if !ok {
		return false
	}
	return slices.ContainsFunc(known, func(k string) bool {
		below, err := filepath.Rel(s.abs(k), dir)
		return err == nil && (strings.HasPrefix(below, "worktrees/") || strings.HasPrefix(below, "modules/"))
	})
}

// gitdirOf is the folder that a .git file names.
func gitdirOf(file string) (string, bool) {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 4096 {
		return "", false
	}
	text, err := os.ReadFile(file) //nolint:gosec // only looked at
	if err != nil {
		return "", false
	}
	dir, ok := strings.CutPrefix(strings.TrimRight(string(text), "\n"), "gitdir: ")
	if !ok || strings.Contains(dir, "\n") {
		return "", false
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(filepath.Dir(file), dir)
	}
	return filepath.Clean(dir), true
}
