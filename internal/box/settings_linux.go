package box

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// readSettings names what git's settings have it run or read in the workspace: folders of hooks, files of settings, programs.
func (s *survey) readSettings() {
	for _, name := range []string{".gitconfig", ".config/git/config"} {
		s.settingsOf(filepath.Join(s.home, name), s.root, 0)
	}
	for _, repo := range s.repos {
		dir, work := s.abs(repo), s.root
		if filepath.Base(dir) == ".git" && inside(dir, s.root) {
			work = filepath.Dir(dir)
		}
		s.settingsOf(filepath.Join(dir, "config"), work, 0)
		s.settingsOf(filepath.Join(dir, "config.worktree"), work, 0)
	}
}

// mostIncluded is how far settings that include settings are followed.
const mostIncluded = 4

// settingsOf reads one file of settings; paths in it are from the folder of the files, or from its own.
func (s *survey) settingsOf(file, work string, depth int) {
	text, ok := readPlain(file)
	if !ok || depth > mostIncluded {
		return
	}
	for _, set := range settingsIn(text) {
		key, value := set.key, set.value
		if plainKey(key) || strings.HasPrefix(key, "alias.") { // what a person runs by name is for them to look at
			continue
		}
		isPath := slices.Contains(gitSettings.of("paths"), key)
		words := []string{value}
		if !isPath {
			words = strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" \t\"'`;|&()<>=$!", r) })
		}
		for _, word := range words {
			s.settingNames(word, file, work, isPath, depth)
		}
	}
}

func (s *survey) settingNames(word, file, work string, isPath bool, depth int) {
	if rest, ok := strings.CutPrefix(word, "~/"); ok {
		word = filepath.Join(s.home, rest)
	}
	if word == "" || !isPath && !strings.Contains(word, "/") {
		return
	}
	for _, from := range []string{work, filepath.Dir(file)} {
		path := word
		if !filepath.IsAbs(path) {
			path = filepath.Join(from, path)
		}
		info, err := os.Stat(path)
		switch {
		case inside(path, filepath.Join(work, ".git")) && err != nil, path == s.root:
		case isPath, err == nil && info.Mode().IsRegular():
			s.name(path)
		}
		if isPath && err == nil && info.Mode().IsRegular() {
			s.settingsOf(path, work, depth+1)
		}
	}
}

// gitSetting is one setting of git's; a name in quotes is "*" in its key.
type gitSetting struct{ key, value string }

// settingsIn are the settings of a text of git's, read as generously as can be: to guard too much does no harm.
func settingsIn(text string) []gitSetting {
	var out []gitSetting
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "["); ok {
			head, after, closed := strings.Cut(rest, "]")
			if !closed {
				continue
			}
			name, _, sub := strings.Cut(head, " ")
			if section = strings.ToLower(name); sub {
				section += ".*"
			}
			line = strings.TrimSpace(after)
		}
		if name, value, ok := strings.Cut(line, "="); ok {
			key := section + "." + strings.ToLower(strings.TrimSpace(name))
			out = append(out, gitSetting{key, strings.Trim(strings.TrimSpace(value), `"`)})
		}
	}
	return out
}
